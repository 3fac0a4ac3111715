#include "runtime-verify/coordinator/self_test.h"

#include <fmt/format.h>

#include <numeric>

#include "witness/json.h"

namespace allranks::verify {
namespace {

using witness::Op;
using witness::Witness;

Op Make(std::string op, int32_t root = -1, uint32_t count = 1024) {
  Op made{.id = "",
          .op = std::move(op),
          .comm = "world",
          .count = count,
          .redop = "",
          .root = root,
          .source = "",
          .at = {}};
  return made;
}

// Rank 0 does `first`, all others `rest`.
Witness Differing(uint32_t world, std::vector<Op> first, std::vector<Op> rest) {
  Witness w{.finding = "self-test", .world = world};
  std::vector<uint32_t> all(world);
  std::iota(all.begin(), all.end(), 0u);
  w.comms = {{"world", all}};
  w.classes = {{"first", {0}, ""}, {"rest", {all.begin() + 1, all.end()}, ""}};
  for (std::vector<Op>* ops : {&first, &rest}) {
    for (size_t i = 0; i < ops->size(); ++i) (*ops)[i].id = fmt::format("{}", i);
  }
  w.ops = {std::move(first), std::move(rest)};
  return w;
}

}  // namespace

std::vector<SelfTestLine> RunSelfTest(Verifier& verifier, const std::vector<uint32_t>& worlds) {
  const std::vector<Op> all_kinds = {Make("all_reduce"), Make("broadcast", 0),   Make("reduce", 0),
                                     Make("all_gather"), Make("reduce_scatter"), Make("barrier")};
  std::vector<SelfTestLine> lines;
  for (const uint32_t world : worlds) {
    if (verifier.WasInterrupted()) break;
    lines.push_back({.world = world,
                     .matched = verifier.Verify(Differing(world, all_kinds, all_kinds)),
                     .deadlock = verifier.Verify(Differing(world, {Make("all_reduce")}, {}))});
  }
  return lines;
}

bool IsGood(const SelfTestLine& line) {
  return line.matched.kind == VerdictKind::NotReproduced && line.deadlock.kind == VerdictKind::Reproduced &&
         line.deadlock.effect == witness::Effect::Deadlock &&
         line.deadlock.trials[0].outcome.stuck.size() == 1 &&
         line.deadlock.trials[0].outcome.stuck[0].rank == 0;
}

std::string SelfTestText(const SelfTestLine& line) {
  const auto result = [](const Verdict& verdict, std::string_view good) {
    if (!verdict.reason.empty()) return verdict.reason;
    return std::string(good) + " (" + std::string(witness::EffectName(verdict.effect)) + ")";
  };
  std::string out = fmt::format("{} ranks: {}\n", line.world, IsGood(line) ? "good" : "NOT as expected");
  out += fmt::format("  matched operations: {}, {:.2f} s", result(line.matched, "right data"),
                     static_cast<double>(line.matched.duration.count()) / 1000);
  if (IsSeen(line.matched)) {
    const AttemptLog& log = *line.matched.trials[0].log;
    out += fmt::format(", connected in {} ms, slowest operation {} ms", log.connect_time.count(),
                       log.slowest_op.count());
  }
  out += fmt::format("\n  all_reduce of rank 0 alone: {}, {:.2f} s",
                     result(line.deadlock, "rank 0 waits forever"),
                     static_cast<double>(line.deadlock.duration.count()) / 1000);
  if (IsSeen(line.deadlock)) {
    const AttemptLog& log = *line.deadlock.trials[0].log;
    out += fmt::format(", all ranks ended within {} ms", log.reap_time.count());
    if (!log.released_by.empty()) out += ", released when the others joined";
  }
  return out + "\n";
}

std::vector<Mismatch> Mismatches(const std::vector<uint32_t>& worlds) {
  const Op ar = Make("all_reduce"), bc = Make("broadcast", 0), re = Make("reduce", 0),
           ag = Make("all_gather"), rs = Make("reduce_scatter");
  Op largest = ar, whole = ar;
  largest.redop = "max";
  whole.dtype = "i32";
  std::vector<Mismatch> all;
  for (const uint32_t world : worlds) {
    const auto add = [&](std::string name, std::vector<Op> first, std::vector<Op> rest) {
      all.push_back(
          {fmt::format("{} ({} ranks)", name, world), Differing(world, std::move(first), std::move(rest))});
    };
    add("all_reduce, nothing", {ar}, {});
    add("all_reduce, broadcast", {ar}, {bc});
    add("all_reduce, reduce", {ar}, {re});
    add("all_reduce, all_gather", {ar}, {ag});
    add("all_reduce, reduce_scatter", {ar}, {rs});
    add("all_gather, reduce_scatter", {ag}, {rs});
    add("[all_reduce, broadcast], swapped", {ar, bc}, {bc, ar});
    add("[all_reduce of 8, broadcast of 4], swapped", {Make("all_reduce", -1, 8), Make("broadcast", 0, 4)},
        {Make("broadcast", 0, 4), Make("all_reduce", -1, 8)});
    add("[all_gather, reduce_scatter], swapped", {ag, rs}, {rs, ag});
    add("broadcast, nothing", {bc}, {});
    add("nothing, broadcast", {}, {bc});
    add("20 broadcasts, nothing", std::vector<Op>(20, bc), {});
    add("broadcast, reduce", {bc}, {re});
    add("reduce, broadcast", {re}, {bc});
    add("all_gather, broadcast", {ag}, {bc});
    add("reduce_scatter, reduce", {rs}, {re});
    add("broadcast of root 0, of root 1", {bc}, {Make("broadcast", 1)});
    add("reduce to root 0, to root 1", {re}, {Make("reduce", 1)});
    add("all_reduce of 1024, of 512", {ar}, {Make("all_reduce", -1, 512)});
    add("broadcast of 512, of 1024", {Make("broadcast", 0, 512)}, {bc});
    add("broadcast of 1024, of 512", {bc}, {Make("broadcast", 0, 512)});
    add("f32, i32", {ar}, {whole});
    add("sum, max", {ar}, {largest});
  }
  return all;
}

}  // namespace allranks::verify
