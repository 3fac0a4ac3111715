#include <algorithm>
#include <optional>

#include "analyzer/objects/gradient_mode.h"
#include "analyzer/objects/local_flow.h"
#include "analyzer/objects/model_origins.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/wrapping.h"

namespace allranks::rules {
namespace {

using objects::Site;
using variation::ValueId;

constexpr std::string_view kAR504 = "AR504";

// A way of calls to the function of a place; outermost first.
using Way = std::vector<Site>;

class Backward {
 public:
  Backward(const Context& context, const objects::ModelOrigins& origins, const Site& backward)
      : context_(context), origins_(origins), backward_(backward), module_id_(context.program.funcs[backward.function].module),
        module_(context.program.modules[module_id_]) {}

  void Visit(FindingSink& sink) const {
    const ir::ExprId loss = LossOf();
    const ValueId value = context_.facts.value(module_id_, loss);
    if (!loss || !value) return;
    // What came out of the wrapper reduces gradients.
    const bool is_synced = IsSynced(value);
    const objects::FlowInto parts(context_.program, context_.index, backward_.function, loss);
    if (WantsThoseOfInput(parts) || TakesThemItself() || StepsInput(parts)) return;
    for (const auto& [expr, fact] : context_.facts.functions[backward_.function].calls) {
      if (is_synced || module_[expr].kind != ir::ExprKind::Call || module_[expr].begin > module_[backward_.expr].begin) continue;
      const ir::ExprId model = BypassedIn(expr);
      if (!model || IsWithoutGradients(Site{backward_.function, expr}) || !parts.Holds(expr)) continue;
      return Report(expr, {backward_.function, model}, sink);
    }
    if (origins_.wrappings().empty() || HandlesGradients()) return;
    VisitWay(loss, {}, is_synced, sink);
  }

 private:
  // `loss` of `loss.backward()`, of `scaler.scale(loss).backward()` and of `accelerator.backward(loss)`.
  ir::ExprId LossOf() const {
    const ir::Expr& callee = module_[ir::CalleeOf(module_[backward_.expr])];
    if (callee.kind != ir::ExprKind::Attribute || context_.program.text(ir::AttrOf(callee)) != "backward") return {};
    const variation::CallFact* fact = context_.facts.call(backward_.function, backward_.expr);
    const std::string_view known = fact != nullptr && fact->kind == variation::CallKind::Known
                                       ? context_.program.text(context_.knowledge[fact->entry].name)
                                       : std::string_view();
    const bool is_handed = known == "accelerate.Accelerator.backward" || known == "lightning.fabric.Fabric.backward";
    if (is_handed) return ir::ArgAt(module_, module_[backward_.expr], 0).value;
    return ir::ArgCount(module_, module_[backward_.expr]) > 0 ? ir::ExprId::None() : ir::ObjectOf(callee);
  }

  // What is done with `.grad` beside the backward is the program's own business: it reduces them itself, or wants those of the input.
  bool HandlesGradients() const {
    const auto reads = [&](FuncId function) { return CountAttribute(context_, function, "grad") > 0; };
    const auto calls_reader = [&](const auto& call) { return call.second.function && reads(call.second.function); };
    return reads(backward_.function) || std::ranges::any_of(context_.facts.functions[backward_.function].calls, calls_reader);
  }

  // `delta.grad` of a variable that goes into the loss: an attack, a penalty. Not where an optimizer steps with the others.
  bool WantsThoseOfInput(const objects::FlowInto& parts) const {
    if (IsSteppedByOther(parts)) return false;
    return std::ranges::any_of(context_.index.ExprsOf(module_id_, ir::ExprKind::Attribute), [&](ir::ExprId id) {
      const bool is_gradient = context_.program.text(ir::AttrOf(module_[id])) == "grad" && FunctionAround(context_, module_id_, id) == backward_.function;
      return is_gradient && GoesIn(ir::ObjectOf(module_[id]), parts);
    });
  }

  bool GoesIn(ir::ExprId variable, const objects::FlowInto& parts) const {
    if (module_[variable].kind != ir::ExprKind::Name) return false;
    return std::ranges::any_of(context_.index.ExprsOf(module_id_, ir::ExprKind::Name), [&](ir::ExprId id) {
      return ir::NameOf(module_[id]) == ir::NameOf(module_[variable]) && parts.Holds(id);
    });
  }

  // It reads the gradients (`fisher[n] += p.grad ** 2`), and no optimizer steps behind them or in the loops around.
  bool TakesThemItself() const {
    if (CountAttribute(context_, backward_.function, "grad") == 0) return false;
    const std::vector<ir::StmtId> loops = context_.index.LoopsAround(backward_);
    return std::ranges::none_of(context_.training.steps(), [&](const Site& step) {
      if (step.function != backward_.function) return false;
      if (module_[step.expr].begin > module_[backward_.expr].end) return true;
      return std::ranges::any_of(context_.index.LoopsAround(step), [&](ir::StmtId loop) { return std::ranges::count(loops, loop) > 0; });
    });
  }

  // `optimizer = Adam([image])`: the next to step trains variables that go into the loss, and no model.
  bool StepsInput(const objects::FlowInto& parts) const {
    bool is_any = false;
    for (const Site& step : context_.training.steps()) {
      if (step.function != backward_.function || module_[step.expr].begin < module_[backward_.expr].end || IsBehindNext(step)) continue;
      const objects::KnownCall* made = MakerOf(step);
      if (made == nullptr || made->function != backward_.function) return false;
      const ir::Expr& params = module_[context_.index.ArgExpr(*made, "params")];
      if (params.kind != ir::ExprKind::List && params.kind != ir::ExprKind::Tuple) return false;
      for (const ir::ExprId each : ir::Items(module_, params)) {
        if (!GoesIn(each, parts)) return false;
      }
      is_any = true;
    }
    return is_any;
  }

  // The next to step, before the gradients are set to zero, trains something else than variables that go into the loss.
  bool IsSteppedByOther(const objects::FlowInto& parts) const {
    return !StepsInput(parts) && std::ranges::any_of(context_.training.steps(), [&](const Site& step) {
      const bool is_next = step.function == backward_.function && module_[step.expr].begin > module_[backward_.expr].end && !IsBehindNext(step);
      return is_next && IsInLoopsOf(step) && !AreSetToZeroBefore(step);
    });
  }

  // Each time that the step is come to, the backward was before: it stands in no loop that the step is not in.
  bool IsInLoopsOf(const Site& step) const {
    const std::vector<ir::StmtId> around = context_.index.LoopsAround(step);
    return std::ranges::all_of(context_.index.LoopsAround(backward_), [&](ir::StmtId loop) { return std::ranges::count(around, loop) > 0; });
  }

  // `optimizer.zero_grad()`, `model.zero_grad()`
  bool AreSetToZeroBefore(const Site& step) const {
    return std::ranges::any_of(CallsIn(context_, backward_.function), [&](const Site& call) {
      const ir::Expr& callee = module_[ir::CalleeOf(module_[call.expr])];
      return module_[call.expr].begin > module_[backward_.expr].end && module_[call.expr].end < module_[step.expr].begin &&
             callee.kind == ir::ExprKind::Attribute && context_.program.text(ir::AttrOf(callee)) == "zero_grad";
    });
  }

  // A call of a model whose gradients go into the loss, and on which way of calls.
  struct Run {
    Site call;
    Site model;
    Way way;
  };

  // The loss as it is on the ways to the function of `backward`, which may be given the model.
  void VisitWay(ir::ExprId loss, const Way& way, bool is_synced, FindingSink& sink) const {
    std::vector<Run> runs;
    AddRuns(backward_.function, loss, way, 0, runs);
    std::vector<Way> ways = {way};
    for (const Site& caller : context_.index.CallersOf(backward_.function)) ways.push_back({caller});
    for (const Way& each : ways) {
      const auto bypassed = std::ranges::find_if(runs, [&](const Run& run) { return IsBypassed(run, each, is_synced); });
      if (bypassed == runs.end() || AnyRunsWrapper(runs, *bypassed, each)) continue;
      return Report(bypassed->call.function == backward_.function ? bypassed->call.expr : bypassed->way.front().expr, bypassed->model, sink);
    }
  }

  void AddRuns(FuncId function, ir::ExprId into, const Way& way, int depth, std::vector<Run>& runs) const {
    constexpr int kDeepestHelper = 3;
    const objects::FlowInto parts(context_.program, context_.index, function, into);
    const ir::Module& module = context_.program.module_of(function);
    for (const auto& [expr, fact] : context_.facts.functions[function].calls) {
      if (module[expr].kind != ir::ExprKind::Call || !parts.Holds(expr) || IsWithoutGradients({function, expr})) continue;
      const ir::ExprId callee = ir::CalleeOf(module[expr]);
      const bool is_place = module[callee].kind == ir::ExprKind::Name || module[callee].kind == ir::ExprKind::Attribute;
      if (is_place) runs.push_back({{function, expr}, {function, callee}, way});
      if (module[callee].kind == ir::ExprKind::Attribute && fact.kind == variation::CallKind::Function && RunsParts(fact.function)) {
        runs.push_back({{function, expr}, {function, ir::ObjectOf(module[callee])}, way});
      }
      const bool is_helper = fact.kind == variation::CallKind::Function && !IsOfModel(fact.function);
      if (!is_helper || depth >= kDeepestHelper) continue;
      Way inner = way;
      inner.push_back({function, expr});
      const ir::ModuleId module_id = context_.program.funcs[fact.function].module;
      const ir::Module& other = context_.program.modules[module_id];
      for (uint32_t i = 0; i < other.stmts.size(); ++i) {
        const ir::Stmt& stmt = other[ir::StmtId{i}];
        const bool returns = stmt.kind == ir::StmtKind::Return && context_.index.FunctionOf(module_id, ir::StmtId{i}) == fact.function;
        if (returns && ir::ValueOf(stmt)) AddRuns(fact.function, ir::ValueOf(stmt), inner, depth + 1, runs);
      }
    }
  }

  // A method of a class that is a model, or whose bases are not all known: what it runs of itself is no other model.
  bool IsOfModel(FuncId function) const {
    const binding::ClassId owner = context_.program.funcs[function].owner;
    if (!owner) return false;
    return std::ranges::any_of(context_.program.classes[owner].mro, [&](binding::ClassId base) {
      return !context_.program.classes[base].external_bases.empty();
    });
  }

  // A method of a model that runs parts of it: `def loss(self, x): return self.body(x).mean()`.
  bool RunsParts(FuncId method) const {
    const ir::ModuleId module_id = context_.program.funcs[method].module;
    const ir::Module& module = context_.program.modules[module_id];
    const auto& params = context_.program.function(method).params;
    if (!context_.program.funcs[method].owner || params.empty()) return false;
    return std::ranges::any_of(CallsIn(context_, method), [&](const Site& inside) {
      const ir::ExprId callee = ir::CalleeOf(module[inside.expr]);
      if (module[callee].kind != ir::ExprKind::Attribute || IsWithoutGradients(inside)) return false;
      const ir::Expr& object = module[ir::ObjectOf(module[callee])];
      if (object.kind != ir::ExprKind::Name || ir::NameOf(object) != params[0].name) return false;
      const std::vector<ValueId> parts = context_.values.Leaves(context_.facts.value(module_id, callee));
      return std::ranges::any_of(parts, [&](ValueId part) { return context_.values.IsA(part, "torch.nn.Module"); });
    });
  }

  // Where `backward` is reached on a way, the model that runs is bare there though it was put into a wrapper before.
  bool IsBypassed(const Run& run, const Way& to_backward, bool is_synced) const {
    const std::vector<objects::ModelAt> models = OriginsOf(run.model, run.way, to_backward);
    if (models.empty() || IsGuardedByCaller(to_backward)) return false;
    const bool is_bare = std::ranges::all_of(models, [&](const objects::ModelAt& model) {
      if (model.shell == objects::Shell::Wrapped) return false;
      return model.shell == objects::Shell::TakenOut || origins_.IsWrappedBefore(model, backward_, to_backward);
    });
    return is_bare && (!is_synced || IsSteppedAlone(models));
  }

  std::vector<objects::ModelAt> OriginsOf(const Site& place, const Way& way, const Way& to_backward) const {
    Way whole = to_backward;
    whole.insert(whole.end(), way.begin(), way.end());
    return origins_.Of(place, whole);
  }

  // A caller that trains without gradients, or under a test, for which the wrapper is not what it means.
  bool IsGuardedByCaller(const Way& way) const {
    return std::ranges::any_of(way, [&](const Site& caller) { return IsWithoutGradients(caller) || !context_.guards.Of(caller).empty(); });
  }

  // The wrapper of the same model runs for this loss too, or is handed to what is not seen.
  bool AnyRunsWrapper(const std::vector<Run>& runs, const Run& bypassed, const Way& to_backward) const {
    const std::vector<objects::ModelAt> models = OriginsOf(bypassed.model, bypassed.way, to_backward);
    const auto is_wrapper = [&](const Site& place, const Way& way) {
      return std::ranges::any_of(OriginsOf(place, way, to_backward), [&](const objects::ModelAt& at) {
        return at.shell == objects::Shell::Wrapped && std::ranges::any_of(models, [&](const objects::ModelAt& model) { return model.IsSameModel(at); });
      });
    };
    return std::ranges::any_of(runs, [&](const Run& run) {
      const ir::Module& module = context_.program.module_of(run.call.function);
      if (is_wrapper(run.model, run.way)) return true;
      const variation::CallFact* fact = context_.facts.call(run.call.function, run.call.expr);
      const bool is_known = fact != nullptr && fact->kind == variation::CallKind::Known;
      const bool takes_out = is_known && context_.knowledge[fact->entry].Has(knowledge::Role::TakesOut);
      if (takes_out) return false;
      if (fact != nullptr && fact->kind == variation::CallKind::Function && !IsOfModel(fact->function)) return false;
      for (uint32_t i = 0; i < ir::ArgCount(module, module[run.call.expr]); ++i) {
        if (is_wrapper({run.call.function, ir::ArgAt(module, module[run.call.expr], i).value}, run.way)) return true;
      }
      return false;
    });
  }

  // Of several models that a loss is made of the optimizers that step next train these: the others only pass gradients on.
  bool IsSteppedAlone(const std::vector<objects::ModelAt>& models) const {
    bool is_any = false;
    for (const Site& step : context_.training.steps()) {
      if (step.function != backward_.function || module_[step.expr].begin < module_[backward_.expr].end || IsBehindNext(step)) continue;
      if (!Trains(step, models)) return false;
      is_any = true;
    }
    return is_any;
  }

  // Another `backward` stands between.
  bool IsBehindNext(const Site& step) const {
    return std::ranges::any_of(context_.training.backwards(), [&](const Site& other) {
      return other.function == step.function && module_[other.expr].begin > module_[backward_.expr].begin &&
             module_[other.expr].begin < module_[step.expr].begin;
    });
  }

  // The call that made the optimizer of a step; none: nullptr.
  const objects::KnownCall* MakerOf(const Site& step) const {
    const ir::Expr& callee = module_[ir::CalleeOf(module_[step.expr])];
    const ValueId stepped = callee.kind == ir::ExprKind::Attribute ? context_.facts.value(module_id_, ir::ObjectOf(callee)) : ValueId();
    const auto made = std::ranges::find_if(context_.index.known_calls(), [&](const objects::KnownCall& call) {
      return stepped && context_.facts.value(context_.program.funcs[call.function].module, call.expr) == stepped && context_.index.ArgExpr(call, "params");
    });
    return made == context_.index.known_calls().end() ? nullptr : &*made;
  }

  // `torch.optim.SGD(net.parameters(), ...)` made the optimizer.
  bool Trains(const Site& step, const std::vector<objects::ModelAt>& models) const {
    const objects::KnownCall* made = MakerOf(step);
    if (made == nullptr) return false;
    const ir::Module& module = context_.program.module_of(made->function);
    const ir::ExprId params = context_.index.ArgExpr(*made, "params");
    const bool is_call = module[params].kind == ir::ExprKind::Call && module[ir::CalleeOf(module[params])].kind == ir::ExprKind::Attribute;
    if (!is_call || context_.program.text(ir::AttrOf(module[ir::CalleeOf(module[params])])) != "parameters") return false;
    const std::vector<objects::ModelAt> trained = origins_.Of({made->function, ir::ObjectOf(module[ir::CalleeOf(module[params])])});
    return !trained.empty() && std::ranges::all_of(trained, [&](const objects::ModelAt& at) {
      return std::ranges::any_of(models, [&](const objects::ModelAt& model) { return model.IsSameModel(at); });
    });
  }

  // The loss carries the mark of a wrapper, and some call on the way to it may have kept gradients.
  bool IsSynced(ValueId loss) const {
    const base::NameId name = context_.program.names->Find("gradient_synced");
    const knowledge::MarkId mark = name ? context_.knowledge.FindMark(name) : knowledge::MarkId{};
    const bool is_marked = mark && context_.values.AnyPart(loss, [&](ValueId part) { return context_.facts.values_store[part].mark == mark; });
    return is_marked && RunsWrapper(backward_.function, mark, 0);
  }

  // Whether a function calls a wrapper where gradients are kept, itself or in what it calls. What stays unknown may.
  bool RunsWrapper(FuncId function, knowledge::MarkId mark, int depth) const {
    constexpr int kDeepest = 4;
    if (depth > kDeepest) return true;
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    const ir::Module& module = context_.program.modules[module_id];
    return std::ranges::any_of(context_.facts.functions[function].calls, [&](const auto& each) {
      const auto& [expr, fact] = each;
      if (module[expr].kind != ir::ExprKind::Call || IsWithoutGradients({function, expr})) return false;
      const ir::ExprId callee = ir::CalleeOf(module[expr]);
      if (IsInner({function, callee}) || (function == backward_.function && HoldsInner(callee))) return false;
      if (fact.kind == variation::CallKind::Known) return context_.knowledge[fact.entry].yield.mark == mark;
      const ValueId value = context_.facts.value(module_id, expr);
      const bool is_marked = value && context_.values.AnyPart(value, [&](ValueId part) { return context_.facts.values_store[part].mark == mark; });
      if (!is_marked) return false;
      if (fact.kind == variation::CallKind::Function) return RunsWrapper(fact.function, mark, depth + 1);
      return fact.kind == variation::CallKind::Deferred;
    });
  }

  // What is called is the model inside a wrapper: `model.module`, a variable that holds it, or the plain model after it
  // was wrapped under another name.
  ir::ExprId BypassedIn(ir::ExprId call) const {
    ir::ExprId callee = ir::CalleeOf(module_[call]);
    if (module_[callee].kind == ir::ExprKind::Attribute && context_.program.text(ir::AttrOf(module_[callee])) == "forward") {
      callee = ir::ObjectOf(module_[callee]);
    }
    const ir::ExprKind kind = module_[callee].kind;
    if (kind != ir::ExprKind::Name && kind != ir::ExprKind::Attribute) return {};
    if (IsInner({backward_.function, callee}) || HoldsInner(callee) || IsWrappedAs(callee, call)) return callee;
    if (module_[callee].kind == ir::ExprKind::Attribute && RunsForward(call)) {
      const ir::ExprId inner = ir::ObjectOf(module_[callee]);
      if (IsInner({backward_.function, inner}) || HoldsInner(inner)) return callee;
    }
    return RunsUnseen(call) ? callee : ir::ExprId::None();
  }

  // `model.module.encode(x)`, a method that nobody has read: the gradients that come back through it are those of the model, where nothing
  // in the loop comes to the wrapper.
  bool RunsUnseen(ir::ExprId call) const {
    const ir::Expr& callee = module_[ir::CalleeOf(module_[call])];
    if (callee.kind != ir::ExprKind::Attribute || ir::ArgCount(module_, module_[call]) == 0) return false;
    const ir::ExprId inner = ir::ObjectOf(callee);
    if (module_[inner].kind != ir::ExprKind::Attribute || !IsInner({backward_.function, inner})) return false;
    const variation::CallFact* fact = context_.facts.call(backward_.function, call);
    const bool is_seen = fact != nullptr && (fact->function || fact->kind == variation::CallKind::Known);
    if (is_seen && !(fact->function && ReadsParameters(fact->function))) return false;
    return !ComesToWrapper(ir::ObjectOf(module_[inner]));
  }

  // `x @ self.weight` of a method.
  bool ReadsParameters(FuncId method) const {
    const ir::ModuleId module_id = context_.program.funcs[method].module;
    const ir::Module& module = context_.program.modules[module_id];
    const std::vector<FuncId> run = context_.index.RunBy({method});
    return std::ranges::any_of(context_.index.ExprsOf(module_id, ir::ExprKind::Attribute), [&](ir::ExprId id) {
      if (context_.program.text(ir::AttrOf(module[id])) == "grad") return false;
      const FuncId function = FunctionAround(context_, module_id, id);
      if (!function || context_.program.funcs[function].owner != context_.program.funcs[method].owner || std::ranges::count(run, function) == 0) return false;
      const ValueId value = context_.facts.value(module_id, id);
      const std::vector<ValueId> leaves = value ? context_.values.Leaves(value) : std::vector<ValueId>();
      const bool is_parameter = std::ranges::any_of(leaves, [&](ValueId leaf) { return context_.values.IsA(leaf, "torch.nn.Parameter"); });
      return is_parameter && !IsWithoutGradients({function, id});
    });
  }

  // In the loop around the backward, or before it where there is none, the wrapper is called or handed to something.
  bool ComesToWrapper(ir::ExprId wrapper) const {
    const std::vector<ir::StmtId> loops = context_.index.LoopsAround(backward_);
    const uint32_t begin = loops.empty() ? 0 : module_[loops.front()].begin;
    const uint32_t end = loops.empty() ? module_[backward_.expr].begin : module_[loops.front()].end;
    const base::NameId name = context_.program.names->Find("gradient_synced");
    const knowledge::MarkId mark = name ? context_.knowledge.FindMark(name) : knowledge::MarkId{};
    return std::ranges::any_of(CallsIn(context_, backward_.function), [&](const Site& call) {
      const ir::Expr& node = module_[call.expr];
      if (node.begin < begin || node.begin >= end) return false;
      if (objects::IsSameChain(module_, ir::CalleeOf(node), wrapper)) return true;
      for (uint32_t i = 0; i < ir::ArgCount(module_, node); ++i) {
        if (objects::IsSameChain(module_, ir::ArgAt(module_, node, i).value, wrapper)) return true;
      }
      const variation::CallFact* fact = context_.facts.call(call.function, call.expr);
      return mark && fact != nullptr && fact->function && RunsWrapper(fact->function, mark, 1);
    });
  }

  // A method of the model that calls the model itself: `model.module.train_step(batch)`, where that is `return self(batch).loss`.
  bool RunsForward(ir::ExprId call) const {
    const variation::CallFact* fact = context_.facts.call(backward_.function, call);
    if (fact == nullptr || !fact->function || !context_.program.funcs[fact->function].owner) return false;
    const ir::Module& module = context_.program.module_of(fact->function);
    const auto is_self = [&](ir::ExprId expr) {
      return module[expr].kind == ir::ExprKind::Name && context_.program.text(ir::NameOf(module[expr])) == "self";
    };
    return std::ranges::any_of(CallsIn(context_, fact->function), [&](const Site& inside) {
      const ir::ExprId callee = ir::CalleeOf(module[inside.expr]);
      const bool is_forward = module[callee].kind == ir::ExprKind::Attribute && context_.program.text(ir::AttrOf(module[callee])) == "forward" &&
                              is_self(ir::ObjectOf(module[callee]));
      return (is_self(callee) || is_forward) && !IsWithoutGradients(inside);
    });
  }

  // `model.module` of a wrapper, `accelerator.unwrap_model(model)`, `unwrap(model)` of the project, and that compiled.
  bool IsInner(const Site& site) const {
    const ir::ModuleId module_id = context_.program.funcs[site.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Expr& expr = module[site.expr];
    if (expr.kind == ir::ExprKind::Conditional) return IsInnerWhereWrapped(module_id, expr);
    if (expr.kind == ir::ExprKind::Call) {
      const variation::CallFact* fact = context_.facts.call(site.function, site.expr);
      const bool has_argument = ir::ArgCount(module, expr) > 0;
      const ir::ExprId handed = has_argument ? ir::ArgAt(module, expr, 0).value : ir::ExprId::None();
      const bool compiles = context_.values.External(context_.facts.value(module_id, ir::CalleeOf(expr))) == "torch.compile";
      if (compiles) return handed && IsInner({site.function, handed});
      if (fact != nullptr && fact->function) return handed && Unwraps(fact->function, context_.facts.value(module_id, handed));
      return fact != nullptr && fact->kind == variation::CallKind::Known &&
             context_.program.text(context_.knowledge[fact->entry].name) == "accelerate.Accelerator.unwrap_model";
    }
    if (expr.kind != ir::ExprKind::Attribute || context_.program.text(ir::AttrOf(expr)) != "module") return false;
    // Only a wrapper has it: the ways on which it is none do not come here, but for those of another wrapper.
    const ValueId wrapper = context_.facts.value(module_id, ir::ObjectOf(expr));
    return MayBeWrapped(context_, wrapper) && !MayBeDataParallel(wrapper);
  }

  // `def unwrap(model): return model.module if hasattr(model, "module") else model`, handed a wrapper.
  bool Unwraps(FuncId helper, ValueId handed) const {
    const ir::Module& module = context_.program.module_of(helper);
    const ir::ModuleId module_id = context_.program.funcs[helper].module;
    const auto& params = context_.program.function(helper).params;
    if (params.empty() || context_.program.funcs[helper].owner || !handed) return false;
    if (!MayBeWrapped(context_, handed) || MayBeDataParallel(handed)) return false;
    const auto is_given = [&](ir::ExprId expr) { return module[expr].kind == ir::ExprKind::Name && ir::NameOf(module[expr]) == params[0].name; };
    const auto is_inner = [&](ir::ExprId expr) {
      const bool is_part = module[expr].kind == ir::ExprKind::Attribute && context_.program.text(ir::AttrOf(module[expr])) == "module";
      return is_part && is_given(ir::ObjectOf(module[expr]));
    };
    bool has_inner = false;
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::Stmt& stmt = module[ir::StmtId{i}];
      if (context_.index.FunctionOf(module_id, ir::StmtId{i}) != helper) continue;
      if (stmt.kind == ir::StmtKind::Assign) return false;
      if (stmt.kind != ir::StmtKind::Return) continue;
      const ir::ExprId value = ir::ValueOf(stmt);
      const bool is_choice = value && module[value].kind == ir::ExprKind::Conditional;
      const ir::ExprId first = is_choice ? ir::ThenOf(module, module[value]) : value;
      const ir::ExprId second = is_choice ? ir::ElseOf(module, module[value]) : value;
      for (const ir::ExprId each : {first, second}) {
        if (!each || (!is_given(each) && !is_inner(each))) return false;
        has_inner = has_inner || is_inner(each);
      }
    }
    return has_inner;
  }

  bool MayBeDataParallel(ValueId value) const {
    return std::ranges::any_of(context_.values.Leaves(value), [&](ValueId leaf) {
      const variation::Value& node = context_.values[leaf];
      const base::NameId name = context_.facts.values_store.DerivedBy(node);
      const std::string_view text = name ? context_.program.text(name) : std::string_view();
      return text == "torch.nn.DataParallel" || text == "torch.nn.parallel.DataParallel" || context_.values.IsA(leaf, "torch.nn.DataParallel");
    });
  }

  // `model.module if isinstance(model, DDP) else model`: wherever it is wrapped, the wrapper is left out.
  bool IsInnerWhereWrapped(ir::ModuleId module_id, const ir::Expr& conditional) const {
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Expr& inner = module[ir::ThenOf(module, conditional)];
    const ir::Expr& test = module[ir::TestOf(conditional)];
    if (inner.kind != ir::ExprKind::Attribute || context_.program.text(ir::AttrOf(inner)) != "module") return false;
    const ir::ExprId model = ir::ObjectOf(inner);
    const bool asks_for_it = test.kind == ir::ExprKind::Call && ir::ArgCount(module, test) == 2 &&
                             objects::IsSameChain(module, ir::ArgAt(module, test, 0).value, model);
    return asks_for_it && objects::IsSameChain(module, ir::ElseOf(module, conditional), model) &&
           MayBeWrapped(context_, context_.facts.value(module_id, model));
  }

  // A variable of this function to which the inner model was assigned last before, under no test.
  bool HoldsInner(ir::ExprId variable) const {
    bool holds = false;
    for (const ir::StmtId id : AssignmentsOf(variable)) {
      if (module_[id].begin > module_[variable].begin) break;
      const Site assigned = {backward_.function, ir::AssignedOf(module_[id])};
      holds = IsInner(assigned) && context_.guards.Of(assigned).empty();
    }
    return holds;
  }

  std::vector<ir::StmtId> AssignmentsOf(ir::ExprId variable) const {
    std::vector<ir::StmtId> found;
    for (uint32_t i = 0; i < module_.stmts.size(); ++i) {
      const ir::StmtId id{i};
      if (module_[id].kind != ir::StmtKind::Assign || context_.index.FunctionOf(module_id_, id) != backward_.function) continue;
      for (const ir::ExprId target : ir::TargetsOf(module_, module_[id])) {
        const bool is_tuple = module_[target].kind == ir::ExprKind::Tuple;
        if (!is_tuple && objects::IsSameChain(module_, target, variable)) found.push_back(id);
        for (uint32_t item = 0; is_tuple && item < ir::Items(module_, module_[target]).size(); ++item) {
          if (objects::IsSameChain(module_, ir::Items(module_, module_[target])[item], variable)) found.push_back(id);
        }
      }
    }
    std::ranges::sort(found, {}, [&](ir::StmtId id) { return module_[id].begin; });
    return found;
  }

  // `ddp = DDP(model)` stands before the call, on every way to it, and `model` is not bound anew after it.
  bool IsWrappedAs(ir::ExprId model, ir::ExprId call) const {
    for (const objects::KnownCall& wrap : Wrappings(context_)) {
      const ir::ExprId wrapped = context_.index.ArgExpr(wrap, "module");
      if (wrap.function != backward_.function || !wrapped || module_[wrap.expr].end > module_[call].begin) continue;
      const ir::ExprId target = AssignedTo(context_, {wrap.function, wrap.expr});
      if (!target || !objects::IsSameChain(module_, wrapped, model) || objects::IsSameChain(module_, target, model)) continue;
      const bool is_bound_anew = std::ranges::any_of(AssignmentsOf(model), [&](ir::StmtId id) { return module_[id].begin > module_[wrap.expr].begin; });
      if (!is_bound_anew && IsOnEveryWay(wrap.expr, call)) return true;
    }
    return false;
  }

  bool IsOnEveryWay(ir::ExprId first, ir::ExprId then) const {
    const std::vector<objects::Guard> others = context_.guards.Of({backward_.function, then});
    return std::ranges::all_of(context_.guards.Of({backward_.function, first}), [&](const objects::Guard& guard) {
      return std::ranges::any_of(others, [&](const objects::Guard& other) { return other.test == guard.test && other.holds == guard.holds; });
    });
  }

  // A teacher's output, a target.
  bool IsWithoutGradients(const Site& call) const {
    return objects::AreGradientsOff(context_.program, context_.values, context_.facts, context_.index, call);
  }

  void Report(ir::ExprId call, const Site& model, FindingSink& sink) const {
    Finding finding = FindingAt(context_, kAR504, Severity::Error, Confidence::Likely, Site{backward_.function, call},
                                {"the forward bypasses DDP and calls `{}`: the gradients of this loss are not "
                                 "reduced, and the ranks' models drift apart",
                                 {Quoted(context_, model)}});
    AddLabel(finding, SpanOf(context_, model), LabelRole::Primary, {"the model inside the wrapper", {}});
    AddLabel(finding, SpanOf(context_, backward_), LabelRole::Note, {"reduces nothing", {}});
    finding.help = {"call the wrapper itself; move other code that must run into the model's `forward`", {}};
    sink.push_back(std::move(finding));
  }

  const Context& context_;
  const objects::ModelOrigins& origins_;
  Site backward_;
  ir::ModuleId module_id_;
  const ir::Module& module_;
};

void CheckBypassedWrapper(const Context& context, FindingSink& sink) {
  const objects::ModelOrigins origins(context.program, context.knowledge, context.facts, context.index, context.guards);
  for (const Site& backward : context.training.backwards()) Backward(context, origins, backward).Visit(sink);
}

}  // namespace

extern const Rule BypassedWrapper = {
    .code = kAR504,
    .name = "bypassed-wrapper",
    .severity = Severity::Error,
    .languages = "Python",
    .summary = "training forward through `.module`, so that DDP never reduces the gradients",
    .explanation = R"md(
## What it finds

A loss that is computed by calling a model past its wrapper (DDP, or what Accelerate's `prepare` or Fabric's
`setup` returns), without any output of the wrapper itself, together with the `backward` of that loss. The
call runs one of these:

* `model.module`, or a variable that holds it: `inner = model.module`,
  `inner = accelerator.unwrap_model(model)`, `inner = unwrap(model)` with a helper of the project,
  `inner = torch.compile(model.module)`,
  `inner = model.module if isinstance(model, DDP) else model`;
* the plain model that was wrapped under another name before: `ddp = DDP(net)`, and then `net(x)`;
* a method of the inner model that runs the model or its parts, or reads its parameters:
  `model.module.train_step(batch)`;
* a method whose code is not seen (`model.module.encode(x)` of a library's model), if nothing in the
  surrounding loop reaches the wrapper.

Models are identified by the calls that create them: through variables, globals, fields, helpers, the
parameters of the function that trains or computes the loss (`train(ddp.module, loader)`), and methods of
objects that hold them (`task.loss(x)`, if that returns `self.net(x).mean()`).

If the loss is also computed from another wrapper's output, as in a GAN, it is a finding only if the
optimizers that step next train this model and no other.

## Why it hurts

DDP prepares the reduction of gradients in the wrapper's `forward`. Without it, `backward` fills the gradients
of each rank from its own batch, the optimizer steps with them, and after one step every rank has a different
model. Nothing fails. On 8 ranks, the checkpoint of rank 0 is a model trained on an eighth of the data.

## Wrong

```python
model = DDP(model)
loss = criterion(model.module(x), y)
loss.backward()
```

## Right

```python
model = DDP(model)
loss = criterion(model(x), y)
loss.backward()
```

## When it is silent

* The loss is also computed from what the wrapper returned, with gradients. Or the method's code is not seen,
  and the wrapper is called in the loop: its forward may keep what the method uses.
* The gradients of the input are wanted (`delta.grad`, or an optimizer for it), and no optimizer steps the
  model with the other gradients. Or the function reads the gradients itself, and no optimizer uses them.
* The call is under `no_grad`, or the function computes no gradients for it.
* The model may be in another wrapper instead, or the variable may hold something else.
* The model is wrapped under a test that does not hold where the model runs, or by code that is not seen to
  run before.

## Fix

There is none: the code may need a method of the inner model that the wrapper does not have.

## Proof

There is nothing to replay: the collective is missing on every rank.
)md",
    .check = CheckBypassedWrapper};

}  // namespace allranks::rules
