#include "analyzer/objects/launched_options.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "analyzer/base/option_attribute.h"

namespace allranks::objects {

using variation::ValueKind;

// "mode" of `add_argument("mode")`; empty: it is an option, or not written there.
std::string_view LaunchedOptions::FirstText(const ir::Module& module, ir::ExprId call) const {
  if (ir::ArgCount(module, module[call]) == 0) return {};
  const ir::Arg arg = ir::ArgAt(module, module[call], 0);
  const ir::Expr& value = module[arg.value];
  const bool is_text = arg.kind == ir::ArgKind::Positional && value.kind == ir::ExprKind::Constant && ir::ConstantKindOf(value) == ir::ConstantKind::Str;
  const std::string_view text = is_text && ir::TextOf(value) ? program_.text(ir::TextOf(value)) : std::string_view();
  return text.starts_with('-') ? std::string_view() : text;
}

LaunchedOptions::LaunchedOptions(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                                 const ProgramIndex& index, std::span<const LaunchLine> lines)
    : program_(program), facts_(facts), index_(index), values_(program, knowledge, facts), neighbourhood_(program), lines_(lines) {
  for (uint32_t m = 0; m < program.modules.size(); ++m) {
    for (const ir::ExprId call : index.ExprsOf(ir::ModuleId{m}, ir::ExprKind::Call)) AddCall(ir::ModuleId{m}, call);
    AddFields(ir::ModuleId{m});
  }
}

void LaunchedOptions::AddCall(ir::ModuleId module_id, ir::ExprId call) {
  const ir::Module& module = program_.modules[module_id];
  const ir::Expr& callee = module[ir::CalleeOf(module[call])];
  const std::string_view method = callee.kind == ir::ExprKind::Attribute ? program_.text(ir::AttrOf(callee)) : std::string_view();
  if (method != "add_argument" && method != "add_subparsers") return;
  std::string name;
  Declaration declaration = DeclarationOf(module_id, call, name);
  declaration.is_first_word = method == "add_subparsers" || (name.empty() && !FirstText(module, call).empty());
  if (declaration.is_first_word && !IsFirstWord(module_id, call)) return;
  if (name.empty()) name = FirstText(module, call);
  if (const base::NameId id = program_.names->Find(name)) declared_[id].push_back(declaration);
}

// `name`: of the attribute, where an option or `dest` says it.
LaunchedOptions::Declaration LaunchedOptions::DeclarationOf(ir::ModuleId module_id, ir::ExprId call, std::string& name) const {
  const ir::Module& module = program_.modules[module_id];
  Declaration declaration{.module = module_id};
  for (uint32_t i = 0; i < ir::ArgCount(module, module[call]); ++i) {
    const ir::Arg arg = ir::ArgAt(module, module[call], i);
    const ValueId value = facts_.value(module_id, arg.value);
    const std::string_view text = values_.Str(value);
    const bool is_long = arg.kind == ir::ArgKind::Positional && text.starts_with("--");
    if (is_long && name.empty()) name = base::OptionAttribute(text);
    if (arg.kind != ir::ArgKind::Keyword) continue;
    if (program_.text(arg.keyword) == "dest" && !text.empty()) name = text;
    if (program_.text(arg.keyword) == "default") declaration.usual = value;
    if (program_.text(arg.keyword) == "choices") declaration.choices = value;
    if (program_.text(arg.keyword) == "required") declaration.is_required = !values_.IsFalse(value);
    if (program_.text(arg.keyword) == "action") declaration.is_switch_off = text == "store_false";
  }
  return declaration;
}

// What a parser takes by its place, and no other call of the file takes anything so before. One that takes several words, or may take none, tells
// nothing.
bool LaunchedOptions::IsFirstWord(ir::ModuleId module_id, ir::ExprId call) const {
  const ir::Module& module = program_.modules[module_id];
  for (uint32_t i = 0; i < ir::ArgCount(module, module[call]); ++i) {
    const ir::Arg arg = ir::ArgAt(module, module[call], i);
    if (arg.kind == ir::ArgKind::Keyword && program_.text(arg.keyword) == "nargs") return false;
  }
  return std::ranges::none_of(index_.ExprsOf(module_id, ir::ExprKind::Call), [&](ir::ExprId other) {
    const ir::Expr& callee = module[ir::CalleeOf(module[other])];
    if (callee.kind != ir::ExprKind::Attribute || module[other].begin >= module[call].begin) return false;
    const std::string_view method = program_.text(ir::AttrOf(callee));
    return method == "add_subparsers" || (method == "add_argument" && !FirstText(module, other).empty());
  });
}

void LaunchedOptions::AddFields(ir::ModuleId module_id) {
  const ir::Module& module = program_.modules[module_id];
  for (const ir::Class& each : module.classes) {
    for (const ir::StmtId id : module.statements(each.body)) {
      const ir::Stmt& stmt = module[id];
      if (stmt.kind != ir::StmtKind::AnnAssign || !ir::AssignedOf(stmt) || module[ir::ValueOf(stmt)].kind != ir::ExprKind::Name) continue;
      declared_[ir::NameOf(module[ir::ValueOf(stmt)])].push_back({.module = module_id, .usual = facts_.value(module_id, ir::AssignedOf(stmt))});
    }
  }
}

bool LaunchedOptions::IsAlways(ir::ModuleId module, ValueId value, int64_t number, const std::function<bool(ValueId)>& also, int depth) const {
  constexpr int kDeepest = 8;
  if (!value || depth > kDeepest) return false;
  const variation::Value& node = facts_.values_store[value];
  const auto is_always = [&](ValueId part) { return IsAlways(module, part, number, also, depth + 1); };
  switch (node.kind) {
    case ValueKind::Int:
      return values_.Int(value) == number;
    case ValueKind::Param: {
      const std::vector<ValueId> passed = Passed(node.function(), node.param_index());
      return !passed.empty() && std::ranges::all_of(passed, is_always);
    }
    case ValueKind::Select: {
      const auto kids = facts_.values_store.Kids(value);
      return is_always(kids[1]) && is_always(kids[2]);
    }
    case ValueKind::Derived:
      return HasDefault(module, value, number) || (also && also(value));
    default:
      return false;
  }
}

// What each caller hands over; one value where all of them agree.
std::vector<ValueId> LaunchedOptions::Passed(FuncId function, uint32_t param) const {
  if (const ValueId agreed = facts_.param(function, param)) return {agreed};
  std::vector<ValueId> passed;
  for (const Site& caller : index_.CallersOf(function)) passed.push_back(index_.PassedBy(caller, function, param));
  return passed;
}

std::vector<LaunchedOptions::Declaration> LaunchedOptions::DeclarationsOf(ir::ModuleId module, ValueId value) const {
  const variation::Value& node = facts_.values_store[value];
  if (node.kind != ValueKind::Derived || node.kid_count != 1) return {};
  const base::NameId name = facts_.values_store.OperationOf(node);
  const auto declared = name ? declared_.find(name) : declared_.end();
  if (declared == declared_.end()) return {};
  const std::vector<ir::ModuleId> near = neighbourhood_.Of(module);
  std::vector<Declaration> found;
  std::ranges::copy_if(declared->second, std::back_inserter(found),
                       [&](const Declaration& each) { return std::ranges::count(near, each.module) > 0; });
  return found;
}

bool LaunchedOptions::IsOption(ir::ModuleId module, ValueId value) const { return !DeclarationsOf(module, value).empty(); }

bool LaunchedOptions::MayBe(ir::ModuleId module, ValueId value, ValueId wanted) const {
  const std::vector<Declaration> declarations = DeclarationsOf(module, value);
  return declarations.empty() || std::ranges::any_of(declarations, [&](const Declaration& each) { return Allows(each, wanted); });
}

bool LaunchedOptions::Allows(const Declaration& declaration, ValueId wanted) const {
  const variation::ValueStore& store = facts_.values_store;
  if (!declaration.choices || store[declaration.choices].kind != ValueKind::Tuple) return true;
  const auto is_text = [&](ValueId value) { return value && store[value].kind == ValueKind::Str; };
  const auto choices = store.Kids(declaration.choices);
  if (!std::ranges::all_of(choices, is_text) || std::ranges::count(choices, wanted) > 0) return true;
  return declaration.usual && !values_.IsNone(declaration.usual) && (!is_text(declaration.usual) || declaration.usual == wanted);
}

bool LaunchedOptions::IsNeverGiven(ir::ModuleId module, ValueId value) const {
  if (!value) return false;
  const std::vector<Declaration> declarations = DeclarationsOf(module, value);
  const auto is_off = [&](const Declaration& each) {
    return each.usual ? values_.IsNone(each.usual) || values_.IsFalse(each.usual) : !each.is_required && !each.is_switch_off && !each.is_first_word;
  };
  if (declarations.empty() || !std::ranges::all_of(declarations, is_off)) return false;
  const std::vector<const LaunchLine*> lines = LinesOf(module, [](const LaunchLine&) { return true; });
  return !lines.empty() && std::ranges::all_of(lines, [&](const LaunchLine* line) { return GivenIn(*line, value, declarations) == nullptr; });
}

bool LaunchedOptions::HasDefault(ir::ModuleId module, ValueId value, int64_t number) const {
  const std::vector<Declaration> declarations = DeclarationsOf(module, value);
  const auto is_usual = [&](const Declaration& each) { return values_.Int(each.usual) == number; };
  return !declarations.empty() && std::ranges::all_of(declarations, is_usual) &&
         !IsGivenElse(module, program_.text(facts_.values_store.OperationOf(facts_.values_store[value])), number);
}

template <class IsWanted>
std::vector<const LaunchLine*> LaunchedOptions::LinesOf(ir::ModuleId module, const IsWanted& is_wanted) const {
  std::vector<const LaunchLine*> lines;
  for (const LaunchLine& line : lines_) {
    if (is_wanted(line)) lines.push_back(&line);
  }
  if (lines.empty()) return lines;
  const std::vector<ir::ModuleId> users = neighbourhood_.UsersOf(module);
  std::erase_if(lines, [&](const LaunchLine* line) {
    return std::ranges::none_of(users, [&](ir::ModuleId user) { return line->MayStart(program_.infos[user].path); });
  });
  return lines;
}

bool LaunchedOptions::IsGivenElse(ir::ModuleId module, std::string_view name, int64_t number) const {
  const auto gives = [&](const LaunchLine& line) {
    return std::ranges::any_of(line.options, [&](const GivenOption& given) {
      return base::OptionAttribute(given.name) == name && given.value != std::to_string(number);
    });
  };
  return !LinesOf(module, gives).empty();
}

const GivenOption* LaunchedOptions::GivenIn(const LaunchLine& line, ValueId value, std::span<const Declaration> declarations) const {
  if (std::ranges::all_of(declarations, &Declaration::is_first_word)) return line.first_word.value ? &line.first_word : nullptr;
  const std::string_view name = program_.text(facts_.values_store.OperationOf(facts_.values_store[value]));
  const auto given = std::ranges::find_if(line.options, [&](const GivenOption& option) { return base::OptionAttribute(option.name) == name; });
  return given == line.options.end() ? nullptr : &*given;
}

// An option without a default is None, a switch false.
std::optional<bool> LaunchedOptions::TruthOf(const Declaration& declaration) const {
  if (declaration.is_switch_off) return true;
  if (!declaration.usual || values_.IsNone(declaration.usual) || values_.IsFalse(declaration.usual)) return false;
  if (values_.IsTrue(declaration.usual)) return true;
  if (const std::optional<int64_t> number = values_.Int(declaration.usual)) return *number != 0;
  if (facts_.values_store[declaration.usual].kind != ValueKind::Str) return std::nullopt;
  return !values_.Str(declaration.usual).empty();
}

std::optional<bool> LaunchedOptions::TruthIn(const LaunchLine& line, ir::ModuleId module, ValueId value) const {
  const std::vector<Declaration> declarations = DeclarationsOf(module, value);
  if (declarations.empty()) return std::nullopt;
  if (const GivenOption* given = GivenIn(line, value, declarations)) {
    const bool is_off = given->value == "False" || given->value == "false" || given->value == "0" || given->value == "";
    return std::ranges::any_of(declarations, &Declaration::is_switch_off) ? false : !is_off;
  }
  if (std::ranges::any_of(declarations, &Declaration::is_first_word)) return std::nullopt;
  const std::optional<bool> first = TruthOf(declarations.front());
  const auto is_first = [&](const Declaration& each) { return TruthOf(each) == first; };
  return std::ranges::all_of(declarations, is_first) ? first : std::nullopt;
}

std::optional<std::string> LaunchedOptions::TextIn(const LaunchLine& line, ir::ModuleId module, ValueId value) const {
  const std::vector<Declaration> declarations = DeclarationsOf(module, value);
  if (declarations.empty()) return std::nullopt;
  if (const GivenOption* given = GivenIn(line, value, declarations)) return given->value;
  const ValueId usual = declarations.front().usual;
  const auto is_usual = [&](const Declaration& each) { return each.usual == usual; };
  if (!usual || facts_.values_store[usual].kind != ValueKind::Str || !std::ranges::all_of(declarations, is_usual)) return std::nullopt;
  return std::string(values_.Str(usual));
}

std::vector<std::string> LaunchedOptions::TextsOf(ir::ModuleId module, ValueId value) const {
  const std::vector<Declaration> declarations = DeclarationsOf(module, value);
  if (declarations.empty()) return {};
  std::set<std::string> texts;
  bool is_left = false;
  const std::vector<const LaunchLine*> lines = LinesOf(module, [](const LaunchLine&) { return true; });
  const bool has_line = !lines.empty();
  for (const LaunchLine* line : lines) {
    const GivenOption* given = GivenIn(*line, value, declarations);
    if (given == nullptr) is_left = true;
    else if (!given->value) return {};
    else texts.insert(*given->value);
  }
  for (const Declaration& each : declarations) {
    const std::string_view usual = values_.Str(each.usual);
    // Where it has no default, each start gives it.
    if (usual.empty() && (!has_line || (each.usual && !values_.IsNone(each.usual)))) return {};
    if (!usual.empty() && (is_left || !has_line)) texts.emplace(usual);
  }
  return {texts.begin(), texts.end()};
}

bool LaunchedOptions::ComposesElse(ir::ModuleId module, const std::function<bool(std::string_view)>& is_setting) const {
  const auto composes = [&](const LaunchLine& line) {
    return std::ranges::any_of(line.options, [&](const GivenOption& given) {
      const std::string_view name = given.name;
      if (name.starts_with('-')) return name.starts_with("--config-") || name == "-cn" || name == "-cp" || name == "-cd";
      return name.find('/') != std::string_view::npos || (name.find('.') == std::string_view::npos && !is_setting(name));
    });
  };
  return !LinesOf(module, composes).empty();
}

bool LaunchedOptions::GivesElse(ir::ModuleId module, std::span<const std::string> keys, std::string_view text) const {
  std::string whole;
  for (const std::string& key : keys) whole += (whole.empty() ? "" : ".") + key;
  const auto gives = [&](const LaunchLine& line) {
    return std::ranges::any_of(line.options, [&](const GivenOption& given) {
      const std::string_view name = std::string_view(given.name).substr(std::min(given.name.find_first_not_of("-+~"), given.name.size()));
      const bool is_above = whole.size() > name.size() && whole.starts_with(name) && whole[name.size()] == '.';
      return !name.empty() && ((name == whole && given.value != text) || is_above);
    });
  };
  return !LinesOf(module, gives).empty();
}

}  // namespace allranks::objects
