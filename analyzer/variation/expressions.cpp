// The walk over expressions: a value for each of them, which others read afterwards (Facts::exprs).
//
// Operands come first, as they do when the program runs, so that what they call has happened. A part that only some ranks evaluate
// (`ready and setup()`) stands under the condition of the parts in front of it (path.h).
//
// Unsound: operators of the program's own classes (`__add__`, `__eq__`) are taken for those of numbers and texts.
#include <algorithm>
#include <unordered_set>

#include "analyzer/variation/evaluator.h"
#include "analyzer/variation/made_with.h"

namespace allranks::variation {
ValueId FunctionEvaluator::Eval(ir::ExprId id) {
  if (!id) return ValueId::None();
  // Most expressions are what they were in the round before; constants always are.
  const ValueId before = tables_.facts.value(func_.module, id);
  if (before && module_[id].kind == ir::ExprKind::Constant) return before;
  tables_.Step();
  const ValueId outer = store_.Expect(before);
  const ValueId value = EvalUncached(id, module_[id]);
  store_.Expect(outer);
  touches_data_ = touches_data_ || (value && store_.axes(value).has(Axis::Data));
  SetValue(id, value);
  return value;
}

ValueId FunctionEvaluator::EvalUncached(ir::ExprId id, const ir::Expr& expr) {
  switch (expr.kind) {
    case ir::ExprKind::Name: {
      if ((expr.flags & ir::kResolvedName) != 0) return ReadResolved(id, expr);
      const ValueId value = ReadName(ir::NameOf(expr));
      // `from mpi4py.MPI import COMM_WORLD`
      const knowledge::EntryId variable = value && store_[value].kind == ValueKind::External ? knowledge_.FindEntry(store_[value].name()) : knowledge::EntryId::None();
      return variable && knowledge_[variable].is_attribute ? CallKnown(id, variable, {}, {}) : value;
    }
    case ir::ExprKind::Constant:
      return EvalConstant(expr);
    case ir::ExprKind::Attribute: {
      const ValueId object = Eval(ir::ObjectOf(expr));
      return Member(id, object, ir::AttrOf(expr));
    }
    case ir::ExprKind::Subscript:
      return EvalSubscript(id, expr);
    case ir::ExprKind::Call:
      return EvalCall(id, expr);
    case ir::ExprKind::Unary:
      return store_.Unary(static_cast<ir::UnaryOp>(expr.op), Eval(ir::OperandOf(expr)));
    case ir::ExprKind::Binary: {
      const ValueId left = Eval(ir::LeftOf(expr));
      return store_.Binary(static_cast<ir::BinaryOp>(expr.op), left, Eval(ir::RightOf(expr)));
    }
    case ir::ExprKind::Bool:
      return EvalBool(expr);
    case ir::ExprKind::Compare:
      return EvalCompare(expr);
    case ir::ExprKind::Conditional:
      return EvalConditional(expr);
    case ir::ExprKind::Tuple:
    case ir::ExprKind::List:
    case ir::ExprKind::Set:
      return EvalItems(id, expr);
    case ir::ExprKind::FString:
    case ir::ExprKind::Slice:
    case ir::ExprKind::Opaque: {
      std::vector<ValueId> kids;
      for (const ir::ExprId item : ir::Items(module_, expr)) {
        if (const ValueId value = Eval(item)) kids.push_back(value);
        // `x[:k]` is not `x[k:]`.
        else if (expr.kind == ir::ExprKind::Slice) kids.push_back(store_.NoneValue());
      }
      const std::string_view operation = expr.kind == ir::ExprKind::Slice     ? "[:]"
                                         : expr.kind == ir::ExprKind::FString ? "f-string"
                                                                              : "{}";
      const bool is_plain = expr.kind == ir::ExprKind::FString && (expr.flags & ir::kFormatted) == 0;
      const uint32_t symbol = tables_.NameSymbol(operation);
      return is_plain ? store_.Make(Value::Derived(symbol, {}, 0, DerivedKind::Plain), kids) : store_.Derived(symbol, kids);
    }
    case ir::ExprKind::Dict: {
      std::vector<ValueId> kids;
      for (uint32_t i = 0; i < ir::DictCount(expr); ++i) {
        const ir::DictItem item = ir::DictItemAt(module_, expr, i);
        kids.push_back(item.key ? Eval(item.key) : store_.NoneValue());
        kids.push_back(Eval(item.value));
      }
      Value dict = Value::Dict();
      return store_.Make(dict, kids);
    }
    case ir::ExprKind::Lambda:
      NoteCapture(tables_.program.func(func_.module, ir::LambdaOf(expr)));
      return definitions_.Function(tables_.program.func(func_.module, ir::LambdaOf(expr)), {});
    case ir::ExprKind::Comprehension:
      return EvalComprehension(id, expr);
    case ir::ExprKind::Await:
    case ir::ExprKind::Starred:
      return Eval(ir::OperandOf(expr));
    case ir::ExprKind::Yield:
    case ir::ExprKind::YieldFrom: {
      const ValueId value = ir::OperandOf(expr) ? Eval(ir::OperandOf(expr)) : store_.NoneValue();
      NoteYield(id, value, expr.kind == ir::ExprKind::Yield);
      return Unseen(id);
    }
    case ir::ExprKind::Walrus: {
      const ValueId value = Eval(ir::RightOf(expr));
      Assign(ir::LeftOf(expr), value);
      return value;
    }
  }
  return Unseen(id);
}

ValueId FunctionEvaluator::EvalConstant(const ir::Expr& expr) {
  switch (ir::ConstantKindOf(expr)) {
    case ir::ConstantKind::None:
      return store_.NoneValue();
    case ir::ConstantKind::True:
      return store_.True();
    case ir::ConstantKind::False:
      return store_.False();
    case ir::ConstantKind::Int:
      if ((expr.flags & ir::kBigInt) != 0) return store_.Symbol(tables_.SiteSymbol(id_, expr.begin, SiteUse::Value), {});
      return store_.Int(ir::IntOf(expr));
    case ir::ConstantKind::Str:
      return store_.Str(ir::TextOf(expr));
    case ir::ConstantKind::Float:
      return store_.Make(Value::Float(ir::TextOf(expr)), {});
    default:
      return store_.Symbol(tables_.SiteSymbol(id_, expr.begin, SiteUse::Value), {});
  }
}

ValueId FunctionEvaluator::EvalItems(ir::ExprId, const ir::Expr& expr) {
  std::vector<ValueId> kids;
  bool known = true;
  for (const ir::ExprId item : ir::Items(module_, expr)) {
    kids.push_back(Eval(item));
    known = known && module_[item].kind != ir::ExprKind::Starred;
  }
  if (known && expr.kind == ir::ExprKind::Set) return store_.Make(Value::Tuple(true), kids);
  return known ? store_.Tuple(kids) : store_.Derived(tables_.NameSymbol("{}"), kids);
}

// A test of each element: `x == 3`, `~(x == 3)`, `(x == 3) & known`, `torch.logical_not(x == 3)`.
bool FunctionEvaluator::IsMask(ValueId id, int depth) const {
  constexpr int kDeepestMask = 6;
  if (!id || depth > kDeepestMask) return false;
  const Value& value = store_[id];
  if (value.kind == ValueKind::Compare || value.kind == ValueKind::And || value.kind == ValueKind::Or) return true;
  const NameId operation = store_.DerivedBy(id);
  const std::string_view name = operation ? Text(operation) : std::string_view();
  const size_t last = name.rfind('.') == std::string_view::npos ? 0 : name.rfind('.') + 1;
  const bool combines = value.is_unary(ir::UnaryOp::Invert) || value.is_binary(ir::BinaryOp::BitAnd) || value.is_binary(ir::BinaryOp::BitOr) ||
                        value.is_binary(ir::BinaryOp::BitXor) || name.substr(last).starts_with("logical_");
  return combines && std::ranges::any_of(store_.Kids(id), [&](ValueId kid) { return IsMask(kid, depth + 1); });
}

ValueId FunctionEvaluator::EvalSubscript(ir::ExprId id, const ir::Expr& expr) {
  const ValueId held = Eval(ir::ObjectOf(expr));
  const ValueId index = Eval(ir::IndexOf(expr));
  const ValueId object = containers_.WithKey(held, index, true);
  const ValueId itself = LookThrough(tables_, object);
  const ValueId contents = ContentsOf(tables_, itself);
  const ValueId known = contents ? contents : itself;
  const Value& container = store_[known];
  const Value& key = store_[index];
  if (container.kind == ValueKind::External && Text(container.name()) == "os.environ") {
    return store_.Environment(index);
  }
  if (const ir::ModuleId module = ModuleOfMembers(ir::ObjectOf(expr))) {
    if (key.kind == ValueKind::Str) return MemberOfModule(module, key.name());
    if (const ValueId picked = PickedFrom(module, index)) return picked;
  }
  if (container.kind == ValueKind::External || container.kind == ValueKind::Class) return object;
  if (const ValueId passed = arguments_.KeywordPassed({.kind = ir::ArgKind::DoubleStar, .keyword = {}, .expr = ir::ObjectOf(expr), .value = held}, index)) return passed;
  if (const ValueId item = containers_.ItemIn(known, index)) return item;
  if (const ValueId chosen = chosen_.ChosenBy(known, index)) return chosen;
  if (const ValueId picked = chosen_.OneOfTable(known, index)) return picked;
  if (const ValueId one = module_.language == ir::Language::Python ? chosen_.OneOfAdded(known, index) : ValueId()) return one;
  // A pointer to an object is the object: `comms[i]` of an array of communicators, too.
  const bool is_object = container.kind == ValueKind::Group || container.kind == ValueKind::Instance;
  if (is_object && module_.language != ir::Language::Python) return known;
  // One of several objects of a class (`load(name) if is_hosted else load("json", files)`), whose items do not depend on the key.
  ValueId holder = known;
  knowledge::EntryId entry = members_.Known(known, Intern("__getitem__"));
  if (container.kind == ValueKind::Select) {
    const Arms arms = store_.ArmsOf(known);
    const knowledge::EntryId first = members_.Known(arms.then_value, Intern("__getitem__"));
    const bool is_same = first && first == members_.Known(arms.else_value, Intern("__getitem__")) && tables_.knowledge[first].params.empty();
    if (is_same) {
      holder = arms.then_value;
      entry = first;
    }
  }
  if (entry) {
    const CallArgument argument{.kind = ir::ArgKind::Positional, .keyword = {}, .expr = ir::IndexOf(expr), .value = index};
    return CallKnown(id, entry, holder, {&argument, 1});
  }
  if (containers_.IsTableOfSettings(known, index)) {
    const NameId member = ItemName(index);
    if (const ValueId* kept = HeapValue(object, member)) return *kept;
    const ValueId assigned = tables_.Read(TableId::LooseFields, func_.module.index, member.index);
    if (assigned && !store_.axes(assigned).empty() && IsRankFormula(assigned)) return assigned;
  }
  const ValueId parts[] = {object, index};
  ValueId item = store_.Derived(tables_.NameSymbol("[]"), parts);
  // A mask of a rank's own data picks a different number of rows on every rank.
  if (IsMask(index) && key.axes.has(Axis::Data)) item = store_.WithMark(item, tables_.RaggedMark());
  return item;
}

// Whether a key is there, or two names stand for one thing, is a matter of the program and not of one rank's data.
ValueId FunctionEvaluator::Structural(ir::ExprId site, ValueId value) {
  const Axes axes = store_.axes(value);
  if ((axes & knowledge::kSoftAxes).empty()) return value;
  if (!Without(axes, knowledge::kSoftAxes).empty()) return value;
  return store_.Symbol(Site(site), {});
}

// `comm != MPI_COMM_NULL`: whether this rank is in the list that the group was made of; none of anything else.
static ValueId IsMember(ValueStore& store, ir::CompareOp op, ValueId group, ValueId nobody) {
  const bool is_equal = op == ir::CompareOp::Eq || op == ir::CompareOp::Is;
  if (!is_equal && op != ir::CompareOp::NotEq && op != ir::CompareOp::IsNot) return {};
  if (!store[group].is_group(GroupKind::Created) || store[group].kid_count != 1 || store[nobody].kind != ValueKind::None) return {};
  const ValueId ranks = store.Kids(group)[0];
  if (!ranks || store[ranks].kind != ValueKind::Tuple) return {};
  return store.Compare(is_equal ? ir::CompareOp::NotIn : ir::CompareOp::In, store.Coordinate(knowledge::Coordinate::Rank), ranks);
}

// `os.listdir(folder)`
static bool ListsFiles(const FunctionFacts& facts, const knowledge::Knowledge& knowledge, ir::ExprId expr) {
  const auto call = std::ranges::find(facts.calls, expr, &std::pair<ir::ExprId, CallFact>::first);
  return call != facts.calls.end() && call->second.kind == CallKind::Known && knowledge[call->second.entry].Has(knowledge::Role::ListFiles);
}

ValueId FunctionEvaluator::EvalCompare(const ir::Expr& expr) {
  const ir::ExprId first = ir::CalleeOf(expr);
  ValueId left = Eval(first);
  std::vector<ValueId> parts;
  for (uint32_t i = 0; i < ir::ComparisonCount(module_, expr); ++i) {
    const ir::Comparison comparison = ir::ComparisonAt(module_, expr, i);
    const bool is_identity = comparison.op == ir::CompareOp::Is || comparison.op == ir::CompareOp::IsNot;
    const bool is_membership = comparison.op == ir::CompareOp::In || comparison.op == ir::CompareOp::NotIn;
    const ValueId operand = Eval(comparison.operand);
    const ValueId right = is_membership ? containers_.WithKey(operand, left, false) : operand;
    const ValueId has_key = is_membership ? containers_.HasKey(right, left) : ValueId();
    ValueId part = !has_key ? store_.Compare(comparison.op, left, right)
                   : comparison.op == ir::CompareOp::In ? has_key : store_.Not(has_key);
    if (module_.language != ir::Language::Python) {
      if (const ValueId is_member = IsMember(store_, comparison.op, LookThrough(tables_, left), right)) part = is_member;
    }
    // Which names a folder holds is what a rank finds there.
    const bool is_key = is_membership && store_[left].kind == ValueKind::Str && !ListsFiles(facts_, knowledge_, comparison.operand);
    // A condition that chose between None and something else is asked itself, and so is a truth (`exists(path) is False`).
    const bool is_open = store_[part].kind == ValueKind::Compare && store_[right].kind != ValueKind::Bool;
    if (is_open && (is_identity || is_key)) part = Structural(comparison.operand, part);
    parts.push_back(part);
    left = right;
  }
  return store_.And(parts);
}

ValueId FunctionEvaluator::EvalBool(const ir::Expr& expr) {
  std::vector<ValueId> kids;
  const size_t outside = path_.size();
  const bool is_and = static_cast<ir::BoolOp>(expr.op) == ir::BoolOp::And;
  for (const ir::ExprId item : ir::Items(module_, expr)) {
    kids.push_back(Eval(item));
    path_.Enter(is_and ? kids.back() : store_.Not(kids.back()));
  }
  path_.LeaveTo(outside);
  return is_and ? store_.And(kids) : OrValue(kids);
}

// `given or default`: an object that is there wins; as a condition it stays an Or.
ValueId FunctionEvaluator::OrValue(std::span<const ValueId> kids) {
  if (kids.size() == 2) {
    const ValueKind kind = store_[LookThrough(tables_, kids[1])].kind;
    const bool is_default = kind == ValueKind::Group || kind == ValueKind::Object || kind == ValueKind::Instance ||
                            kind == ValueKind::Function;
    if (is_default) return store_.Select(kids[0], kids[0], kids[1]);
  }
  return store_.Or(kids);
}

ValueId FunctionEvaluator::EvalConditional(const ir::Expr& expr) {
  const ValueId condition = Condition(ir::TestOf(expr));
  path_.Enter(condition);
  const ValueId then_value = Eval(ir::ThenOf(module_, expr));
  path_.EnterOther();
  const ValueId else_value = Eval(ir::ElseOf(module_, expr));
  path_.Leave();
  return store_.Select(condition, then_value, else_value);
}

// `[rank == i for i in (0, 1)]`: the items that a comprehension makes of a few constants; none: it is not of that kind.
ValueId FunctionEvaluator::ListOfFew(const ir::Expr& expr) {
  constexpr size_t kMostItems = 8;
  const auto clauses = ir::ClausesOf(module_, expr);
  const auto kind = static_cast<ir::ComprehensionKind>(expr.op);
  if (kind == ir::ComprehensionKind::Dict || clauses.size() != 1 || clauses.front().conditions.count != 0) return {};
  const ValueId source = LookThrough(tables_, Eval(clauses.front().iter));
  if (store_[source].kind != ValueKind::Tuple || store_[source].kid_count > kMostItems || !containers_.AreConstants(source)) return {};
  const auto each = store_.Kids(source);
  facts_.trip_counts.emplace_back(clauses.front().iter, store_.Int(static_cast<int64_t>(each.size())));
  const size_t extra_size = env_.extra.size();
  std::vector<ValueId> items;
  for (const ValueId item : each) {
    AssignComprehensionTarget(clauses.front().target, item);
    items.push_back(Eval(ir::OperandOf(expr)));
    env_.extra.resize(extra_size);
  }
  if (each.empty()) return {};
  // What is called in it is called with any of them.
  AssignComprehensionTarget(clauses.front().target, iterations_.OverItems(clauses.front().iter, source).element);
  Eval(ir::OperandOf(expr));
  env_.extra.resize(extra_size);
  return store_.Make(Value::Tuple(kind == ir::ComprehensionKind::Set), items);
}

// `{name: make(name) for name in ["train", "val"]}` is the dictionary of what is made for each of them; none: it is not of that kind.
ValueId FunctionEvaluator::DictionaryOfFew(const ir::Expr& expr) {
  constexpr size_t kMostNames = 8;
  const ir::Expr& item = module_[ir::OperandOf(expr)];
  const auto clauses = ir::ClausesOf(module_, expr);
  const bool is_plain = static_cast<ir::ComprehensionKind>(expr.op) == ir::ComprehensionKind::Dict && clauses.size() == 1 &&
                        clauses.front().conditions.count == 0 && item.kind == ir::ExprKind::Tuple;
  if (!is_plain) return ValueId::None();
  const ValueId names = LookThrough(tables_, Eval(clauses.front().iter));
  if (store_[names].kind != ValueKind::Tuple || store_[names].kid_count == 0 || store_[names].kid_count > kMostNames) return ValueId::None();
  const auto each = store_.Kids(names);
  if (!std::ranges::all_of(each, [&](ValueId name) { return store_[name].kind == ValueKind::Str; })) return ValueId::None();
  facts_.trip_counts.emplace_back(clauses.front().iter, store_.Int(static_cast<int64_t>(each.size())));
  const size_t extra_size = env_.extra.size();
  std::vector<ValueId> items;
  for (const ValueId name : each) {
    AssignComprehensionTarget(clauses.front().target, name);
    for (const ir::ExprId part : ir::Items(module_, item)) items.push_back(Eval(part));
    env_.extra.resize(extra_size);
  }
  return store_.Make(Value::Dict(), items);
}

ValueId FunctionEvaluator::EvalComprehension(ir::ExprId, const ir::Expr& expr) {
  if (const ValueId dictionary = DictionaryOfFew(expr)) return dictionary;
  if (const ValueId list = ListOfFew(expr)) return list;
  // A set of what a set holds is the same in whatever order that is gone through.
  const bool is_set = static_cast<ir::ComprehensionKind>(expr.op) == ir::ComprehensionKind::Set;
  const bool ignored = is_set && iterations_.IgnoreOrder(true);
  const size_t extra_size = env_.extra.size();
  const size_t loops_outside = going_through_.size();
  std::vector<ValueId> count;
  std::vector<ValueId> taken;
  ValueId variable;
  ValueId list;
  bool filtered_by_data = false;
  for (const ir::Clause& clause : ir::ClausesOf(module_, expr)) {
    const ValueId iterable = Eval(clause.iter);
    const Iteration iteration = iterations_.Over(clause.iter, iterable);
    facts_.trip_counts.emplace_back(clause.iter, iteration.trip_count);
    AssignComprehensionTarget(clause.target, iteration.element);
    if (iteration.element) going_through_.push_back({.variable = iteration.element, .sequence = iterable});
    count.push_back(iteration.trip_count);
    list = iterable;
    variable = iteration.element;
    for (const ir::ExprId condition : ir::Exprs(module_, clause.conditions)) {
      const ValueId value = Eval(condition);
      count.push_back(value);
      taken.push_back(value);
      filtered_by_data = filtered_by_data || store_.axes(value).has(Axis::Data);
    }
  }
  const ValueId element = Eval(ir::OperandOf(expr));
  if (is_set) iterations_.IgnoreOrder(ignored);
  env_.extra.resize(extra_size);
  going_through_.resize(loops_outside);
  const bool is_of_one = ir::ClausesOf(module_, expr).size() == 1;
  ValueId value = Comprehended(element, is_of_one ? LoopVariable{variable, list} : LoopVariable{}, store_.And(taken), count);
  const bool is_of_each = is_of_one && variable && element && taken.empty() && !store_.Mentions(element, variable);
  if (is_of_each && store_[value].kid_count == 2 && !store_[value].mark) {
    Value made = store_[value];
    made = made.Of(DerivedKind::Each);
    const ValueId kids[] = {element, count.size() == 1 ? count[0] : store_.Kids(value)[1]};
    value = store_.Make(made, kids);
  }
  if (filtered_by_data) value = store_.WithMark(value, tables_.RaggedMark());
  return value;
}

// A list of an element for each item of a sequence that a condition lets through. `of`: empty where several sequences are gone through.
ValueId FunctionEvaluator::Comprehended(ValueId element, const LoopVariable& of, ValueId condition, std::span<const ValueId> count) {
  const auto [variable, sequence] = of;
  const bool is_of_one = variable && element && store_[variable].kind == ValueKind::Unknown;
  const bool is_of_items = is_of_one && (store_.Mentions(element, variable) || store_.Mentions(condition, variable));
  std::vector<ValueId> kids = {element};
  if (is_of_items && store_.axes(sequence).empty()) kids.insert(kids.end(), {sequence, variable, condition});
  kids.push_back(containers_.Count(count));
  return store_.Derived(tables_.NameSymbol(kComprehended), kids);
}

// The variables of a comprehension are its own, whatever the function calls by the same names.
void FunctionEvaluator::AssignComprehensionTarget(ir::ExprId target, ValueId value) {
  const ir::Expr& expr = module_[target];
  SetValue(target, value);
  if (expr.kind == ir::ExprKind::Name) {
    env_.extra.emplace_back(ir::NameOf(expr), value);
    return;
  }
  if (expr.kind == ir::ExprKind::Starred) return AssignComprehensionTarget(ir::OperandOf(expr), value);
  if (expr.kind != ir::ExprKind::Tuple && expr.kind != ir::ExprKind::List) return;
  const ir::ExprList items = ir::Items(module_, expr);
  for (uint32_t i = 0; i < items.size(); ++i) AssignComprehensionTarget(items[i], Unpacked(value, i, items));
}

ValueId FunctionEvaluator::ReadName(NameId name) {
  for (auto it = env_.extra.rbegin(); it != env_.extra.rend(); ++it) {
    if (it->first == name) return it->second;
  }
  if (const auto slot = scope_.slots.find(name); slot != scope_.slots.end()) {
    if (const ValueId value = env_.slots[slot->second]) return value;
    if (func_.function != ir::kTopLevel) return store_.Symbol(tables_.NameSymbol(name), {});
  }
  return ReadOuter(name);
}

// A name that the front end resolved: what the knowledge base says of it, else what the program defines.
ValueId FunctionEvaluator::ReadResolved(ir::ExprId id, const ir::Expr& expr) {
  const NameId name = ir::NameOf(expr);
  if (const knowledge::EntryId entry = knowledge_.FindEntry(name); entry && knowledge_[entry].is_attribute) {
    return CallKnown(id, entry, {}, {});
  }
  const NameId symbol = ir::SymbolOf(expr);
  if ((expr.flags & ir::kVariable) != 0) {
    return definitions_.Of({.kind = binding::TargetKind::Variable, .module = ir::ModuleId{kWholeProgram}, .name = symbol});
  }
  if (symbol) {
    const FuncId function = tables_.program.FindFunction(func_.module, symbol);
    if (function && (expr.flags & ir::kConstructor) != 0) return definitions_.Class(tables_.program.funcs[function].owner);
    if (function) return definitions_.Function(function, {});
    if (const binding::ClassId class_id = tables_.program.FindClass(symbol)) return definitions_.Class(class_id);
  }
  return definitions_.External(name);
}

ValueId FunctionEvaluator::ReadOuter(NameId name) {
  for (FuncId outer = func_.parent; outer; outer = tables_.program.funcs[outer].parent) {
    const Scope& scope = tables_.ScopeOf(outer);
    const auto slot = scope.slots.find(name);
    if (slot == scope.slots.end()) continue;
    if (const ValueId* put = HeapValue(definitions_.VariablesOf(outer), name)) return *put;
    if (const ValueId value = tables_.Read(TableId::Captured, outer.index, name.index)) return value;
    const auto param_count = tables_.program.function(outer).params.size();
    if (slot->second < param_count) return definitions_.Param(outer, slot->second);
    return store_.Symbol(tables_.NameSymbol(name), {});
  }
  const binding::Target target = tables_.program.Lookup(func_.module, name);
  if (target.kind == binding::TargetKind::Variable) {
    if (const ValueId* put = HeapValue(definitions_.VariablesOf(target.module), target.name)) return *put;
  }
  if (target.kind != binding::TargetKind::None) return definitions_.Of(target);
  for (const NameId star : tables_.program.external_stars[func_.module.index]) {
    const NameId qualified = Intern(std::string(Text(star)) + "." + std::string(Text(name)));
    if (knowledge_.FindEntry(qualified) || knowledge_.FindClass(qualified)) return definitions_.External(qualified);
  }
  // Where a file is started it is another than where it is imported, so each module has its own.
  if (Text(name) == "__name__") {
    return store_.OneOfCommand(tables_.NameSymbol("__name__ of " + std::to_string(func_.module.index)));
  }
  return definitions_.External(Intern("builtins." + std::string(Text(name))));
}

// The value without this function's parameters: what may be kept where other functions read it.
ValueId FunctionEvaluator::Closed(ValueId value) { return tables_.Close(value, id_); }

}  // namespace allranks::variation
