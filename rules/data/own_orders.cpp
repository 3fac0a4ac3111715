#include "rules/data/own_orders.h"

#include <algorithm>
#include <map>
#include <set>

#include "analyzer/objects/definitions.h"
#include "analyzer/objects/job_runs.h"
#include "analyzer/objects/spread.h"
#include "analyzer/objects/test_files.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;
using variation::ValueId;
using variation::ValueKind;

constexpr std::string_view kTrainer = "transformers.Trainer";
constexpr std::string_view kTrainData = "train_dataset";
constexpr std::string_view kStream = "torch.utils.data.IterableDataset";

// What a finding says of a draw.
struct DrawText {
  std::string_view message, label, help;
};
constexpr DrawText kOwnOrder = {
    "each rank shuffles the data for itself before they are dealt out by position: some samples are read by several ranks, others by none",
    "another order on each rank", "use the same seed on all ranks for this shuffle"};
constexpr DrawText kOwnData = {
    "each rank draws its data for itself before they are dealt out by position: some samples are read by several ranks, others by none",
    "other data on each rank", "use the same seed on all ranks for this draw"};
constexpr DrawText kOwnShuffle = {
    "each rank shuffles without a common seed and then takes its share of its own order: "
    "some samples are read by several ranks, others by none",
    "another order on each rank", "use the same seed on all ranks before the shuffle, or take the share first"};
constexpr DrawText kOwnDraw = {
    "each rank draws without a common seed and then takes its share of its own draw: some samples are read by several ranks, others by none",
    "another draw on each rank", "use the same seed on all ranks for this draw, or take the share first"};

// A data set that is handed to what deals it out: a trainer, or a loader with a sampler that does.
struct Dealt {
  Site place;
  Site data_set;               // as it is handed over; no expression: in a way that is not seen
  std::set<uint32_t> classes;  // ClassIds: of the objects of the project that the data set consists of
  std::set<uint32_t> runs;     // FuncIds: functions that come to the place
  bool is_of_project = false;  // the data set itself is such an object, and not one of a library around it
};

class OwnOrders {
 public:
  OwnOrders(const Context& context, std::string_view code, FindingSink& sink)
      : context_(context), code_(code), sink_(sink), calls_(context),
        runs_(context.program, context.knowledge, context.facts, context.index, context.launch, context.loading) {}

  void Run() {
    NoteDealt();
    for (const KnownCall& call : context_.index.known_calls()) {
      if (call.entry->Has(knowledge::Role::Shuffle)) Visit(call);
      if (call.entry->Has(knowledge::Role::OwnOrder) && call.receiver) VisitCopy(call);
    }
    // Where a function shuffles as well, one finding is enough.
    for (const KnownCall& call : context_.index.known_calls()) {
      if (call.entry->Has(knowledge::Role::OwnOrder) && !call.receiver) VisitDraw(call);
    }
  }

 private:
  // ---- A share taken by hand ----

  void Visit(const KnownCall& shuffle) {
    const ir::ModuleId file = ModuleOf(shuffle.function);
    const ir::Module& module = context_.program.modules[file];
    const ir::ExprId list = context_.index.ArgExpr(shuffle, "x");
    if (!list) return;
    if (module[list].kind == ir::ExprKind::Name && !HasEqualSeed(shuffle)) {
      for (const ir::ExprId id : context_.index.ExprsOf(file, ir::ExprKind::Subscript)) {
        if (!IsNameOf(module, CutFrom(module, ir::LeftOf(module[id])), list)) continue;
        if (module[id].begin < module[shuffle.expr].end || FunctionAround(context_, file, id) != shuffle.function) continue;
        if (!IsShareOfRank(file, ir::IndexOf(module[id]))) continue;
        return Report(shuffle, {shuffle.function, id});
      }
    }
    const Dealt* dealt = DealtWith(shuffle, list);
    if (dealt == nullptr) dealt = DealtAfter(shuffle, list);
    const bool is_own = dealt != nullptr && !IsSeededAlike(shuffle, *dealt) && !IsSentAround({shuffle.function, shuffle.expr});
    if (is_own) ReportDealt(shuffle, *dealt);
  }

  // What is made of the list afterwards: `train = paths[:n]; Rows([str(path) for path in train])`.
  const Dealt* DealtAfter(const KnownCall& shuffle, ir::ExprId list) const {
    const ir::ModuleId file = ModuleOf(shuffle.function);
    const ir::Module& module = context_.program.modules[file];
    if (dealt_.empty() || module[list].kind != ir::ExprKind::Name) return nullptr;
    std::vector<ir::ExprId> reads;
    for (const ir::ExprId id : context_.index.ExprsOf(file, ir::ExprKind::Name)) {
      const bool is_read = module[id].begin >= module[shuffle.expr].end && IsNameOf(module, id, list);
      if (is_read && FunctionAround(context_, file, id) == shuffle.function) reads.push_back(id);
    }
    const objects::Spread spread(context_.program, context_.facts, context_.index, shuffle.function, std::move(reads));
    if (IsPutInOrder(shuffle, spread)) return nullptr;
    // What else a data set of the project is handed is no order of its rows.
    const auto dealt = std::ranges::find_if(dealt_, [&](const Dealt& each) {
      return (!each.is_of_project && spread.Holds(each.data_set)) || std::ranges::any_of(each.classes, [&](uint32_t made) {
        const binding::ClassId owner{made};
        const FuncId length = LengthOf(owner);
        return (length && spread.IsReadIn(length)) || IsPutInto(owner, shuffle.function, spread);
      });
    });
    return dealt == dealt_.end() ? nullptr : &*dealt;
  }

  // `paths.sort()`, `sorted(paths)`: what it is good for does not depend on the order.
  bool IsPutInOrder(const KnownCall& shuffle, const objects::Spread& spread) const {
    const ir::Module& module = context_.program.module_of(shuffle.function);
    return std::ranges::any_of(CallsIn(context_, shuffle.function), [&](const Site& call) {
      const ir::ExprId callee = ir::CalleeOf(module[call.expr]);
      if (module[callee].kind == ir::ExprKind::Name) return context_.program.text(ir::NameOf(module[callee])) == "sorted" && IsHanded(call, spread);
      return module[callee].kind == ir::ExprKind::Attribute && context_.program.text(ir::AttrOf(module[callee])) == "sort" &&
             spread.Holds({call.function, ir::ObjectOf(module[callee])});
    });
  }

  // The data set that is made of something, or whose rows it is.
  const Dealt* DealtFrom(FuncId function, const objects::Spread& spread) const {
    const auto dealt = std::ranges::find_if(dealt_, [&](const Dealt& each) {
      return spread.Holds(each.data_set) || std::ranges::any_of(each.classes, [&](uint32_t made) {
        const binding::ClassId owner{made};
        return IsLengthOf(owner, function, spread) || IsPutInto(owner, function, spread);
      });
    });
    return dealt == dealt_.end() ? nullptr : &*dealt;
  }

  // `data = Rows(path)`, and `data.rows = some` later.
  bool IsPutInto(binding::ClassId owner, FuncId function, const objects::Spread& spread) const {
    const ir::ModuleId file = ModuleOf(function);
    const ir::Module& module = context_.program.modules[file];
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::Stmt& stmt = module[ir::StmtId{i}];
      if (stmt.kind != ir::StmtKind::Assign || !spread.Holds({function, ir::AssignedOf(stmt)})) continue;
      for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
        if (module[target].kind != ir::ExprKind::Attribute || context_.index.FunctionOf(file, ir::StmtId{i}) != function) continue;
        const ValueId object = context_.facts.value(file, ir::ObjectOf(module[target]));
        const bool is_made = object && std::ranges::any_of(context_.values.Leaves(object), [&](ValueId leaf) {
          return context_.values[leaf].kind == ValueKind::Instance && context_.values[leaf].class_id() == owner;
        });
        if (is_made && IsCounted(owner, ir::AttrOf(module[target]))) return true;
      }
    }
    return false;
  }

  // `[rank::world_size]`, `[rank * n : (rank + 1) * n]`.
  bool IsShareOfRank(ir::ModuleId file, ir::ExprId index) const {
    const ValueId value = context_.facts.value(file, index);
    if (!value || context_.program.modules[file][index].kind != ir::ExprKind::Slice) return false;
    return context_.values.AnyPart(value, [&](ValueId part) {
      const knowledge::Axes axes = context_.facts.values_store.axes(part);
      return axes.has(knowledge::Axis::Global) || axes.has(knowledge::Axis::DataParallel);
    });
  }

  // `names` of `names[:n]`: what is cut keeps its order.
  static ir::ExprId CutFrom(const ir::Module& module, ir::ExprId expr) {
    while (module[expr].kind == ir::ExprKind::Subscript && module[ir::IndexOf(module[expr])].kind == ir::ExprKind::Slice) expr = ir::LeftOf(module[expr]);
    return expr;
  }

  bool IsNameOf(const ir::Module& module, ir::ExprId expr, ir::ExprId name) const {
    return expr && module[expr].kind == ir::ExprKind::Name && module[name].kind == ir::ExprKind::Name &&
           ir::NameOf(module[expr]) == ir::NameOf(module[name]);
  }

  // All ranks draw one order where its generator was given the same number on all of them.
  bool HasEqualSeed(const KnownCall& draw) {
    return AnyEqualSeed(ModuleOf(draw.function), [&](const KnownCall& seed) {
      return Seeds(context_.program.text(seed.entry->name), context_.program.text(draw.entry->name));
    });
  }

  // The same of a seed that has to do with the draw, in a run that comes to both.
  bool IsSeededAlike(const KnownCall& draw, const Dealt& dealt) {
    std::set<uint32_t> runs = dealt.runs;
    for (const Site& site : context_.index.WaysTo({draw.function, draw.expr})) runs.insert(site.function.index);
    return AnyEqualSeed(ModuleOf(draw.function), [&](const KnownCall& seed) {
      if (!Seeds(context_.program.text(seed.entry->name), context_.program.text(draw.entry->name))) return false;
      const binding::Func& function = context_.program.funcs[seed.function];
      // Those of a library's hooks may have callers that are not seen.
      const bool is_hook = function.owner && context_.index.CallersOf(seed.function).empty() &&
                           context_.program.text(context_.program.function(seed.function).name) != "__init__";
      const std::vector<Site> ways = context_.index.WaysTo({seed.function, seed.expr});
      return is_hook || function.function == ir::kTopLevel || std::ranges::any_of(ways, [&](const Site& site) { return runs.contains(site.function.index); });
    });
  }

  template <class Counts>
  bool AnyEqualSeed(ir::ModuleId file, Counts counts) {
    const std::vector<ir::ModuleId>& files = calls_.FilesOf(file);
    return std::ranges::any_of(context_.index.known_calls(), [&](const KnownCall& call) {
      if (!call.entry->Has(knowledge::Role::Seed) || std::ranges::count(files, ModuleOf(call.function)) == 0) return false;
      if (!counts(call)) return false;
      return std::ranges::all_of(call.args, [&](ValueId arg) { return !arg || MayBeAlike(arg, 0); });
    });
  }

  // The same on all ranks. A parameter may be, unless every call that is seen passes what differs (`set_seed(42 + rank)`); what lies behind
  // four calls is taken to be.
  bool MayBeAlike(ValueId seed, int depth) const {
    constexpr int kMostCalls = 4;
    if (!context_.facts.values_store.axes(seed).empty()) return false;
    const variation::Value& value = context_.facts.values_store[seed];
    if (value.kind != ValueKind::Param || depth == kMostCalls) return true;
    const FuncId function = value.function();
    const auto callers = context_.index.CallersOf(function);
    return callers.empty() || std::ranges::any_of(callers, [&](const Site& caller) {
      const ValueId passed = context_.index.PassedBy(caller, function, value.param_index());
      return !passed || MayBeAlike(passed, depth + 1);
    });
  }

  // Whether a call that seeds has to do with a draw: not `torch.manual_seed` with `random.shuffle`. Other libraries draw from NumPy's generator.
  static bool Seeds(std::string_view seed, std::string_view draw) {
    const bool draws_of_torch = draw.starts_with("torch.");
    const bool draws_of_python = draw.starts_with("random.");
    if (seed.starts_with("torch.")) return draws_of_torch && !seed.starts_with("torch.cuda.");
    if (seed.starts_with("random.")) return draws_of_python;
    return !seed.starts_with("numpy.") || (!draws_of_python && !draws_of_torch);
  }

  // ---- Data that something else deals out ----

  void NoteDealt() {
    for (const KnownCall& made : context_.loading.made_loaders()) {
      const ValueId loader = context_.loading.ValueOf(made);
      const ValueId data_set = context_.values.MadeWith(loader, "dataset");
      if (!data_set || context_.loading.DistributedSamplersOf(loader).empty()) continue;
      Add({made.function, made.expr}, {made.function, context_.index.ArgExpr(made, "dataset")}, data_set);
    }
    for (uint32_t m = 0; m < context_.program.modules.size(); ++m) NoteTrainers(ir::ModuleId{m});
    for (const KnownCall& call : context_.index.known_calls()) {
      if (call.entry->Has(knowledge::Role::DealsOut)) NotePrepared(call);
      if (call.entry->Has(knowledge::Role::SplitsItems)) NoteSplit(call);
    }
  }

  // `with state.split_between_processes(rows) as share:`.
  void NoteSplit(const KnownCall& call) {
    for (const knowledge::RoleOf& role : call.entry->roles) {
      if (role.role != knowledge::Role::SplitsItems) continue;
      const ir::ExprId items = context_.index.ArgExpr(call, context_.program.text(role.param));
      const ValueId value = items ? context_.facts.value(ModuleOf(call.function), items) : ValueId::None();
      if (value) Add({call.function, call.expr}, {call.function, items}, value);
    }
  }

  // `accelerator.prepare(loader)`, which takes every n-th batch.
  void NotePrepared(const KnownCall& call) {
    const ir::ModuleId file = ModuleOf(call.function);
    const ir::Module& module = context_.program.modules[file];
    for (uint32_t i = 0; i < ir::ArgCount(module, module[call.expr]); ++i) {
      const ValueId given = context_.facts.value(file, ir::ArgAt(module, module[call.expr], i).value);
      const std::vector<ValueId> leaves = given ? context_.values.Leaves(given) : std::vector<ValueId>();
      for (const KnownCall& made : context_.loading.made_loaders()) {
        const ValueId loader = context_.loading.ValueOf(made);
        const ValueId data_set = std::ranges::count(leaves, loader) > 0 ? context_.values.MadeWith(loader, "dataset") : ValueId::None();
        if (!data_set || AreStreams(data_set)) continue;
        Add({call.function, call.expr}, {made.function, context_.index.ArgExpr(made, "dataset")}, data_set);
      }
    }
  }

  // `Trainer(model, train_dataset=data)`, `OwnTrainer(model, **data_module)`.
  void NoteTrainers(ir::ModuleId file) {
    const ir::Module& module = context_.program.modules[file];
    if (objects::IsTestFile(context_.program, file)) return;
    for (const ir::ExprId id : context_.index.ExprsOf(file, ir::ExprKind::Call)) {
      const ValueId made = context_.facts.value(file, id);
      if (!made || !context_.values.IsA(made, kTrainer)) continue;
      const FuncId function = FunctionAround(context_, file, id);
      if (!function) continue;
      for (uint32_t i = 0; i < ir::ArgCount(module, module[id]); ++i) {
        const ir::Arg arg = ir::ArgAt(module, module[id], i);
        const bool is_named = arg.kind == ir::ArgKind::Keyword && context_.program.text(arg.keyword) == kTrainData;
        const ValueId value = context_.facts.value(file, arg.value);
        if (!value || (!is_named && arg.kind != ir::ArgKind::DoubleStar)) continue;
        const ValueId data_set = is_named ? value : TrainDataIn(value);
        if (!AreStreams(data_set)) Add({function, id}, {function, is_named ? arg.value : ir::ExprId::None()}, data_set);
      }
    }
  }

  void Add(const Site& place, const Site& data_set, ValueId value) {
    const std::vector<ValueId> leaves = context_.values.Leaves(value);
    const auto is_object = [&](ValueId leaf) { return context_.values[leaf].kind == ValueKind::Instance; };
    Dealt dealt{.place = place, .data_set = data_set, .classes = {}, .runs = {place.function.index},
                .is_of_project = std::ranges::all_of(leaves, is_object)};
    context_.values.AnyPart(value, [&](ValueId part) {
      if (context_.values[part].kind == ValueKind::Instance && !IsStream(part)) dealt.classes.insert(context_.values[part].class_id().index);
      return false;
    });
    for (const Site& site : context_.index.WaysTo(place)) {
      if (context_.program.funcs[site.function].function != ir::kTopLevel) dealt.runs.insert(site.function.index);
    }
    dealt_.push_back(std::move(dealt));
  }

  // The first rank reads it and sends each of the others its batches.
  bool IsStream(ValueId data_set) const { return context_.values.IsA(data_set, kStream); }
  bool AreStreams(ValueId data_set) const {
    const std::vector<ValueId> leaves = context_.values.Leaves(data_set);
    return !leaves.empty() && std::ranges::all_of(leaves, [&](ValueId leaf) { return IsStream(leaf); });
  }

  // Of `dict(train_dataset=..., eval_dataset=...)`; the map itself if that is not known.
  ValueId TrainDataIn(ValueId map) const {
    for (const ValueId leaf : context_.values.Leaves(map)) {
      if (context_.values[leaf].kind != ValueKind::Dict) continue;
      const auto kids = context_.facts.values_store.Kids(leaf);
      for (size_t i = 0; i + 1 < kids.size(); i += 2) {
        if (context_.values.Str(kids[i]) == kTrainData) return kids[i + 1];
      }
    }
    return map;
  }

  // A list that is shuffled in the constructor of the data set.
  const Dealt* DealtWith(const KnownCall& shuffle, ir::ExprId list) const {
    const auto dealt = std::ranges::find_if(dealt_, [&](const Dealt& each) {
      return std::ranges::any_of(each.classes, [&](uint32_t made) {
        const binding::ClassId owner{made};
        return IsConstructor(shuffle.function, owner) && IsCounted(owner, KeptIn(shuffle, list));
      });
    });
    return dealt == dealt_.end() ? nullptr : &*dealt;
  }

  bool IsConstructor(FuncId function, binding::ClassId owner) const {
    const base::NameId name = context_.program.names->Find("__init__");
    return name && context_.program.FindMethod(owner, name) == function;
  }

  // The field: `self.samples`, or that into which the constructor puts a variable later (`self.samples.extend(part)`).
  base::NameId KeptIn(const KnownCall& shuffle, ir::ExprId list) const {
    const ir::ModuleId file = ModuleOf(shuffle.function);
    const ir::Module& module = context_.program.modules[file];
    if (module[list].kind == ir::ExprKind::Attribute) return FieldOfSelf(shuffle.function, list);
    if (module[list].kind != ir::ExprKind::Name) return {};
    for (const Site& call : CallsIn(context_, shuffle.function)) {
      const ir::Expr& callee = module[ir::CalleeOf(module[call.expr])];
      if (module[call.expr].begin < module[shuffle.expr].end || callee.kind != ir::ExprKind::Attribute) continue;
      if (context_.program.text(ir::AttrOf(callee)) != "extend" || ir::ArgCount(module, module[call.expr]) != 1) continue;
      const base::NameId field = FieldOfSelf(shuffle.function, ir::ObjectOf(callee));
      if (field && IsNameOf(module, ir::ArgAt(module, module[call.expr], 0).value, list)) return field;
    }
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::Stmt& stmt = module[ir::StmtId{i}];
      if (stmt.kind != ir::StmtKind::Assign || stmt.begin < module[shuffle.expr].end) continue;
      // `self.rows = rows[:most]` as well.
      const ir::ExprId assigned = ir::AssignedOf(stmt);
      const bool is_slice = module[assigned].kind == ir::ExprKind::Subscript && module[ir::IndexOf(module[assigned])].kind == ir::ExprKind::Slice;
      if (!IsNameOf(module, is_slice ? ir::LeftOf(module[assigned]) : assigned, list)) continue;
      if (context_.index.FunctionOf(file, ir::StmtId{i}) != shuffle.function) continue;
      for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
        if (const base::NameId field = FieldOfSelf(shuffle.function, target)) return field;
      }
    }
    return {};
  }

  FuncId LengthOf(binding::ClassId data_set) const {
    const base::NameId name = context_.program.names->Find("__len__");
    return name ? context_.program.FindMethod(data_set, name) : FuncId::None();
  }

  // Whether a data set is as long as this field: it is what the positions mean.
  bool IsCounted(binding::ClassId owner, base::NameId field) const {
    const FuncId length = field ? LengthOf(owner) : FuncId::None();
    if (!length) return false;
    const ir::ModuleId file = ModuleOf(length);
    const ir::Module& module = context_.program.modules[file];
    return std::ranges::any_of(context_.index.ExprsOf(file, ir::ExprKind::Attribute), [&](ir::ExprId id) {
      return ir::AttrOf(module[id]) == field && FunctionAround(context_, file, id) == length;
    });
  }

  base::NameId FieldOfSelf(FuncId function, ir::ExprId expr) const { return objects::FieldOfSelf(context_.program, {function, expr}); }

  // Whether a call draws an order, and from what all calls of this process draw from.
  bool DrawsOwnOrder(const KnownCall& call) const {
    const auto is_given = [&](std::string_view param) {
      const ValueId value = context_.index.Arg(call, param);
      return value && !context_.values.IsNone(value) && !context_.values.IsFalse(value);
    };
    for (const knowledge::RoleOf& role : call.entry->roles) {
      if (role.role == knowledge::Role::OwnOrder && role.param && is_given(context_.program.text(role.param))) return false;
    }
    return !is_given("generator") && !is_given("buffer_size") && !context_.values.IsFalse(context_.index.Arg(call, "shuffle"));
  }

  // `random_split(data, lengths)`, `random.sample(rows, 1000)`: what is dealt out is made of what the call returns, or has such rows.
  void VisitDraw(const KnownCall& draw) {
    const std::vector<ir::ExprId>& shares = SharesOfRanks(ModuleOf(draw.function));
    if ((dealt_.empty() && shares.empty()) || !DrawsOwnOrder(draw)) return;
    const objects::Spread spread(context_.program, context_.facts, context_.index, {draw.function, draw.expr});
    const Dealt* dealt = DealtFrom(draw.function, spread);
    const ir::ExprId share = ShareIn(draw, shares);
    if (dealt == nullptr && !share) return;
    const bool is_sent = std::ranges::any_of(context_.index.known_calls(), [&](const KnownCall& call) {
      return SendsFromRoot(call) && IsHanded({call.function, call.expr}, spread);
    });
    if (is_sent) return;
    if (dealt != nullptr && !IsSeededAlike(draw, *dealt)) return ReportDealt(draw, *dealt, kOwnData);
    if (share && !HasEqualSeed(draw)) Report(draw, {draw.function, share}, kOwnDraw);
  }

  // `order[rank::world_size]`, where each rank takes what is at its positions.
  const std::vector<ir::ExprId>& SharesOfRanks(ir::ModuleId file) {
    const auto [shares, is_new] = shares_.try_emplace(file.index);
    if (!is_new) return shares->second;
    for (const ir::ExprId id : context_.index.ExprsOf(file, ir::ExprKind::Subscript)) {
      if (IsShareOfRank(file, ir::IndexOf(context_.program.modules[file][id]))) shares->second.push_back(id);
    }
    return shares->second;
  }

  // Of the draw itself, `random.sample(rows, 8)[rank::world_size]`, or of a variable that it is assigned to.
  ir::ExprId ShareIn(const KnownCall& draw, const std::vector<ir::ExprId>& shares) const {
    const ir::ModuleId file = ModuleOf(draw.function);
    const ir::Module& module = context_.program.modules[file];
    const auto is_drawn = [&](ir::ExprId list) {
      if (list == draw.expr) return true;
      if (module[list].kind != ir::ExprKind::Name || module[list].begin < module[draw.expr].end) return false;
      ir::StmtId last;
      for (uint32_t i = 0; i < module.stmts.size(); ++i) {
        const ir::Stmt& stmt = module[ir::StmtId{i}];
        if (stmt.kind != ir::StmtKind::Assign || stmt.begin > module[list].begin) continue;
        if (context_.index.FunctionOf(file, ir::StmtId{i}) != draw.function) continue;
        for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
          if (IsNameOf(module, target, list) && (!last || module[last].begin < stmt.begin)) last = ir::StmtId{i};
        }
      }
      return last && WholeOf(module, ir::AssignedOf(module[last])) == draw.expr;
    };
    const auto share = std::ranges::find_if(shares, [&](ir::ExprId id) {
      return FunctionAround(context_, file, id) == draw.function && is_drawn(WholeOf(module, ir::LeftOf(module[id])));
    });
    return share == shares.end() ? ir::ExprId::None() : *share;
  }

  // `torch.randperm(n)` of `torch.randperm(n).tolist()`, of `list(...)` of it and of its first items.
  static ir::ExprId WholeOf(const ir::Module& module, ir::ExprId expr) {
    for (;;) {
      if (module[expr].kind == ir::ExprKind::Subscript) {
        expr = ir::LeftOf(module[expr]);
        continue;
      }
      if (module[expr].kind != ir::ExprKind::Call) return expr;
      const ir::ExprId callee = ir::CalleeOf(module[expr]);
      const uint32_t given = ir::ArgCount(module, module[expr]);
      const bool is_method = module[callee].kind == ir::ExprKind::Attribute && module[ir::ObjectOf(module[callee])].kind == ir::ExprKind::Call;
      if (!is_method && (module[callee].kind != ir::ExprKind::Name || given != 1)) return expr;
      const ir::ExprId inner = is_method ? ir::ObjectOf(module[callee]) : ir::ArgAt(module, module[expr], 0).value;
      if (module[inner].kind != ir::ExprKind::Call) return expr;
      expr = inner;
    }
  }

  bool IsHanded(const Site& call, const objects::Spread& drawn) const {
    const ir::Module& module = context_.program.module_of(call.function);
    if (module[call.expr].kind != ir::ExprKind::Call) return false;
    for (uint32_t i = 0; i < ir::ArgCount(module, module[call.expr]); ++i) {
      if (drawn.Holds({call.function, ir::ArgAt(module, module[call.expr], i).value})) return true;
    }
    return false;
  }

  // Of a draw in a method of the data set.
  bool IsLengthOf(binding::ClassId data_set, FuncId method, const objects::Spread& drawn) const {
    const binding::ClassId owner = context_.program.funcs[method].owner;
    const bool is_own = owner && std::ranges::count(context_.program.classes[data_set].mro, owner) > 0;
    const FuncId length = is_own ? LengthOf(data_set) : FuncId::None();
    return length && drawn.IsReadIn(length);
  }

  // `data.shuffle()` of a data set that a trainer is handed in the same run.
  void VisitCopy(const KnownCall& shuffle) {
    if (dealt_.empty() || !DrawsOwnOrder(shuffle)) return;
    const std::vector<Site> ways = context_.index.WaysTo({shuffle.function, shuffle.expr});
    const auto dealt = std::ranges::find_if(dealt_, [&](const Dealt& each) {
      return std::ranges::any_of(ways, [&](const Site& site) { return each.runs.contains(site.function.index); });
    });
    if (dealt != dealt_.end() && !IsSeededAlike(shuffle, *dealt) && !IsSentAround({shuffle.function, shuffle.expr})) ReportDealt(shuffle, *dealt);
  }

  void ReportDealt(const KnownCall& shuffle, const Dealt& dealt, const DrawText& text = kOwnOrder) {
    const Site site{shuffle.function, shuffle.expr};
    const bool is_on_all = runs_.IsRunByRanks(site) && !context_.job_places.IsApart({&site, 1}) && AreAllRanksAt(context_, site);
    if (!is_on_all || !reported_.insert(shuffle.function.index).second) return;
    Finding finding = FindingAt(context_, code_, Severity::Warning, Confidence::Likely, site, {text.message, {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {text.label, {}});
    AddLabel(finding, SpanOf(context_, dealt.place), LabelRole::Why, {"gives each rank other positions", {}});
    finding.help = {text.help, {}};
    // What the project starts it with makes one process.
    if (!runs_.IsStartedOnRanks(site)) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::OwnJob));
    if (IsLeftOut(site)) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::ArgumentPassed));
    sink_.push_back(std::move(finding));
  }

  // `if shuffle:`, where that is false by default and nobody is seen to pass it.
  bool IsLeftOut(const Site& site) const {
    return std::ranges::any_of(context_.guards.Of(site), [&](const objects::Guard& guard) {
      const ValueId test = context_.facts.value(ModuleOf(guard.function), guard.test);
      return guard.holds && test && IsNeverPassed(test, 0);
    });
  }

  bool IsNeverPassed(ValueId value, int depth) const {
    constexpr int kMostCalls = 4;
    const variation::Value& param = context_.facts.values_store[value];
    if (param.kind != ValueKind::Param || depth == kMostCalls) return false;
    const FuncId function = param.function();
    const auto& params = context_.program.function(function).params;
    if (param.param_index() >= params.size() || !params[param.param_index()].default_value) return false;
    const ir::Expr& left = context_.program.module_of(function)[params[param.param_index()].default_value];
    const auto constant = static_cast<ir::ConstantKind>(left.op);
    if (left.kind != ir::ExprKind::Constant || (constant != ir::ConstantKind::False && constant != ir::ConstantKind::None)) return false;
    return std::ranges::all_of(context_.index.CallersOf(function), [&](const Site& caller) {
      const ValueId passed = context_.index.PassedBy(caller, function, param.param_index());
      if (!passed || context_.values.IsFalse(passed) || context_.values.IsNone(passed)) return true;
      return IsHandedOn(caller, params[param.param_index()].name) || IsNeverPassed(passed, depth + 1);
    });
  }

  // `Rows(path, **options)`: nothing says that it is among them.
  bool IsHandedOn(const Site& caller, base::NameId param) const {
    const ir::Module& module = context_.program.module_of(caller.function);
    if (module[caller.expr].kind != ir::ExprKind::Call) return false;
    bool has_options = false;
    for (uint32_t i = 0; i < ir::ArgCount(module, module[caller.expr]); ++i) {
      const ir::Arg arg = ir::ArgAt(module, module[caller.expr], i);
      if (arg.kind == ir::ArgKind::Keyword && arg.keyword == param) return false;
      has_options = has_options || arg.kind == ir::ArgKind::DoubleStar;
    }
    return has_options;
  }

  // One rank's order is sent to the others afterwards.
  bool IsSentAround(const Site& site) const {
    return std::ranges::any_of(context_.index.KnownCallsIn(site.function), [&](const KnownCall& call) { return SendsFromRoot(call); });
  }

  // Not what the forward of a model sends.
  bool SendsFromRoot(const KnownCall& call) const {
    if (!call.entry->has_operation) return false;
    const std::string_view kind = context_.program.text(call.entry->operation.kind);
    return kind.find("broadcast") != std::string_view::npos && kind != "module_broadcast" && kind != "buffer_broadcast";
  }

  void Report(const KnownCall& shuffle, const Site& share, const DrawText& text = kOwnShuffle) {
    Finding finding = FindingAt(context_, code_, Severity::Warning, Confidence::Likely, {shuffle.function, shuffle.expr}, {text.message, {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {text.label, {}});
    AddLabel(finding, SpanOf(context_, share), LabelRole::Why, {"the share of this rank", {}});
    finding.help = {text.help, {}};
    sink_.push_back(std::move(finding));
  }

  ir::ModuleId ModuleOf(FuncId function) const { return context_.program.funcs[function].module; }

  const Context& context_;
  std::string_view code_;
  FindingSink& sink_;
  ProgramCalls calls_;
  objects::JobRuns runs_;
  std::vector<Dealt> dealt_;
  std::set<uint32_t> reported_;                       // FuncIds
  std::map<uint32_t, std::vector<ir::ExprId>> shares_;  // by ModuleId
};

}  // namespace

void CheckOwnOrders(const Context& context, std::string_view code, FindingSink& sink) { OwnOrders(context, code, sink).Run(); }

}  // namespace allranks::rules
