#include "explain/hang/groups.h"

#include <algorithm>

namespace allranks::explain {
namespace {

constexpr uint32_t kSeveral = ~uint32_t{0};

}  // namespace

Groups::Groups(const Recording& recording) : recording_(recording) {
  for (const auto& [rank, record] : recording.ranks) {
    const auto settle = [&](uint32_t group) {
      if (recording.groups[group].ranks.empty()) found_.try_emplace({rank, group}, Find(rank, group));
    };
    for (const Operation& op : record.operations) settle(op.group);
    for (const auto& [group, progress] : record.progress) {
      settle(group);
      const auto found = found_.find({rank, group});
      progress_.try_emplace({rank, found == found_.end() ? group : found->second}, progress);
    }
    if (!record.has_operations) Name(rank, record);
  }
  for (const auto& [rank, record] : recording.ranks) {
    for (const Operation& op : record.operations) used_.insert(Of(rank, op));
  }
  for (const auto& [rank_and_group, progress] : progress_) used_.insert(rank_and_group.second);
}

void Groups::Name(uint32_t rank, const Rank& record) {
  for (const Operation& op : record.operations) {
    if (op.group_is_assumed) continue;
    const uint32_t group = Of(rank, op);
    const auto [named, is_new] = named_.try_emplace({op.turn, op.kind, op.shapes}, group);
    if (!is_new && named->second != group) named->second = kSeveral;
  }
}

uint32_t Groups::Of(uint32_t rank, const Operation& op) const {
  if (op.group_is_assumed) {
    // Another rank's log names the group of just such a turn.
    const auto named = named_.find({op.turn, op.kind, op.shapes});
    if (named != named_.end() && named->second != kSeveral) return named->second;
  }
  if (!recording_.groups[op.group].ranks.empty()) return op.group;
  const auto found = found_.find({rank, op.group});
  return found == found_.end() ? op.group : found->second;
}

const Progress* Groups::ProgressOf(uint32_t rank, uint32_t group) const {
  const auto found = progress_.find({rank, group});
  return found == progress_.end() ? nullptr : &found->second;
}

bool Groups::IsDefault(uint32_t group) const {
  const Group& one = recording_.groups[group];
  return one.description == "default_pg" || one.name.empty() || one.name == "default_pg";
}

uint32_t Groups::Find(uint32_t rank, uint32_t group) const {
  const Group& named = recording_.groups[group];
  const bool is_described = !named.description.empty() && named.description != "undefined";
  uint32_t by_description = kSeveral;
  size_t alike = 0;
  for (uint32_t other = 0; other < recording_.groups.size(); ++other) {
    const Group& candidate = recording_.groups[other];
    if (!std::ranges::binary_search(candidate.ranks, rank)) continue;
    if (IsDefault(group) && IsDefault(other)) return other;
    if (candidate.name == named.name && !named.name.empty()) return other;
    if (is_described && candidate.description == named.description) by_description = other, ++alike;
  }
  return alike == 1 ? by_description : group;
}

}  // namespace allranks::explain
