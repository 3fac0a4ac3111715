#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "analyzer/binding/receiver.h"
#include "analyzer/ir/bindings.h"
#include "analyzer/objects/evaluation_loops.h"
#include "analyzer/objects/gradient_mode.h"
#include "analyzer/objects/known_tests.h"
#include "analyzer/objects/local_flow.h"
#include "analyzer/objects/settings.h"
#include "analyzer/variation/field_stores.h"
#include "rules/data/epoch_values.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/scenario_witness.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::LoaderLoop;
using objects::Site;
using variation::ValueId;
using variation::ValueKind;

constexpr std::string_view kAR301 = "AR301";
constexpr std::string_view kSetEpoch = "set_epoch";

// An object that is told the epoch, and the call that tells it. Another program means another object, made alike or not.
struct Told {
  ValueId object;
  Site site;
};

// A call that tells a shuffling sampler the epoch, and the ranks that make it.
struct ToldByRanks {
  ValueId sampler;
  Site site;
  traces::RankSet ranks;
};

class Epochs {
 public:
  Epochs(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), calls_(context), settings_(context.program, context.knowledge, context.facts, context.file_uses.paths()) {}

  void Run() {
    FindCallsOfSetEpoch();
    CheckRanks();
    for (const LoaderLoop& loop : context_.loading.loops()) Visit(loop);
  }

 private:
  void FindCallsOfSetEpoch() {
    for (uint32_t m = 0; m < context_.program.modules.size(); ++m) {
      const ir::ModuleId module_id{m};
      const ir::Module& module = context_.program.modules[module_id];
      for (const ir::ExprId id : context_.index.ExprsOf(module_id, ir::ExprKind::Call)) {
        const ir::Expr& callee = module[ir::CalleeOf(module[id])];
        if (IsLookUp(module_id, id)) NoteOtherWay({FunctionAround(context_, module_id, id), id}, ir::ArgAt(module, module[id], 0).value);
        if (callee.kind != ir::ExprKind::Attribute || context_.program.text(ir::AttrOf(callee)) != kSetEpoch) continue;
        const FuncId function = FunctionAround(context_, module_id, id);
        if (function) NoteCall({function, id}, context_.facts.value(module_id, ir::ObjectOf(callee)));
      }
      FindWrites(module_id);
    }
  }

  // `tell = getattr(loader.sampler, "set_epoch", None)`: it is looked up to be called.
  bool IsLookUp(ir::ModuleId module_id, ir::ExprId call) const {
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Expr& callee = module[ir::CalleeOf(module[call])];
    if (callee.kind != ir::ExprKind::Name || context_.program.text(ir::NameOf(callee)) != "getattr" || ir::ArgCount(module, module[call]) < 2) return false;
    const ValueId name = context_.facts.value(module_id, ir::ArgAt(module, module[call], 1).value);
    return name && context_.values.Str(name) == kSetEpoch;
  }

  // `sampler.epoch = epoch`, `sampler.seed += 1`: the order is drawn with a generator that both seed.
  void FindWrites(ir::ModuleId module_id) {
    const ir::Module& module = context_.program.modules[module_id];
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::Stmt& stmt = module[ir::StmtId{i}];
      const bool is_sum = stmt.kind == ir::StmtKind::AugAssign;
      const bool is_changing = stmt.kind == ir::StmtKind::Assign && module[ir::AssignedOf(stmt)].kind != ir::ExprKind::Constant;
      if (!is_sum && !is_changing) continue;
      const auto look = [&](ir::ExprId target) {
        if (module[target].kind != ir::ExprKind::Attribute) return;
        const std::string_view field = context_.program.text(ir::AttrOf(module[target]));
        if (field != "epoch" && field != "seed") return;
        const Site site{context_.index.FunctionOf(module_id, ir::StmtId{i}), target};
        if (site.function && context_.index.IsRepeated(site)) NoteOtherWay(site, ir::ObjectOf(module[target]));
      };
      if (is_sum) look(ir::ValueOf(stmt));
      else for (const ir::ExprId target : ir::TargetsOf(module, stmt)) look(target);
    }
  }

  void NoteOtherWay(const Site& site, ir::ExprId object_expr) {
    if (!site.function) return;
    const ir::ModuleId module_id = context_.program.funcs[site.function].module;
    const ValueId object = context_.facts.value(module_id, object_expr);
    const bool is_call = context_.program.modules[module_id][site.expr].kind == ir::ExprKind::Call;
    if (!object && is_call) unclear_.push_back(module_id);
    for (const ValueId leaf : object ? context_.values.Leaves(object) : std::vector<ValueId>()) {
      if (context_.values.IsNone(leaf) || context_.loading.IsLoader(leaf)) continue;
      const bool is_sampler = context_.loading.IsDistributedSampler(leaf);
      if (is_sampler) told_.push_back({leaf, site});
      else if (is_call && !NoteTold(site, leaf) && MayBeSampler(leaf)) unclear_.push_back(module_id);
    }
  }

  // Not what is known to be something else: a model, an object of the project that has no such method, what a type of Python makes.
  bool MayBeSampler(ValueId value) const {
    const base::NameId made_by = context_.facts.values_store.DerivedBy(value);
    const bool is_of_python = made_by && context_.program.text(made_by).starts_with("builtins.");
    return !variation::IsConstant(context_.values[value]) && !is_of_python && !LacksSetEpoch(value) && !context_.values.IsA(value, "torch.nn.Module");
  }

  // `DistributedSampler(data, seed=epoch)` in each round: a value that a loop around it, or around a call that hands it over, changes.
  bool IsSeededAnew(ValueId sampler, ir::ModuleId program) {
    if (!context_.values.MadeWith(sampler, "seed")) return false;
    return std::ranges::any_of(context_.loading.made_samplers(), [&](const objects::KnownCall& made) {
      const ir::ExprId seed = context_.index.ArgExpr(made, "seed");
      return seed && IsOfProgram(program, context_.program.funcs[made.function].module) &&
             context_.values.MayBeSame(context_.loading.ValueOf(made), sampler) && EpochValues(context_).ChangesByRound({made.function, seed});
    });
  }

  // What counts the rounds goes into the data that the sampler deals out: each round may be over other data.
  bool IsOfDataOfRound(ValueId sampler, ir::ModuleId program, const Site& epochs) {
    return std::ranges::any_of(context_.loading.made_samplers(), [&](const objects::KnownCall& made) {
      const ir::ExprId data = context_.index.ArgExpr(made, "dataset");
      return data && IsOfProgram(program, context_.program.funcs[made.function].module) &&
             context_.values.MayBeSame(context_.loading.ValueOf(made), sampler) && EpochValues(context_).AreMadeOfRound({made.function, data}, epochs);
    });
  }

  void NoteCall(const Site& site, ValueId object) {
    bool is_lost = false;
    bool is_told = !object;
    for (const ValueId leaf : context_.values.Leaves(object)) {
      if (context_.values.IsNone(leaf)) continue;
      is_lost = is_lost || LacksSetEpoch(leaf);
      if (LacksSetEpoch(leaf)) continue;
      is_told = true;
      if (!NoteTold(site, leaf)) unclear_.push_back(context_.program.funcs[site.function].module);
      if (IsShuffling(leaf, context_.program.funcs[site.function].module)) by_ranks_.push_back({leaf, site, RanksOf(site)});
    }
    if (!object) unclear_.push_back(context_.program.funcs[site.function].module);
    if (is_lost && !is_told && !AsksForAttributeBefore(context_, site, object)) ReportLostCall(site, object);
  }

  bool IsShuffling(ValueId sampler, ir::ModuleId program) {
    const bool is_by_number = context_.values[sampler].kind == ValueKind::Object && context_.loading.IsDistributedSampler(sampler);
    return is_by_number && Shuffles(sampler, program);
  }

  // `if local_rank > 0: sampler.set_epoch(epoch)`: rank 0 goes on with the order of the first epoch, unless another call tells it.
  void CheckRanks() {
    const traces::World world = objects::SmallJob(context_.facts.job);
    std::vector<Site> reported;
    for (const ToldByRanks& call : by_ranks_) {
      traces::RankSet told;
      for (const ToldByRanks& other : by_ranks_) {
        if (other.sampler == call.sampler || other.site.function == call.site.function) told = told | other.ranks;
      }
      if (told == traces::RankSet::All(world.size()) || context_.job_places.IsApart({&call.site, 1})) continue;
      if (std::ranges::find(reported, call.site) != reported.end()) continue;
      reported.push_back(call.site);
      ReportSome(call.site);
    }
  }

  void ReportSome(const Site& site) {
    Finding finding = FindingAt(context_, kAR301, Severity::Error, Confidence::Likely, site,
                                {"only some ranks call `set_epoch`: the others stay in another order, so shares overlap", {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"not on all ranks", {}});
    for (const objects::Guard& guard : context_.guards.Of(site)) {
      if (RanksThrough(guard)) AddLabel(finding, SpanOf(context_, {guard.function, guard.test}), LabelRole::Why, {"differs between ranks", {}});
    }
    finding.help = {"call `set_epoch(epoch)` on all ranks", {}};
    Add(site, std::move(finding));
  }

  // Those that the tests around a call let through; all, as far as the tests do not ask for the rank.
  traces::RankSet RanksOf(const Site& site) const {
    traces::RankSet ranks = traces::RankSet::All(objects::SmallJob(context_.facts.job).size());
    for (const objects::Guard& guard : context_.guards.Of(site)) ranks = ranks & RanksThrough(guard).value_or(ranks);
    return ranks;
  }

  // None of a test that is not decided by the rank, or comes out the same on all of them.
  std::optional<traces::RankSet> RanksThrough(const objects::Guard& guard) const {
    const traces::World world = objects::SmallJob(context_.facts.job);
    const ValueId test = context_.facts.value(context_.program.funcs[guard.function].module, guard.test);
    traces::RankSet through;
    for (uint32_t rank = 0; rank < world.size(); ++rank) {
      const std::optional<bool> truth = test ? context_.values.TruthAsRankTest(test, world, rank) : std::nullopt;
      if (!truth) return std::nullopt;
      if (*truth == guard.holds) through = through | traces::RankSet::Of(rank);
    }
    const bool differs = !through.empty() && through != traces::RankSet::All(world.size());
    return differs ? std::optional(through) : std::nullopt;
  }

  // A sampler or a loader, or what is read of one, such as `loader.sampler` of a loader that a helper is handed.
  bool NoteTold(const Site& site, ValueId object) {
    std::vector<Told>& noted = IsOneNumber(site) ? stuck_ : told_;
    const size_t before = noted.size();
    context_.values.AnyPart(object, [&](ValueId part) {
      const bool is_it = context_.loading.IsDistributedSampler(part) || context_.loading.IsLoader(part);
      if (is_it) noted.push_back({part, site});
      return is_it && part == object;
    });
    return noted.size() > before;
  }

  // `set_epoch(0)`: each epoch is that one.
  bool IsOneNumber(const Site& site) const {
    const ir::Module& module = context_.program.module_of(site.function);
    if (ir::ArgCount(module, module[site.expr]) != 1) return false;
    const ir::ExprId epoch = ir::ArgAt(module, module[site.expr], 0).value;
    return module[epoch].kind == ir::ExprKind::Constant;
  }

  // A loader of PyTorch, or an object of the project whose class and bases are known and do not define it.
  bool LacksSetEpoch(ValueId object) const {
    const variation::Value& value = context_.facts.values_store[object];
    if (value.kind == ValueKind::Object) return context_.loading.IsLoader(object);
    if (value.kind != ValueKind::Instance) return false;
    const binding::ClassId class_id = value.class_id();
    for (const std::string_view method : {kSetEpoch, std::string_view("__getattr__")}) {
      const base::NameId name = context_.program.names->Find(method);
      if (name && context_.program.FindMethod(class_id, name)) return false;
    }
    const auto& bases = context_.program.classes[class_id].external_bases;
    return bases.empty() || context_.loading.IsLoader(object);
  }

  void ReportLostCall(const Site& site, ValueId object) {
    for (const ValueId leaf : context_.values.Leaves(object)) {
      lost_.push_back({leaf, site});
    }
    const ir::Module& module = context_.program.module_of(site.function);
    const ir::ExprId receiver = ir::ObjectOf(module[ir::CalleeOf(module[site.expr])]);
    Finding finding = FindingAt(
        context_, kAR301, Severity::Error, Confidence::Likely, site,
        {"`set_epoch` is called on `{}`, which has no such method: its sampler has it",
         {Quoted(context_, {site.function, receiver})}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"raises an `AttributeError`", {}});
    finding.help = {"call it on the loader's sampler", {}};
    const uint32_t end = module[receiver].end;
    finding.fixes.push_back(MakeFix("tell the sampler the epoch", Applicability::Safe,
                                    {Replace({module.file, end, end}, ".sampler")}));
    Add(site, std::move(finding));
  }

  void Add(const Site& site, Finding finding) {
    finding.is_in_preview = IsUncertainInPython(context_, site.function, finding);
    sink_.push_back(std::move(finding));
  }

  bool Contains(const std::vector<Told>& list, ValueId value, ir::ModuleId module) {
    return std::ranges::any_of(list, [&](const Told& each) { return Tells(each, value, module); });
  }

  bool Tells(const Told& told, ValueId value, ir::ModuleId module) {
    return context_.values.MayBeSame(told.object, value) && IsOfProgram(module, context_.program.funcs[told.site.function].module);
  }

  bool IsOfProgram(ir::ModuleId module, ir::ModuleId other) {
    return std::ranges::count(calls_.FilesOf(module), other) > 0;
  }

  // A file of the program that goes over the loader. Several programs may share the function that does: then the file that hands it this loader,
  // or counts the epochs.
  ir::ModuleId ProgramOf(const LoaderLoop& loop, const Site& epochs) const {
    const Site& in_program = !loop.way.empty() ? loop.way.back() : loop.caller.function ? loop.caller : epochs;
    return context_.program.funcs[in_program.function].module;
  }

  void Visit(const LoaderLoop& loop) {
    // In an evaluation the order of the samples does not matter.
    if (!context_.training.TrainsOn(loop) || IsOnlyLookedAt(loop) || IsOfInputs(loop)) return;
    const std::optional<Site> epochs = EpochLoopOf(loop);
    if (!epochs || IsReadOnce(loop, *epochs)) return;
    const ir::ModuleId module = ProgramOf(loop, *epochs);
    if (const std::optional<Site> late = ToldTooLate(loop, module)) return ReportLate(loop, *late);
    if (Contains(told_, loop.loader, module) || Contains(lost_, loop.loader, module)) return;
    if (IsPreparedElsewhere(loop) || IsOfEvaluation(loop, module)) return;
    const std::optional<ValueId> sampler = ForgottenSampler(loop.loader, module, *epochs);
    if (!sampler || SomebodyElseMayTell(loop, *sampler, module) || !IsInTraining(loop) || !MayDealOut(loop)) return;
    if (std::ranges::count(seen_, SpanOf(context_, loop.place())) > 0 || IsDrawnElsewhere(loop) || IsToldOfOverride(loop, *sampler, *epochs)) return;
    seen_.push_back(SpanOf(context_, loop.place()));
    // Two loops over it in one epoch lack one call.
    const auto is_same = [&](const Told& each) { return each.site == *epochs && context_.values.MayBeSame(each.object, *sampler); };
    if (std::ranges::any_of(forgotten_, is_same)) return;
    forgotten_.push_back({*sampler, *epochs});
    Report(loop, *sampler, *epochs, module);
  }

  // `batches = list(loader)`, once before the epochs: each of them goes over the same batches, whatever the sampler is told.
  bool IsReadOnce(const LoaderLoop& loop, const Site& epochs) const {
    const FuncId function = loop.iterable.function;
    const ir::Module& module = context_.program.module_of(function);
    const ir::ExprId read = LoaderExpr(module, loop.iterable.expr);
    std::vector<Site> stored;
    if (module[read].kind == ir::ExprKind::Attribute) {
      for (const variation::FieldStore& store : variation::StoresOfField(context_.program, context_.facts, function, read)) {
        stored.push_back({store.function, store.value});
      }
    }
    for (uint32_t i = 0; i < module.stmts.size() && module[read].kind == ir::ExprKind::Name; ++i) {
      const ir::Stmt& stmt = module[ir::StmtId{i}];
      if (stmt.kind != ir::StmtKind::Assign) continue;
      const FuncId around = context_.index.FunctionOf(context_.program.funcs[function].module, ir::StmtId{i});
      const bool is_seen = around == function || context_.program.funcs[around].function == ir::kTopLevel;
      for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
        const bool is_it = module[target].kind == ir::ExprKind::Name && ir::NameOf(module[target]) == ir::NameOf(module[read]);
        if (is_it && is_seen) stored.push_back({around, ir::AssignedOf(stmt)});
      }
    }
    return !stored.empty() && std::ranges::all_of(stored, [&](const Site& each) { return IsListOf(each, loop.loader) && !IsInLoop(each, epochs); });
  }

  bool IsListOf(const Site& site, ValueId loader) const {
    const ir::ModuleId module_id = context_.program.funcs[site.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    if (module[site.expr].kind != ir::ExprKind::Call || ir::ArgCount(module, module[site.expr]) == 0) return false;
    const ValueId callee = context_.facts.value(module_id, ir::CalleeOf(module[site.expr]));
    const std::string_view name = callee ? context_.values.External(callee) : std::string_view();
    const ValueId read = context_.facts.value(module_id, ir::ArgAt(module, module[site.expr], 0).value);
    const bool is_list = name == "builtins.list" || name == "builtins.tuple";
    if (!is_list || !read) return false;
    return std::ranges::any_of(context_.loading.LoadersIn(read), [&](ValueId each) { return context_.values.MayBeSame(each, loader); });
  }

  // `loop`: the head of one.
  bool IsInLoop(const Site& site, const Site& loop) const {
    const ir::StmtId around = context_.index.StatementOf(loop);
    const ir::Module& module = context_.program.module_of(loop.function);
    const bool is_of_file = context_.program.funcs[site.function].module == context_.program.funcs[loop.function].module;
    return is_of_file && around && module[around].begin <= module[site.expr].begin && module[site.expr].end <= module[around].end;
  }

  // `loader = train if training else valid`, and gradients are made `if training:`: of the other loader the order does not matter.
  bool IsInTraining(const LoaderLoop& loop) const {
    const FuncId function = loop.iterable.function;
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    const ValueId value = context_.facts.value(module_id, loop.iterable.expr);
    const auto is_it = [&](ValueId part) { return part == loop.loader; };
    const objects::KnownTests nothing(context_.program, context_.facts, context_.guards);
    if (loop.hands_on || !value || !nothing.MayHold(value, is_it)) return true;
    bool is_seen = false, is_open = false;
    const ir::Module& module = context_.program.modules[module_id];
    for (uint32_t i = 0; i < module.stmts.size() && !is_open; ++i) {
      const ir::Stmt& stmt = module[ir::StmtId{i}];
      const bool is_inside = stmt.begin > module[loop.loop].begin && stmt.end <= module[loop.loop].end;
      if (!is_inside || !TrainsItself(module_id, ir::StmtId{i})) continue;
      is_seen = true;
      objects::KnownTests tests = nothing;
      tests.Add(function, ir::StmtId{i});
      is_open = tests.MayHold(value, is_it);
    }
    return is_open || !is_seen;
  }

  // And not only a statement in one of its blocks: `total += step(batch)`, `if step(batch):`.
  bool TrainsItself(ir::ModuleId module_id, ir::StmtId stmt) const {
    if (!context_.training.Trains(module_id, stmt)) return false;
    const ir::Module& module = context_.program.modules[module_id];
    bool is_inner = false;
    ir::ForEachBlock(module, module[stmt], [&](ir::BlockId block) {
      for (const ir::StmtId inner : module.statements(block)) is_inner = is_inner || context_.training.Trains(module_id, inner);
    });
    return !is_inner;
  }

  // `if distributed: sampler = DistributedSampler(data)`, and the loop is run where it is not.
  bool MayDealOut(const LoaderLoop& loop) const {
    // What an object of a class of the project was made with is known of all of them together.
    if (context_.values[loop.loader].kind == ValueKind::Instance) return true;
    std::vector<FuncId> on_way;
    const objects::KnownTests nothing(context_.program, context_.facts, context_.guards);
    return MayDealOut(loop.loader, loop.place(), loop.way, nothing, on_way);
  }

  bool MayDealOut(ValueId loader, const Site& site, std::span<const Site> way, objects::KnownTests tests, std::vector<FuncId>& on_way) const {
    constexpr size_t kLongestWay = 4;
    const ir::StmtId stmt = context_.index.StatementOf(site);
    if (stmt) tests.Add(site.function, stmt);
    if (!tests.MayHold(loader, [&](ValueId part) { return context_.loading.IsDistributedSampler(part); })) return false;
    // Where it is made, or further in, it was chosen: callers say nothing more.
    const std::vector<Site> made = context_.loading.MadeAt(loader);
    if (std::ranges::any_of(made, [&](const Site& each) { return each.function == site.function; })) return true;
    const std::span<const Site> callers = way.empty() ? context_.index.CallersOf(site.function) : way.first(1);
    if (callers.empty() || on_way.size() == kLongestWay || std::ranges::count(on_way, site.function) > 0) return true;
    on_way.push_back(site.function);
    const bool may = std::ranges::any_of(callers, [&](const Site& caller) {
      return MayDealOut(loader, caller, way.empty() ? way : way.subspan(1), tests, on_way);
    });
    on_way.pop_back();
    return may;
  }

  // `for x, v in zip(train, valid)`: of a loader whose batches no gradients are kept of, while another one's train, the order does not matter.
  bool IsOnlyLookedAt(const LoaderLoop& loop) const {
    const ir::ModuleId module_id = context_.program.funcs[loop.iterable.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    if (module[loop.loop].kind != ir::StmtKind::For) return false;
    ir::ExprId iterable = ir::AssignedOf(module[loop.loop]);
    ir::ExprId target = ir::ValueOf(module[loop.loop]);
    const auto called = [&](ir::ExprId expr) {
      const bool is_call = module[expr].kind == ir::ExprKind::Call && ir::ArgCount(module, module[expr]) > 0;
      return is_call ? context_.values.External(context_.facts.value(module_id, ir::CalleeOf(module[expr]))) : std::string_view();
    };
    const auto part = [&](ir::ExprId expr, uint32_t i) {
      const bool is_tuple = module[expr].kind == ir::ExprKind::Tuple && i < ir::Items(module, module[expr]).size();
      return is_tuple ? ir::Items(module, module[expr])[i] : ir::ExprId::None();
    };
    if (called(iterable) == "builtins.enumerate") {
      iterable = ir::ArgAt(module, module[iterable], 0).value;
      target = part(target, 1);
    }
    if (!target || called(iterable) != "builtins.zip") return false;
    bool is_among = false;
    for (uint32_t i = 0; i < ir::ArgCount(module, module[iterable]); ++i) {
      const ValueId each = context_.facts.value(module_id, ir::ArgAt(module, module[iterable], i).value);
      const std::vector<ValueId> loaders = each ? context_.loading.LoadersIn(each) : std::vector<ValueId>();
      if (std::ranges::count(loaders, loop.loader) == 0) continue;
      const ir::ExprId batch = part(target, i);
      if (!batch || IsUsedWithGradients(module_id, loop.loop, batch)) return false;
      is_among = true;
    }
    return is_among;
  }

  bool IsUsedWithGradients(ir::ModuleId module_id, ir::StmtId loop, ir::ExprId batch) const {
    const ir::Module& module = context_.program.modules[module_id];
    return std::ranges::any_of(context_.index.ExprsOf(module_id, ir::ExprKind::Name), [&](ir::ExprId id) {
      const bool is_inside = module[id].begin > module[ir::AssignedOf(module[loop])].end && module[id].end <= module[loop].end;
      if (!is_inside || !ir::Mentions(module, batch, ir::NameOf(module[id]))) return false;
      const Site use{FunctionAround(context_, module_id, id), id};
      return !use.function || !objects::AreGradientsOff(context_.program, context_.values, context_.facts, context_.index, use);
    });
  }

  // The call that tells the sampler in each step of the epoch or behind these, after the order was drawn for the first one. None if another
  // call tells it.
  std::optional<Site> ToldTooLate(const LoaderLoop& loop, ir::ModuleId program) {
    if (loop.is_made_elsewhere || loop.is_endless || loop.begins_anew || loop.hands_on || loop.is_choice || loop.caller.function || !loop.way.empty()) return std::nullopt;
    const std::vector<ValueId> samplers = context_.loading.DistributedSamplersOf(loop.loader);
    std::optional<Site> late;
    for (const Told& told : told_) {
      const bool is_of_loop = Tells(told, loop.loader, program) ||
                              std::ranges::any_of(samplers, [&](ValueId sampler) { return Tells(told, sampler, program); });
      if (!is_of_loop) continue;
      if (late || !IsBehindDraw(told.site, loop)) return std::nullopt;
      late = told.site;
    }
    const bool shuffles = std::ranges::any_of(samplers, [&](ValueId sampler) { return Shuffles(sampler, program); });
    return shuffles ? late : std::nullopt;
  }

  // A statement of the loop itself or one that follows it, with a number that the loop does not change: one for the next epoch may well be told
  // there.
  bool IsBehindDraw(const Site& call, const LoaderLoop& loop) const {
    const ir::ModuleId module_id = context_.program.funcs[call.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ir::StmtId stmt = context_.index.StatementOf(call);
    const ir::StmtId draw = DrawnBy(loop);
    if (call.function != loop.iterable.function || !stmt || !draw) return false;
    if (module[call.expr].kind != ir::ExprKind::Call || ir::ArgCount(module, module[call.expr]) != 1) return false;
    const ir::Tree& tree = context_.index.tree(module_id);
    const bool follows = module[stmt].begin >= module[draw].end && tree.Parent(stmt) == tree.Parent(draw);
    if (!follows && (loop.by_next || tree.Parent(stmt) != loop.loop)) return false;
    const ir::Expr& epoch = module[ir::ArgAt(module, module[call.expr], 0).value];
    return epoch.kind == ir::ExprKind::Name && CountsEpochsFromZero(call, ir::NameOf(epoch)) && !IsChangedIn(module, loop.loop, ir::NameOf(epoch));
  }

  // The statement that draws the order. A loader without workers draws it when it is asked for the first batch; with workers, for an iterator
  // that is made of it, it draws it there.
  ir::StmtId DrawnBy(const LoaderLoop& loop) const {
    if (!loop.by_next) return loop.loop;
    const ValueId workers = context_.values.MadeWith(loop.loader, "num_workers");
    return workers && context_.values.Int(workers).value_or(0) > 0 ? context_.index.StatementOf(loop.iterable) : ir::StmtId::None();
  }

  static bool IsChangedIn(const ir::Module& module, ir::StmtId loop, base::NameId name) {
    bool is_changed = false;
    const auto look = [&](const ir::Stmt& each) {
      ir::ForEachBinding(module, each, [&](const ir::Binding& binding) { is_changed = is_changed || binding.name == name; });
    };
    look(module[loop]);
    ir::ForEachBlock(module, module[loop], [&](ir::BlockId block) { ir::ForEachStmtIn(module, block, look); });
    return is_changed;
  }

  // `for epoch in range(epochs)`: a sampler begins with the order of epoch 0.
  bool CountsEpochsFromZero(const Site& call, base::NameId name) const {
    const ir::ModuleId module_id = context_.program.funcs[call.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    return std::ranges::any_of(context_.index.LoopsAround(call), [&](ir::StmtId loop) {
      if (module[loop].kind != ir::StmtKind::For) return false;
      const ir::Expr& target = module[ir::ValueOf(module[loop])];
      const ValueId range = context_.facts.value(module_id, ir::AssignedOf(module[loop]));
      if (target.kind != ir::ExprKind::Name || ir::NameOf(target) != name || !range || context_.values[range].kind != ValueKind::Derived) return false;
      const base::NameId made_by = context_.facts.values_store.OperationOf(context_.values[range]);
      const auto ends = context_.facts.values_store.Kids(range);
      if (!made_by || context_.program.text(made_by) != "builtins.range" || ends.empty()) return false;
      return ends.size() == 1 || context_.values.Int(ends[0]).value_or(0) == 0;
    });
  }

  void ReportLate(const LoaderLoop& loop, const Site& call) {
    if (std::ranges::count(seen_, SpanOf(context_, call)) > 0) return;
    seen_.push_back(SpanOf(context_, call));
    Finding finding = FindingAt(context_, kAR301, Severity::Warning, Confidence::Likely, call,
                                {"`set_epoch` comes too late: the order of the epoch is drawn before its first step", {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"tells the next epoch at best", {}});
    AddLabel(finding, SpanOf(context_, loop.place()), LabelRole::Why, {"draws the order, the same in the first two epochs", {}});
    finding.help = {"call it before this loop", {}};
    Add(call, std::move(finding));
  }

  // One finding a loader, however many places ask a generator for its next batch.
  bool IsDrawnElsewhere(const LoaderLoop& loop) {
    return loop.caller.function && !drawn_.insert(loop.loader.index).second;
  }

  // `model.eval()`, and gradients without a step of an optimizer: they are of the inputs, which an attack changes.
  bool IsOfInputs(const LoaderLoop& loop) {
    const FuncId function = loop.iterable.function;
    if (loop.hands_on || context_.training.Steps(context_.program.funcs[function].module, loop.loop)) return false;
    if (!evaluations_) evaluations_.emplace(context_.program, context_.knowledge, context_.facts, context_.index, context_.loading, context_.training, context_.launch);
    return evaluations_->ModeAt(function, loop.loop) == objects::ModelMode::Evaluation;
  }

  // `loaders[phase]`: a loop that draws from several loaders. Where the sampler of another one is told, or another one shuffles by itself, that is
  // the one of the training; of one for an evaluation the order does not matter.
  bool IsOfEvaluation(const LoaderLoop& loop, ir::ModuleId program) {
    if (!loop.is_choice) return false;
    return std::ranges::any_of(context_.loading.loops(), [&](const LoaderLoop& other) {
      if (!(other.iterable == loop.iterable) || other.loader == loop.loader || other.way != loop.way) return false;
      const std::vector<ValueId> samplers = context_.loading.DistributedSamplersOf(other.loader);
      const ValueId shuffle = context_.values.MadeWith(other.loader, "shuffle");
      return (samplers.empty() && shuffle && !context_.values.IsFalse(shuffle)) ||
             std::ranges::any_of(samplers, [&](ValueId sampler) { return Contains(told_, sampler, program); });
    });
  }

  // One finding for a method and its overrides: `set_epoch` is missing where the epochs are counted.
  bool IsToldOfOverride(const LoaderLoop& loop, ValueId sampler, const Site& epochs) {
    const base::NameId method = context_.program.function(loop.place().function).name;
    const bool is_of_class = static_cast<bool>(context_.program.funcs[loop.place().function].owner);
    return is_of_class && epochs.function != loop.place().function &&
           !methods_.insert({sampler.index, epochs.function.index, epochs.expr.index, method.index}).second;
  }

  // What is gone over: of a generator that the caller has, what stands there.
  Site Shown(const LoaderLoop& loop) const {
    const Site& place = loop.place();
    return loop.caller.function ? Site{place.function, LoaderExpr(context_.program.module_of(place.function), place.expr)} : place;
  }

  // A field that also holds what Accelerate made of the loader. That counts its rounds and tells its sampler: `DataLoaderShard.__iter__`
  // calls `set_epoch` (accelerate/data_loader.py), which since 0.30 looks behind `BatchSamplerShard` as well.
  bool IsPreparedElsewhere(const LoaderLoop& loop) const {
    const ValueId value = context_.facts.value(context_.program.funcs[loop.iterable.function].module, loop.iterable.expr);
    return std::ranges::any_of(context_.values.Leaves(value), [&](ValueId leaf) { return context_.values.IsA(leaf, "accelerate.Prepared"); });
  }

  // A call in the loop over the epochs tells a sampler that was made at the same place: with what it was made is known of one of them alone.
  bool IsToldInRounds(ValueId sampler, const Site& epochs) const {
    const std::vector<Site> made = context_.loading.MadeAt(sampler);
    return std::ranges::any_of(told_, [&](const Told& told) {
      const std::vector<ir::StmtId> loops = context_.index.LoopsAround(told.site);
      const bool is_in_rounds = told.site.function == epochs.function && std::ranges::any_of(loops, [&](ir::StmtId loop) { return HeadExpr(epochs.function, loop) == epochs.expr; });
      if (!is_in_rounds) return false;
      const std::vector<Site> of_told = context_.loading.MadeAt(told.object);
      return std::ranges::any_of(of_told, [&](const Site& place) {
        return std::ranges::any_of(made, [&](const Site& other) { return other.function == place.function && other.expr == place.expr; });
      });
    });
  }

  // The sampler that shuffles and that nobody tells the epoch.
  std::optional<ValueId> ForgottenSampler(ValueId loader, ir::ModuleId module, const Site& epochs) {
    for (const ValueId sampler : context_.loading.DistributedSamplersOf(loader)) {
      if (Contains(told_, sampler, module) || IsToldInRounds(sampler, epochs) || IsMadeElsewhere(sampler, module)) return std::nullopt;
      // A sampler of the project's own may shuffle, or not, as it likes.
      if (context_.facts.values_store[sampler].kind != ValueKind::Object) return std::nullopt;
      if (!Shuffles(sampler, module) || HasNoOrder(sampler)) continue;
      const bool is_other_order = IsSeededAnew(sampler, module) || IsOfDataOfRound(sampler, module, epochs);
      return is_other_order ? std::nullopt : std::optional(sampler);
    }
    return std::nullopt;
  }

  // By another program only, which shares the function that goes over the loader.
  bool IsMadeElsewhere(ValueId sampler, ir::ModuleId program) {
    const std::vector<Site> made = context_.loading.MadeAt(sampler);
    return !made.empty() && std::ranges::none_of(made, [&](const Site& site) {
      return IsOfProgram(program, context_.program.funcs[site.function].module);
    });
  }

  // `def __getitem__(self, index): return self.draw()`: samples are drawn anew each time, in whatever order they are asked for.
  bool HasNoOrder(ValueId sampler) const {
    const ValueId data = context_.values.MadeWith(sampler, "dataset");
    const std::vector<ValueId> leaves = data ? context_.values.Leaves(data) : std::vector<ValueId>();
    return !leaves.empty() && std::ranges::all_of(leaves, [&](ValueId leaf) { return IgnoresIndex(leaf); });
  }

  bool IgnoresIndex(ValueId data) const {
    const variation::Value& value = context_.facts.values_store[data];
    const base::NameId name = context_.program.names->Find("__getitem__");
    if (value.kind != ValueKind::Instance || !name) return false;
    const FuncId method = context_.program.FindMethod(value.class_id(), name);
    if (!method || context_.program.function(method).params.size() != 2) return false;
    const ir::ModuleId module_id = context_.program.funcs[method].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Function& function = context_.program.function(method);
    return std::ranges::none_of(context_.index.ExprsOf(module_id, ir::ExprKind::Name), [&](ir::ExprId id) {
      return module[id].begin >= function.begin && module[id].end <= function.end && ir::NameOf(module[id]) == function.params[1].name;
    });
  }

  bool Shuffles(ValueId sampler, ir::ModuleId program) {
    const ValueId shuffle = context_.values.MadeWith(sampler, "shuffle");
    if (!shuffle) return true;
    return std::ranges::all_of(context_.values.Leaves(shuffle), [&](ValueId leaf) { return context_.values.IsTrue(leaf) || IsOpenSetting(sampler, leaf, program); });
  }

  // `shuffle=args.shuffle`: there are jobs that shuffle, unless none sets an option that is off.
  bool IsOpenSetting(ValueId sampler, ValueId shuffle, ir::ModuleId program) {
    if (!settings_.AreAll(shuffle, nullptr)) return false;
    return std::ranges::none_of(context_.loading.MadeAt(sampler), [&](const Site& made) {
      const ir::ModuleId module = context_.program.funcs[made.function].module;
      return IsOfProgram(program, module) && context_.settings.IsAlways(module, shuffle, 0);
    });
  }

  bool HangsOnSetting(ValueId sampler, ir::ModuleId program) {
    const ValueId shuffle = context_.values.MadeWith(sampler, "shuffle");
    return shuffle && std::ranges::any_of(context_.values.Leaves(shuffle), [&](ValueId leaf) { return IsOpenSetting(sampler, leaf, program); });
  }

  // A call of `set_epoch` on an object that nothing is known of, in a file that has to do with this loop.
  bool SomebodyElseMayTell(const LoaderLoop& loop, ValueId sampler, ir::ModuleId program) {
    std::vector<ir::ModuleId> involved = {context_.program.funcs[loop.place().function].module};
    const auto add = [&](const Site& site) {
      const ir::ModuleId module = context_.program.funcs[site.function].module;
      if (IsOfProgram(program, module)) involved.push_back(module);
    };
    // A generator that others draw from may tell the loader that it was handed.
    add(loop.iterable);
    for (const Site& made : context_.loading.MadeAt(loop.loader)) add(made);
    for (const Site& made : context_.loading.MadeAt(sampler)) add(made);
    for (const Site& caller : context_.index.CallersOf(loop.place().function)) add(caller);
    return std::ranges::any_of(involved, [&](ir::ModuleId module) { return std::ranges::count(unclear_, module) > 0; });
  }

  bool SomebodyTellsSomething(ir::ModuleId program) {
    return std::ranges::any_of(unclear_, [&](ir::ModuleId unclear) { return IsOfProgram(program, unclear); });
  }

  // In the function of the site itself.
  std::optional<Site> EpochLoopIn(const Site& site) const {
    const ir::Tree& tree = context_.index.tree(context_.program.funcs[site.function].module);
    for (const ir::StmtId loop : context_.index.LoopsAround(site)) {
      if (RunsOften(site.function, loop) && !tree.LeavesBehind(loop, context_.index.StatementOf(site))) return Site{site.function, HeadExpr(site.function, loop)};
    }
    return std::nullopt;
  }

  // Where others hand the function of the loop other loaders, only the calls that hand it this one count.
  std::optional<Site> EpochLoopOf(const LoaderLoop& loop) const {
    Site at = loop.iterable;
    const Site own = {at.function, HeadExpr(at.function, loop.loop)};
    if (loop.is_endless || loop.begins_anew) return RunsOften(at.function, loop.loop) ? std::optional(own) : std::nullopt;
    if (loop.is_made_elsewhere) return std::nullopt;
    for (const Site& call : loop.way) {
      if (const std::optional<Site> found = EpochLoopIn(at)) return found;
      at = call;
    }
    return EpochLoop(at);
  }

  // The loop over the epochs: around the loop over batches, or around a call that leads there.
  std::optional<Site> EpochLoop(const Site& site, int depth = 0) const {
    constexpr int kLongestWay = 5;
    if (const std::optional<Site> found = EpochLoopIn(site)) return found;
    if (depth == kLongestWay) return std::nullopt;
    for (const Site& caller : context_.index.CallersOf(site.function)) {
      if (caller.function == site.function) continue;
      if (const std::optional<Site> found = EpochLoop(caller, depth + 1)) return found;
    }
    return std::nullopt;
  }

  ir::ExprId HeadExpr(FuncId function, ir::StmtId loop) const { return HeadOfLoop(context_, function, loop); }

  bool RunsOften(FuncId function, ir::StmtId loop) const {
    const ir::ExprId head = HeadExpr(function, loop);
    const ValueId count = context_.facts.trip_count(function, head);
    if (!count) return true;
    // `def fit(loader, epochs=1)`: all that callers ask for.
    return std::ranges::any_of(context_.values.Leaves(count), [&](ValueId trips) { return context_.values.Int(trips).value_or(2) > 1; });
  }

  void Report(const LoaderLoop& loop, ValueId sampler, const Site& epochs, ir::ModuleId program) {
    const bool is_stuck = Contains(stuck_, sampler, program) || Contains(stuck_, loop.loader, program);
    const bool is_open = loop.is_endless || loop.begins_anew || IsOfEndlessGenerator(epochs) || SomebodyTellsSomething(program);
    Finding finding = FindingAt(
        context_, kAR301, Severity::Error, is_open ? Confidence::Likely : Confidence::Certain, loop.place(),
        {is_stuck ? "every epoch over `{}` has the same shuffle order: `set_epoch` tells its `DistributedSampler` the same number each time"
                  : "every epoch over `{}` has the same shuffle order: nothing calls `set_epoch` on its `DistributedSampler`",
         {Quoted(context_, Shown(loop))}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"the same order in each epoch", {}});
    const std::string_view rounds = loop.is_endless    ? "comes round to its first batch again"
                                    : loop.begins_anew ? "begins anew when all batches are used up"
                                                       : "each iteration of this loop is an epoch";
    // Who does not come by there does not come here.
    const LabelRole role = epochs.function == loop.place().function ? LabelRole::Note : LabelRole::Call;
    AddLabel(finding, SpanOf(context_, epochs), role, {rounds, {}});
    if (const std::optional<Site> made = MadeNear(loop, sampler)) AddLabel(finding, SpanOf(context_, *made), LabelRole::Why, {"this sampler seeds its shuffle with the epoch", {}});
    finding.help = {loop.is_endless ? "`itertools.cycle` repeats what it has seen: go over the loader anew each epoch, after `set_epoch(epoch)`"
                                    : "call `set_epoch(epoch)` on the sampler before each epoch",
                    {}};
    if (IsOneEpoch(epochs)) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::OptionSet));
    if (HangsOnSetting(sampler, program)) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::SettingUnknown));
    finding.witness = WitnessOf(sampler, epochs);
    std::optional<findings::Fix> fix = is_stuck || loop.is_endless || loop.begins_anew ? std::nullopt : FixOf(loop, sampler);
    if (fix) finding.fixes.push_back(std::move(*fix));
    Add(loop.place(), std::move(finding));
  }

  // `while True: yield from loader`: whether it comes to a second round is up to who takes the batches.
  bool IsOfEndlessGenerator(const Site& epochs) const {
    const bool is_endless = context_.program.module_of(epochs.function)[epochs.expr].kind == ir::ExprKind::Constant;
    return is_endless && context_.program.function(epochs.function).is_generator;
  }

  // `range(args.epochs)` of a program that is started with one epoch, by its settings or by all commands.
  bool IsOneEpoch(const Site& epochs) const {
    const ir::ModuleId module = context_.program.funcs[epochs.function].module;
    const ValueId range = context_.facts.value(module, epochs.expr);
    if (!range || context_.values[range].kind != ValueKind::Derived) return false;
    const base::NameId made_by = context_.facts.values_store.OperationOf(context_.values[range]);
    const auto ends = context_.facts.values_store.Kids(range);
    if (!made_by || context_.program.text(made_by) != "builtins.range" || ends.empty() || ends.size() > 2) return false;
    const bool is_written = context_.settings.Of(module, ends.back()).has_value();
    return (is_written || !context_.launch.LinesFor(module).empty()) && context_.settings.IsAlways(module, ends.back(), 1);
  }

  // Where the sampler is made: in the file of the loop, if there is such a place, or else in its program.
  std::optional<Site> MadeNear(const LoaderLoop& loop, ValueId sampler) {
    const ir::ModuleId own = context_.program.funcs[loop.place().function].module;
    std::optional<Site> near;
    for (const Site& made : context_.loading.MadeAt(sampler)) {
      const ir::ModuleId module = context_.program.funcs[made.function].module;
      if (module == own) return made;
      if (!near && IsOfProgram(own, module)) near = made;
    }
    return near;
  }

  witness::Witness WitnessOf(ValueId sampler, const Site& epochs) const {
    constexpr uint32_t kFewEpochs = 3, kManyEpochs = 64;
    witness::EpochOrder scenario;
    scenario.epochs = NumberWithin(context_, context_.facts.trip_count(epochs.function, epochs.expr), 2, kManyEpochs, kFewEpochs);
    scenario.seed = NumberWithin(context_, context_.values.MadeWith(sampler, "seed"), 0, UINT32_MAX, 0);
    return ScenarioWitness(OneNode(), witness::Effect::Semantic, scenario);
  }

  std::optional<findings::Fix> FixOf(const LoaderLoop& loop, ValueId sampler) const {
    const ir::ModuleId module_id = context_.program.funcs[loop.iterable.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const std::optional<Place> place = WhereEpochIsKnown(loop);
    if (!place || !BeginsLine(context_, module_id, place->before)) return std::nullopt;
    const ir::ExprId loader = LoaderExpr(module, loop.iterable.expr);
    const bool is_plain = module[loader].kind == ir::ExprKind::Name || module[loader].kind == ir::ExprKind::Attribute;
    if (!is_plain) return std::nullopt;
    // `zip(train, valid)`: the first is another loader.
    const ValueId told = context_.facts.value(module_id, loader);
    const std::vector<ValueId> loaders = told ? context_.loading.LoadersIn(told) : std::vector<ValueId>();
    if (!loaders.empty() && std::ranges::count(loaders, loop.loader) == 0) return std::nullopt;
    const std::string object = std::string(TextOf(context_, module_id, loader)) + ".sampler";
    const std::string call = object + ".set_epoch(" + place->epoch + ")";
    const std::string lines =
        IsAlwaysThere(sampler) ? call : "if hasattr(" + object + ", \"set_epoch\"):\n    " + call;
    return MakeFix("tell the sampler the epoch", Applicability::Safe,
                   {InsertBefore(context_, module_id, place->before, lines)});
  }

  struct Place {
    ir::StmtId before;
    std::string epoch;
  };

  // A place before the loop over batches where a variable holds the number of the epoch.
  std::optional<Place> WhereEpochIsKnown(const LoaderLoop& loop) const {
    const ir::Module& module = context_.program.module_of(loop.iterable.function);
    for (const ir::StmtId outer : context_.index.LoopsAround(loop.iterable)) {
      const ir::Stmt& stmt = module[outer];
      if (stmt.kind != ir::StmtKind::For || module[ir::ValueOf(stmt)].kind != ir::ExprKind::Name) continue;
      const std::string_view target = context_.program.text(ir::NameOf(module[ir::ValueOf(stmt)]));
      if (target.find("epoch") == std::string_view::npos) continue;
      return Place{module.statements(ir::BodyOf(stmt)).front(), std::string(target)};
    }
    for (const ir::Param& param : context_.program.function(loop.iterable.function).params) {
      const std::string_view name = context_.program.text(param.name);
      if (name == "epoch" || name == "epoch_idx" || name == "epoch_id") return Place{loop.loop, std::string(name)};
    }
    return std::nullopt;
  }

  // `enumerate(tqdm(loader))`: the loader itself.
  ir::ExprId LoaderExpr(const ir::Module& module, ir::ExprId expr) const {
    while (module[expr].kind == ir::ExprKind::Call && ir::ArgCount(module, module[expr]) > 0) {
      expr = ir::ArgAt(module, module[expr], 0).value;
    }
    return expr;
  }

  // Whether the loader gets the sampler on every path: a variable that is assigned once.
  bool IsAlwaysThere(ValueId sampler) const {
    for (const objects::KnownCall& call : context_.loading.made_samplers()) {
      if (!context_.values.MayBeSame(context_.loading.ValueOf(call), sampler)) continue;
      const ir::ModuleId module_id = context_.program.funcs[call.function].module;
      const ir::Tree& tree = context_.index.tree(module_id);
      const ir::ExprId parent = tree.Parent(call.expr);
      const bool is_choice = parent && context_.program.modules[module_id][parent].kind == ir::ExprKind::Conditional;
      const ir::StmtId around = tree.Parent(tree.StatementOf(call.expr));
      if (is_choice || (around && context_.program.modules[module_id][around].kind == ir::StmtKind::If)) return false;
    }
    return true;
  }

  const Context& context_;
  FindingSink& sink_;
  ProgramCalls calls_;
  objects::Settings settings_;
  std::vector<ToldByRanks> by_ranks_;
  std::vector<Told> told_;                               // samplers, and loaders of the project
  std::vector<Told> stuck_;                              // the same, told one number only
  std::vector<Told> lost_;                               // told, but without such a method
  std::vector<ir::ModuleId> unclear_;                    // where something unknown is told an epoch
  std::vector<source::Span> seen_;
  std::vector<Told> forgotten_;  // samplers that are reported, and the loop over epochs around
  std::optional<objects::EvaluationLoops> evaluations_;  // once they were asked for
  std::set<std::array<uint32_t, 4>> methods_;  // that were told of: sampler, function and head of the loop over epochs, name of the method
  std::set<uint32_t> drawn_;                             // loaders, by ValueId
};

void CheckMissingSetEpoch(const Context& context, FindingSink& sink) { Epochs(context, sink).Run(); }

}  // namespace

extern const Rule MissingSetEpoch = {
    .code = kAR301,
    .name = "missing-set-epoch",
    .severity = Severity::Error,
    .preview_in_part = kUncertainInPython,
    .languages = "Python",
    .summary = "shuffling DistributedSampler that is iterated over epochs without `set_epoch`",
    .explanation = R"md(
## What it finds

A training loop that goes several times over a loader whose `DistributedSampler` shuffles, where
nobody tells the sampler which epoch it is. The sampler is followed from where it is made, through
helpers, tuples, dictionaries, fields and parameters, into the loader and to the loop, also through
objects of the project that go over the loader they were made with (`Prefetcher(loader)`), and
generators that hand its batches on (`endless(loader)`), however many programs use them, and iterators
that are asked for the next batch, in fields and helpers too; the epochs may be a loop in the same
function or in a caller, or a `while step < total`, or be counted by nobody: a function that the loop calls
begins anew where the batches are used up (`except StopIteration: self.batches = iter(self.loader)`).
`itertools.cycle(loader)` keeps the batches of its
first round and repeats them. Also `set_epoch` called on the loader, which has no such method,
`set_epoch(0)`, which says the same each time, a call that only some ranks make, and one in or behind
the steps of an epoch, whose order is drawn before.

## Why it hurts

The sampler shuffles with a generator seeded by `seed + epoch`. Left alone its epoch stays 0, so all
epochs deal out the same batches in the same order, the same samples to the same rank. Nothing fails.
The model sees less variety than on one GPU, converges a little worse, and nobody finds out why.

## Wrong

```python
sampler = DistributedSampler(dataset)
loader = DataLoader(dataset, batch_size=32, sampler=sampler)
for epoch in range(epochs):
    for batch in loader:
        train_step(batch)
```

## Right

```python
sampler = DistributedSampler(dataset)
loader = DataLoader(dataset, batch_size=32, sampler=sampler)
for epoch in range(epochs):
    sampler.set_epoch(epoch)
    for batch in loader:
        train_step(batch)
```

## When it is silent

* The sampler does not shuffle, or there is one epoch only. Where a setting says whether it shuffles the
  finding assumes that a job does, unless the setting is off and no command turns it on.
* Nothing is trained in the loop: the order of an evaluation does not matter, also of one that makes
  gradients of its inputs (an attack). The same holds for a loader beside another one (`zip(train, valid)`)
  whose batches are used without gradients, and for one that a loop gets where it does not train.
* The batches are read into a list once, before the epochs: `batches = list(loader)`.
* Each round makes a sampler over data of its own, to which the number of the round is handed.
* All commands, or the settings of the program, ask for one epoch (then it is *possible*).
* The loop runs only where the loader has no such sampler: in the `else` of `if distributed:`.
* The method is looked up (`getattr(loader.sampler, "set_epoch", None)`), or its work done by hand:
  each round writes `sampler.epoch` or `sampler.seed`, or makes a sampler with another `seed`.
* A framework prepares the loader and sets the epoch: Accelerate, Lightning, the Trainer of Transformers.
* The loader or sampler is a class of the project's own, or `set_epoch` is called on an unknown object.
* The data set draws its samples anew and does not look at the index that it is asked for.

## Fix

`--fix` inserts `set_epoch` at the start of the epoch, where a variable holds its number; where the
sampler is there in distributed jobs only, behind a test. A call on the loader goes to its sampler.

## Proof

`allranks verify` counts how many permutations of several epochs are equal, with and without `set_epoch`.
)md",
    .check = CheckMissingSetEpoch,
    .scenario = Scenario::EpochOrder,
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
