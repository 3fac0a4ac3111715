#include "analyzer/objects/part_runs.h"

#include <algorithm>

#include "analyzer/ir/bindings.h"

namespace allranks::objects {

namespace {

constexpr int kLongestChain = 6;

base::NameId NameOrNone(const ir::Module& module, ir::ExprId expr) {
  return expr && module[expr].kind == ir::ExprKind::Name ? ir::NameOf(module[expr]) : base::NameId::None();
}

bool Contains(ir::ExprList list, ir::ExprId wanted) {
  for (const ir::ExprId each : list) {
    if (each == wanted) return true;
  }
  return false;
}

ir::ExprId ElementAt(const ir::Module& module, ir::ExprId target, std::vector<uint32_t> path) {
  while (target && !path.empty()) {
    const ir::Expr& expr = module[target];
    if (expr.kind != ir::ExprKind::Tuple && expr.kind != ir::ExprKind::List) return {};
    const auto items = ir::Items(module, expr);
    if (path.back() >= items.size()) return {};
    target = items[path.back()];
    path.pop_back();
  }
  return target;
}

}  // namespace

PartRun PartRuns::Run(const Site& part, Path path, int depth) const {
  if (depth > kLongestChain) return PartRun::Partly;
  const ir::ModuleId module_id = program_.funcs[part.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::ExprId parent = index_.tree(module_id).Parent(part.expr);
  if (!parent) return RunInStatement(part, path, depth);
  const Site around{part.function, parent};
  const ir::Expr& expr = module[parent];
  switch (expr.kind) {
    case ir::ExprKind::Call:
      if (ir::CalleeOf(expr) != part.expr) return RunOfArgument(part, parent, std::move(path), depth);
      return path.empty() && IsAlwaysReached(around) ? Result(around) : PartRun::Partly;
    case ir::ExprKind::Attribute: {
      const Site call{part.function, index_.tree(module_id).Parent(parent)};
      if (IsMethodCall(part, "forward")) return path.empty() && IsAlwaysReached(call) ? Result(call) : PartRun::Partly;
      if (IsMethodCall(part, "values") || IsMethodCall(part, "children")) return Run(call, std::move(path), depth + 1);
      if (!IsMethodCall(part, "items") && !IsMethodCall(part, "named_children")) return PartRun::Partly;
      path.push_back(1);
      return Run(call, std::move(path), depth + 1);
    }
    case ir::ExprKind::Conditional:
      return ir::TestOf(expr) == part.expr ? PartRun::Partly : Run(around, std::move(path), depth + 1);
    case ir::ExprKind::Subscript:
      return ir::LeftOf(expr) == part.expr && CountsUp({part.function, ir::RightOf(expr)}) ? Run(around, std::move(path), depth + 1) : PartRun::Partly;
    case ir::ExprKind::Comprehension:
      for (const ir::Clause& clause : ir::ClausesOf(module, expr)) {
        if (clause.iter == part.expr) return RunOfElements(around, clause.target, path, expr.begin, expr.end, depth);
      }
      return PartRun::Partly;
    default:
      return PartRun::Partly;
  }
}

// `enumerate(zip(self.first, self.second))`, `checkpoint(self.block, x)`.
PartRun PartRuns::RunOfArgument(const Site& part, ir::ExprId call, Path path, int depth) const {
  const ir::Module& module = program_.module_of(part.function);
  const ir::Expr& callee = module[ir::CalleeOf(module[call])];
  const Site around{part.function, call};
  const ValueId value = facts_.value(program_.funcs[part.function].module, ir::CalleeOf(module[call]));
  const std::string_view known = value ? values_.External(value) : std::string_view();
  if (known.starts_with("torch.utils.checkpoint.")) return path.empty() && IsAlwaysReached(around) ? Result(around) : PartRun::Partly;
  const std::string_view name = callee.kind == ir::ExprKind::Name ? program_.text(ir::NameOf(callee)) : std::string_view();
  uint32_t position = 0;
  while (position < ir::ArgCount(module, module[call]) && ir::ArgAt(module, module[call], position).value != part.expr) ++position;
  if (name == "zip") path.push_back(position);
  else if (name == "enumerate" && position == 0) path.push_back(1);
  else if (name != "reversed" && name != "list" && name != "tuple" && name != "iter") return PartRun::Partly;
  return Run(around, std::move(path), depth + 1);
}

PartRun PartRuns::RunInStatement(const Site& part, const Path& path, int depth) const {
  const ir::ModuleId module_id = program_.funcs[part.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::StmtId id = index_.tree(module_id).StatementOf(part.expr);
  if (!id) return PartRun::Partly;
  const ir::Stmt& stmt = module[id];
  if (stmt.kind == ir::StmtKind::For && ir::AssignedOf(stmt) == part.expr) {
    return RunOfElements(part, ir::ValueOf(stmt), path, module[part.expr].end, stmt.end, depth);
  }
  if (stmt.kind != ir::StmtKind::Assign || ir::AssignedOf(stmt) != part.expr || !path.empty()) return PartRun::Partly;
  const auto targets = ir::TargetsOf(module, stmt);
  const base::NameId name = targets.size() == 1 ? NameOrNone(module, targets[0]) : base::NameId::None();
  return name ? RunByName(part.function, name, stmt.end, program_.function(part.function).end, depth) : PartRun::Partly;
}

PartRun PartRuns::RunOfElements(const Site& at, ir::ExprId target, const Path& path, uint32_t begin, uint32_t end, int depth) const {
  const base::NameId name = NameOrNone(program_.module_of(at.function), ElementAt(program_.module_of(at.function), target, path));
  return name ? RunByName(at.function, name, begin, end, depth) : PartRun::Partly;
}

PartRun PartRuns::RunByName(FuncId function, base::NameId name, uint32_t begin, uint32_t end, int depth) const {
  PartRun best = PartRun::Partly;
  for (const ir::ExprId read : ReadsOf(function, name, begin, end)) {
    // `if i in self.chosen: x = layer(x)`
    const bool is_choosy = std::ranges::any_of(guards_.Of({function, read}), [&](const Guard& guard) {
      return guard.function == function && program_.module_of(function)[guard.test].begin >= begin;
    });
    if (!is_choosy) best = std::max(best, Run({function, read}, {}, depth + 1));
  }
  return best;
}

// `for i, layer in enumerate(self.layers): if i not in skipped: x = layer(x)`.
PartRuns::Elements PartRuns::ElementsOf(const Site& read) const {
  const ir::ModuleId module_id = program_.funcs[read.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  Path path;
  ir::ExprId at = read.expr;
  for (ir::ExprId call = tree.Parent(at); call; at = call, call = tree.Parent(call)) {
    const ir::Expr& expr = module[call];
    if (expr.kind != ir::ExprKind::Call || module[ir::CalleeOf(expr)].kind != ir::ExprKind::Name) return {};
    const std::string_view name = program_.text(ir::NameOf(module[ir::CalleeOf(expr)]));
    uint32_t position = 0;
    while (position < ir::ArgCount(module, expr) && ir::ArgAt(module, expr, position).value != at) ++position;
    if (name == "zip") path.push_back(position);
    else if (name == "enumerate" && position == 0) path.push_back(1);
    else if (name != "reversed" && name != "list") return {};
  }
  const ir::StmtId loop = tree.StatementOf(at);
  if (!loop || module[loop].kind != ir::StmtKind::For || ir::AssignedOf(module[loop]) != at) return {};
  const base::NameId name = NameOrNone(module, ElementAt(module, ir::ValueOf(module[loop]), path));
  Elements elements;
  for (const ir::ExprId use : name ? ReadsOf(read.function, name, module[at].end, module[loop].end) : std::vector<ir::ExprId>()) {
    if (!IsRun({read.function, use})) continue;
    const std::optional<Guard> choice = ChoiceInside({read.function, use}, module[at].end);
    if (!choice) return {.are_run = true, .choice = {}};
    if (!elements.choice) elements = {.are_run = true, .choice = choice};
  }
  return elements;
}

// `layer(x)`, `layer.forward(x)`, `checkpoint(layer, x)`.
bool PartRuns::IsRun(const Site& element) const {
  const ir::ModuleId module_id = program_.funcs[element.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::ExprId parent = index_.tree(module_id).Parent(element.expr);
  return (parent && module[parent].kind == ir::ExprKind::Call) || IsMethodCall(element, "forward");
}

std::optional<Guard> PartRuns::ChoiceInside(const Site& element, uint32_t begin) const {
  for (const Guard& guard : guards_.Of(element)) {
    if (guard.function == element.function && program_.module_of(element.function)[guard.test].begin >= begin) return guard;
  }
  return std::nullopt;
}

std::vector<ir::ExprId> PartRuns::ReadsOf(FuncId function, base::NameId name, uint32_t begin, uint32_t end) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  std::vector<ir::ExprId> reads;
  for (const ir::ExprId id : index_.ExprsOf(module_id, ir::ExprKind::Name)) {
    if (ir::NameOf(module[id]) != name || module[id].begin < begin || module[id].end > end) continue;
    const ir::StmtId stmt = index_.tree(module_id).StatementOf(id);
    if (!stmt || index_.FunctionOf(module_id, stmt) != function) continue;
    const bool is_target = module[stmt].kind == ir::StmtKind::Assign && Contains(ir::TargetsOf(module, module[stmt]), id);
    if (!is_target) reads.push_back(id);
  }
  return reads;
}

// What becomes of the output: the gradients end where it is detached, and where nobody reads it.
PartRun PartRuns::Result(const Site& call) const {
  const ir::ModuleId module_id = program_.funcs[call.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  const auto ends_in = [&](ir::ExprId output) {
    const ir::ExprId parent = tree.Parent(output);
    if (!parent) return PartRun::Whole;
    const ir::Expr& around = module[parent];
    const std::string_view read = around.kind == ir::ExprKind::Attribute ? program_.text(ir::AttrOf(around)) : std::string_view();
    if (read == "detach" || read == "data" || read == "item") return PartRun::Partly;
    const ir::StmtId stmt = tree.StatementOf(output);
    const bool is_beside = (around.kind == ir::ExprKind::Tuple || around.kind == ir::ExprKind::Dict) && !tree.Parent(parent) && stmt &&
                           module[stmt].kind == ir::StmtKind::Return;
    return is_beside ? PartRun::Beside : PartRun::Whole;
  };
  if (tree.Parent(call.expr)) return ends_in(call.expr);
  const ir::StmtId id = tree.StatementOf(call.expr);
  if (!id || module[id].kind == ir::StmtKind::Expr) return PartRun::Partly;
  const auto targets = module[id].kind == ir::StmtKind::Assign ? ir::TargetsOf(module, module[id]) : ir::ExprList{};
  const base::NameId name = targets.size() == 1 ? NameOrNone(module, targets[0]) : base::NameId::None();
  if (!name) return PartRun::Whole;
  const ir::Function& function = program_.function(call.function);
  PartRun best = PartRun::Partly;
  for (const ir::ExprId read : ReadsOf(call.function, name, function.begin, function.end)) best = std::max(best, ends_in(read));
  return best;
}

std::optional<PartRun> PartRuns::OfLibrary(const Site& read) const {
  const ir::ModuleId module_id = program_.funcs[read.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  const auto takes_part = [&](ir::ExprId output) {
    const ir::ExprId parent = tree.Parent(output);
    if (!parent) return false;
    if (module[parent].kind == ir::ExprKind::Attribute) return !IsMethodCall({read.function, output}, program_.text(ir::AttrOf(module[parent])));
    return module[parent].kind == ir::ExprKind::Subscript && ir::LeftOf(module[parent]) == output &&
           module[ir::RightOf(module[parent])].kind == ir::ExprKind::Constant;
  };
  const ir::ExprId parent = tree.Parent(read.expr);
  const auto whole_unless = [](bool is_part) { return is_part ? PartRun::Partly : PartRun::Whole; };
  // `self.patch_embed.patch_size` is a number.
  if (parent && module[parent].kind == ir::ExprKind::Attribute && !IsMethodCall(read, program_.text(ir::AttrOf(module[parent])))) return std::nullopt;
  if (!parent || module[parent].kind != ir::ExprKind::Call || ir::CalleeOf(module[parent]) != read.expr) return PartRun::Partly;
  if (tree.Parent(parent)) return whole_unless(takes_part(parent));
  const ir::StmtId id = tree.StatementOf(parent);
  const auto targets = id && module[id].kind == ir::StmtKind::Assign ? ir::TargetsOf(module, module[id]) : ir::ExprList{};
  const base::NameId name = targets.size() == 1 ? NameOrNone(module, targets[0]) : base::NameId::None();
  if (!name) return PartRun::Whole;
  // `x.shape` beside `self.block(x)` is one read of many.
  const std::vector<ir::ExprId> reads = ReadsOf(read.function, name, module[id].end, program_.function(read.function).end);
  return whole_unless(!reads.empty() && std::ranges::all_of(reads, takes_part));
}

bool PartRuns::AsksForField(const Guard& guard, base::NameId field) const {
  const ir::Module& module = program_.module_of(guard.function);
  const ir::Function& function = program_.function(guard.function);
  ir::ExprId asked = guard.test;
  if (module[asked].kind == ir::ExprKind::Unary) asked = ir::OperandOf(module[asked]);
  if (module[asked].kind == ir::ExprKind::Compare) asked = ir::CalleeOf(module[asked]);
  return module[asked].kind == ir::ExprKind::Attribute && ir::AttrOf(module[asked]) == field && !function.params.empty() &&
         NameOrNone(module, ir::ObjectOf(module[asked])) == function.params[0].name;
}

// Under no condition of its function, and in no loop that may make no round or end early.
bool PartRuns::IsAlwaysReached(const Site& call) const {
  const ir::ModuleId module_id = program_.funcs[call.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  for (const ir::StmtId loop : index_.LoopsAround(call)) {
    if (module[loop].kind != ir::StmtKind::For || !GoesRound(call, ir::AssignedOf(module[loop]))) return false;
    bool leaves = false;
    ir::ForEachStmtIn(module, ir::BodyOf(module[loop]), [&](const ir::Stmt& stmt) {
      leaves = leaves || stmt.kind == ir::StmtKind::Break || stmt.kind == ir::StmtKind::Return || stmt.kind == ir::StmtKind::Continue;
    });
    if (leaves) return false;
  }
  for (ir::ExprId at = tree.Parent(call.expr); at; at = tree.Parent(at)) {
    if (module[at].kind == ir::ExprKind::Lambda) return false;
    if (module[at].kind != ir::ExprKind::Comprehension) continue;
    for (const ir::Clause& clause : ir::ClausesOf(module, module[at])) {
      if (ir::Exprs(module, clause.conditions).size() > 0 || !GoesRound(call, clause.iter)) return false;
    }
  }
  return true;
}

// A loop over fields of the object, a display of values, or a range that counts up to a number, a length or a field.
bool PartRuns::GoesRound(const Site& at, ir::ExprId iterable) const {
  const ir::ModuleId module_id = program_.funcs[at.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Expr& expr = module[iterable];
  switch (expr.kind) {
    case ir::ExprKind::Constant:
      return true;
    case ir::ExprKind::Attribute:
      return GoesRound(at, ir::ObjectOf(expr));
    case ir::ExprKind::Tuple:
    case ir::ExprKind::List:
      return ir::Items(module, expr).size() > 0;
    case ir::ExprKind::Subscript:
      return module[ir::IndexOf(expr)].kind != ir::ExprKind::Slice && GoesRound(at, ir::LeftOf(expr));
    case ir::ExprKind::Name: {
      const ir::Function& function = program_.function(at.function);
      if (program_.funcs[at.function].owner && !function.params.empty() && function.params[0].name == ir::NameOf(expr)) return true;
      const ValueId value = facts_.value(module_id, iterable);
      return value && values_.Int(value).value_or(0) > 0;
    }
    case ir::ExprKind::Call: {
      const ir::Expr& callee = module[ir::CalleeOf(expr)];
      if (callee.kind == ir::ExprKind::Attribute) return GoesRound(at, ir::ObjectOf(callee));
      if (callee.kind != ir::ExprKind::Name || ir::ArgCount(module, expr) == 0) return false;
      const std::string_view name = program_.text(ir::NameOf(callee));
      constexpr std::string_view kOverAll[] = {"enumerate", "zip", "reversed", "list", "tuple", "range", "len"};
      if (std::ranges::find(kOverAll, name) == std::end(kOverAll)) return false;
      size_t rounds = 0;
      for (uint32_t i = 0; i < ir::ArgCount(module, expr); ++i) rounds += GoesRound(at, ir::ArgAt(module, expr, i).value) ? 1 : 0;
      return name == "zip" ? rounds > 0 : rounds == ir::ArgCount(module, expr);
    }
    default:
      return false;
  }
}

// `self.blocks[i]` in `for i in range(len(self.blocks))`, `for i, x in enumerate(inputs)`: one after the other.
bool PartRuns::CountsUp(const Site& index) const {
  const ir::ModuleId module_id = program_.funcs[index.function].module;
  const ir::Module& module = program_.modules[module_id];
  const base::NameId name = NameOrNone(module, index.expr);
  if (!name) return false;
  const auto counts = [&](ir::ExprId target, ir::ExprId iterable) {
    if (module[iterable].kind != ir::ExprKind::Call) return false;
    const ir::Expr& callee = module[ir::CalleeOf(module[iterable])];
    const std::string_view made_by = callee.kind == ir::ExprKind::Name ? program_.text(ir::NameOf(callee)) : std::string_view();
    if (made_by == "range") return NameOrNone(module, target) == name;
    return made_by == "enumerate" && NameOrNone(module, ElementAt(module, target, {0})) == name;
  };
  for (const ir::StmtId loop : index_.LoopsAround(index)) {
    if (module[loop].kind == ir::StmtKind::For && counts(ir::ValueOf(module[loop]), ir::AssignedOf(module[loop]))) return true;
  }
  for (ir::ExprId at = index.expr; at; at = index_.tree(module_id).Parent(at)) {
    if (module[at].kind != ir::ExprKind::Comprehension) continue;
    for (const ir::Clause& clause : ir::ClausesOf(module, module[at])) {
      if (counts(clause.target, clause.iter)) return true;
    }
  }
  return false;
}

bool PartRuns::IsMethodCall(const Site& object, std::string_view method) const {
  const ir::ModuleId module_id = program_.funcs[object.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::ExprId read = index_.tree(module_id).Parent(object.expr);
  const ir::ExprId call = read ? index_.tree(module_id).Parent(read) : ir::ExprId::None();
  return call && module[read].kind == ir::ExprKind::Attribute && program_.text(ir::AttrOf(module[read])) == method &&
         module[call].kind == ir::ExprKind::Call && ir::CalleeOf(module[call]) == read;
}

}  // namespace allranks::objects
