#include "analyzer/objects/displays.h"

#include <algorithm>
#include <string_view>

#include "analyzer/ir/walk.h"

namespace allranks::objects {
namespace {

constexpr std::string_view kLines[] = {"write", "writerow"};
constexpr std::string_view kMethods[] = {"info", "add_scalar", "add_scalars", "log_metrics", "log_metric", "log_scalar"};

bool IsTextOrTable(ir::ExprKind kind) { return kind == ir::ExprKind::FString || kind == ir::ExprKind::Dict; }

void AddTargets(const ir::Module& module, ir::ExprId target, std::vector<base::NameId>& names) {
  if (module[target].kind == ir::ExprKind::Name) names.push_back(ir::NameOf(module[target]));
  if (module[target].kind != ir::ExprKind::Tuple && module[target].kind != ir::ExprKind::List) return;
  for (const ir::ExprId item : ir::Items(module, module[target])) AddTargets(module, item, names);
}

}  // namespace

Displays::Displays(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                   const ProgramIndex& index)
    : program_(program), knowledge_(knowledge), facts_(facts), index_(index), values_(program, knowledge, facts), displays_(program.funcs.size()),
      shown_params_(program.funcs.size()) {
  for (uint32_t m = 0; m < program.modules.size(); ++m) {
    const ir::ModuleId module_id{m};
    for (const ir::ExprId call : index.ExprsOf(module_id, ir::ExprKind::Call)) {
      const ir::StmtId stmt = index.tree(module_id).StatementOf(call);
      const FuncId function = stmt ? index.FunctionOf(module_id, stmt) : FuncId::None();
      if (!function) continue;
      if (Shows(function, call)) AddDisplay(function, call, false);
      else if (WritesLine(function, call)) AddDisplay(function, call, true);
    }
  }
  AddHelpers();
}

bool Displays::Shows(FuncId function, ir::ExprId call) const {
  const variation::CallFact* fact = facts_.call(function, call);
  if (fact != nullptr && fact->kind == variation::CallKind::Known) return knowledge_[fact->entry].Has(knowledge::Role::Show);
  if (fact != nullptr && fact->function) return false;
  const ir::Module& module = program_.module_of(function);
  const ir::Expr& callee = module[ir::CalleeOf(module[call])];
  const ValueId value = facts_.value(program_.funcs[function].module, ir::CalleeOf(module[call]));
  if (value && facts_.values_store[value].kind == variation::ValueKind::External) {
    const knowledge::EntryId entry = knowledge_.FindEntry(facts_.values_store[value].name());
    if (entry && knowledge_[entry].Has(knowledge::Role::Show)) return true;
  }
  return callee.kind == ir::ExprKind::Attribute && std::ranges::count(kMethods, program_.text(ir::AttrOf(callee))) > 0;
}

// By the name of the method, of an object of no class of the project: an open file, or what writes tables.
bool Displays::WritesLine(FuncId function, ir::ExprId call) const {
  const ir::Module& module = program_.module_of(function);
  const ir::Expr& callee = module[ir::CalleeOf(module[call])];
  const variation::CallFact* fact = facts_.call(function, call);
  if (fact != nullptr && fact->function) return false;
  if (values_.External(facts_.value(program_.funcs[function].module, ir::CalleeOf(module[call]))) == "json.dump") return true;
  return callee.kind == ir::ExprKind::Attribute && std::ranges::count(kLines, program_.text(ir::AttrOf(callee))) > 0;
}

void Displays::AddDisplay(FuncId function, ir::ExprId call, bool is_file) {
  const ir::Module& module = program_.module_of(function);
  Display display{{function, call}, {}, is_file};
  for (uint32_t i = 0; i < ir::ArgCount(module, module[call]); ++i) display.shown.push_back(ir::ArgAt(module, module[call], i).value);
  displays_[function.index].push_back(std::move(display));
}

// `def log(message): if rank == 0: print(message)`, and who calls that.
void Displays::AddHelpers() {
  std::vector<FuncId> work;
  for (uint32_t f = 0; f < displays_.size(); ++f) work.push_back(FuncId{f});
  while (!work.empty()) {
    const FuncId function = work.back();
    work.pop_back();
    if (!NoteParams(function)) continue;
    for (const Site& caller : index_.CallersOf(function)) {
      if (AddCallOf(function, caller)) work.push_back(caller.function);
    }
  }
}

bool Displays::NoteParams(FuncId function) {
  const ir::Module& module = program_.module_of(function);
  const auto& params = program_.function(function).params;
  const std::vector<Display>& displays = displays_[function.index];
  if (displays.empty()) return false;
  std::vector<bool>& shown = shown_params_[function.index];
  shown.resize(params.size());
  bool is_new = false;
  for (size_t i = 0; i < params.size(); ++i) {
    if (shown[i]) continue;
    const std::vector<base::NameId> names = NamesOf(function, params[i].name);
    const auto is_shown = [&](ir::ExprId arg) { return ShowsOne(module, arg, names); };
    shown[i] = std::ranges::any_of(displays, [&](const Display& display) {
      return std::ranges::any_of(display.shown, is_shown) && !IsComplaint(display.call, names);
    });
    is_new = is_new || shown[i];
  }
  return is_new;
}

// `print(f"{len(batches)} batches")` shows none of them.
bool Displays::ShowsOne(const ir::Module& module, ir::ExprId expr, const std::vector<base::NameId>& names) const {
  const ir::Expr& node = module[expr];
  if (node.kind == ir::ExprKind::Name) return std::ranges::count(names, ir::NameOf(node)) > 0;
  const bool is_call = node.kind == ir::ExprKind::Call && module[ir::CalleeOf(node)].kind == ir::ExprKind::Name;
  if (is_call && program_.text(ir::NameOf(module[ir::CalleeOf(node)])) == "len") return false;
  bool shows = false;
  ir::ForEachPart(module, expr, [&](ir::ExprId part) { shows = shows || ShowsOne(module, part, names); });
  return shows;
}

// `if index >= len(images): print(index, images)` tells of what should not be.
bool Displays::IsComplaint(const Site& call, const std::vector<base::NameId>& names) const {
  const ir::ModuleId module_id = program_.funcs[call.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  const auto compares = [&](ir::ExprId test) {
    return std::ranges::any_of(index_.ExprsOf(module_id, ir::ExprKind::Compare), [&](ir::ExprId id) {
      if (module[id].begin < module[test].begin || module[id].end > module[test].end) return false;
      const ir::CompareOp op = ir::ComparisonAt(module, module[id], 0).op;
      const bool orders = op == ir::CompareOp::Less || op == ir::CompareOp::LessEq || op == ir::CompareOp::Greater || op == ir::CompareOp::GreaterEq;
      return orders && ir::Mentions(module, id, names);
    });
  };
  for (ir::StmtId at = index_.StatementOf(call); at; at = tree.Parent(at)) {
    if (module[at].kind == ir::StmtKind::If && compares(ir::ValueOf(module[at]))) return true;
  }
  return false;
}

// The variable of a loop; of `for i, item in enumerate(items)` that of the item.
ir::ExprId Displays::ItemOf(const ir::Module& module, const ir::Stmt& loop) const {
  const ir::ExprId target{loop.a};
  const ir::Expr& iter = module[ir::AssignedOf(loop)];
  const bool is_pair = module[target].kind == ir::ExprKind::Tuple && ir::Items(module, module[target]).size() == 2;
  if (!is_pair || iter.kind != ir::ExprKind::Call || module[ir::CalleeOf(iter)].kind != ir::ExprKind::Name) return target;
  return program_.text(ir::NameOf(module[ir::CalleeOf(iter)])) == "enumerate" ? ir::Items(module, module[target])[1] : target;
}

// A parameter, texts and tables of it (`line = f"loss {loss}"`), and what loops over it take out: `for name, value in metrics.items(): writer.add_scalar(name, value, step)`.
std::vector<base::NameId> Displays::NamesOf(FuncId function, base::NameId param) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  std::vector<base::NameId> names = {param};
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::Stmt& stmt = module[ir::StmtId{i}];
    if (index_.FunctionOf(module_id, ir::StmtId{i}) != function) continue;
    const bool is_row = stmt.kind == ir::StmtKind::Assign && IsTextOrTable(module[ir::AssignedOf(stmt)].kind);
    if (is_row && ShowsOne(module, ir::AssignedOf(stmt), names)) AddTargets(module, ir::TargetsOf(module, stmt)[0], names);
    if (stmt.kind != ir::StmtKind::For) continue;
    if (ir::Mentions(module, ir::AssignedOf(stmt), names)) AddTargets(module, ItemOf(module, stmt), names);
  }
  return names;
}

bool Displays::AddCallOf(FuncId helper, const Site& call) {
  const ir::Module& module = program_.module_of(call.function);
  if (module[call.expr].kind != ir::ExprKind::Call) return false;
  // `enumerate(with_progress(items))` runs the generator, and takes other arguments.
  const variation::CallFact* fact = facts_.call(call.function, call.expr);
  if (facts_.iteration(call.function, call.expr) != nullptr && (fact == nullptr || !fact->function)) return false;
  const auto& params = program_.function(helper).params;
  const std::vector<bool>& shown = shown_params_[helper.index];
  const bool is_method = static_cast<bool>(program_.funcs[helper].owner);
  const std::vector<Display>& inner = displays_[helper.index];
  Display display{call, {}, std::ranges::all_of(inner, &Display::is_file)};
  uint32_t position = is_method ? 1 : 0;
  for (uint32_t i = 0; i < ir::ArgCount(module, module[call.expr]); ++i) {
    const ir::Arg arg = ir::ArgAt(module, module[call.expr], i);
    size_t at = params.size();
    if (arg.kind == ir::ArgKind::Positional) at = position++;
    if (arg.kind == ir::ArgKind::Keyword) at = static_cast<size_t>(std::ranges::find(params, arg.keyword, &ir::Param::name) - params.begin());
    const bool is_rest = at >= params.size() && !params.empty() && params.back().kind != ir::ParamKind::Normal && shown.back();
    if ((at < params.size() && shown[at]) || is_rest) display.shown.push_back(arg.value);
  }
  auto& displays = displays_[call.function.index];
  if (display.shown.empty()) return false;
  const auto known = std::ranges::find(displays, call, &Display::call);
  if (known == displays.end()) displays.push_back(std::move(display));
  else if (known->shown.size() >= display.shown.size()) return false;
  else *known = std::move(display);
  return true;
}

}  // namespace allranks::objects
