#include "witness/schedule.h"

#include <algorithm>
#include <array>
#include <map>

namespace allranks::witness {
namespace {

constexpr std::array<std::string_view, 10> kOps = {"all_reduce",     "broadcast",  "reduce", "all_gather",
                                                   "reduce_scatter", "all_to_all", "send",   "recv",
                                                   "barrier",        "wait"};

struct DtypeFacts {
  std::string_view name;
  uint32_t bytes;
};
constexpr std::array<DtypeFacts, 7> kDtypes = {
    {{"f32", 4}, {"f16", 2}, {"bf16", 2}, {"f64", 8}, {"i32", 4}, {"i64", 8}, {"u8", 1}}};

constexpr std::array<std::string_view, 6> kRedops = {"sum", "product", "min", "max", "avg", "other"};

}  // namespace

std::optional<OpKind> OpKindNamed(std::string_view name) {
  const auto found = std::find(kOps.begin(), kOps.end(), name);
  if (found == kOps.end()) return std::nullopt;
  return static_cast<OpKind>(found - kOps.begin());
}

std::string_view NameOf(OpKind kind) { return kOps[static_cast<size_t>(kind)]; }

std::optional<Dtype> DtypeNamed(std::string_view name) {
  const auto found =
      std::find_if(kDtypes.begin(), kDtypes.end(), [&](const DtypeFacts& d) { return d.name == name; });
  if (found == kDtypes.end()) return std::nullopt;
  return static_cast<Dtype>(found - kDtypes.begin());
}

std::string_view NameOf(Dtype dtype) { return kDtypes[static_cast<size_t>(dtype)].name; }

uint32_t BytesOf(Dtype dtype) { return kDtypes[static_cast<size_t>(dtype)].bytes; }

Redop RedopNamed(std::string_view name) {
  if (name.empty() || name == "sum") return Redop::Sum;
  if (name == "prod" || name == "product") return Redop::Product;
  if (name == "avg" || name == "average") return Redop::Average;
  if (name == "min") return Redop::Min;
  return name == "max" ? Redop::Max : Redop::Other;
}

std::string_view NameOf(Redop redop) { return kRedops[static_cast<size_t>(redop)]; }

bool Pair(const ScheduledOp& a, const ScheduledOp& b) {
  return a.kind == b.kind && (!IsRooted(a.kind) || a.root == b.root);
}

bool Agree(const ScheduledOp& a, const ScheduledOp& b) {
  if (!Pair(a, b)) return false;
  if (a.kind == OpKind::Barrier) return true;
  return a.count == b.count && a.dtype == b.dtype && (!IsReduction(a.kind) || a.redop == b.redop);
}

int32_t Schedule::MemberIndex(uint32_t comm, uint32_t rank) const {
  const auto found = std::find(comms[comm].begin(), comms[comm].end(), rank);
  return found == comms[comm].end() ? -1 : static_cast<int32_t>(found - comms[comm].begin());
}

ScheduledOp FenceOp(const Schedule& schedule, uint32_t comm) {
  constexpr uint32_t kElementsPerRank = 16;
  return {.kind = OpKind::AllReduce,
          .comm = comm,
          .count = kElementsPerRank * static_cast<uint32_t>(schedule.comms[comm].size())};
}

Schedule MakeSchedule(const Witness& witness) {
  Schedule schedule{.world = witness.world};
  std::map<std::string_view, uint32_t> comm_index;
  for (const Communicator& comm : witness.comms) {
    comm_index.emplace(comm.id, static_cast<uint32_t>(schedule.comms.size()));
    schedule.comms.push_back(comm.ranks);
  }
  schedule.class_of.resize(witness.world);
  for (size_t c = 0; c < witness.classes.size(); ++c) {
    for (const uint32_t rank : witness.classes[c].ranks) schedule.class_of[rank] = static_cast<uint32_t>(c);
    std::vector<ScheduledOp>& list = schedule.ops.emplace_back();
    for (const Op& op : witness.ops[c]) {
      list.push_back({.kind = *OpKindNamed(op.op),
                      .comm = comm_index.at(op.comm),
                      .count = op.count,
                      .dtype = *DtypeNamed(op.dtype),
                      .redop = RedopNamed(op.redop),
                      .root = op.root,
                      .peer = op.peer,
                      .sync = op.sync,
                      .batch = op.batch});
    }
  }
  return schedule;
}

}  // namespace allranks::witness
