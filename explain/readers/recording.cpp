#include "explain/readers/recording.h"

#include <algorithm>
#include <cctype>

namespace allranks::explain {
namespace {

uint64_t HashOf(const std::vector<Frame>& frames) {
  uint64_t hash = 1469598103934665603u;
  for (const Frame& frame : frames) {
    for (const uint32_t part : {frame.file, frame.function, frame.line}) hash = (hash ^ part) * 1099511628211u;
  }
  return hash;
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 30> kKinds = {{
    {"allreduce", "all_reduce"},
    {"allreducecoalesced", "all_reduce"},
    {"allreducesparse", "all_reduce"},
    {"allreducebarrier", "barrier"},
    {"broadcast", "broadcast"},
    {"broadcastoop", "broadcast"},
    {"reduce", "reduce"},
    {"reduceoop", "reduce"},
    {"allgather", "all_gather"},
    {"allgatherbase", "all_gather"},
    {"allgathercoalesced", "all_gather"},
    {"allgatherintotensor", "all_gather"},
    {"allgatherintotensorcoalesced", "all_gather"},
    {"reducescatter", "reduce_scatter"},
    {"reducescatterbase", "reduce_scatter"},
    {"reducescattertensor", "reduce_scatter"},
    {"reducescattertensorcoalesced", "reduce_scatter"},
    {"alltoall", "all_to_all"},
    {"alltoallbase", "all_to_all"},
    {"alltoallv", "all_to_all"},
    {"gather", "gather"},
    {"scatter", "scatter"},
    {"send", "send"},
    {"recv", "recv"},
    {"recvanysource", "recv"},
    {"barrier", "barrier"},
    {"monitoredbarrier", "barrier"},
    {"allbarrier", "barrier"},
    {"coalesced", "coalesced"},
    {"coalescing", "coalesced"},
}};

}  // namespace

NameIndex Names::Add(std::string_view text) {
  if (const auto found = index_.find(text); found != index_.end()) return found->second;
  texts_.emplace_back(text);
  const auto index = static_cast<NameIndex>(texts_.size() - 1);
  index_.emplace(texts_.back(), index);
  return index;
}

StackIndex Stacks::Add(const std::vector<Frame>& frames) {
  if (frames.empty()) return kNoStack;
  std::vector<StackIndex>& alike = index_[HashOf(frames)];
  for (const StackIndex index : alike) {
    if (stacks_[index] == frames) return index;
  }
  stacks_.push_back(frames);
  alike.push_back(static_cast<StackIndex>(stacks_.size() - 1));
  return alike.back();
}

uint32_t Recording::GroupNamed(std::string_view name) { return GroupOf(name, {}); }

uint32_t Recording::GroupOf(std::string_view name, std::vector<uint32_t> members) {
  const auto found = std::ranges::find_if(groups, [&](const Group& group) { return group.name == name && group.ranks == members; });
  if (found != groups.end()) return static_cast<uint32_t>(found - groups.begin());
  groups.push_back({.name = std::string(name), .description = {}, .ranks = std::move(members)});
  return static_cast<uint32_t>(groups.size() - 1);
}

Rank& Recording::RankOf(uint32_t rank) {
  Rank& found = ranks[rank];
  found.is_heard_of = true;
  return found;
}

void Recording::Note(const std::string& text) {
  if (notes.size() < kMostNotes && std::ranges::find(notes, text) == notes.end()) notes.push_back(text);
}

std::string KindOf(std::string_view recorded) {
  std::string_view name = recorded;
  if (const size_t colon = name.find(':'); colon != std::string_view::npos) name.remove_prefix(colon + 1);
  name = name.substr(0, name.find(' '));
  std::string plain;
  for (const char c : name) {
    if (c != '_') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const auto found = std::ranges::find(kKinds, std::string_view(plain), &std::pair<std::string_view, std::string_view>::first);
  return found != kKinds.end() ? std::string(found->second) : std::string(name.substr(0, 80));
}

}  // namespace allranks::explain
