#include "rules/memory/shared_paths.h"

#include <algorithm>
#include <optional>

#include "analyzer/objects/rank_words.h"

namespace allranks::rules {

using objects::FileUse;
using variation::ValueId;

constexpr knowledge::Axes kFilesAxis = knowledge::Axes::Of(knowledge::Axis::Files);

SharedPaths::SharedPaths(const Context& context) : context_(context), world_(objects::SmallJob(context.facts.job)), first_(context.program, context.knowledge, context.facts, context.index) {
  NoteOwnRanks();
}

bool SharedPaths::IsOfNode(const objects::FilePath& path) {
  const std::string_view text = path.pieces.front().text;
  return !path.pieces.front().hole && (text.starts_with("/dev/shm") || text.starts_with("/tmp"));
}

bool SharedPaths::IsOnePath(const FileUse& use) const {
  if (DiffersAtEachCall(use.value, use.frame, 0)) return false;
  const traces::RankSet ranks = context_.ranks.OnWay(use.way, world_);
  std::string_view before;
  for (const objects::PathPiece& piece : use.path.pieces) {
    const bool speaks = piece.hole && (objects::RankWords::IsWord(piece.text) || EndsInRank(before));
    if (speaks || (piece.hole && !IsOneValue(piece.hole, use, ranks))) return false;
    before = piece.text;
  }
  return true;
}

bool SharedPaths::IsMadeFirst(std::span<const objects::Site> way) const {
  if (std::ranges::none_of(way, [&](const objects::Site& site) { return AsksDisk(site); })) return false;
  if (first_.IsThroughWith(way)) return true;
  std::vector<objects::Site> sites = context_.index.WaysTo(way.front());
  for (const objects::Site& site : way) {
    const auto callers = context_.index.CallersOf(site.function);
    sites.insert(sites.end(), callers.begin(), callers.end());
    if (std::ranges::any_of(callers, [&](const objects::Site& caller) { return first_.IsThroughWith({&caller, 1}); })) return true;
  }
  // One rank of the job, or of each node.
  return std::ranges::any_of(sites, [&](const objects::Site& site) {
    const traces::RankSet ranks = context_.ranks.At(site, world_);
    return ranks.count() == 1 || (ranks.count() == world_.nodes && ranks.has(0) && ranks.has(world_.per_node));
  });
}

bool SharedPaths::AsksDisk(const objects::Site& site) const {
  return std::ranges::any_of(context_.guards.Of(site), [&](const objects::Guard& guard) {
    const ValueId test = context_.facts.value(context_.program.funcs[guard.function].module, guard.test);
    return test && context_.facts.values_store.axes(test).has(knowledge::Axis::Files);
  });
}

// `"log-rank%03i.txt" % index`.
bool SharedPaths::EndsInRank(std::string_view text) {
  while (text.ends_with('_') || text.ends_with('-') || text.ends_with('=')) text.remove_suffix(1);
  return text.ends_with("rank");
}

bool SharedPaths::IsOneValue(ValueId value, const FileUse& use, traces::RankSet ranks) const {
  const ValueId known = context_.file_uses.paths().Resolved(value, use.frame);
  const bool varies = context_.values.AnyPart(known, [&](ValueId part) {
    const ValueId resolved = context_.file_uses.paths().Resolved(part, use.frame);
    const variation::Value& node = context_.facts.values_store[resolved];
    return !node.axes.empty() || SpeaksOfRanks(node) || own_ranks_.contains(resolved.index);
  });
  if (!varies) return true;
  std::optional<int64_t> first;
  for (uint32_t rank = 0; rank < world_.size(); ++rank) {
    if (!ranks.has(rank)) continue;
    const std::optional<int64_t> number = context_.values.OnRank(known, world_, rank);
    if (!number || (first && *number != *first)) return false;
    first = number;
  }
  return first.has_value();
}

// `def save(folder)`, where each call hands over a folder of its own rank: a temporary one, for example. Which of two paths it is may be left to
// what is on the disk (`path / name if path.is_dir() else path`): all ranks see the same there.
bool SharedPaths::DiffersAtEachCall(ValueId value, const objects::CallFrame* frame, int depth) const {
  constexpr int kDeepest = 8;
  if (!value || depth == kDeepest) return false;
  const variation::ValueStore& store = context_.facts.values_store;
  std::unordered_set<uint32_t> seen;
  std::vector<ValueId> work = {value};
  while (!work.empty()) {
    const ValueId part = work.back();
    work.pop_back();
    if (!part || !seen.insert(part.index).second) continue;
    if (store[part].kind == variation::ValueKind::Param ? IsPassedApart(store[part], frame, depth) : AddsChance(part)) return true;
    const bool is_by_disk = store[part].kind == variation::ValueKind::Select && store.axes(store.ArmsOf(part).condition) == kFilesAxis;
    const auto kids = store.Kids(part).subspan(is_by_disk ? 1 : 0);
    work.insert(work.end(), kids.begin(), kids.end());
  }
  return false;
}

// What the call on the way hands over, or each call that there is.
bool SharedPaths::IsPassedApart(const variation::Value& param, const objects::CallFrame* frame, int depth) const {
  const objects::FuncId function = param.function();
  while (frame != nullptr && frame->function != function) frame = frame->caller;
  if (frame != nullptr) return param.param_index() < frame->args.size() && DiffersAtEachCall(frame->args[param.param_index()], frame->caller, depth + 1);
  const auto callers = context_.index.CallersOf(function);
  return !callers.empty() && std::ranges::all_of(callers, [&](const objects::Site& caller) {
    return DiffersAtEachCall(context_.index.PassedBy(caller, function, param.param_index()), nullptr, depth + 1);
  });
}

// Whether a value may be another one on each rank, or another time, and not only since what it is made of may.
bool SharedPaths::AddsChance(ValueId value) const {
  const variation::ValueStore& store = context_.facts.values_store;
  knowledge::Axes added = store.axes(value) & knowledge::kSoftAxes;
  for (const ValueId kid : store.Kids(value)) {
    if (kid) added = Without(added, store.axes(kid));
  }
  return !added.empty();
}

// `init_process_group(rank=int(sys.argv[1]))`
void SharedPaths::NoteOwnRanks() {
  for (const objects::KnownCall& call : context_.index.known_calls()) {
    const bool is_init = call.entry->has_operation && call.entry->operation.op_class == knowledge::OpClass::Init;
    const ValueId rank = is_init ? context_.index.Arg(call, "rank") : ValueId::None();
    if (!rank) continue;
    for (const ValueId leaf : context_.values.Leaves(rank)) {
      if (!context_.values.Int(leaf)) own_ranks_.insert(leaf.index);
    }
  }
}

// `args.local_rank`, whatever stores it.
bool SharedPaths::SpeaksOfRanks(const variation::Value& value) const {
  if (value.kind != variation::ValueKind::Derived || value.kid_count != 1) return false;
  const base::NameId name = context_.facts.values_store.OperationOf(value);
  return name && objects::RankWords::IsWord(context_.program.text(name));
}

bool SharedPaths::HoldsItem(const FileUse& use) const {
  return std::ranges::any_of(use.path.pieces, [&](const objects::PathPiece& piece) {
    return piece.hole && context_.values.AnyPart(context_.file_uses.paths().Resolved(piece.hole, use.frame), [&](ValueId part) {
      const variation::Value& node = context_.facts.values_store[context_.file_uses.paths().Resolved(part, use.frame)];
      const base::NameId name = context_.facts.values_store.DerivedBy(node);
      return name && context_.program.text(name) == "element";
    });
  });
}

std::string SharedPaths::NameOf(const FileUse& use) {
  std::string text;
  for (const objects::PathPiece& piece : use.path.Name().pieces) {
    const bool repeats = piece.hole && text.ends_with('*');
    if (!repeats) text += piece.hole ? "*" : piece.text;
  }
  return text.empty() ? "*" : text;
}

}  // namespace allranks::rules
