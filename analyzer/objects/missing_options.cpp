#include "analyzer/objects/missing_options.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "analyzer/base/option_attribute.h"

namespace allranks::objects {
namespace {

using variation::ValueKind;

constexpr std::string_view kParser = "argparse.ArgumentParser";
constexpr std::string_view kParse = "parse_args";
constexpr std::array<std::string_view, 5> kLeaveOptionsOpen = {"parse_known_args", "parse_known_intermixed_args", "parse_intermixed_args", "__dict__", "__setattr__"};
constexpr std::array<std::string_view, 2> kMakeOptions = {"setattr", "Namespace"};

}  // namespace

bool MissingOptions::IsReadBy(ir::ModuleId module_id, ir::ExprId id) const {
  const ir::Module& module = program_.modules[module_id];
  if (module[id].kind != ir::ExprKind::Attribute) return false;
  const std::string_view name = program_.text(ir::AttrOf(module[id]));
  return !name.starts_with('_') && IsParsed(module_id, ir::ObjectOf(module[id])) && !MayBeMade(module_id, name);
}

// By argparse, whichever caller handed it over.
bool MissingOptions::IsParsed(ir::ModuleId module, ir::ExprId object) const {
  const ValueId value = facts_.value(module, object);
  if (!value) return false;
  const std::vector<ValueId> leaves = values_.Leaves(value);
  return std::ranges::all_of(leaves, [&](ValueId leaf) { return IsParsed(leaf); });
}

// `parser.parse_args()`
bool MissingOptions::IsParsed(ValueId value) const {
  if (MadeBy(value) != kParse) return false;
  const std::span<const ValueId> of = facts_.values_store.Kids(value);
  return !of.empty() && std::ranges::all_of(values_.Leaves(of[0]), [&](ValueId parser) { return MadeBy(parser) == kParser; });
}

// What a value is the result of.
std::string_view MissingOptions::MadeBy(ValueId value) const {
  const base::NameId made_by = facts_.values_store.DerivedBy(values_[value]);
  return made_by ? program_.text(made_by) : std::string_view();
}

bool MissingOptions::MayBeMade(ir::ModuleId module, std::string_view name) const {
  return std::ranges::any_of(NeighboursOf(module), [&](ir::ModuleId other) {
    const Options& options = Of(other);
    return options.is_open || options.names.contains(std::string(name));
  });
}

const std::vector<ir::ModuleId>& MissingOptions::NeighboursOf(ir::ModuleId module) const {
  const auto [known, is_new] = neighbours_.try_emplace(module.index);
  if (is_new) known->second = neighbourhood_.Of(module);
  return known->second;
}

const MissingOptions::Options& MissingOptions::Of(ir::ModuleId module) const {
  const auto [known, is_new] = options_.try_emplace(module.index);
  if (is_new) known->second = Read(module);
  return known->second;
}

MissingOptions::Options MissingOptions::Read(ir::ModuleId module_id) const {
  const ir::Module& module = program_.modules[module_id];
  Options options;
  for (const ir::ExprId id : index_.ExprsOf(module_id, ir::ExprKind::Constant)) {
    if (ir::ConstantKindOf(module[id]) == ir::ConstantKind::Str) options.names.insert(base::OptionAttribute(program_.text(ir::TextOf(module[id]))));
  }
  for (const ir::ExprId id : index_.ExprsOf(module_id, ir::ExprKind::Call)) AddCall(module_id, id, options);
  for (const ir::ExprId id : index_.ExprsOf(module_id, ir::ExprKind::Attribute)) {
    const std::string_view name = program_.text(ir::AttrOf(module[id]));
    options.is_open = options.is_open || std::ranges::count(kLeaveOptionsOpen, name) > 0;
  }
  for (uint32_t i = 0; i < module.stmts.size(); ++i) AddTargets(module_id, module.stmts[ir::StmtId{i}], options);
  return options;
}

void MissingOptions::AddCall(ir::ModuleId module_id, ir::ExprId id, Options& options) const {
  const ir::Module& module = program_.modules[module_id];
  const ir::Expr& call = module[id];
  const std::string_view name = LastPart(module_id, ir::CalleeOf(call));
  const bool is_setting = name == "set_defaults";
  const bool is_adding = name == "add_argument";
  options.is_open = options.is_open || std::ranges::count(kMakeOptions, name) > 0 || (name == "vars" && IsChanged(module_id, id));
  for (uint32_t i = 0; i < ir::ArgCount(module, call); ++i) {
    const ir::Arg arg = ir::ArgAt(module, call, i);
    const bool is_spread = arg.kind == ir::ArgKind::Star || arg.kind == ir::ArgKind::DoubleStar;
    const bool is_named = arg.kind == ir::ArgKind::Keyword;
    const bool is_unknown_name = is_adding && arg.kind == ir::ArgKind::Positional && module[arg.value].kind != ir::ExprKind::Constant;
    const bool is_namespace = name == "parse_args" && is_named && program_.text(arg.keyword) == "namespace";
    if (is_setting && is_named) options.names.emplace(program_.text(arg.keyword));
    // `ArgumentParser(parents=[parser_of_the_library()])`
    const bool has_parents = is_named && program_.text(arg.keyword) == "parents";
    if (((is_setting || is_adding) && is_spread) || is_unknown_name || is_namespace || has_parents) options.is_open = true;
    if (IsUnseen(module_id, ir::CalleeOf(call)) && IsOfParser(module_id, arg.value)) options.is_open = true;
  }
}

// The last part of a name: "parse_args" of `parser.parse_args`.
std::string_view MissingOptions::LastPart(ir::ModuleId module_id, ir::ExprId id) const {
  const ir::Expr& expr = program_.modules[module_id][id];
  if (expr.kind == ir::ExprKind::Name) return program_.text(ir::NameOf(expr));
  return expr.kind == ir::ExprKind::Attribute ? program_.text(ir::AttrOf(expr)) : std::string_view();
}

// `vars(args).update(settings)`, `vars(args)["seed"] = 0`, `options = vars(args)`, `merge(vars(args), settings)`.
bool MissingOptions::IsChanged(ir::ModuleId module_id, ir::ExprId dictionary) const {
  const ir::Module& module = program_.modules[module_id];
  const ir::ExprId user = index_.tree(module_id).Parent(dictionary);
  if (!user) return module[index_.tree(module_id).StatementOf(dictionary)].kind == ir::StmtKind::Assign;
  if (module[user].kind == ir::ExprKind::Call) return IsWrittenBy(module_id, user);
  const std::string_view method = module[user].kind == ir::ExprKind::Attribute ? program_.text(ir::AttrOf(module[user])) : std::string_view();
  return method == "update" || method == "setdefault" || module[user].kind == ir::ExprKind::Subscript;
}

// The function that is called puts something into one of its parameters: `into[key] = value`, `into.update(more)`.
bool MissingOptions::IsWrittenBy(ir::ModuleId module_id, ir::ExprId call) const {
  const ir::StmtId stmt = index_.tree(module_id).StatementOf(call);
  const variation::FuncId caller = stmt ? index_.FunctionOf(module_id, stmt) : variation::FuncId();
  const variation::CallFact* fact = caller ? facts_.call(caller, call) : nullptr;
  if (fact == nullptr || !fact->function) return false;
  const ir::ModuleId other_id = program_.funcs[fact->function].module;
  const ir::Module& other = program_.modules[other_id];
  const auto& params = program_.function(fact->function).params;
  const auto is_of_it = [&](ir::ExprId object, ir::StmtId at) {
    return at && index_.FunctionOf(other_id, at) == fact->function && other[object].kind == ir::ExprKind::Name &&
           std::ranges::find(params, ir::NameOf(other[object]), &ir::Param::name) != params.end();
  };
  for (uint32_t i = 0; i < other.stmts.size(); ++i) {
    const ir::Stmt& each = other[ir::StmtId{i}];
    if (each.kind != ir::StmtKind::Assign) continue;
    for (const ir::ExprId target : ir::TargetsOf(other, each)) {
      if (other[target].kind == ir::ExprKind::Subscript && is_of_it(ir::ObjectOf(other[target]), ir::StmtId{i})) return true;
    }
  }
  return std::ranges::any_of(index_.ExprsOf(other_id, ir::ExprKind::Call), [&](ir::ExprId id) {
    const ir::Expr& callee = other[ir::CalleeOf(other[id])];
    if (callee.kind != ir::ExprKind::Attribute) return false;
    const std::string_view method = program_.text(ir::AttrOf(callee));
    return (method == "update" || method == "setdefault") && is_of_it(ir::ObjectOf(callee), index_.tree(other_id).StatementOf(id));
  });
}

// What is called is no function that was read, and none of Python or of a library either.
bool MissingOptions::IsUnseen(ir::ModuleId module, ir::ExprId callee) const {
  const ValueId called = facts_.value(module, callee);
  if (!called) return true;
  const variation::Value& value = values_[called];
  // A library may write into what it is handed (`timm.utils.init_distributed_device(args)`); Python's own functions do not.
  const bool is_of_python = value.kind == ValueKind::External && program_.text(value.name()).starts_with("builtins.");
  return !is_of_python && value.kind != ValueKind::Function && value.kind != ValueKind::Class && value.kind != ValueKind::BoundExternal;
}

bool MissingOptions::IsOfParser(ir::ModuleId module, ir::ExprId object) const {
  const ValueId value = facts_.value(module, object);
  return value && std::ranges::any_of(values_.Leaves(value), [&](ValueId leaf) { return MadeBy(leaf) == kParser || IsParsed(leaf); });
}

void MissingOptions::AddTargets(ir::ModuleId module_id, const ir::Stmt& stmt, Options& options) const {
  if (stmt.kind == ir::StmtKind::AnnAssign || stmt.kind == ir::StmtKind::For) return AddTarget(module_id, ir::ValueOf(stmt), options);
  if (stmt.kind != ir::StmtKind::Assign) return;
  for (const ir::ExprId target : ir::TargetsOf(program_.modules[module_id], stmt)) AddTarget(module_id, target, options);
}

// `args.rank`, and each part of `args.rank, args.gpu`.
void MissingOptions::AddTarget(ir::ModuleId module_id, ir::ExprId target, Options& options) const {
  const ir::Module& module = program_.modules[module_id];
  const ir::ExprKind kind = module[target].kind;
  if (kind == ir::ExprKind::Tuple || kind == ir::ExprKind::List) {
    for (const ir::ExprId part : ir::Items(module, module[target])) AddTarget(module_id, part, options);
  } else if (kind == ir::ExprKind::Attribute) {
    const ValueId object = facts_.value(module_id, ir::ObjectOf(module[target]));
    const bool is_of_class = object && values_[object].kind == ValueKind::Instance;
    if (!is_of_class) options.names.emplace(program_.text(ir::AttrOf(module[target])));
  }
}

}  // namespace allranks::objects
