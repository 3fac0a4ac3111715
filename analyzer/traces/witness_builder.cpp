// A difference as a schedule that can be replayed: communicators, classes of ranks, operations, who gets stuck.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzer/traces/difference.h"

namespace allranks::traces {
namespace {

// What a person still reads; the schedule is cut after it.
constexpr size_t kMostOps = 12;

// Kinds of the knowledge base that a runner has; others are stood in for by what they are made of.
constexpr std::string_view kRunnable[] = {"all_reduce", "broadcast", "reduce", "all_gather", "reduce_scatter",
                                          "all_to_all", "send", "recv", "barrier", "wait"};
constexpr std::pair<std::string_view, std::string_view> kStandIns[] = {
    {"all_gather", "all_gather"},   {"allgather", "all_gather"}, {"gather", "all_gather"},
    {"reduce_scatter", "reduce_scatter"}, {"all_to_all", "all_to_all"}, {"scatter", "broadcast"},
    {"broadcast", "broadcast"},     {"bcast", "broadcast"},      {"barrier", "barrier"},
    {"isend", "send"},              {"irecv", "recv"},           {"save", "barrier"},
    {"load", "barrier"},            {"group", "barrier"},        {"init", "barrier"},
    {"destroy", "barrier"}};

std::string RunnableOp(std::string_view kind) {
  if (std::ranges::find(kRunnable, kind) != std::end(kRunnable)) return std::string(kind);
  for (const auto& [part, op] : kStandIns) {
    if (kind.find(part) != std::string_view::npos) return std::string(op);
  }
  return "all_reduce";
}

bool IsRooted(std::string_view op) { return op == "broadcast" || op == "reduce"; }
bool IsReduction(std::string_view op) { return op == "all_reduce" || op == "reduce" || op == "reduce_scatter"; }

class WitnessBuilder {
 public:
  WitnessBuilder(const State& state, Scene& scene, const SequenceStore& sequences)
      : state_(state), scene_(scene), sequences_(sequences) {}

  witness::Witness Build(const std::vector<SeqId>& lists, const std::string& guard, RankSet reached) {
    const World& world = scene_.world();
    witness_.world = world.size();
    witness_.nodes = world.nodes;
    std::vector<std::vector<SeqId>> ops(world.size());
    for (uint32_t rank = 0; rank < world.size() && rank < lists.size(); ++rank) {
      sequences_.Flatten(lists[rank], kMostOps * 4, &ops[rank]);
    }
    Trim(&ops);
    MakeClasses(ops, guard, reached);
    Simulate();
    return std::move(witness_);
  }

 private:
  // The common beginning says nothing; what follows far behind neither.
  void Trim(std::vector<std::vector<SeqId>>* ops) {
    size_t common = 0;
    const auto same_at = [&](size_t index) {
      for (const auto& list : *ops) {
        if (index >= list.size() || sequences_[list[index]].detail != sequences_[(*ops)[0][index]].detail) return false;
      }
      return true;
    };
    while (!ops->empty() && common < (*ops)[0].size() && same_at(common)) ++common;
    constexpr size_t kKeptBefore = 2;
    const size_t cut = common > kKeptBefore ? common - kKeptBefore : 0;
    for (auto& list : *ops) {
      list.erase(list.begin(), list.begin() + static_cast<ptrdiff_t>(std::min(cut, list.size())));
      if (list.size() > kMostOps) list.resize(kMostOps);
    }
  }

  void MakeClasses(const std::vector<std::vector<SeqId>>& ops, const std::string& guard, RankSet reached) {
    std::map<std::vector<uint64_t>, size_t> classes;
    for (uint32_t rank = 0; rank < ops.size(); ++rank) {
      std::vector<uint64_t> key = {reached.has(rank) ? 1u : 0u};
      for (const SeqId op : ops[rank]) key.push_back(sequences_[op].detail ^ sequences_[op].origin.index);
      const auto [found, is_new] = classes.emplace(key, witness_.classes.size());
      if (!is_new) {
        witness_.classes[found->second].ranks.push_back(rank);
        continue;
      }
      witness_.classes.push_back({.id = fmt::format("c{}", witness_.classes.size()), .ranks = {rank},
                                  .guard = reached.has(rank) ? guard : ""});
      std::vector<witness::Op> list;
      for (const SeqId op : ops[rank]) list.push_back(MakeOp(op, rank, list.size()));
      witness_.ops.push_back(std::move(list));
    }
  }

  witness::Op MakeOp(SeqId id, uint32_t rank, size_t index) {
    const Item& item = sequences_[id];
    const knowledge::Entry& entry = state_.traces.entry(item.origin);
    const source::Span span = state_.traces.site(state_.traces[item.origin].site).span;
    witness::Op op;
    op.id = fmt::format("c{}.{}", witness_.classes.size() - 1, index);
    op.op = RunnableOp(state_.program.text(entry.operation.kind));
    op.comm = Communicator(item.group, rank);
    if (IsReduction(op.op)) op.redop = "sum";
    if (IsRooted(op.op)) op.root = Root(item, op.comm);
    // A reader knows `module_forward` better than `__call__`.
    const std::string_view name = state_.program.text(entry.name);
    op.source = std::string(name.ends_with("__") ? state_.program.text(entry.operation.kind) : name);
    if (span.file) {
      const source::SourceFile& file = state_.files[span.file];
      op.at = {file.path, source::Locate(file, span.begin).line + 1};
    }
    return op;
  }

  int32_t Root(const Item& item, const std::string& comm) {
    for (const witness::Communicator& other : witness_.comms) {
      if (other.id != comm || !item.root) continue;
      const auto found = std::ranges::find(other.ranks, static_cast<uint32_t>(*item.root));
      if (found != other.ranks.end()) return static_cast<int32_t>(found - other.ranks.begin());
    }
    return 0;
  }

  std::string Communicator(GroupIndex group, uint32_t rank) {
    std::vector<uint32_t> ranks;
    const RankSet members = scene_.evaluator().group(group).members[rank];
    for (uint32_t other = 0; other < scene_.world().size(); ++other) {
      if (members.has(other)) ranks.push_back(other);
    }
    const auto key = std::make_pair(group, members.bits);
    const auto found = comms_.find(key);
    if (found != comms_.end()) return witness_.comms[found->second].id;
    comms_.emplace(key, witness_.comms.size());
    const std::string id = ranks.size() == scene_.world().size() && witness_.comms.empty()
                               ? std::string("world")
                               : fmt::format("g{}", witness_.comms.size());
    witness_.comms.push_back({id, std::move(ranks)});
    return id;
  }

  // Strict matching: an operation completes when all members of its communicator stand at one of the same kind.
  void Simulate() {
    std::vector<size_t> next(witness_.world, 0);
    bool mixed = false;
    for (bool moved = true; moved;) {
      moved = false;
      for (uint32_t rank = 0; rank < witness_.world; ++rank) {
        const witness::Op* op = OpAt(rank, next[rank]);
        if (op == nullptr) continue;
        const std::vector<uint32_t>& members = Members(op->comm);
        // A rank outside the group waits for itself: nobody moves.
        if (std::ranges::count(members, rank) == 0 || !AllStandAt(*op, next, &mixed)) continue;
        for (const uint32_t member : members) ++next[member];
        moved = true;
      }
    }
    for (uint32_t rank = 0; rank < witness_.world; ++rank) {
      if (const witness::Op* op = OpAt(rank, next[rank])) witness_.stuck.push_back({rank, op->id});
    }
    witness_.effect = !witness_.stuck.empty() ? witness::Effect::Deadlock
                      : mixed                 ? witness::Effect::Corruption
                                              : witness::Effect::Clean;
  }

  bool AllStandAt(const witness::Op& op, const std::vector<size_t>& next, bool* mixed) const {
    bool same_root = true;
    for (const uint32_t member : Members(op.comm)) {
      const witness::Op* other = OpAt(member, next[member]);
      if (other == nullptr || other->comm != op.comm || other->op != op.op) return false;
      same_root = same_root && other->root == op.root;
    }
    *mixed = *mixed || !same_root;
    return true;
  }

  const std::vector<uint32_t>& Members(const std::string& comm) const {
    for (const witness::Communicator& other : witness_.comms) {
      if (other.id == comm) return other.ranks;
    }
    static const std::vector<uint32_t> kNobody;
    return kNobody;
  }

  const witness::Op* OpAt(uint32_t rank, size_t index) const {
    for (size_t c = 0; c < witness_.classes.size(); ++c) {
      if (std::ranges::find(witness_.classes[c].ranks, rank) == witness_.classes[c].ranks.end()) continue;
      return index < witness_.ops[c].size() ? &witness_.ops[c][index] : nullptr;
    }
    return nullptr;
  }

  const State& state_;
  Scene& scene_;
  const SequenceStore& sequences_;
  witness::Witness witness_;
  std::map<std::pair<GroupIndex, uint8_t>, size_t> comms_;
};

}  // namespace

witness::Witness MakeWitness(const State& state, Scene& scene, const SequenceStore& sequences,
                             const std::vector<SeqId>& lists, const std::string& guard, RankSet reached) {
  return WitnessBuilder(state, scene, sequences).Build(lists, guard, reached);
}

}  // namespace allranks::traces
