#include "rules/data/same_noise.h"

#include <algorithm>
#include <array>
#include <optional>

#include "analyzer/objects/job_runs.h"
#include "analyzer/objects/open_params.h"
#include "analyzer/objects/rank_words.h"
#include "analyzer/objects/ways.h"
#include "rules/data/lightning_runs.h"
#include "rules/seed_places.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;
using variation::ValueId;

class SameNoise {
 public:
  SameNoise(const Context& context, std::string_view code, FindingSink& sink)
      : context_(context), code_(code), sink_(sink), calls_(context), lightning_(context),
        runs_(context.program, context.knowledge, context.facts, context.index, context.launch, context.loading),
        ways_(context.program, context.knowledge, context.facts, context.index, context.guards), places_(SeedPlaces(context)) {}

  void Run() {
    for (const KnownCall& call : context_.index.known_calls()) {
      if (call.entry->Has(knowledge::Role::DrawNoise) && IsOfCommonGenerator(call)) draws_.push_back(&call);
    }
    if (draws_.empty()) return;
    for (const SeedPlace& place : places_) Visit(place);
  }

 private:
  void Visit(const SeedPlace& place) {
    if (!IsAlike(place) || !IsRunByAll(place.site) || IsForAWhile(place.site) || IsForAWhile(place.helper)) return;
    const ir::ModuleId file = ModuleOf(place.site);
    if (IsReported(file) || IsSeededByRank(file) || IsOfModelParallel(file)) return;
    const KnownCall* fit = lightning_.FitAfter(place.site);
    if (fit == nullptr && !WrapsModel(file)) return;
    const KnownCall* draw = fit == nullptr ? DrawAfter(place) : DrawInFit(place, *fit);
    if (draw == nullptr) return;
    reported_.push_back(file);
    Report(place, *draw, fit != nullptr && !lightning_.KnowsModule(*fit));
  }

  // Once for each program of the checkout.
  bool IsReported(ir::ModuleId file) {
    return std::ranges::any_of(reported_, [&](ir::ModuleId other) { return calls_.IsOneProgram(file, other); });
  }

  // In `with torch.random.fork_rng():` the generator goes on afterwards as if nothing had been.
  bool IsForAWhile(const Site& site) const {
    const ir::ModuleId module_id = ModuleOf(site);
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Tree& tree = context_.index.tree(module_id);
    for (ir::StmtId at = tree.StatementOf(site.expr); at; at = tree.Parent(at)) {
      if (module[at].kind != ir::StmtKind::With) continue;
      for (const ir::WithItem& item : ir::WithItemsOf(module, module[at])) {
        if (module[item.context].kind != ir::ExprKind::Call) continue;
        const ValueId callee = context_.facts.value(module_id, ir::CalleeOf(module[item.context]));
        if (callee && context_.values.External(callee) == "torch.random.fork_rng") return true;
      }
    }
    return false;
  }

  bool IsAlike(const SeedPlace& place) {
    const KnownCall* call = context_.index.KnownCallAt(place.helper);
    const bool is_by_device = call != nullptr && context_.index.Arg(*call, "device_specific");
    return !is_by_device && !context_.values.IsNone(place.seed) && !VariesByRank(place.seed) && stored_.IsAlike(ModuleOf(place.site), place.seed);
  }

  bool VariesByRank(ValueId seed) const {
    return context_.values.AnyPart(seed, [&](ValueId part) { return !context_.facts.values_store[part].axes.empty() || SpeaksOfRanks(part); });
  }

  // `args.rank`, whatever stores it; a parameter `local_rank`, whoever passes it.
  bool SpeaksOfRanks(ValueId part) const {
    const variation::Value& value = context_.values[part];
    base::NameId name;
    if (value.kind == variation::ValueKind::Derived && value.kid_count == 1) name = context_.facts.values_store.OperationOf(value);
    if (value.kind == variation::ValueKind::Param) name = objects::NameOfOpenParam(context_.program, context_.facts, part);
    return name && objects::RankWords::IsWord(context_.program.text(name));
  }

  bool IsRunByAll(const Site& site) const {
    return runs_.IsRunByStarted(site) || (runs_.IsRunByRanks(site) && AreAllRanksAt(context_, site));
  }

  // Not from a generator of its own.
  bool IsOfCommonGenerator(const KnownCall& call) const {
    const ValueId generator = context_.index.Arg(call, "generator");
    const bool is_given = generator && !context_.values.IsNone(generator) && KeywordOf(context_, ModuleOf({call.function, call.expr}), call.expr, "generator");
    // First values of parameters are drawn where an object is made, whenever that is.
    const bool is_of_object = context_.program.text(context_.program.function(call.function).name) == "__init__";
    return !is_given && !is_of_object && !HandlesGradients(call.function) && !IsMeantForAll(call) &&
           context_.launch.Of(call.function) != objects::RunBy::Tests;
  }

  // `drawn.to(device)`
  bool IsMovedFrom(ValueId value, ValueId drawn) const {
    constexpr int kMostMoves = 4;
    for (int moves = 0; value && moves <= kMostMoves; ++moves) {
      if (value == drawn) return true;
      if (context_.values[value].kind != variation::ValueKind::Derived || context_.values[value].kid_count == 0) return false;
      value = context_.facts.values_store.Kids(value)[0];
    }
    return false;
  }

  // What draws it seeds for it each time, or sends it to the other ranks.
  bool IsMeantForAll(const KnownCall& draw) const {
    const ValueId drawn = context_.facts.value(ModuleOf({draw.function, draw.expr}), draw.expr);
    return std::ranges::any_of(context_.index.known_calls(), [&](const KnownCall& call) {
      if (call.function != draw.function) return false;
      const bool seeds = call.entry->Has(knowledge::Role::Seed);
      if (seeds && context_.index.LoopsAround({call.function, call.expr}) == context_.index.LoopsAround({draw.function, draw.expr})) return true;
      const base::NameId tensor = call.entry->has_operation ? call.entry->operation.tensor_param : base::NameId();
      const ValueId sent = tensor && drawn ? context_.index.Arg(call, context_.program.text(tensor)) : ValueId::None();
      return sent && IsMovedFrom(sent, drawn);
    });
  }

  // What a function adds to gradients that were reduced already must be the same on all ranks.
  bool HandlesGradients(variation::FuncId function) const {
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    const ir::Module& module = context_.program.modules[module_id];
    return std::ranges::any_of(context_.index.ExprsOf(module_id, ir::ExprKind::Attribute), [&](ir::ExprId id) {
      return context_.program.text(ir::AttrOf(module[id])) == "grad" && FunctionAround(context_, module_id, id) == function;
    });
  }

  // Whether ranks train one model on data of their own.
  bool WrapsModel(ir::ModuleId file) {
    return HasCall(file, [&](const KnownCall& call) {
      const std::string_view kind = call.entry->has_operation ? context_.program.text(call.entry->operation.kind) : std::string_view();
      return kind == "module_broadcast" || kind == "broadcast_parameters";
    });
  }

  // Some other place gives each rank its own seed.
  bool IsSeededByRank(ir::ModuleId file) {
    return HasCall(file, [&](const KnownCall& call) { return GivesRanksTheirOwn(call); }) ||
           std::ranges::any_of(places_, [&](const SeedPlace& place) { return VariesByRank(place.seed) && calls_.IsOneProgram(file, ModuleOf(place.site)); });
  }

  bool GivesRanksTheirOwn(const KnownCall& call) const {
    return std::ranges::any_of(call.entry->roles, [&](const knowledge::RoleOf& role) {
      if (role.role != knowledge::Role::Seed) return false;
      const ValueId seed = context_.index.Arg(call, context_.program.text(role.param));
      return seed && (VariesByRank(seed) || context_.index.Arg(call, "device_specific"));
    });
  }

  // Ranks that hold parts of one model must draw alike.
  bool IsOfModelParallel(ir::ModuleId file) {
    return calls_.HasAny(file, {"megatron.", "torch.distributed.tensor", "torch.distributed.device_mesh", "deepspeed.pipe.", "deepspeed.runtime.pipe."});
  }

  template <class Wanted>
  bool HasCall(ir::ModuleId file, Wanted wanted) {
    return std::ranges::any_of(context_.index.known_calls(), [&](const KnownCall& call) {
      return wanted(call) && calls_.IsOneProgram(file, ModuleOf({call.function, call.expr}));
    });
  }

  // Noise that a training step draws in a run which seeds so: some function comes to both. The one that is the fewest calls away.
  const KnownCall* DrawAfter(const SeedPlace& place) {
    std::vector<variation::FuncId> runs;
    for (const Site& site : context_.index.WaysTo(place.site)) runs.push_back(site.function);
    return Nearest([&](const KnownCall& draw) {
      if (!calls_.IsOneProgram(ModuleOf(place.site), ModuleOf({draw.function, draw.expr}))) return SIZE_MAX;
      return CallsToStep(draw, runs);
    });
  }

  // The same where Lightning runs the step, of a module that it may have got from a settings file.
  const KnownCall* DrawInFit(const SeedPlace& place, const KnownCall& fit) {
    const bool is_open = !lightning_.KnowsModule(fit) && lightning_.MayBeOfSettings(fit);
    return Nearest([&](const KnownCall& draw) {
      size_t calls = SIZE_MAX;
      ways_.Any({draw.function, draw.expr}, [&](std::span<const Site> way) {
        const ir::ModuleId file = ModuleOf(way.front());
        const bool may_be_run = calls_.IsOneProgram(ModuleOf(place.site), file) || (is_open && !IsSeededByRank(file));
        if (!may_be_run || !lightning_.IsStep(way.front().function, fit) || AsksForWhatIsNone(way)) return false;
        calls = way.size();
        return true;
      });
      return calls;
    });
  }

  // The draw that is the fewest calls away; one that drops something in training only where there is no other.
  template <class CallsTo>
  const KnownCall* Nearest(CallsTo calls_to) {
    const KnownCall* nearest = nullptr;
    auto fewest = std::pair(true, SIZE_MAX);
    for (const KnownCall* draw : draws_) {
      const size_t calls = calls_to(*draw);
      if (calls == SIZE_MAX) continue;
      const auto distance = std::pair(IsDropout(*draw), calls);
      if (distance >= fewest) continue;
      fewest = distance;
      nearest = draw;
    }
    return nearest;
  }

  // `if self.training:` decides of the draw, here or in what hands it over.
  bool IsDropout(const KnownCall& draw) const {
    const auto asks = [&](const Site& site) {
      return std::ranges::any_of(context_.guards.Of(site), [&](const objects::Guard& guard) {
        const ValueId test = context_.facts.value(ModuleOf(site), guard.test);
        return test && context_.values.AnyPart(test, [&](ValueId part) { return context_.facts.values_store.IsMode(part); });
      });
    };
    if (asks({draw.function, draw.expr})) return true;
    const auto callers = context_.index.CallersOf(draw.function);
    return !callers.empty() && std::ranges::all_of(callers, asks);
  }

  // How many calls lead to a draw from one of these functions, through a loop that trains.
  size_t CallsToStep(const KnownCall& draw, const std::vector<variation::FuncId>& runs) const {
    size_t calls = SIZE_MAX;
    ways_.Any({draw.function, draw.expr}, [&](std::span<const Site> way) {
      const bool is_of_run = std::ranges::find(runs, way.front().function) != runs.end() && context_.launch.Of(way.front()) == objects::RunBy::AllRanks;
      if (!is_of_run || !IsInStep(way) || !IsWalkedByAll(way) || AsksForWhatIsNone(way)) return false;
      calls = way.size();
      return true;
    });
    return calls;
  }

  // `if self.remap is not None:`, where nobody is seen to make the object with anything but None.
  bool AsksForWhatIsNone(std::span<const Site> way) const {
    return std::ranges::any_of(way, [&](const Site& site) {
      return std::ranges::any_of(context_.guards.Of(site), [&](const objects::Guard& guard) {
        const ValueId test = context_.facts.value(ModuleOf(site), guard.test);
        if (!test || context_.values[test].kind != variation::ValueKind::Compare) return false;
        const auto op = context_.values[test].compare_op();
        const auto kids = context_.facts.values_store.Kids(test);
        const bool asks = (op == ir::CompareOp::IsNot && guard.holds) || (op == ir::CompareOp::Is && !guard.holds);
        const ir::Module& module = context_.program.modules[ModuleOf(site)];
        const ir::Expr& asked = module[guard.test];
        const bool is_field = asked.kind == ir::ExprKind::Compare && module[ir::CalleeOf(asked)].kind == ir::ExprKind::Attribute;
        return asks && is_field && context_.values.IsNone(kids[1]) && IsNeverSet(site.function, ir::AttrOf(module[ir::CalleeOf(asked)]));
      });
    });
  }

  // A field that keeps an argument of the constructor, which is None unless it is passed; at most a settings file may pass it.
  bool IsNeverSet(variation::FuncId method, base::NameId field) const {
    const base::NameId name = context_.program.names->Find("__init__");
    const binding::ClassId owner = context_.program.funcs[method].owner;
    const variation::FuncId init = owner && name ? context_.program.FindMethod(owner, name) : variation::FuncId::None();
    if (!init) return false;
    const ir::ModuleId file = context_.program.funcs[init].module;
    const ir::Module& module = context_.program.modules[file];
    const auto& params = context_.program.function(init).params;
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::Stmt& stmt = module[ir::StmtId{i}];
      if (stmt.kind != ir::StmtKind::Assign || context_.index.FunctionOf(file, ir::StmtId{i}) != init) continue;
      const ir::ExprId kept = ir::AssignedOf(stmt);
      if (!kept || module[kept].kind != ir::ExprKind::Name) continue;
      for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
        if (module[target].kind != ir::ExprKind::Attribute || ir::AttrOf(module[target]) != field) continue;
        const auto param = std::ranges::find(params, ir::NameOf(module[kept]), &ir::Param::name);
        return param != params.end() && IsLeftAtNone(init, static_cast<uint32_t>(param - params.begin()));
      }
    }
    return false;
  }

  bool IsLeftAtNone(variation::FuncId init, uint32_t param) const {
    const ir::ExprId usual = context_.program.function(init).params[param].default_value;
    if (!usual || !context_.values.IsNone(context_.facts.value(context_.program.funcs[init].module, usual))) return false;
    const ValueId passed = context_.facts.param(init, param);
    if (!passed) return true;
    const std::vector<ValueId> leaves = context_.values.Leaves(passed);
    return std::ranges::all_of(leaves, [&](ValueId leaf) {
      const variation::ValueKind kind = context_.values[leaf].kind;
      return context_.values.IsNone(leaf) || kind == variation::ValueKind::Unknown || kind == variation::ValueKind::Param;
    });
  }

  bool IsInStep(std::span<const Site> way) const {
    return std::ranges::any_of(way, [&](const Site& site) {
      const std::vector<ir::StmtId> loops = context_.index.LoopsAround(site);
      return std::ranges::any_of(loops, [&](ir::StmtId loop) { return context_.training.Trains(ModuleOf(site), loop); });
    });
  }

  // By all that train: whoever comes to the gradients of a loop is known to go through it.
  bool IsWalkedByAll(std::span<const Site> way) const {
    const traces::World world = objects::SmallJob(context_.facts.job);
    const traces::RankSet ranks = context_.ranks.OnWay(way, world);
    if (ranks == traces::RankSet::All(world.size())) return true;
    return std::ranges::any_of(context_.training.backwards(), [&](const Site& backward) {
      const auto beside = std::ranges::find(way, backward.function, &Site::function);
      return beside != way.end() && SharesLoop(*beside, backward) && !ranks.empty() && context_.ranks.At(backward, world) == ranks;
    });
  }

  bool SharesLoop(const Site& site, const Site& other) const {
    const std::vector<ir::StmtId> loops = context_.index.LoopsAround(site);
    const std::vector<ir::StmtId> others = context_.index.LoopsAround(other);
    return !loops.empty() && !others.empty() && loops.front() == others.front();
  }

  void Report(const SeedPlace& seed, const KnownCall& draw, bool is_module_open) {
    const Site drawn{draw.function, draw.expr};
    Finding finding = FindingAt(context_, code_, Severity::Warning, Confidence::Likely, seed.site,
                                {"`{}` draws the same noise on all ranks: every rank uses the same seed",
                                 {Quoted(context_, drawn)}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"the same number on every rank", {}});
    AddLabel(finding, SpanOf(context_, drawn), LabelRole::Call, {"drawn in each training step", {}});
    finding.help = {"keep this call, and seed again with the rank added once the model is wrapped: all ranks start with the same "
                    "weights and draw their own noise", {}};
    if (is_module_open) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::SettingUnknown));
    if (IsDropout(draw)) finding.confidence = Confidence::Possible;
    // What the project starts it with makes one process.
    if (!runs_.IsStartedOnRanks(seed.site)) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::OwnJob));
    sink_.push_back(std::move(finding));
  }

  ir::ModuleId ModuleOf(const Site& site) const { return context_.program.funcs[site.function].module; }

  const Context& context_;
  std::string_view code_;
  FindingSink& sink_;
  ProgramCalls calls_;
  LightningRuns lightning_;
  StoredSeeds stored_{context_};
  objects::JobRuns runs_;
  objects::Ways ways_;
  std::vector<SeedPlace> places_;  // those of helpers at their callers
  std::vector<const KnownCall*> draws_;
  std::vector<ir::ModuleId> reported_;
};

}  // namespace

void CheckSameNoise(const Context& context, std::string_view code, FindingSink& sink) { SameNoise(context, code, sink).Run(); }

}  // namespace allranks::rules
