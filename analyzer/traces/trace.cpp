// The store of traces: hash-consed nodes, so equal traces are equal ids and flags are computed once from the parts.
#include "analyzer/traces/trace.h"

#include <algorithm>

#include "analyzer/traces/conditions.h"
#include "analyzer/traces/module_mode.h"
#include "analyzer/traces/shapes.h"

namespace allranks::traces {
namespace {

uint64_t Mix(uint64_t hash, uint64_t word) {
  hash ^= word + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdull;
}

uint64_t Hash(const Trace& trace, std::span<const TraceId> kids) {
  uint64_t hash = (uint64_t{static_cast<uint8_t>(trace.kind)} << 32) | (trace.flags & kSettled);
  hash = Mix(hash, (uint64_t{trace.site.index} << 32) | trace.value.index);
  hash = Mix(hash, trace.payload);
  for (const TraceId kid : kids) hash = Mix(hash, kid.index);
  return hash;
}

// What of its parts' flags holds for the whole.
uint16_t Inherited(TraceKind kind, uint16_t flags) {
  flags &= static_cast<uint16_t>(~kSettled);
  if (kind == TraceKind::Loop) flags &= static_cast<uint16_t>(~(kLeavesBreak | kLeavesContinue));
  if (kind == TraceKind::Scope) {
    flags &= static_cast<uint16_t>(~(kLeavesReturn | kLeavesBreak | kLeavesContinue | kHasYield));
  }
  return flags;
}

}  // namespace

TraceStore::TraceStore(const knowledge::Knowledge& knowledge, variation::ValueStore& values)
    : knowledge_(&knowledge), values_(&values), conditions_(values) {
  if (const base::NameId name = knowledge.names().Find("ragged")) ragged_ = knowledge.FindMark(name);
  if (const base::NameId name = knowledge.names().Find("in_place")) in_place_ = knowledge.FindMark(name);
  empty_ = Intern({}, {});
}

TraceId TraceStore::Intern(Trace trace, std::span<const TraceId> kids) {
  const uint64_t hash = Hash(trace, kids);
  const uint32_t known = index_.Find(hash, [&](uint32_t candidate) {
    const Trace& other = traces_[candidate];
    return other.kind == trace.kind && other.site == trace.site && other.value == trace.value &&
           other.payload == trace.payload && (other.flags & kSettled) == (trace.flags & kSettled) &&
           std::ranges::equal(Kids(TraceId{candidate}), kids);
  });
  if (known != base::HashIndex::kNotFound) return TraceId{known};
  constexpr uint32_t kLargest = 1u << 30;
  for (const TraceId kid : kids) {
    const Trace& part = traces_[kid.index];
    trace.flags |= Inherited(trace.kind, part.flags);
    trace.size = std::min(kLargest, trace.size + part.size);
    trace.height = std::max(trace.height, static_cast<uint16_t>(std::min(part.height + 1, 0xffff)));
  }
  const std::vector<TraceId> copy(kids.begin(), kids.end());
  trace.kids = static_cast<uint32_t>(kids_.size());
  trace.kid_count = static_cast<uint32_t>(copy.size());
  kids_.insert(kids_.end(), copy.begin(), copy.end());
  traces_.push_back(trace);
  const auto id = static_cast<uint32_t>(traces_.size() - 1);
  index_.Add(hash, id);
  return TraceId{id};
}

bool TraceStore::ValueFlags(ValueId value, uint16_t* flags) const {
  if (!value) return false;
  if (values_->has_param(value)) *flags |= kOpenParams;
  const bool varies = !values_->axes(value).empty();
  if (varies) *flags |= kVarying;
  return varies;
}

SiteId TraceStore::AddSite(const Site& site) {
  const uint64_t hash = Mix(Mix(site.function.index, site.expr.index), (uint64_t{site.span.begin} << 32) | site.span.end);
  const uint32_t known = site_index_.Find(hash, [&](uint32_t candidate) { return sites_[candidate] == site; });
  if (known != base::HashIndex::kNotFound) return SiteId{known};
  sites_.push_back(site);
  const auto id = static_cast<uint32_t>(sites_.size() - 1);
  site_index_.Add(hash, id);
  return SiteId{id};
}

TryId TraceStore::AddTry(TryInfo info) {
  for (size_t i = tries_.size(); i-- > 0 && tries_.size() - i < 8;) {
    const TryInfo& other = tries_[i];
    if (other.handlers == info.handlers && other.fallible == info.fallible &&
        other.fallible_before_op == info.fallible_before_op) {
      return TryId{static_cast<uint32_t>(i)};
    }
  }
  tries_.push_back(std::move(info));
  return TryId{static_cast<uint32_t>(tries_.size() - 1)};
}

// Membership of a created group, and whether a root is in it, differ from rank to rank.
bool TraceStore::RanksMatter(const Operation& operation) const {
  if (!operation.group) return false;
  const variation::Value& group = (*values_)[operation.group];
  if (group.kind == variation::ValueKind::Select) return !group.axes.empty();
  if (group.kind != variation::ValueKind::Group) return false;
  const auto kind = group.group_kind();
  return kind == variation::GroupKind::Created || kind == variation::GroupKind::Split || (kind == variation::GroupKind::AxisGroup && operation.root);
}

bool TraceStore::HasOtherType(const Operation& operation) const {
  if (!operation.dtype || !operation.other_dtype || operation.dtype == operation.other_dtype) return false;
  const bool in_place = in_place_ && operation.tensor && (*values_)[operation.tensor].mark == in_place_;
  const auto is_known = [&](ValueId value) { return (*values_)[value].kind == variation::ValueKind::External; };
  return !in_place && is_known(operation.dtype) && is_known(operation.other_dtype);
}

bool TraceStore::IsInPlace(TraceId op) const {
  const ValueId tensor = operation(op).tensor;
  return in_place_ && tensor && (*values_)[tensor].mark == in_place_;
}

bool TraceStore::IsRagged(const Operation& operation) const {
  return ragged_ && operation.tensor && (*values_)[operation.tensor].mark == ragged_ &&
         (*knowledge_)[operation.entry].operation.fixed_shape && !values_->axes(operation.tensor).empty();
}

bool TraceStore::IsRagged(TraceId op) const { return IsRagged(operation(op)); }

TraceId TraceStore::Op(SiteId site, const Operation& operation, bool settled) {
  uint16_t flags = kHasOp | kIssues;
  for (const ValueId value : {operation.root, operation.reduce_op, operation.dtype, operation.count, operation.members}) {
    ValueFlags(value, &flags);
  }
  if (operation.group && values_->has_param(operation.group)) flags |= kOpenParams;
  const bool differs_in_size = (*knowledge_)[operation.entry].operation.fixed_shape && MayDifferInSize(*values_, operation.tensor);
  if (RanksMatter(operation) || IsRagged(operation) || HasOtherType(operation) || differs_in_size) flags |= kVarying;
  for (const ValueId value : {operation.tensor, operation.peer, operation.from, operation.tag, operation.handle}) {
    if (value && values_->has_param(value)) flags |= kOpenParams;
  }
  for (const ValueId peer : {operation.peer, operation.from}) {
    if (peer && !values_->axes(peer).empty()) flags |= kVarying;
  }
  if (operation.tensor && values_->axes(operation.tensor).has(knowledge::Axis::HashOrder)) flags |= kVarying;
  // `pairs[rank]`: each rank picks a group of its own.
  const bool is_picked = operation.group && (*values_)[operation.group].kind == variation::ValueKind::Derived &&
                         !Without(values_->axes(operation.group), knowledge::kSoftAxes).empty();
  if (is_picked) flags |= kVarying;
  const bool leaves_job = (*knowledge_)[operation.entry].operation.op_class == knowledge::OpClass::Destroy && !operation.group;
  if (leaves_job) flags |= kKeeps;
  if (settled) flags = static_cast<uint16_t>((flags & ~kVarying) | kSettled);
  auto payload = static_cast<uint32_t>(operations_.size());
  // The last few suffice: an operation is rebuilt right after it was built, or has other values.
  for (size_t i = operations_.size(); i-- > 0 && operations_.size() - i < 16;) {
    if (operations_[i] == operation) payload = static_cast<uint32_t>(i);
  }
  if (payload == operations_.size()) operations_.push_back(operation);
  return Intern({.kind = TraceKind::Op, .flags = flags, .site = site, .value = operation.group, .payload = payload}, {});
}

TraceId TraceStore::Seq(std::span<const TraceId> parts) {
  std::vector<TraceId> flat;
  bool ended = false;
  const auto add = [&](TraceId part) {
    if (ended || part == empty_) return;
    flat.push_back(part);
    ended = traces_[part.index].kind == TraceKind::Exit;
  };
  for (const TraceId part : parts) {
    if (traces_[part.index].kind != TraceKind::Seq) {
      add(part);
      continue;
    }
    const std::vector<TraceId> inner(Kids(part).begin(), Kids(part).end());
    for (const TraceId kid : inner) add(kid);
  }
  if (flat.empty()) return empty_;
  if (flat.size() == 1) return flat[0];
  return Intern({.kind = TraceKind::Seq}, flat);
}

TraceId TraceStore::Seq(TraceId first, TraceId second) {
  const TraceId both[] = {first, second};
  return Seq(both);
}

TraceId TraceStore::Choice(SiteId site, ValueId condition, TraceId then_trace, TraceId else_trace, bool settled) {
  if (then_trace == else_trace) return then_trace;
  if (const std::optional<bool> known = conditions_.KnownTruth(condition)) return *known ? then_trace : else_trace;
  uint16_t flags = settled ? kSettled : 0;
  uint16_t value_flags = 0;
  const bool varies = ValueFlags(condition, &value_flags);
  if (!varies && AsksForPartOfBatch(*values_, *knowledge_, condition)) value_flags |= kVarying;
  if (settled) value_flags &= static_cast<uint16_t>(~(kVarying | kOpenParams));
  // A raise that all ranks meet alike ends the job: the other arm is what the job goes on with. (One on the number of
  // ranks stays: it says on which worlds to look.)
  const bool uniform = !varies && (value_flags & kOpenParams) == 0;
  const auto raises = [&](TraceId arm) {
    const Trace& trace = traces_[arm.index];
    return trace.kind == TraceKind::Exit && static_cast<ExitKind>(trace.payload) == ExitKind::Raise;
  };
  if (uniform && raises(then_trace) != raises(else_trace) && !conditions_.AsksForSize(condition)) {
    return raises(then_trace) ? else_trace : then_trace;
  }
  const TraceId arms[] = {then_trace, else_trace};
  flags |= value_flags;
  if (conditions_.AsksForMade(condition) || conditions_.AsksForMode(condition)) flags |= kKeeps;
  return Intern({.kind = TraceKind::Choice, .flags = flags, .site = site, .value = condition}, arms);
}

TraceId TraceStore::Loop(SiteId site, ValueId trips, TraceId body, bool settled, LoopKind kind) {
  const uint16_t inner = traces_[body.index].flags;
  const bool leaves = (inner & (kLeavesReturn | kLeavesProcess | kLeavesRaise)) != 0;
  if ((inner & (kHasOp | kHasYield | kSetsMode)) == 0 && !leaves) return empty_;
  uint16_t flags = settled ? kSettled : 0;
  if (!settled) ValueFlags(trips, &flags);
  return Intern({.kind = TraceKind::Loop, .flags = flags, .site = site, .value = trips, .payload = static_cast<uint32_t>(kind)},
                {&body, 1});
}

TraceId TraceStore::Exit(SiteId site, ExitKind kind, bool is_jump) {
  return Intern({.kind = TraceKind::Exit, .op = static_cast<uint8_t>(is_jump), .flags = LeavesBit(kind), .site = site,
                 .payload = static_cast<uint32_t>(kind)}, {});
}

// Whether a function that issues nothing says on how many ranks the job goes on, or may once its arguments are known.
bool TraceStore::Demands(TraceId id) const {
  const Trace& trace = traces_[id.index];
  if ((trace.flags & kLeavesRaise) == 0) return false;
  if (trace.kind == TraceKind::Choice && ((trace.flags & kOpenParams) != 0 || conditions_.AsksForSize(trace.value))) return true;
  const bool may_hold = trace.kind == TraceKind::Seq || trace.kind == TraceKind::Choice || trace.kind == TraceKind::Scope;
  return may_hold && std::ranges::any_of(Kids(id), [&](TraceId kid) { return Demands(kid); });
}

TraceId TraceStore::Scope(SiteId site, FuncId callee, TraceId body) {
  // A function that does nothing but call itself issues nothing: its callback did, for other callers.
  if ((traces_[body.index].flags & (kIssues | kLeavesProcess | kSetsMode)) == 0 && !Demands(body)) return empty_;
  return Intern({.kind = TraceKind::Scope, .site = site, .payload = callee.index}, {&body, 1});
}

TraceId TraceStore::Try(SiteId site, TryId info, std::span<const TraceId> parts, bool settled) {
  uint16_t all = 0;
  for (size_t i = 1; i < parts.size(); ++i) all |= traces_[parts[i].index].flags;
  const uint16_t body = traces_[parts[0].index].flags;
  const bool plain = (all & (kHasOp | kLeavesMask)) == 0 && (body & (kHasOp | kLeavesRaise)) == 0;
  if (plain) return parts[0];
  uint16_t flags = settled ? kSettled : uint16_t{0};
  if (!settled && parts.size() > kTryHandlers) flags = kHasTry;
  return Intern({.kind = TraceKind::Try, .flags = flags, .site = site, .payload = info.index}, parts);
}

TraceId TraceStore::Call(SiteId site, ValueId callee, std::span<const ValueId> args) {
  uint16_t flags = kHasOp | kIssues;
  ValueFlags(callee, &flags);
  for (const ValueId arg : args) {
    if (arg && values_->has_param(arg)) flags |= kOpenParams;
  }
  call_args_.emplace_back(args.begin(), args.end());
  return Intern({.kind = TraceKind::Call, .flags = static_cast<uint16_t>(flags & ~kVarying), .site = site,
                 .value = callee, .payload = static_cast<uint32_t>(call_args_.size() - 1)}, {});
}

TraceId TraceStore::Rec(SiteId site, FuncId callee, ValueId args) {
  uint16_t flags = kHasOp | kHasRec;
  if (args && values_->has_param(args)) flags |= kOpenParams;
  return Intern({.kind = TraceKind::Rec, .flags = flags, .site = site, .value = args, .payload = callee.index}, {});
}

TraceId TraceStore::Yield(SiteId site) {
  return Intern({.kind = TraceKind::Yield, .flags = kHasYield, .site = site}, {});
}

TraceId TraceStore::Keep(SiteId site, ValueId made, Filling filling) {
  uint16_t flags = kKeeps;
  ValueFlags(made, &flags);
  return Intern({.kind = TraceKind::Keep, .flags = static_cast<uint16_t>(flags & ~kVarying), .site = site, .value = made,
                 .payload = static_cast<uint32_t>(filling)}, {});
}

TraceId TraceStore::Mode(SiteId site, ValueId module, ValueId trains, bool is_made) {
  ValueId parts[] = {module, trains};
  ValueId both = values_->Tuple(parts);
  if (values_->Kids(both).empty()) {
    // Nested too deeply for the store: it is put into a mode that nobody knows.
    parts[1] = both;
    both = values_->Tuple(parts);
  }
  if (values_->Kids(both).empty()) return empty_;
  uint16_t flags = kKeeps | kSetsMode;
  ValueFlags(both, &flags);
  return Intern({.kind = TraceKind::Mode, .flags = static_cast<uint16_t>(flags & ~kVarying), .site = site, .value = both,
                 .payload = is_made ? 1u : 0u}, {});
}

TraceId TraceStore::Opaque(SiteId site, ValueId callee) {
  return Intern({.kind = TraceKind::Opaque, .site = site, .value = callee}, {});
}

TraceId TraceStore::Rebuild(TraceId id, ValueId value, std::span<const TraceId> kids, bool settled) {
  const Trace trace = traces_[id.index];
  settled = settled || (trace.flags & kSettled) != 0;
  switch (trace.kind) {
    case TraceKind::Op: {
      const Operation operation = operations_[trace.payload];
      return Op(trace.site, operation, settled);
    }
    case TraceKind::Seq:
      return Seq(kids);
    case TraceKind::Choice:
      return Choice(trace.site, value, kids[0], kids[1], settled);
    case TraceKind::Loop:
      return Loop(trace.site, value, kids[0], settled, static_cast<LoopKind>(trace.payload));
    case TraceKind::Rec:
      return Rec(trace.site, FuncId{trace.payload}, value);
    case TraceKind::Keep:
      return Keep(trace.site, value, static_cast<Filling>(trace.payload));
    case TraceKind::Mode: {
      // What the arguments made too deep to follow is no module that is known.
      if (values_->Kids(value).empty()) return empty_;
      const ValueId module = values_->Kids(value)[0];
      return Mode(trace.site, module, values_->Kids(value)[1], trace.payload != 0);
    }
    case TraceKind::Scope:
      return Scope(trace.site, FuncId{trace.payload}, kids[0]);
    case TraceKind::Try:
      return Try(trace.site, TryId{trace.payload}, kids, settled);
    default:
      return id;
  }
}

QuestionSet TraceStore::QuestionsIn(TraceId id) const {
  if (Kids(id).empty()) return {};
  if (const QuestionSet* known = questions_.Find(id.index)) return *known;
  QuestionSet questions;
  if (traces_[id.index].kind == TraceKind::Choice) questions.Add(Asked(*values_, traces_[id.index].value));
  for (const TraceId kid : Kids(id)) questions.Add(QuestionsIn(kid));
  questions_.Add(id.index, questions);
  return questions;
}

std::span<const ValueId> TraceStore::Args(TraceId call) const { return call_args_[traces_[call.index].payload]; }

}  // namespace allranks::traces
