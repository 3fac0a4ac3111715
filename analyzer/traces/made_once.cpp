#include "analyzer/traces/made_once.h"

#include <algorithm>
#include <string_view>

#include "analyzer/ir/walk.h"

namespace allranks::traces {
namespace {

using variation::CallFact;
using variation::CallKind;
using variation::Value;
using variation::ValueKind;

// Functions that only hand a test on: `M.is_initialized()` of `cls._state.get("done", False)`.
constexpr int kDeepestTest = 4;

bool IsAbsent(const ir::Module& module, ir::ExprId id) {
  if (!id) return false;
  const ir::Expr& expr = module[id];
  if (expr.kind == ir::ExprKind::Dict) return ir::DictCount(expr) == 0;
  if (expr.kind != ir::ExprKind::Constant) return false;
  const ir::ConstantKind kind = ir::ConstantKindOf(expr);
  return kind == ir::ConstantKind::None || kind == ir::ConstantKind::False;
}

bool IsName(const ir::Module& module, ir::ExprId id, std::string_view text, const binding::Program& program) {
  return module[id].kind == ir::ExprKind::Name && program.text(ir::NameOf(module[id])) == text;
}

void AddName(const ir::Module& module, ir::ExprId target, std::unordered_set<base::NameId>* names) {
  if (!target) return;
  const ir::Expr& expr = module[target];
  switch (expr.kind) {
    case ir::ExprKind::Name:
      names->insert(ir::NameOf(expr));
      break;
    case ir::ExprKind::Tuple:
    case ir::ExprKind::List:
      for (const ir::ExprId item : ir::Items(module, expr)) AddName(module, item, names);
      break;
    case ir::ExprKind::Starred:
      AddName(module, ir::OperandOf(expr), names);
      break;
    default:
      break;
  }
}

// Names that a block binds, and those that it declares to be of another scope.
void AddBound(const ir::Module& module, ir::BlockId block, std::unordered_set<base::NameId>* bound,
              std::unordered_set<base::NameId>* declared) {
  for (const ir::StmtId id : module.statements(block)) {
    const ir::Stmt& stmt = module[id];
    switch (stmt.kind) {
      case ir::StmtKind::Assign:
        for (const ir::ExprId target : ir::TargetsOf(module, stmt)) AddName(module, target, bound);
        break;
      case ir::StmtKind::AugAssign:
      case ir::StmtKind::AnnAssign:
      case ir::StmtKind::For:
        AddName(module, ir::ValueOf(stmt), bound);
        break;
      case ir::StmtKind::With:
        for (const ir::WithItem& item : ir::WithItemsOf(module, stmt)) AddName(module, item.target, bound);
        break;
      case ir::StmtKind::Global:
      case ir::StmtKind::Nonlocal:
        for (const uint32_t word : ir::NamesOf(module, stmt)) declared->insert(base::NameId{word});
        break;
      default:
        break;
    }
    ir::ForEachBlock(module, stmt, [&](ir::BlockId inner) { AddBound(module, inner, bound, declared); });
  }
}

}  // namespace

void MadeOnce::Find() {
  once_.clear();
  joins_job_.clear();
  locals_.clear();
  for (uint32_t f = 0; f < program_.funcs.size(); ++f) {
    if (facts_.functions[FuncId{f}].evaluated) Search(FuncId{f}, program_.function(FuncId{f}).body);
  }
}

void MadeOnce::Search(FuncId func, ir::BlockId block) {
  const ir::Module& module = program_.module_of(func);
  const std::span<const ir::StmtId> statements = module.statements(block);
  for (size_t i = 0; i < statements.size(); ++i) {
    const ir::Stmt& stmt = module[statements[i]];
    ir::ForEachBlock(module, stmt, [&](ir::BlockId inner) { Search(func, inner); });
    if (stmt.kind != ir::StmtKind::If) continue;
    for (const bool truth : {true, false}) {
      const Bases missing = Missing(func, ir::ValueOf(stmt), truth, 0);
      if (missing.empty()) continue;
      Bases filled = FilledIn(func, module.statements(truth ? ir::BodyOf(stmt) : ir::ElseBlockOf(stmt)), 0);
      // `if made: return kept`: what follows runs where it is not made.
      if (Leaves(module, truth ? ir::ElseBlockOf(stmt) : ir::BodyOf(stmt))) {
        filled.merge(FilledIn(func, statements.subspan(i + 1), 0));
      }
      if (missing.contains(BaseOf(kJob)) && filled.contains(BaseOf(kJob))) joins_job_.insert(func);
      std::ranges::set_intersection(missing, filled, std::inserter(once_, once_.end()));
    }
  }
}

bool MadeOnce::Leaves(const ir::Module& module, ir::BlockId block) const {
  const std::span<const ir::StmtId> statements = module.statements(block);
  if (statements.empty()) return false;
  const ir::StmtKind kind = module[statements.back()].kind;
  return kind == ir::StmtKind::Return || kind == ir::StmtKind::Raise;
}

MadeOnce::Bases MadeOnce::FilledIn(FuncId func, std::span<const ir::StmtId> statements, int depth) {
  const ir::Module& module = program_.module_of(func);
  Bases filled;
  for (const ir::StmtId id : statements) {
    AddFilled(func, module[id], depth, &filled);
    ir::ForEachBlock(module, module[id], [&](ir::BlockId inner) { filled.merge(FilledIn(func, module.statements(inner), depth)); });
  }
  return filled;
}

void MadeOnce::AddFilled(FuncId func, const ir::Stmt& stmt, int depth, Bases* filled) {
  const ir::Module& module = program_.module_of(func);
  const auto add = [&](ir::ExprId target) {
    if (HowFilled(func, target, ir::AssignedOf(stmt)) != Filling::Made) return;
    if (const std::optional<Place> place = PlaceOf(func, target)) filled->insert(BaseOf(*place));
  };
  if (stmt.kind == ir::StmtKind::Assign) {
    for (const ir::ExprId target : ir::TargetsOf(module, stmt)) add(target);
  } else if (stmt.kind == ir::StmtKind::AnnAssign && ir::AssignedOf(stmt)) {
    add(ir::ValueOf(stmt));
  }
  if (stmt.kind == ir::StmtKind::Expr) AddFilledByCall(func, ir::ValueOf(stmt), depth, filled);
}

ir::ExprId MadeOnce::WrittenInto(const ir::Module& module, ir::ExprId call) const {
  if (module[call].kind != ir::ExprKind::Call) return {};
  const ir::Expr& callee = module[ir::CalleeOf(module[call])];
  const std::string_view method = callee.kind == ir::ExprKind::Attribute ? program_.text(ir::AttrOf(callee)) : std::string_view();
  if (method != "copy_" && method != "fill_") return {};
  const ir::ExprId tensor = ir::ObjectOf(callee);
  const bool is_data = module[tensor].kind == ir::ExprKind::Attribute && program_.text(ir::AttrOf(module[tensor])) == "data";
  return is_data ? ir::ObjectOf(module[tensor]) : tensor;
}

std::vector<ir::ExprId> MadeOnce::StoredBy(FuncId func, ir::ExprId id) const {
  const ir::Module& module = program_.module_of(func);
  const CallFact* call = facts_.call(func, id);
  if (module.language == ir::Language::Python || call == nullptr || call->kind != CallKind::Known || module[id].kind != ir::ExprKind::Call) return {};
  const knowledge::Entry& entry = knowledge_[call->entry];
  std::vector<ir::ExprId> stored;
  for (const auto& [param, yield] : entry.stores) {
    const auto index = static_cast<uint32_t>(std::ranges::find(entry.params, param) - entry.params.begin());
    if (index < ir::ArgCount(module, module[id])) stored.push_back(ir::ArgAt(module, module[id], index).value);
  }
  return stored;
}

// `if not M.is_initialized(): M.initialize()`, `if not self.done: self.done.fill_(1)`
void MadeOnce::AddFilledByCall(FuncId func, ir::ExprId expr, int depth, Bases* filled) {
  if (const ir::ExprId tensor = WrittenInto(program_.module_of(func), expr)) {
    if (const std::optional<Place> place = PlaceOf(func, tensor)) filled->insert(BaseOf(*place));
  }
  for (const ir::ExprId stored : StoredBy(func, expr)) {
    if (const std::optional<Place> place = PlaceOf(func, stored)) filled->insert(BaseOf(*place));
  }
  const CallFact* call = facts_.call(func, expr);
  if (call == nullptr) return;
  if (call->kind == CallKind::Known && knowledge_[call->entry].operation.op_class == knowledge::OpClass::Init) {
    filled->insert(BaseOf(kJob));
  }
  if (depth > 0 || call->kind != CallKind::Function || !call->function) return;
  const ir::Module& other = program_.module_of(call->function);
  filled->merge(FilledIn(call->function, other.statements(program_.function(call->function).body), depth + 1));
}

MadeOnce::Bases MadeOnce::Missing(FuncId func, ir::ExprId test, bool truth, int depth) {
  const ir::Module& module = program_.module_of(func);
  const ir::Expr& expr = module[test];
  if (expr.kind == ir::ExprKind::Unary && static_cast<ir::UnaryOp>(expr.op) == ir::UnaryOp::Not) {
    return Missing(func, ir::OperandOf(expr), !truth, depth);
  }
  if (expr.kind == ir::ExprKind::Bool) {
    // Of `a and b` that holds, both hold. Of one that does not, one of them does not: if all ask for one place, it is
    // that.
    const bool all_hold = (static_cast<ir::BoolOp>(expr.op) == ir::BoolOp::And) == truth;
    std::optional<Bases> result;
    for (const ir::ExprId item : ir::Items(module, expr)) {
      Bases bases = Missing(func, item, truth, depth);
      if (!result) result = std::move(bases);
      else if (all_hold) result->merge(bases);
      else std::erase_if(*result, [&](const Base& base) { return !bases.contains(base); });
    }
    return result ? *result : Bases();
  }
  if (const auto asked = Asked(func, test)) {
    return asked->second == truth ? Bases() : Bases{BaseOf(asked->first)};
  }
  const CallFact* call = facts_.call(func, test);
  if (depth == kDeepestTest || call == nullptr || call->kind != CallKind::Function || !call->function) return {};
  const ir::ExprId result = OnlyResult(call->function);
  return result ? Missing(call->function, result, truth, depth + 1) : Bases();
}

ValueId MadeOnce::Condition(FuncId func, ir::ExprId test) {
  asks_for_job_ = joins_job_.contains(func);
  followed_.clear();
  return Condition(func, test, 0);
}

ValueId MadeOnce::JobOf(knowledge::OpClass op_class) {
  const bool is_of_job = op_class == knowledge::OpClass::Init || op_class == knowledge::OpClass::Destroy;
  return is_of_job && IsOnce(kJob) ? Made(kJob) : ValueId::None();
}

ValueId MadeOnce::Condition(FuncId func, ir::ExprId test, int depth) {
  const ir::ModuleId module_id = program_.funcs[func].module;
  const ir::Module& module = program_.module_of(func);
  const ValueId plain = test ? facts_.value(module_id, test) : ValueId::None();
  if (once_.empty() || !plain) return {};
  variation::ValueStore& values = facts_.values_store;
  const ir::Expr& expr = module[test];
  if (expr.kind == ir::ExprKind::Unary && static_cast<ir::UnaryOp>(expr.op) == ir::UnaryOp::Not) {
    const ValueId inner = Condition(func, ir::OperandOf(expr), depth);
    return inner ? values.Not(inner) : ValueId::None();
  }
  if (expr.kind == ir::ExprKind::Bool) {
    std::vector<ValueId> kids;
    bool asks = false;
    for (const ir::ExprId item : ir::Items(module, expr)) {
      const ValueId made = Condition(func, item, depth);
      asks = asks || made;
      kids.push_back(made ? made : facts_.value(module_id, item));
      if (!kids.back()) return {};
    }
    if (!asks) return {};
    return static_cast<ir::BoolOp>(expr.op) == ir::BoolOp::And ? values.And(kids) : values.Or(kids);
  }
  // What some ranks keep and others do not is a matter of ranks.
  if (!values.axes(plain).empty()) return {};
  const auto asked = Asked(func, test);
  if (!asked) return OfCall(func, test, depth);
  if (!IsOnce(asked->first) || (asked->first.kind == PlaceKind::Job && !asks_for_job_)) return {};
  const ValueId made = Made(asked->first);
  return asked->second ? made : values.Not(made);
}

ValueId MadeOnce::OfCall(FuncId func, ir::ExprId test, int depth) {
  const CallFact* call = facts_.call(func, test);
  if (depth == kDeepestTest || call == nullptr || call->kind != CallKind::Function || !call->function) return {};
  followed_.push_back(call->function);
  const ir::ExprId result = OnlyResult(call->function);
  const ValueId made = result ? Condition(call->function, result, depth + 1) : ValueId::None();
  if (!made || !facts_.values_store.has_param(made)) return made;
  const auto args = facts_.args(*call);
  const std::vector<ValueId> bound(args.begin(), args.end());
  variation::ValueStore::Memo memo;
  return facts_.values_store.Substitute(made, call->function, bound, memo);
}

// The expression that a function returns, if that is all it does.
ir::ExprId MadeOnce::OnlyResult(FuncId func) const {
  const ir::Module& module = program_.module_of(func);
  ir::ExprId result;
  for (const ir::StmtId id : module.statements(program_.function(func).body)) {
    const ir::Stmt& stmt = module[id];
    const bool is_text = stmt.kind == ir::StmtKind::Expr && module[ir::ValueOf(stmt)].kind == ir::ExprKind::Constant;
    if (is_text || stmt.kind == ir::StmtKind::Global) continue;
    if (stmt.kind != ir::StmtKind::Return || result) return {};
    result = ir::ValueOf(stmt);
  }
  return result;
}

std::optional<std::pair<Place, bool>> MadeOnce::Asked(FuncId func, ir::ExprId test) {
  const ir::Expr& expr = program_.module_of(func)[test];
  switch (expr.kind) {
    case ir::ExprKind::Compare:
      return AskedByComparison(func, expr);
    case ir::ExprKind::Call:
      return AskedByCall(func, test);
    default:
      if (const std::optional<Place> place = PlaceOf(func, test)) return std::pair(*place, true);
      return std::nullopt;
  }
}

// `x is None`, `key not in table`.
std::optional<std::pair<Place, bool>> MadeOnce::AskedByComparison(FuncId func, const ir::Expr& comparison) {
  const ir::Module& module = program_.module_of(func);
  if (ir::ComparisonCount(module, comparison) != 1) return std::nullopt;
  const ir::Comparison compared = ir::ComparisonAt(module, comparison, 0);
  const bool is_key = compared.op == ir::CompareOp::In || compared.op == ir::CompareOp::NotIn;
  if (!is_key && !IsAbsent(module, compared.operand) && !IsNobody(func, compared.operand)) return std::nullopt;
  const bool asks_for_it = compared.op == ir::CompareOp::In || compared.op == ir::CompareOp::IsNot ||
                           compared.op == ir::CompareOp::NotEq;
  const bool is_identity = compared.op == ir::CompareOp::Is || compared.op == ir::CompareOp::Eq;
  if (!is_key && !asks_for_it && !is_identity) return std::nullopt;
  const ir::ExprId left = ir::LeftOf(comparison);
  const std::optional<Place> place = is_key ? ItemOf(func, compared.operand, left) : PlaceOf(func, left);
  return place ? std::optional(std::pair(*place, asks_for_it)) : std::nullopt;
}

// `hasattr(f, "_group")`, `getattr(f, "_group", None)`, `table.get(key)`.
std::optional<std::pair<Place, bool>> MadeOnce::AskedByCall(FuncId func, ir::ExprId id) {
  const CallFact* fact = facts_.call(func, id);
  if (fact != nullptr && fact->kind == CallKind::Known && knowledge_[fact->entry].Has(knowledge::Role::AsksForJob)) {
    return std::pair(kJob, true);
  }
  const ir::Module& module = program_.module_of(func);
  const ir::Expr& call = module[id];
  const uint32_t count = ir::ArgCount(module, call);
  const auto arg = [&](uint32_t i) { return ir::ArgAt(module, call, i).value; };
  const ir::ExprId callee = ir::CalleeOf(call);
  std::optional<Place> place;
  if (module[callee].kind == ir::ExprKind::Attribute && count > 0 &&
      program_.text(ir::AttrOf(module[callee])) == "get" && (count == 1 || IsAbsent(module, arg(1)))) {
    place = ItemOf(func, ir::ObjectOf(module[callee]), arg(0));
  } else if (count >= 2 && (IsName(module, callee, "hasattr", program_) || IsName(module, callee, "getattr", program_))) {
    const ir::Expr& name = module[arg(1)];
    const bool is_text = name.kind == ir::ExprKind::Constant && ir::ConstantKindOf(name) == ir::ConstantKind::Str;
    const bool is_usable = count == 2 || IsAbsent(module, arg(2));
    if (is_text && is_usable && ir::TextOf(name)) place = AttributeOf(func, arg(0), ir::TextOf(name));
  }
  return place ? std::optional(std::pair(*place, true)) : std::nullopt;
}

std::optional<Place> MadeOnce::PlaceOf(FuncId func, ir::ExprId id) {
  if (!id) return std::nullopt;
  const ir::Module& module = program_.module_of(func);
  const ir::Expr& expr = module[id];
  switch (expr.kind) {
    case ir::ExprKind::Name:
      return Variable(func, expr);
    case ir::ExprKind::Attribute:
      return AttributeOf(func, ir::ObjectOf(expr), ir::AttrOf(expr));
    case ir::ExprKind::Subscript:
      return ItemOf(func, ir::ObjectOf(expr), ir::IndexOf(expr));
    default:
      return std::nullopt;
  }
}

std::optional<Place> MadeOnce::Variable(FuncId func, const ir::Expr& name) {
  if ((name.flags & ir::kResolvedName) != 0) {
    if ((name.flags & ir::kVariable) == 0) return std::nullopt;
    return Place{PlaceKind::Variable, base::NameId::None().index, ir::SymbolOf(name), {}};
  }
  if (IsLocal(func, ir::NameOf(name))) return std::nullopt;
  const binding::Target target = program_.Lookup(program_.funcs[func].module, ir::NameOf(name));
  if (target.kind != binding::TargetKind::Variable) return std::nullopt;
  return Place{PlaceKind::Variable, target.module.index, target.name, {}};
}

std::optional<Place> MadeOnce::AttributeOf(FuncId func, ir::ExprId object, base::NameId name) {
  const ValueId owner = facts_.value(program_.funcs[func].module, object);
  if (!owner) return std::nullopt;
  const Value& value = facts_.values_store[owner];
  switch (value.kind) {
    case ValueKind::Module:
      return Place{PlaceKind::Variable, value.module().index, name, {}};
    case ValueKind::Function:
      return Place{PlaceKind::OfFunction, value.function().index, name, {}};
    case ValueKind::Class:
      return Place{PlaceKind::OfClass, value.class_id().index, name, {}};
    case ValueKind::Instance:
      return Place{PlaceKind::OfInstance, value.class_id().index, name, {}};
    default:
      return std::nullopt;
  }
}

std::optional<Place> MadeOnce::ItemOf(FuncId func, ir::ExprId table, ir::ExprId key) {
  std::optional<Place> place = PlaceOf(func, table);
  if (!place || place->key) return std::nullopt;
  place->key = facts_.value(program_.funcs[func].module, key);
  return place->key ? place : std::nullopt;
}

bool MadeOnce::IsLocal(FuncId func, base::NameId name) {
  for (FuncId at = func; at; at = program_.funcs[at].parent) {
    const binding::Func& info = program_.funcs[at];
    if (info.function == ir::kTopLevel) return false;
    auto [found, is_new] = locals_.try_emplace(at);
    if (is_new) {
      const ir::Function& function = program_.function(at);
      std::unordered_set<base::NameId> declared;
      for (const ir::Param& param : function.params) found->second.insert(param.name);
      AddBound(program_.module_of(at), function.body, &found->second, &declared);
      for (const base::NameId other : declared) found->second.erase(other);
    }
    if (found->second.contains(name)) return true;
  }
  return false;
}

// `MPI_COMM_NULL`: the name of a library for a thing that is not there.
bool MadeOnce::IsNobody(FuncId func, ir::ExprId expr) const {
  const ir::Module& module = program_.module_of(func);
  if (module[expr].kind != ir::ExprKind::Name || (module[expr].flags & ir::kResolvedName) == 0 || (module[expr].flags & ir::kVariable) != 0) return false;
  const ValueId value = facts_.value(program_.funcs[func].module, expr);
  return value && facts_.values_store[value].kind == ValueKind::None;
}

std::vector<ValueId> MadeOnce::FilledBy(FuncId func, ir::ExprId target) {
  if (once_.empty()) return {};
  std::optional<Place> place = PlaceOf(func, target);
  if (!place || !IsOnce(*place)) return {};
  std::vector<ValueId> made = {Made(*place)};
  if (std::exchange(place->key, ValueId::None())) made.push_back(Made(*place));
  return made;
}

Filling MadeOnce::HowFilled(FuncId func, ir::ExprId target, ir::ExprId value) {
  const ir::Module& module = program_.module_of(func);
  if (!IsAbsent(module, value)) return Filling::Made;
  const std::optional<Place> place = PlaceOf(func, target);
  // Of which object it is, is not known.
  return place && place->kind == PlaceKind::OfInstance ? Filling::Unknown : Filling::Emptied;
}

ValueId MadeOnce::KeptCall(FuncId func) {
  const ir::Module& module = program_.module_of(func);
  const ir::Function& function = program_.function(func);
  const bool is_kept = std::ranges::any_of(function.decorators, [&](ir::ExprId id) {
    const ir::ExprId name = module[id].kind == ir::ExprKind::Call ? ir::CalleeOf(module[id]) : id;
    const ValueId decorator = facts_.value(program_.funcs[func].module, name);
    if (!decorator || facts_.values_store[decorator].kind != ValueKind::External) return false;
    const std::string_view text = program_.text(facts_.values_store[decorator].name());
    return text == "functools.cache" || text == "functools.lru_cache" || text == "functools.cached_property";
  });
  if (!is_kept) return {};
  std::vector<ValueId> params;
  for (uint32_t i = 0; i < function.params.size(); ++i) params.push_back(facts_.values_store.Param(func, i));
  Place place{PlaceKind::Call, func.index, function.name, {}};
  if (!params.empty()) place.key = facts_.values_store.Tuple(params);
  return Made(place);
}

// A metaclass whose `__call__` keeps what it makes.
ValueId MadeOnce::OneObject(binding::ClassId class_id) {
  followed_.clear();
  for (const binding::ClassId each : program_.classes[class_id].mro) {
    for (const ir::Arg& base : program_.ir_class(each).bases) {
      if (base.kind != ir::ArgKind::Keyword || program_.text(base.keyword) != "metaclass") continue;
      followed_.push_back(program_.func(program_.classes[each].module, ir::kTopLevel));
      const ValueId meta = facts_.value(program_.classes[each].module, base.value);
      if (!meta || facts_.values_store[meta].kind != ValueKind::Class) continue;
      const binding::ClassId meta_id = facts_.values_store[meta].class_id();
      const FuncId call = program_.FindCallMethod(meta_id);
      if (!call) continue;
      const bool keeps = std::ranges::any_of(once_, [&](const Base& known) {
        const PlaceKind kind = std::get<0>(known);
        return (kind == PlaceKind::OfClass || kind == PlaceKind::OfInstance) && std::get<1>(known) == meta_id.index;
      });
      if (!keeps) continue;
      return Made({PlaceKind::Singleton, class_id.index, program_.ir_class(class_id).name, {}});
    }
  }
  return {};
}

ValueId MadeOnce::Made(const Place& place) {
  const auto [symbol, is_new] = symbols_.try_emplace(BaseOf(place), 0);
  if (is_new) symbol->second = facts_.values_store.NewSymbol();
  if (!place.key) return facts_.values_store.Make(variation::Value::Unknown(symbol->second, {}, 0, variation::DerivedKind::Made), {});
  return facts_.values_store.Make(variation::Value::Derived(symbol->second, {}, 0, variation::DerivedKind::Made), {&place.key, 1});
}

bool IsMade(const variation::ValueStore& values, ValueId value) {
  const Value& seen = values[value];
  return (seen.kind == ValueKind::Unknown || seen.kind == ValueKind::Derived) && seen.derived_kind() == variation::DerivedKind::Made;
}

}  // namespace allranks::traces
