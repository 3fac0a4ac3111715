// Members that are named while the program runs: `vars(args)[key] = value`, `setattr(args, key, value)`, `models.__dict__[args.arch]`.
//
// A name that is known, or one of a few, leads to the member; any other leads to one of those that there are, or says that any may have been
// replaced.
//
// Unsound: of a module that is named while the program runs only those of the program are known.
#include <algorithm>
#include <string_view>
#include <utility>

#include "analyzer/variation/evaluator.h"

namespace allranks::variation {

// `models.__dict__[args.arch]`, `globals()[f"build_{name}"]`: the module whose members are picked from; none for anything else.
ir::ModuleId FunctionEvaluator::ModuleOfMembers(ir::ExprId object) const {
  const ir::Expr& expr = module_[object];
  if (expr.kind == ir::ExprKind::Call && module_.language == ir::Language::Python) {
    const ValueId called = tables_.facts.value(func_.module, ir::CalleeOf(expr));
    const bool is_globals = called && store_[called].kind == ValueKind::External && Text(store_[called].name()) == "builtins.globals";
    return is_globals ? func_.module : ir::ModuleId();
  }
  if (expr.kind != ir::ExprKind::Attribute || Text(ir::AttrOf(expr)) != kFieldTable) return {};
  const ValueId owner = tables_.facts.value(func_.module, ir::ObjectOf(expr));
  return owner && store_[owner].kind == ValueKind::Module ? store_[owner].module() : ir::ModuleId();
}

// `vars(args)`, `args.__dict__`: the object whose fields those are; none of anything else, and of a module or class.
ValueId FunctionEvaluator::OwnerOfTable(ir::ExprId table) {
  const ir::Expr& expr = module_[table];
  if (module_.language != ir::Language::Python) return {};
  ir::ExprId object;
  if (expr.kind == ir::ExprKind::Attribute && Text(ir::AttrOf(expr)) == kFieldTable) object = ir::ObjectOf(expr);
  const ValueId called = expr.kind == ir::ExprKind::Call && ir::ArgCount(module_, expr) == 1 ? Eval(ir::CalleeOf(expr)) : ValueId();
  const bool is_vars = called && store_[called].kind == ValueKind::External && Text(store_[called].name()) == "builtins.vars";
  if (is_vars) object = ir::ArgAt(module_, expr, 0).value;
  const ValueId owner = object ? Eval(object) : ValueId();
  const ValueKind kind = owner ? store_[LookThrough(tables_, owner)].kind : ValueKind::Module;
  return kind == ValueKind::Module || kind == ValueKind::Class ? ValueId() : owner;
}

// `vars(args).update(settings, lr=1)`, as far as the names of the fields are seen.
bool FunctionEvaluator::PutFields(ir::ExprId table, std::span<const CallArgument> args) {
  const ValueId owner = OwnerOfTable(table);
  const auto items = owner ? containers_.ItemsGiven(args) : std::nullopt;
  if (!items) return false;
  for (const Item& item : *items) StoreNamed(owner, item.key, item.value);
  return true;
}

namespace {

constexpr int kLongestChainOfStars = 3;

// Names of a module, and of those whose names it takes over.
void AddNames(const binding::Program& program, ir::ModuleId module, int stars_left, std::vector<NameId>& names) {
  for (const auto& [name, target] : program.top_level[module.index]) names.push_back(name);
  if (stars_left == 0) return;
  for (const ir::ModuleId star : program.stars[module.index]) AddNames(program, star, stars_left - 1, names);
}

// Whether a module may be meant by a name that begins and ends so: `tasks.` is looked up from a folder further down as well.
bool MayBeCalled(std::string_view module, std::string_view begin, std::string_view end) {
  while (begin.starts_with('.')) begin.remove_prefix(1);
  for (size_t part = 0; part < module.size(); ++part) {
    const bool is_first = part == 0 || module[part - 1] == '.';
    const std::string_view rest = module.substr(part);
    if (is_first && rest.size() >= begin.size() + end.size() && rest.starts_with(begin) && rest.ends_with(end)) return true;
  }
  return false;
}

}  // namespace

// How a text that is put together begins and ends, as far as that is known: `f"build_{name}"`.
std::pair<std::string_view, std::string_view> FunctionEvaluator::KnownEnds(ValueId text) const {
  const bool has_parts = store_[text].is_binary(ir::BinaryOp::Add) || store_[text].is_derived(tables_.NameSymbol("f-string"));
  const auto parts = store_.Kids(text);
  if (!has_parts || parts.empty()) return {};
  const auto known = [&](ValueId part) { return part && store_[part].kind == ValueKind::Str ? Text(store_[part].name()) : std::string_view(); };
  return {known(parts.front()), known(parts.back())};
}

// A public function or class of a module, by a name that is known at run time: of those that it defines, else of those that it imports.
ValueId FunctionEvaluator::PickedFrom(ir::ModuleId module, ValueId name) {
  const auto [begin, end] = KnownEnds(name);
  std::vector<NameId> names;
  AddNames(tables_.program, module, kLongestChainOfStars, names);
  std::ranges::sort(names, {}, [&](NameId each) { return Text(each); });
  names.erase(std::ranges::unique(names).begin(), names.end());
  std::vector<ValueId> own, imported;
  for (const NameId each : names) {
    const std::string_view text = Text(each);
    if (text.starts_with('_') || text.size() < begin.size() + end.size() || !text.starts_with(begin) || !text.ends_with(end)) continue;
    const binding::Target target = tables_.program.Lookup(module, each);
    const bool is_function = target.kind == binding::TargetKind::Function;
    if (!is_function && target.kind != binding::TargetKind::Class) continue;
    const ir::ModuleId home = is_function ? tables_.program.funcs[target.function].module : tables_.program.classes[target.class_id].module;
    (home == module ? own : imported).push_back(definitions_.Of(target));
  }
  // A name of which an end is known means what is called so, wherever it is from.
  if (own.empty() || !begin.empty() || !end.empty()) own.insert(own.end(), imported.begin(), imported.end());
  return chosen_.OneOf(own, name);
}

// `importlib.import_module(f"models.{name}").Model`: of a module that is named at run time a function or class that some module defines
// under that name. None of a module whose name is known and that is no part of the program, and of too many.
ValueId FunctionEvaluator::MemberOfLoaded(ValueId loaded, NameId attr) {
  const NameId operation = store_.DerivedBy(store_[loaded]);
  const knowledge::EntryId entry = operation ? knowledge_.FindEntry(operation) : knowledge::EntryId::None();
  const auto given = store_.Kids(loaded);
  if (!entry || !knowledge_[entry].Has(knowledge::Role::LoadsUnseen) || given.empty() || !given[0]) return {};
  const ValueId text = built_ins_.SpelledOut(given[0]);
  if (store_[text].kind == ValueKind::Str) {
    const ir::ModuleId module = tables_.program.FindModule(Text(store_[text].name()));
    return module ? MemberOfModule(module, attr) : ValueId();
  }
  const auto [begin, end] = KnownEnds(text);
  std::vector<ValueId> members;
  for (uint32_t m = 0; m < tables_.program.modules.size(); ++m) {
    if (!MayBeCalled(tables_.program.infos[ir::ModuleId{m}].dotted, begin, end)) continue;
    const auto& names = tables_.program.top_level[m];
    const auto found = names.find(attr);
    if (found == names.end()) continue;
    const binding::Target& target = found->second;
    const bool is_function = target.kind == binding::TargetKind::Function && tables_.program.funcs[target.function].module == ir::ModuleId{m};
    const bool is_class = target.kind == binding::TargetKind::Class && tables_.program.classes[target.class_id].module == ir::ModuleId{m};
    if (is_function || is_class) members.push_back(definitions_.Of(target));
  }
  return chosen_.OneOf(members, given[0]);
}

// `setattr(args, key, value)`. A loop over keys that are known comes to each of their fields.
void FunctionEvaluator::StoreNamed(ValueId object, ValueId name, ValueId value) {
  const Value key = store_[name];
  if (key.kind == ValueKind::Str) return StoreAttribute(object, key.name(), value);
  if (key.is_derived(tables_.NameSymbol("element"))) {
    for (const ValueId each : store_.Kids(name)) StoreNamed(object, each, value);
    return;
  }
  if (key.kind != ValueKind::Select) return NoteAnyReplaced(object);
  const Arms names = store_.ArmsOf(name);
  if (!IsOfRound(names.condition)) return;
  const bool is_pair = store_[value].kind == ValueKind::Select && store_.ArmsOf(value).condition == names.condition;
  StoreNamed(object, names.then_value, is_pair ? store_.ArmsOf(value).then_value : value);
  StoreNamed(object, names.else_value, is_pair ? store_.ArmsOf(value).else_value : value);
}

// Whether a condition tells the rounds of a loop around apart by the item that they get.
bool FunctionEvaluator::IsOfRound(ValueId condition) {
  if (store_[condition].kind != ValueKind::Unknown) return false;
  return std::ranges::any_of(loops_, [&](const ir::Stmt* loop) {
    if (loop->kind != ir::StmtKind::For) return false;
    for (uint32_t i = 0; i < kMostItemsApart; ++i) {
      if (store_[condition].symbol() == Site(ir::AssignedOf(*loop), SiteUse::Which, i)) return true;
    }
    return false;
  });
}

}  // namespace allranks::variation
