#include "explain/hang/hang.h"

#include <algorithm>

#include "explain/hang/fronts.h"

namespace allranks::explain {
namespace {

constexpr size_t kNone = ~size_t{0};

// In which front each rank waits first; by rank.
std::map<uint32_t, size_t> WaitingIn(const std::vector<Front>& fronts) {
  std::map<uint32_t, std::pair<uint64_t, size_t>> first;
  for (size_t i = 0; i < fronts.size(); ++i) {
    for (const Arrival& arrival : fronts[i].stall.arrived) {
      const auto [found, is_new] = first.try_emplace(arrival.rank, arrival.order, i);
      if (!is_new && arrival.order < found->second.first) found->second = {arrival.order, i};
    }
  }
  std::map<uint32_t, size_t> waiting;
  for (const auto& [rank, order_and_front] : first) waiting[rank] = order_and_front.second;
  return waiting;
}

// The front that front `i` waits for: one in which a rank that it misses is held. None: it waits for a rank that is in
// no operation, or for nobody.
size_t WaitsFor(const std::vector<Front>& fronts, const std::map<uint32_t, size_t>& waiting, size_t i) {
  if (fronts[i].is_mismatch || fronts[i].stall.absent.empty()) return kNone;
  size_t next = kNone;
  for (const uint32_t rank : fronts[i].stall.absent) {
    const auto found = waiting.find(rank);
    // A rank that is nowhere is the reason, whoever else is late.
    if (found == waiting.end() || found->second == i) return kNone;
    next = found->second;
  }
  return next;
}

uint64_t StartOf(const Front& front) {
  uint64_t start = ~uint64_t{0};
  for (const Arrival& arrival : front.stall.arrived) {
    if (arrival.time_ns > 0) start = std::min(start, arrival.time_ns);
  }
  return start;
}

// How much a front says about where ranks parted; the first operation of equals is the reason.
int WeightOf(const Recording& recording, const Front& front) {
  const bool ended = std::ranges::any_of(front.stall.absent, [&](uint32_t rank) {
    const auto record = recording.ranks.find(rank);
    return record != recording.ranks.end() && record->second.ending.has_value();
  });
  if (ended || front.is_mismatch || !front.stall.absent.empty()) return 2;
  return front.stall.unheard.empty() ? 0 : 1;
}

Cause CauseOf(const Recording& recording, const Front& front) {
  const auto ended = [&](uint32_t rank) {
    const auto record = recording.ranks.find(rank);
    return record != recording.ranks.end() && record->second.ending.has_value();
  };
  if (std::ranges::any_of(front.stall.absent, ended)) return Cause::Ended;
  if (front.is_mismatch) return Cause::Mismatch;
  if (!front.stall.absent.empty() || !front.stall.unheard.empty()) return Cause::Absent;
  // Nobody waits alone.
  const bool alone = front.stall.arrived.size() == 1 && front.stall.through.empty() && !front.stall.members_known;
  if (alone && !front.stall.point_to_point) return Cause::Absent;
  // All receive and nobody sends, or the other way round.
  const bool one_sided = std::ranges::all_of(front.stall.arrived, [&](const Arrival& one) { return one.kind == front.stall.kind; });
  return front.stall.point_to_point && one_sided ? Cause::Circle : Cause::AllArrived;
}

Whereabouts WhereaboutsOf(const Recording& recording, uint32_t rank) {
  Whereabouts where{.rank = rank, .last_kind = {}, .last_stack = kNoStack, .last_turn = 0, .last_group = 0, .last_completed = false,
                    .stack = kNoStack, .ending = {}};
  const auto record = recording.ranks.find(rank);
  if (record == recording.ranks.end()) return where;
  where.stack = record->second.stack;
  where.ending = record->second.ending;
  if (!record->second.operations.empty()) {
    const Operation& last = record->second.operations.back();
    where.last_kind = recording.names[last.kind];
    where.last_stack = last.stack;
    where.last_turn = last.turn;
    where.last_group = last.group;
    where.last_completed = last.state >= OpState::Ended;
  }
  return where;
}

std::vector<Front> AllFronts(const Recording& recording) {
  std::vector<Front> fronts = FrontsOfGroups(recording);
  for (Front& front : FrontsOfPairs(recording)) fronts.push_back(std::move(front));
  std::vector<Front> checked;
  if (fronts.empty() || !recording.mismatches.empty() || !recording.not_arrived.empty()) checked = FrontsOfChecks(recording);
  // What a check says of ranks it names is sure; the operations around it are its consequences.
  if (!checked.empty() && (checked[0].is_mismatch || fronts.empty())) return checked;
  return fronts;
}

}  // namespace

Hang FindHang(const Recording& recording) {
  std::vector<Front> fronts = AllFronts(recording);
  Hang hang;
  if (fronts.empty()) return hang;
  const std::map<uint32_t, size_t> waiting = WaitingIn(fronts);
  size_t best = kNone;
  for (size_t i = 0; i < fronts.size(); ++i) {
    if (WaitsFor(fronts, waiting, i) != kNone) continue;
    const auto key = [&](size_t f) { return std::pair(-WeightOf(recording, fronts[f]), StartOf(fronts[f])); };
    if (best == kNone || key(i) < key(best)) best = i;
  }
  std::vector<size_t> chosen;
  if (best != kNone) {
    hang.cause = CauseOf(recording, fronts[best]);
    chosen = {best};
  } else {
    // Each waits for another: walking on closes a circle.
    std::vector<bool> seen(fronts.size());
    size_t at = 0;
    while (!seen[at]) {
      seen[at] = true;
      at = WaitsFor(fronts, waiting, at);
    }
    hang.cause = Cause::Circle;
    const size_t start = at;
    do {
      chosen.push_back(at);
      at = WaitsFor(fronts, waiting, at);
    } while (at != start);
  }
  const Front& first = fronts[chosen[0]];
  hang.last_common_turn = first.last_common_turn;
  hang.last_common_stack = first.last_common_stack;
  hang.first_different = first.first_different;
  hang.sequences_differ_before = !first.first_different.empty();
  // In a circle nobody is missing: each waits elsewhere.
  for (const uint32_t rank : hang.cause == Cause::Circle ? std::vector<uint32_t>() : first.stall.absent) hang.absent.push_back(WhereaboutsOf(recording, rank));
  hang.stall = first.stall;
  for (size_t i = 0; i < fronts.size(); ++i) {
    const auto place = std::ranges::find(chosen, i);
    if (place == chosen.end()) hang.following.push_back(fronts[i].stall);
  }
  for (size_t i = 1; i < chosen.size(); ++i) hang.circle.push_back(fronts[chosen[i]].stall);
  return hang;
}

}  // namespace allranks::explain
