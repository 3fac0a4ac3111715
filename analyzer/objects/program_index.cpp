#include "analyzer/objects/program_index.h"

#include <algorithm>

namespace allranks::objects {

ProgramIndex::ProgramIndex(const binding::Program& program, const knowledge::Knowledge& knowledge,
                           const variation::Facts& facts)
    : program_(program), knowledge_(knowledge), facts_(facts), places_(program.modules.size()) {
  trees_.reserve(program.modules.size());
  by_kind_.reserve(program.modules.size());
  for (const ir::Module& module : program.modules) {
    trees_.emplace_back(module);
    by_kind_.emplace_back(module);
  }
  callers_.resize(program.funcs.size());
  given_to_.resize(program.funcs.size());
  choices_.resize(program.funcs.size());
  made_with_.resize(program.classes.size());
  for (uint32_t i = 0; i < facts.functions.size(); ++i) {
    const variation::FunctionFacts& function = facts.functions[FuncId{i}];
    for (const auto* list : {&function.calls, &function.enters, &function.iterations, &function.leaves}) {
      AddCalls(FuncId{i}, *list);
    }
  }
  for (uint32_t m = 0; m < program.modules.size(); ++m) NoteGiven(ir::ModuleId{m});
}

void ProgramIndex::NoteGiven(ir::ModuleId module_id) {
  const ir::Module& module = program_.modules[module_id];
  for (const ir::ExprId call : ExprsOf(module_id, ir::ExprKind::Call)) {
    for (uint32_t i = 0; i < ir::ArgCount(module, module[call]); ++i) {
      const ValueId value = facts_.value(module_id, ir::ArgAt(module, module[call], i).value);
      if (!value || facts_.values_store[value].kind != variation::ValueKind::Function) continue;
      const ir::StmtId stmt = trees_[module_id.index].StatementOf(call);
      const FuncId by = stmt ? FunctionOf(module_id, stmt) : FuncId::None();
      if (by) given_to_[facts_.values_store[value].function()].push_back({by, call});
    }
  }
}

ProgramIndex::ByKind::ByKind(const ir::Module& module) : exprs(module.exprs.size()) {
  for (const ir::Expr& expr : module.exprs) ++begin[static_cast<size_t>(expr.kind) + 1];
  for (size_t kind = 1; kind < begin.size(); ++kind) begin[kind] += begin[kind - 1];
  auto next = begin;
  for (uint32_t i = 0; i < module.exprs.size(); ++i) {
    exprs[next[static_cast<size_t>(module[ir::ExprId{i}].kind)]++] = ir::ExprId{i};
  }
}

std::span<const ir::ExprId> ProgramIndex::ExprsOf(ir::ModuleId module, ir::ExprKind kind) const {
  Step();
  const ByKind& by_kind = by_kind_[module.index];
  const uint32_t begin = by_kind.begin[static_cast<size_t>(kind)];
  return std::span(by_kind.exprs).subspan(begin, by_kind.begin[static_cast<size_t>(kind) + 1] - begin);
}

void ProgramIndex::AddCalls(FuncId function, const std::vector<std::pair<ir::ExprId, variation::CallFact>>& calls) {
  for (const auto& [expr, fact] : calls) {
    if (fact.function) callers_[fact.function].push_back({function, expr});
    if (fact.kind == variation::CallKind::Deferred && fact.callee) AddChoice({function, expr}, fact.callee);
    const bool is_class = fact.kind == variation::CallKind::Construct && fact.callee &&
                          facts_.values_store[fact.callee].kind == variation::ValueKind::Class;
    if (is_class) {
      std::vector<ValueId>& made_with = made_with_[facts_.values_store[fact.callee].class_id()];
      for (const ValueId arg : facts_.args(fact)) made_with.push_back(arg);
    }
    if (fact.kind != variation::CallKind::Known) continue;
    known_calls_.push_back({.function = function,
                            .expr = expr,
                            .entry = &knowledge_[fact.entry],
                            .receiver = fact.receiver,
                            .args = facts_.args(fact)});
  }
}

void ProgramIndex::AddChoice(const Site& site, ValueId callee) {
  const variation::Value& value = facts_.values_store[callee];
  const auto kids = facts_.values_store.Kids(callee);
  if (value.kind == variation::ValueKind::Select) {
    AddChoice(site, kids[1]);
    AddChoice(site, kids[2]);
    return;
  }
  if (value.kind != variation::ValueKind::Function) return;
  const FuncId function = value.function();
  std::vector<Site>& callers = callers_[function];
  if (!callers.empty() && callers.back() == site) return;
  callers.push_back(site);
  choices_[site.function].emplace_back(site.expr, function);
  if (!kids.empty() && kids[0]) bound_.insert(function.index);
}

// Of a choice the arguments are known as they stand, without the object of a method.
ValueId ProgramIndex::PassedToOneOf(const Site& caller, std::span<const ValueId> args, FuncId function, uint32_t param) const {
  const ir::Module& module = program_.module_of(caller.function);
  if (module[caller.expr].kind != ir::ExprKind::Call) return ValueId::None();
  uint32_t position = bound_.contains(function.index) ? 1 : 0;
  for (uint32_t i = 0; i < args.size(); ++i) {
    const ir::Arg arg = ir::ArgAt(module, module[caller.expr], i);
    if (arg.kind == ir::ArgKind::Star) return ValueId::None();
    if (arg.kind == ir::ArgKind::Positional && position++ == param) return args[i];
    if (arg.kind == ir::ArgKind::Keyword && arg.keyword == program_.function(function).params[param].name) return args[i];
  }
  return ValueId::None();
}

std::vector<Site> ProgramIndex::WaysTo(const Site& site) const {
  std::vector<Site> sites = {site};
  std::vector<FuncId> seen;
  for (size_t i = 0; i < sites.size() && sites.size() < kMostWays; ++i) {
    const FuncId function = sites[i].function;
    if (std::ranges::find(seen, function) != seen.end()) continue;
    seen.push_back(function);
    const auto callers = CallersOf(function);
    sites.insert(sites.end(), callers.begin(), callers.end());
  }
  return sites;
}

ValueId ProgramIndex::Arg(const KnownCall& call, std::string_view param) const {
  const auto& params = call.entry->params;
  for (size_t i = 0; i < params.size() && i < call.args.size(); ++i) {
    if (program_.text(params[i]) == param) return call.args[i];
  }
  return ValueId::None();
}

ir::ExprId ProgramIndex::ArgExpr(const KnownCall& call, std::string_view param) const {
  const ir::Module& module = program_.module_of(call.function);
  const ir::Expr& node = module[call.expr];
  if (node.kind != ir::ExprKind::Call) return ir::ExprId::None();
  const auto& params = call.entry->params;
  uint32_t position = 0;
  for (uint32_t i = 0; i < ir::ArgCount(module, node); ++i) {
    const ir::Arg arg = ir::ArgAt(module, node, i);
    if (arg.kind == ir::ArgKind::Keyword && program_.text(arg.keyword) == param) return arg.value;
    if (arg.kind != ir::ArgKind::Positional) continue;
    if (position < params.size() && program_.text(params[position]) == param) return arg.value;
    ++position;
  }
  return ir::ExprId::None();
}

ValueId ProgramIndex::PassedBy(const Site& caller, FuncId function, uint32_t param) const {
  const variation::CallFact* call = facts_.call(caller.function, caller.expr);
  if (call == nullptr) return ValueId::None();
  if (call->kind == variation::CallKind::Deferred) return PassedToOneOf(caller, facts_.args(*call), function, param);
  const auto args = facts_.args(*call);
  return call->function == function && param < args.size() ? args[param] : ValueId::None();
}

ir::ExprId ProgramIndex::PassedFor(const Site& call, FuncId function, uint32_t param) const {
  const variation::CallFact* fact = facts_.call(call.function, call.expr);
  const ir::Module& module = program_.module_of(call.function);
  const bool is_call = fact != nullptr && module[call.expr].kind == ir::ExprKind::Call && fact->function == function;
  if (!is_call || (fact->kind != variation::CallKind::Function && fact->kind != variation::CallKind::Construct)) return {};
  const auto& params = program_.function(function).params;
  if (param >= params.size()) return {};
  for (uint32_t i = 0; i < ir::ArgCount(module, module[call.expr]); ++i) {
    const ir::ArgKind kind = ir::ArgAt(module, module[call.expr], i).kind;
    if (kind == ir::ArgKind::Star || kind == ir::ArgKind::DoubleStar) return {};
  }
  // The first parameter of a method is the object, unless the class is what it is called on.
  const bool is_method = program_.funcs[function].owner && (fact->kind == variation::CallKind::Construct || fact->receiver);
  const uint32_t first = is_method ? 1 : 0;
  for (uint32_t i = 0; i < ir::ArgCount(module, module[call.expr]); ++i) {
    const ir::Arg arg = ir::ArgAt(module, module[call.expr], i);
    const bool is_it = arg.kind == ir::ArgKind::Keyword ? arg.keyword == params[param].name : i + first == param;
    if (is_it) return arg.value;
  }
  return {};
}

bool ProgramIndex::IsPlainFunction(FuncId function) const {
  const binding::Func& func = program_.funcs[function];
  return func.function != ir::kTopLevel && !func.owner && !func.parent && program_.function(function).decorators.empty();
}

bool ProgramIndex::IsCalledByNobody(FuncId function) const { return IsPlainFunction(function) && callers_[function].empty(); }

std::vector<FuncId> ProgramIndex::RunBy(std::vector<FuncId> run) const {
  std::vector<bool> runs(program_.funcs.size());
  for (const FuncId function : run) runs[function.index] = true;
  const auto add = [&](FuncId function) {
    if (!function || runs[function.index]) return;
    runs[function.index] = true;
    run.push_back(function);
  };
  for (size_t i = 0; i < run.size(); ++i) {
    const variation::FunctionFacts& facts = facts_.functions[run[i]];
    for (const auto* list : {&facts.calls, &facts.enters, &facts.iterations}) {
      for (const auto& [expr, fact] : *list) add(fact.function);
    }
    for (const auto& [expr, function] : choices_[run[i]]) add(function);
  }
  std::ranges::sort(run, {}, &FuncId::index);
  return run;
}

ir::StmtId ProgramIndex::StatementOf(const Site& site) const {
  return tree(program_.funcs[site.function].module).StatementOf(site.expr);
}

// All that a macro expands to stands at one place: then the statement around the others is meant, which follows them.
ir::StmtId ProgramIndex::StatementAt(ir::ModuleId module, uint32_t position) const {
  Step();
  Places& places = places_[module.index];
  std::call_once(places.has_statements, [&] {
    std::vector<base::Innermost::Range> ranges;
    for (const ir::Stmt& stmt : program_.modules[module].stmts) ranges.push_back({stmt.begin, stmt.end});
    places.statements.emplace(ranges);
  });
  const uint32_t innermost = places.statements->At(position);
  return innermost == base::Innermost::kNone ? ir::StmtId() : ir::StmtId{innermost};
}

std::span<const KnownCall> ProgramIndex::KnownCallsIn(FuncId function) const {
  // They were added function by function.
  return std::span(std::ranges::equal_range(known_calls(), function.index, {}, [](const KnownCall& call) { return call.function.index; }));
}

const KnownCall* ProgramIndex::KnownCallAt(const Site& site) const {
  const std::span<const KnownCall> calls = KnownCallsIn(site.function);
  const auto found = std::ranges::find(calls, site.expr, &KnownCall::expr);
  return found == calls.end() ? nullptr : &*found;
}

std::span<const ir::ExprId> ProgramIndex::ExprsBeginningIn(ir::ModuleId module_id, uint32_t begin, uint32_t end) const {
  Step();
  const ir::Module& module = program_.modules[module_id];
  const auto begin_of = [&](ir::ExprId expr) { return module[expr].begin; };
  Places& places = places_[module_id.index];
  std::call_once(places.has_exprs, [&] {
    for (uint32_t i = 0; i < module.exprs.size(); ++i) places.exprs.push_back(ir::ExprId{i});
    std::ranges::stable_sort(places.exprs, {}, begin_of);
  });
  const auto first = std::ranges::lower_bound(places.exprs, begin, {}, begin_of);
  return {first, std::ranges::upper_bound(first, places.exprs.end(), end, {}, begin_of)};
}

std::vector<ir::StmtId> ProgramIndex::LoopsAround(const Site& site) const {
  const ir::ModuleId module_id = program_.funcs[site.function].module;
  const ir::StmtId stmt = StatementOf(site);
  if (!stmt) return {};
  std::vector<ir::StmtId> loops = LoopsAround(module_id, stmt);
  // The test of a `while` is asked in each round; what a `for` iterates over is evaluated once, before it.
  if (program_.modules[module_id][stmt].kind == ir::StmtKind::While) loops.insert(loops.begin(), stmt);
  return loops;
}

std::vector<ir::StmtId> ProgramIndex::LoopsAround(ir::ModuleId module_id, ir::StmtId stmt) const {
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = trees_[module_id.index];
  std::vector<ir::StmtId> loops;
  for (ir::StmtId at = tree.Parent(stmt); at; at = tree.Parent(at)) {
    const ir::StmtKind kind = module[at].kind;
    if (kind == ir::StmtKind::For || kind == ir::StmtKind::While) loops.push_back(at);
  }
  return loops;
}

bool ProgramIndex::IsRepeated(const Site& site) const {
  std::unordered_set<uint32_t> seen;
  std::vector<Site> sites = {site};
  while (!sites.empty()) {
    const Site at = sites.back();
    sites.pop_back();
    if (!LoopsAround(at).empty()) return true;
    if (!seen.insert(at.function.index).second) continue;
    const std::span<const Site> callers = CallersOf(at.function);
    sites.insert(sites.end(), callers.begin(), callers.end());
  }
  return false;
}

FuncId ProgramIndex::FunctionOf(ir::ModuleId module, ir::StmtId stmt) const {
  Step();
  // A statement that stands in no block, as Clang's front end leaves some, is of no function.
  const ir::FunctionId function = trees_[module.index].FunctionOf(stmt);
  return function ? program_.func(module, function) : FuncId::None();
}

}  // namespace allranks::objects
