// A difference as a schedule that can be replayed: communicators, classes of ranks, operations, who gets stuck.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "analyzer/base/lowered.h"
#include "analyzer/knowledge/words.h"
#include "analyzer/traces/difference.h"
#include "witness/matching.h"

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
    {"destroy", "barrier"},         {"finalize", "barrier"},     {"shutdown", "barrier"},
    {"comm_", "barrier"},           {"cart_", "barrier"},        {"graph_", "barrier"},
    {"win_", "barrier"},            {"file_", "barrier"}};

// Types as libraries call them (`MPI_DOUBLE`, `ncclBfloat16`), by a part of the name in small letters, and what a runner
// calls them; the first that fits counts.
constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
    {"bfloat16", "bf16"}, {"half", "f16"},  {"float16", "f16"}, {"double", "f64"}, {"float64", "f64"},
    {"float", "f32"},     {"int64", "i64"}, {"long", "i64"},    {"int", "i32"},    {"char", "u8"},
    {"byte", "u8"},       {"uint8", "u8"}};

std::string TypeNamed(std::string_view name) {
  const std::string small = base::Lowered(name);
  for (const auto& [part, type] : kTypes) {
    if (small.find(part) != std::string::npos) return std::string(type);
  }
  return "f32";
}

std::string RunnableOp(std::string_view kind) {
  if (std::ranges::find(kRunnable, kind) != std::end(kRunnable)) return std::string(kind);
  for (const auto& [part, op] : kStandIns) {
    if (kind.find(part) != std::string_view::npos) return std::string(op);
  }
  return "all_reduce";
}

bool IsRooted(std::string_view op) { return op == "broadcast" || op == "reduce"; }
bool IsReduction(std::string_view op) { return op == "all_reduce" || op == "reduce" || op == "reduce_scatter"; }

// The last part of `torch.distributed.ReduceOp.MAX`, `MPI_MAX` and `ncclMax`, in small letters.
std::string ReductionNamed(std::string_view name) {
  std::string text = base::Lowered(name.substr(name.rfind('.') == std::string_view::npos ? 0 : name.rfind('.') + 1));
  for (const std::string_view library : {"mpi_", "nccl"}) {
    if (text.starts_with(library)) text.erase(0, library.size());
  }
  return text;
}

class WitnessBuilder {
 public:
  WitnessBuilder(const State& state, Scene& scene, const SequenceStore& sequences, const Evidence& evidence)
      : state_(state), scene_(scene), sequences_(sequences), evidence_(evidence) {}

  witness::Witness Build(const std::string& guard) {
    const World& world = scene_.world();
    // Wrong on each rank by itself, and on all alike: no schedule tells it from the right one.
    if (evidence_.detail == Detail::OtherDtype) return {};
    std::vector<std::vector<SeqId>> ops(world.size());
    for (uint32_t rank = 0; rank < world.size() && rank < evidence_.lists.size(); ++rank) {
      sequences_.Flatten(evidence_.lists[rank], kMostOps * 4, &ops[rank]);
    }
    RepeatRounds(&ops);
    KeepKnownPeers(&ops);
    // In a circle of sends and receives all ranks may do alike from first to last.
    if (evidence_.kind != DifferenceKind::PointToPoint) Trim(&ops);
    Make(ops, guard);
    // A choice that no rank condition decides shows in no list: whoever does not reach the operation stops before it.
    if (witness_.effect == witness::Effect::Clean && LeaveOutCulprit(&ops)) Make(ops, guard);
    // Groups of other members on each rank, say: what goes wrong is not in the order of operations.
    if (witness_.effect == witness::Effect::Clean) return {};
    return std::move(witness_);
  }

 private:
  void Make(const std::vector<std::vector<SeqId>>& ops, const std::string& guard) {
    witness_ = {};
    comms_.clear();
    witness_.world = scene_.world().size();
    witness_.nodes = scene_.world().nodes;
    FindCompared(ops);
    MakeClasses(ops, guard);
    Simulate();
  }

  static uint32_t RanksBelow(RankSet members, uint32_t rank) {
    uint32_t below = 0;
    for (uint32_t other = 0; other < rank; ++other) below += members.has(other) ? 1 : 0;
    return below;
  }

  // How much an operation sends is told if all ranks that meet in it know theirs: beside a size that stands in for one that
  // is not known, a known one would be a mismatch.
  void FindCompared(const std::vector<std::vector<SeqId>>& ops) {
    struct Meeting {
      bool has_counts = true;
      bool has_types = true;
    };
    // The last two: who sends and who receives; none of a collective.
    using Key = std::tuple<GroupIndex, uint64_t, int32_t, int32_t>;
    std::map<std::pair<Key, size_t>, Meeting> meetings;
    const auto for_each = [&](const auto& visit) {
      for (uint32_t rank = 0; rank < ops.size(); ++rank) {
        std::map<Key, size_t> places;
        for (size_t i = 0; i < ops[rank].size(); ++i) {
          const Item& item = sequences_[ops[rank][i]];
          const RankSet members = Members(item.group, rank);
          Key key = {item.group, members.bits, -1, -1};
          const knowledge::OpClass op_class = state_.traces.entry(item.origin).operation.op_class;
          if (IsPointToPoint(op_class)) {
            const auto own = static_cast<int32_t>(RanksBelow(members, rank));
            const int32_t peer = Peer(item, rank);
            const bool sends = op_class == knowledge::OpClass::Send;
            key = {item.group, members.bits, sends ? own : peer, sends ? peer : own};
          }
          visit(rank, i, item, meetings[{key, places[key]++}]);
        }
      }
    };
    for_each([](uint32_t, size_t, const Item& item, Meeting& meeting) {
      meeting.has_counts &= item.count.has_value();
      meeting.has_types &= static_cast<bool>(item.dtype);
    });
    unsized_.clear();
    untyped_.clear();
    for_each([&](uint32_t rank, size_t i, const Item&, const Meeting& meeting) {
      if (!meeting.has_counts) unsized_.emplace(rank, i);
      if (!meeting.has_types) untyped_.emplace(rank, i);
    });
  }

  bool LeaveOutCulprit(std::vector<std::vector<SeqId>>* ops) const {
    const bool is_left_out = evidence_.kind == DifferenceKind::EarlyExit || evidence_.kind == DifferenceKind::Guard ||
                             evidence_.kind == DifferenceKind::DataBranch;
    if (!is_left_out || evidence_.not_reached.empty()) return false;
    for (uint32_t rank = 0; rank < ops->size(); ++rank) {
      if (!evidence_.not_reached.has(rank)) continue;
      std::vector<SeqId>& own = (*ops)[rank];
      own.erase(std::ranges::find(own, evidence_.culprit, [&](SeqId id) { return sequences_[id].origin; }), own.end());
    }
    return true;
  }

  static bool IsPointToPoint(knowledge::OpClass op_class) {
    return op_class == knowledge::OpClass::Send || op_class == knowledge::OpClass::Recv;
  }

  // Marks what a batch issues together and takes the batches themselves out. With a peer that is not known no send
  // finds its receive: then all of them go.
  void KeepKnownPeers(std::vector<std::vector<SeqId>>* ops) {
    bool all_known = true;
    for (uint32_t rank = 0; rank < ops->size(); ++rank) {
      int open = 0;
      uint32_t batch = 0;
      // Where the last one was put together.
      std::optional<SiteId> batched_at;
      std::erase_if((*ops)[rank], [&](SeqId id) {
        const knowledge::Operation& known = state_.traces.entry(sequences_[id].origin).operation;
        if (known.op_class == knowledge::OpClass::Batch) {
          if (known.opens_batch && open == 0) ++batch;
          open += known.opens_batch ? 1 : -1;
          return true;
        }
        if (!IsPointToPoint(known.op_class)) return false;
        all_known = all_known && Peer(sequences_[id], rank) >= 0;
        const Batched batched = state_.traces.operation(sequences_[id].origin).batched;
        const SiteId site = state_.traces[sequences_[id].origin].site;
        // What comes first in the list need not be issued on each rank.
        const bool begins = batched == Batched::First || (batched == Batched::Later && batched_at != site);
        if (begins) ++batch;
        if (batched != Batched::Alone) batched_at = site;
        if (open > 0 || batched != Batched::Alone) batches_.emplace(id.index, batch);
        else if (known.always_async) not_waited_.insert(id.index);
        return false;
      });
    }
    if (all_known) return;
    for (std::vector<SeqId>& own : *ops) {
      std::erase_if(own, [&](SeqId id) {
        return IsPointToPoint(state_.traces.entry(sequences_[id].origin).operation.op_class);
      });
    }
  }

  // A list holds one round of each loop: of one that ranks run a known number of times, the others as well.
  void RepeatRounds(std::vector<std::vector<SeqId>>* ops) {
    if (evidence_.kind != DifferenceKind::TripCount || evidence_.own || !evidence_.node) return;
    constexpr int64_t kMostRounds = 4;
    for (uint32_t rank = 0; rank < ops->size(); ++rank) {
      const std::optional<int64_t> trips = scene_.Trips(state_.traces[evidence_.node], rank);
      std::vector<SeqId>& own = (*ops)[rank];
      const auto at = std::ranges::find(own, evidence_.culprit, [&](SeqId id) { return sequences_[id].origin; });
      if (!trips || at == own.end()) continue;
      const SeqId round = *at;
      own.insert(at, static_cast<size_t>(std::clamp<int64_t>(*trips - 1, 0, kMostRounds)), round);
    }
  }

  // As a rank of the communicator; negative where it is not known or there is none.
  int32_t Peer(const Item& item, uint32_t rank) {
    const ValueId value = state_.traces.operation(item.origin).peer;
    const Outcome outcome = value ? scene_.evaluator().Evaluate(value, rank) : Outcome{};
    const int64_t size = scene_.evaluator().group(item.group).members[rank].count();
    const bool is_rank = outcome.kind == OutcomeKind::Number && outcome.number >= 0 && outcome.number < size;
    return is_rank ? static_cast<int32_t>(outcome.number) : -1;
  }

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

  // Ranks do the same if their operations are the same and on the same communicators.
  void MakeClasses(const std::vector<std::vector<SeqId>>& ops, const std::string& guard) {
    std::map<std::vector<uint64_t>, size_t> classes;
    for (uint32_t rank = 0; rank < ops.size(); ++rank) {
      const bool reached = evidence_.reached.has(rank);
      std::vector<uint64_t> key = {reached ? 1u : 0u, HasOwnSize() ? rank : 0u};
      for (const SeqId op : ops[rank]) {
        key.push_back(sequences_[op].detail ^ sequences_[op].origin.index);
        key.push_back(Members(sequences_[op].group, rank).bits);
        key.push_back(static_cast<uint64_t>(Peer(sequences_[op], rank)));
      }
      const auto [found, is_new] = classes.emplace(key, witness_.classes.size());
      if (!is_new) {
        witness_.classes[found->second].ranks.push_back(rank);
        continue;
      }
      witness_.classes.push_back({.id = fmt::format("c{}", witness_.classes.size()), .ranks = {rank},
                                  .guard = reached ? guard : ""});
      std::vector<witness::Op> list;
      for (const SeqId op : ops[rank]) list.push_back(MakeOp(op, rank, list.size()));
      if (reached && IsOutsider()) list.push_back(MakeOutsidersOp(rank, list.size()));
      witness_.ops.push_back(std::move(list));
    }
  }

  bool HasOwnSize() const { return evidence_.kind == DifferenceKind::Shape; }
  bool IsOutsider() const { return evidence_.kind == DifferenceKind::NotMember && evidence_.detail == Detail::Member; }
  bool HasOutsideRoot() const { return evidence_.kind == DifferenceKind::NotMember && evidence_.detail == Detail::Root; }
  RankSet Members(GroupIndex group, uint32_t rank) const { return scene_.evaluator().group(group).members[rank]; }

  // The lists leave out what a rank issues on a group that it is not in.
  witness::Op MakeOutsidersOp(uint32_t rank, size_t index) {
    const GroupIndex group = scene_.evaluator().Group(state_.traces.operation(evidence_.culprit).group, rank);
    uint32_t member = 0;
    while (member + 1 < scene_.world().size() && Members(group, member).empty()) ++member;
    return MakeOp({.origin = evidence_.culprit, .a = {}, .b = {}, .next = {}, .group = group}, member, index);
  }

  witness::Op MakeOp(SeqId id, uint32_t rank, size_t index) {
    Item item = sequences_[id];
    if (unsized_.contains({rank, index})) item.count.reset();
    if (untyped_.contains({rank, index})) item.dtype = {};
    witness::Op op = MakeOp(item, rank, index);
    const bool is_culprit = sequences_[id].origin == evidence_.culprit;
    if (is_culprit && HasOwnSize()) op.count += rank;
    if (is_culprit && HasOutsideRoot()) op.root = -1;
    if (op.op == "send" || op.op == "recv") {
      op.peer = Peer(sequences_[id], rank);
      const auto batch = batches_.find(id.index);
      if (batch != batches_.end()) op.batch = batch->second;
      op.sync = op.batch == 0 && !not_waited_.contains(id.index);
    }
    return op;
  }

  witness::Op MakeOp(const Item& item, uint32_t rank, size_t index) {
    const knowledge::Entry& entry = state_.traces.entry(item.origin);
    const source::Span span = state_.traces.site(state_.traces[item.origin].site).span;
    witness::Op op;
    op.id = fmt::format("c{}.{}", witness_.classes.size() - 1, index);
    op.op = RunnableOp(state_.program.text(entry.operation.kind));
    op.comm = Communicator(item.group, rank);
    constexpr int64_t kMostElements = 1 << 16;
    if (item.count && *item.count > 0 && *item.count <= kMostElements) op.count = static_cast<uint32_t>(*item.count);
    if (item.dtype) op.dtype = TypeNamed(state_.program.text(state_.values[item.dtype].name()));
    if (IsReduction(op.op)) op.redop = item.reduce_op ? Reduction(item.reduce_op) : "sum";
    if (IsRooted(op.op)) op.root = Root(item, op.comm);
    op.source = knowledge::WordsOfCall(state_.program.text(entry.name), state_.program.text(entry.operation.kind), entry.operation.op_class);
    if (span.file) {
      const source::SourceFile& file = state_.files[span.file];
      op.at = {file.path, source::Locate(file, span.begin).line + 1};
    }
    return op;
  }

  std::string Reduction(ValueId id) const {
    const variation::Value& value = state_.values[id];
    const bool is_named = value.kind == variation::ValueKind::External || value.kind == variation::ValueKind::Str;
    return is_named ? ReductionNamed(state_.program.text(value.name())) : "sum";
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

  void Simulate() {
    const witness::Schedule schedule = witness::MakeSchedule(witness_);
    const witness::Outcome outcome = witness::MatchStrictly(schedule);
    witness_.effect = outcome.effect;
    for (const witness::StuckOp& stuck : outcome.stuck) {
      witness_.stuck.push_back({stuck.rank, witness_.ops[schedule.class_of[stuck.rank]][stuck.op].id});
    }
  }

  const State& state_;
  Scene& scene_;
  const SequenceStore& sequences_;
  const Evidence& evidence_;
  std::unordered_set<uint32_t> not_waited_;        // items: sends and receives that return at once
  std::unordered_map<uint32_t, uint32_t> batches_;  // items: in which batch of its rank it stands, from one
  std::set<std::pair<uint32_t, size_t>> unsized_;   // ranks and places in their lists
  std::set<std::pair<uint32_t, size_t>> untyped_;
  witness::Witness witness_;
  std::map<std::pair<GroupIndex, uint8_t>, size_t> comms_;
};

}  // namespace

witness::Witness MakeWitness(const State& state, Scene& scene, const SequenceStore& sequences,
                             const Evidence& evidence, const std::string& guard) {
  return WitnessBuilder(state, scene, sequences, evidence).Build(guard);
}

}  // namespace allranks::traces
