#include "runtime-verify/coordinator/expectation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "runtime-verify/simulator/ring.h"
#include "runtime-verify/simulator/streams.h"
#include "witness/json.h"

namespace allranks::verify {
namespace {

using witness::Communicators;
using witness::Effect;
using witness::Schedule;
using witness::Witness;

// A ring of more ranks takes its time, and NCCL does not run there here anyway.
constexpr uint32_t kLargestRing = 64;

bool IsStandIn(const witness::Op& op) { return op.op == "barrier" && !op.source.empty() && op.source.find("barrier") == std::string::npos; }

void PutStandInsApart(const Witness& witness, Schedule& schedule) {
  // By group and turn among its stand-ins.
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> apart;
  for (size_t c = 0; c < witness.ops.size(); ++c) {
    std::map<uint32_t, uint32_t> turns;
    for (size_t i = 0; i < witness.ops[c].size(); ++i) {
      if (!IsStandIn(witness.ops[c][i])) continue;
      uint32_t& comm = schedule.ops[c][i].comm;
      const auto [own, is_new] = apart.try_emplace({comm, turns[comm]++}, static_cast<uint32_t>(schedule.comms.size()));
      if (is_new) schedule.comms.push_back(std::vector(schedule.comms[comm]));
      comm = own->second;
    }
  }
}

Schedule WithPairs(const Witness& witness, Schedule schedule) {
  return IsOfPyTorch(witness) ? WithPairCommunicators(std::move(schedule)) : schedule;
}

}  // namespace

bool IsOfPyTorch(const Witness& witness) {
  return std::ranges::any_of(witness.ops, [](const std::vector<witness::Op>& ops) {
    return std::ranges::any_of(ops, [](const witness::Op& op) { return op.source.starts_with("torch."); });
  });
}

Schedule OnNccl(const Witness& witness) { return WithPairs(witness, witness::MakeSchedule(witness)); }

Schedule OnNcclAtFirstUse(const Witness& witness) {
  Schedule schedule = witness::MakeSchedule(witness);
  PutStandInsApart(witness, schedule);
  return WithPairs(witness, std::move(schedule));
}

Expectation ExpectedOf(const Witness& witness) {
  Expectation expected{.communicators = witness.communicators, .is_pytorch = IsOfPyTorch(witness)};
  const Schedule schedule = OnNccl(witness);
  if (schedule.world > kLargestRing) return expected;
  bool always_hangs = true;
  // Protocol and effect.
  std::vector<std::pair<std::string_view, std::string_view>> seen;
  for (const Protocol protocol : {Protocol::LowLatency, Protocol::Simple}) {
    const Effect effect = HangsOnStream(schedule) ? Effect::Deadlock : SimulateRing(schedule, protocol, witness.fence).effect;
    always_hangs = always_hangs && effect == Effect::Deadlock;
    seen.emplace_back(NameOf(protocol), witness::EffectName(effect));
  }
  const auto& [low_latency, simple] = std::pair(seen.front(), seen.back());
  expected.rings = fmt::format("{} {}, {} {}", low_latency.first, low_latency.second, simple.first, simple.second);
  expected.words = low_latency.second == simple.second
                       ? fmt::format("{} (protocols {} and {})", simple.second, low_latency.first, simple.first)
                       : fmt::format("{} (protocol {}), {} (protocol {})", low_latency.second, low_latency.first, simple.second, simple.first);
  const bool may_be_made_late = expected.is_pytorch && witness.communicators != Communicators::AtInit;
  expected.at_first_use = may_be_made_late && !always_hangs && HangsAtFirstUse(OnNcclAtFirstUse(witness));
  return expected;
}

std::string Expectation::Text() const {
  if (at_first_use) {
    const std::string unless = communicators == Communicators::Unknown ? " (unless init_process_group is given device_id=)" : "";
    return "deadlock in the first operation of a group, in which PyTorch makes its communicator" + unless + "; later " + words;
  }
  const bool is_made = is_pytorch && communicators == Communicators::AtInit && !rings.empty();
  return is_made ? words + "; init_process_group is given device_id=, so it makes the communicators" : words;
}

}  // namespace allranks::verify
