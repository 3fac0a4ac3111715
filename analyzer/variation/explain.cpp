// Why a value varies: walks from an expression to the names in it, from a name to where it was assigned, and on
// to the source. Nothing is kept for this while the program is analysed; findings are few.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyzer/knowledge/member_names.h"
#include "analyzer/variation/axes_text.h"
#include "analyzer/variation/field_stores.h"
#include "analyzer/variation/passed_axes.h"

namespace allranks::variation {
namespace {

class Explainer {
 public:
  Explainer(const binding::Program& program, const knowledge::Knowledge& knowledge, const Facts& facts, size_t limit)
      : program_(program), knowledge_(knowledge), facts_(facts), limit_(limit) {}

  std::vector<WhyStep> Explain(FuncId function, ir::ExprId expr) {
    Visit(function, expr, 0);
    return std::move(steps_);
  }

 private:
  const ir::Module& Module(FuncId function) const { return program_.module_of(function); }
  Axes AxesOf(FuncId function, ir::ExprId expr) const {
    return PassedAxes(facts_, facts_.value(program_.funcs[function].module, expr));
  }

  // The operand that carries the variation: the first part of the expression that varies by itself.
  ir::ExprId VaryingPart(FuncId function, ir::ExprId id) const {
    const ir::Module& module = Module(function);
    const ir::Expr& expr = module[id];
    std::vector<ir::ExprId> parts;
    switch (expr.kind) {
      case ir::ExprKind::Unary:
      case ir::ExprKind::Await:
      case ir::ExprKind::Starred:
        parts = {ir::OperandOf(expr)};
        break;
      case ir::ExprKind::Binary:
      case ir::ExprKind::Walrus:
        parts = {ir::LeftOf(expr), ir::RightOf(expr)};
        break;
      case ir::ExprKind::Bool:
      case ir::ExprKind::Tuple:
      case ir::ExprKind::List:
      case ir::ExprKind::Set:
      case ir::ExprKind::Slice:
      case ir::ExprKind::FString:
        for (const ir::ExprId item : ir::Items(module, expr)) parts.push_back(item);
        break;
      case ir::ExprKind::Compare:
        parts.push_back(ir::CalleeOf(expr));
        for (uint32_t i = 0; i < ir::ComparisonCount(module, expr); ++i) {
          parts.push_back(ir::ComparisonAt(module, expr, i).operand);
        }
        break;
      case ir::ExprKind::Conditional:
        parts = {ir::TestOf(expr), ir::ThenOf(module, expr), ir::ElseOf(module, expr)};
        break;
      case ir::ExprKind::Subscript:
        parts = {ir::ObjectOf(expr), ir::IndexOf(expr)};
        break;
      case ir::ExprKind::Dict:
        for (uint32_t i = 0; i < ir::DictCount(expr); ++i) parts.push_back(ir::DictItemAt(module, expr, i).value);
        break;
      case ir::ExprKind::Call: {
        const ir::Expr& callee = module[ir::CalleeOf(expr)];
        for (uint32_t i = 0; i < ir::ArgCount(module, expr); ++i) parts.push_back(ir::ArgAt(module, expr, i).value);
        if (callee.kind == ir::ExprKind::Attribute) parts.push_back(ir::ObjectOf(callee));
        break;
      }
      case ir::ExprKind::Attribute:
        parts = {ir::ObjectOf(expr)};
        break;
      default:
        break;
    }
    for (const ir::ExprId part : parts) {
      if (part && !AxesOf(function, part).empty()) return part;
    }
    return ir::ExprId::None();
  }

  void Visit(FuncId function, ir::ExprId id, int depth) {
    constexpr int kDeepest = 32;
    if (steps_.size() >= limit_ || depth > kDeepest || !id) return;
    const ir::Module& module = Module(function);
    const ir::Expr& expr = module[id];
    if (const CallFact* call = facts_.call(function, id)) {
      if (call->kind == CallKind::Known) {
        AddSource(function, id, *call);
        return;
      }
      if (call->kind == CallKind::Function && VisitReturn(function, id, call->function, depth)) return;
    }
    if (expr.kind == ir::ExprKind::Name) {
      VisitAssignment(function, id, ir::NameOf(expr), depth);
      return;
    }
    if (expr.kind == ir::ExprKind::Attribute && VisitField(function, id, depth)) return;
    if (const ir::ExprId part = VaryingPart(function, id)) {
      Visit(function, part, depth + 1);
      return;
    }
    AddStep(function, id, AxesOf(function, id));
  }

  // As the code calls it: an entry stands for several functions that are told apart by name only.
  std::string CalledName(FuncId function, ir::ExprId id, const CallFact& call) const {
    const std::string_view first = program_.text(knowledge_[call.entry].name);
    const ir::Module& module = Module(function);
    const ir::ExprId called = module[id].kind == ir::ExprKind::Call ? ir::CalleeOf(module[id]) : id;
    if (!called) return std::string(first);
    const bool is_method = module[called].kind == ir::ExprKind::Attribute;
    const NameId method = is_method ? ir::AttrOf(module[called]) : NameId::None();
    if (const ValueId value = facts_.value(program_.funcs[function].module, called)) {
      const Value& callee = facts_.values_store[value];
      const bool is_it = callee.kind == ValueKind::External && knowledge_.FindEntry(callee.name()) == call.entry;
      const std::string_view name = is_it ? program_.text(callee.name()) : std::string_view();
      // A method of an object has the first name here as well.
      if (is_it && (!is_method || name.ends_with(fmt::format(".{}", program_.text(method))))) return std::string(name);
    }
    return is_method ? knowledge::NameWithMethod(knowledge_, knowledge_[call.entry], method) : std::string(first);
  }

  void AddSource(FuncId function, ir::ExprId id, const CallFact& call) {
    const std::string name = CalledName(function, id, call);
    // `*.numel` stands for a method of whatever object: the source says it better.
    const bool is_named = !name.starts_with('*') && !name.starts_with('@');
    const std::string what = is_named ? fmt::format("`{}`", name) : "this";
    // Here nothing may be known to differ: what differs came from callers.
    const Axes axes = AxesOf(function, id);
    const std::string text = axes.empty() ? fmt::format("decided by {}", what) : fmt::format("{} {}", what, VariesText(axes));
    Add(function, id, text, is_named);
  }

  // One `return` of the callee that varies leads on; where none does, the test that decides between them.
  bool VisitReturn(FuncId function, ir::ExprId site, FuncId callee, int depth) {
    const ir::Module& module = Module(callee);
    for (const ir::Stmt& stmt : module.stmts) {
      if (stmt.kind != ir::StmtKind::Return || !ir::ValueOf(stmt)) continue;
      const ir::Function& definition = program_.function(callee);
      if (stmt.begin < definition.begin || stmt.end > definition.end) continue;
      if (AxesOf(callee, ir::ValueOf(stmt)).empty()) continue;
      Add(function, site, fmt::format("returned by `{}`", program_.FunctionName(callee)));
      Visit(callee, ir::ValueOf(stmt), depth + 1);
      return true;
    }
    const ir::ExprId test = DecidingTest(callee, ~0u, [&](const ir::Stmt& stmt) { return stmt.kind == ir::StmtKind::Return; });
    if (!test) return false;
    Add(function, site, fmt::format("returned by `{}`", program_.FunctionName(callee)));
    Visit(callee, test, depth + 1);
    return true;
  }

  // The last test of an `if` before a place that varies and has a statement of the kind wanted under it.
  template <class Wanted>
  ir::ExprId DecidingTest(FuncId function, uint32_t before, Wanted wanted) const {
    const ir::Module& module = Module(function);
    const ir::Function& definition = program_.function(function);
    ir::ExprId last;
    for (const ir::Stmt& stmt : module.stmts) {
      if (stmt.kind != ir::StmtKind::If || stmt.begin < definition.begin || stmt.end > definition.end || stmt.begin >= before) continue;
      const ir::ExprId test = ir::ValueOf(stmt);
      if (AxesOf(function, test).empty() || (last && module[test].begin < module[last].begin)) continue;
      const bool decides = std::ranges::any_of(module.stmts, [&](const ir::Stmt& inner) {
        return inner.begin > module[test].end && inner.end <= stmt.end && wanted(inner);
      });
      if (decides) last = test;
    }
    return last;
  }

  struct Assignment {
    ir::ExprId target;
    ir::ExprId value;
  };

  // The last assignment of a varying value to the name before the place where it is read.
  void VisitAssignment(FuncId function, ir::ExprId use, NameId name, int depth) {
    const uint32_t before = Module(function)[use].begin;
    for (FuncId at = function; at; at = program_.funcs[at].parent) {
      const uint32_t end = at == function ? before : ~0u;
      const auto found = FindAssignment(at, name, end);
      const ir::ExprId store = FindStore(at, name, end);
      if (store && (!found || Module(at)[store].begin > Module(at)[found->target].begin)) {
        AddStore(at, store, name, AxesOf(function, use));
        return;
      }
      if (found) {
        Follow(at, *found, name, depth);
        return;
      }
    }
    const ir::Module& own = Module(function);
    const ir::ExprId test = DecidingTest(function, before, [&](const ir::Stmt& stmt) {
      if (stmt.kind != ir::StmtKind::Assign) return false;
      for (const ir::ExprId target : ir::TargetsOf(own, stmt)) {
        if (TargetNamed(own, target, name)) return true;
      }
      return false;
    });
    if (test) {
      Add(function, use, fmt::format("`{}` {}", program_.text(name), VariesText(AxesOf(function, use))));
      Visit(function, test, depth + 1);
      return;
    }
    if (VisitArgument(function, name, depth)) return;
    const binding::Target target = program_.Lookup(program_.funcs[function].module, name);
    if (target.kind == binding::TargetKind::Variable) {
      const FuncId top = program_.func(target.module, ir::kTopLevel);
      if (const auto found = FindAssignment(top, target.name, ~0u)) {
        Follow(top, *found, name, depth);
        return;
      }
    }
    AddStep(function, use, AxesOf(function, use));
  }

  // A field, or a variable of another module: the first assignment of a varying value.
  bool VisitField(FuncId function, ir::ExprId read, int depth) {
    const ir::Module& module = Module(function);
    const ValueId object = facts_.value(program_.funcs[function].module, ir::ObjectOf(module[read]));
    if (object && facts_.values_store[object].kind == ValueKind::Module) {
      const FuncId top = program_.func(facts_.values_store[object].module(), ir::kTopLevel);
      const auto found = FindAssignment(top, ir::AttrOf(module[read]), ~0u);
      if (found) Follow(top, *found, ir::AttrOf(module[read]), depth);
      return found.has_value();
    }
    for (const FieldStore& store : StoresOfField(program_, facts_, function, read)) {
      const Axes axes = AxesOf(store.function, store.value);
      if (axes.empty()) continue;
      const std::string name = FieldName(store);
      Add(store.function, store.target, fmt::format("`{}` {}", name, VariesText(axes)));
      Visit(store.function, store.value, depth + 1);
      return true;
    }
    return false;
  }

  // `self.rank`; of an object that is more than a name just the field.
  std::string FieldName(const FieldStore& store) const {
    const ir::Module& module = Module(store.function);
    const ir::Expr& object = module[ir::ObjectOf(module[store.target])];
    const std::string_view field = program_.text(ir::AttrOf(module[store.target]));
    return object.kind == ir::ExprKind::Name ? fmt::format("{}.{}", program_.text(ir::NameOf(object)), field) : std::string(field);
  }

  // A parameter: the first call that passes something that varies.
  bool VisitArgument(FuncId function, NameId name, int depth) {
    const std::vector<ir::Param>& params = program_.function(function).params;
    const auto param = std::ranges::find(params, name, &ir::Param::name);
    if (param == params.end()) return false;
    const auto index = static_cast<size_t>(param - params.begin());
    for (uint32_t f = 0; f < program_.funcs.size(); ++f) {
      for (const auto& [site, call] : facts_.functions[FuncId{f}].calls) {
        const auto args = facts_.args(call);
        if (call.function != function || index >= args.size() || !args[index] || PassedAxes(facts_, args[index]).empty()) continue;
        const ir::ExprId passed = ArgumentOf(FuncId{f}, site, call, index, name);
        if (!passed) continue;
        Add(FuncId{f}, passed, fmt::format("passed as `{}`", program_.text(name)));
        Visit(FuncId{f}, passed, depth + 1);
        return true;
      }
    }
    return false;
  }

  // The argument for a parameter, as the call has it; none if it is not written there.
  ir::ExprId ArgumentOf(FuncId caller, ir::ExprId site, const CallFact& call, size_t index, NameId name) const {
    const ir::Module& module = Module(caller);
    if (module[site].kind != ir::ExprKind::Call) return {};
    size_t position = call.receiver || call.kind == CallKind::Construct ? 1 : 0;
    for (uint32_t i = 0; i < ir::ArgCount(module, module[site]); ++i) {
      const ir::Arg arg = ir::ArgAt(module, module[site], i);
      if (arg.kind == ir::ArgKind::Keyword && arg.keyword == name) return arg.value;
      if (arg.kind == ir::ArgKind::Positional && position++ == index) return arg.value;
    }
    return {};
  }

  void Follow(FuncId function, const Assignment& assignment, NameId name, int depth) {
    const Axes axes = AxesOf(function, assignment.target);
    Add(function, assignment.target, fmt::format("`{}` {}", program_.text(name), VariesText(axes)));
    Visit(function, assignment.value, depth + 1);
  }

  std::optional<Assignment> FindAssignment(FuncId function, NameId name, uint32_t before) const {
    const ir::Module& module = Module(function);
    const ir::Function& definition = program_.function(function);
    std::optional<Assignment> found;
    for (const ir::Stmt& stmt : module.stmts) {
      if (stmt.begin < definition.begin || stmt.end > definition.end || stmt.begin >= before) continue;
      std::vector<ir::ExprId> targets;
      if (stmt.kind == ir::StmtKind::Assign) {
        for (const ir::ExprId target : ir::TargetsOf(module, stmt)) targets.push_back(target);
      } else if (stmt.kind == ir::StmtKind::AnnAssign || stmt.kind == ir::StmtKind::AugAssign ||
                 stmt.kind == ir::StmtKind::For) {
        targets.push_back(ir::ValueOf(stmt));
      } else {
        continue;
      }
      for (const ir::ExprId target : targets) {
        const ir::ExprId named = TargetNamed(module, target, name);
        if (!named || AxesOf(function, named).empty()) continue;
        if (!found || module[named].begin >= module[found->target].begin) found = {named, ir::AssignedOf(stmt)};
      }
    }
    return found;
  }

  // The last call of a library before a place that stores into the variable: `MPI_Comm_rank(comm, &rank)`.
  ir::ExprId FindStore(FuncId function, NameId name, uint32_t before) const {
    const ir::Module& module = Module(function);
    ir::ExprId last;
    for (const auto& [site, call] : facts_.functions[function].calls) {
      if (call.kind != CallKind::Known || module[site].kind != ir::ExprKind::Call || module[site].begin >= before) continue;
      if (StoresInto(module, site, knowledge_[call.entry], name) && (!last || module[site].begin > module[last].begin)) last = site;
    }
    return last;
  }

  static bool StoresInto(const ir::Module& module, ir::ExprId site, const knowledge::Entry& entry, NameId name) {
    return std::ranges::any_of(entry.stores, [&](const auto& store) {
      const auto param = static_cast<size_t>(std::ranges::find(entry.params, store.first) - entry.params.begin());
      if (param >= ir::ArgCount(module, module[site])) return false;
      const ir::Expr& arg = module[ir::ArgAt(module, module[site], static_cast<uint32_t>(param)).value];
      return arg.kind == ir::ExprKind::Name && ir::NameOf(arg) == name;
    });
  }

  void AddStore(FuncId function, ir::ExprId site, NameId name, Axes axes) {
    const CallFact* call = facts_.call(function, site);
    Add(function, site, fmt::format("`{}` {}: `{}` stores it", program_.text(name), VariesText(axes),
                                                 CalledName(function, site, *call)));
  }

  static ir::ExprId TargetNamed(const ir::Module& module, ir::ExprId target, NameId name) {
    if (!target) return {};
    const ir::Expr& expr = module[target];
    if (expr.kind == ir::ExprKind::Name) return ir::NameOf(expr) == name ? target : ir::ExprId::None();
    if (expr.kind != ir::ExprKind::Tuple && expr.kind != ir::ExprKind::List) return {};
    for (const ir::ExprId item : ir::Items(module, expr)) {
      if (const ir::ExprId found = TargetNamed(module, item, name)) return found;
    }
    return {};
  }

  void AddStep(FuncId function, ir::ExprId id, Axes axes) {
    if (axes.empty()) return;
    const std::string variable = VariableOf(function, id);
    if (variable.empty()) Add(function, id, "this " + VariesText(axes), false);
    else Add(function, id, fmt::format("the launcher sets `{}`, which {}", variable, VariesText(axes)));
  }

  // `RANK` of `os.environ["RANK"]`; empty: it is none that tells ranks apart.
  std::string VariableOf(FuncId function, ir::ExprId id) const {
    const ir::Module& module = Module(function);
    const ValueId value = facts_.value(program_.funcs[function].module, id);
    const bool is_item = value && module[id].kind == ir::ExprKind::Subscript && facts_.values_store[value].kind == ValueKind::Coordinate;
    const ValueId key = is_item ? facts_.value(program_.funcs[function].module, ir::IndexOf(module[id])) : ValueId::None();
    const bool is_text = key && facts_.values_store[key].kind == ValueKind::Str;
    return is_text ? std::string(program_.text(facts_.values_store[key].name())) : std::string();
  }

  // Several ways may lead to one place.
  void Add(FuncId function, ir::ExprId expr, std::string text, bool is_named = true) {
    const source::Span span = Module(function).span(expr);
    const bool is_told = std::ranges::any_of(steps_, [&](const WhyStep& step) { return step.span == span && step.text == text; });
    if (!is_told && steps_.size() < limit_) steps_.push_back({span, std::move(text), is_named, function, expr});
  }

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const Facts& facts_;
  size_t limit_;
  std::vector<WhyStep> steps_;
};

}  // namespace

std::vector<WhyStep> ExplainVariation(const binding::Program& program, const knowledge::Knowledge& knowledge,
                                      const Facts& facts, FuncId function, ir::ExprId expr, size_t limit) {
  return Explainer(program, knowledge, facts, limit).Explain(function, expr);
}

}  // namespace allranks::variation
