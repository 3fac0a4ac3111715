#include "analyzer/objects/flow_from.h"

#include <algorithm>
#include <tuple>

#include "analyzer/binding/receiver.h"
#include "analyzer/ir/walk.h"

namespace allranks::objects {

FlowFrom::FlowFrom(const binding::Program& program, const ProgramIndex& index, FuncId function, std::vector<ir::ExprId> seeds,
                   uint32_t begin, Question ends, Question counts, Question fills, std::vector<bool> items, Question uses_up)
    : program_(program), index_(index), module_id_(program.funcs[function].module), module_(program.module_of(function)), tree_(index.tree(module_id_)),
      ends_(std::move(ends)), counts_(std::move(counts)), fills_(std::move(fills)), uses_up_(std::move(uses_up)), items_(std::move(items)) {
  for (const ir::ExprId seed : seeds) seeds_.insert(seed.index);
  const ir::Function& node = program.function(function);
  if (binding::HasReceiver(program, function) && !node.params.empty()) self_ = node.params[0].name;
  std::vector<ir::StmtId> stmts;
  for (uint32_t i = 0; i < module_.stmts.size(); ++i) {
    const ir::StmtId id{i};
    if (module_[id].begin >= begin && index.FunctionOf(module_id_, id) == function) stmts.push_back(id);
  }
  std::ranges::sort(stmts, {}, [&](ir::StmtId id) { return module_[id].begin; });
  // Twice, for what a loop hands to its next round.
  for (int round = 0; round < 2; ++round) {
    for (const ir::StmtId id : stmts) Read(id);
  }
}

bool FlowFrom::IsEverIn(base::NameId variable) const {
  const auto first = ever_.lower_bound({variable.index, 0});
  return first != ever_.end() && first->first == variable.index;
}

bool FlowFrom::IsEverInFieldOf(base::NameId variable) const {
  const auto first = ever_.lower_bound({variable.index, 0});
  return first != ever_.end() && first->first == variable.index && first->second != kWhole;
}

void FlowFrom::Read(ir::StmtId id) {
  const ir::Stmt& stmt = module_[id];
  switch (stmt.kind) {
    case ir::StmtKind::Assign:
      return ReadAssign(id);
    case ir::StmtKind::AnnAssign:
      if (ir::AssignedOf(stmt)) ReadAssign(id);
      return;
    case ir::StmtKind::AugAssign: {
      const ir::ExprId value = ir::AssignedOf(stmt), target{stmt.a};
      const bool is_of_total = AddsToRounds(id, target) || IsIn(totals_, target);
      if (Take(value)) Set(target, {true, IsOfGiven(value), is_of_total || IsOfTotal(value)});
      return;
    }
    case ir::StmtKind::For: {
      const ir::ExprId target = ir::ExprId{stmt.a};
      const bool holds = Take(ir::AssignedOf(stmt)) || seeds_.contains(target.index);
      if (IsKeyOf(target, ir::AssignedOf(stmt), id)) return Set(target, {});
      return SetRound(target, ir::AssignedOf(stmt), {holds, IsOfGiven(ir::AssignedOf(stmt)), IsOfTotal(ir::AssignedOf(stmt))});
    }
    case ir::StmtKind::Expr:
      if (Take(ir::ValueOf(stmt)) && module_[ir::ValueOf(stmt)].kind == ir::ExprKind::Call) ReadCall(id, ir::ValueOf(stmt));
      return;
    case ir::StmtKind::With:
      for (const ir::WithItem& item : ir::WithItemsOf(module_, stmt)) Take(item.context);
      return;
    case ir::StmtKind::If:
    case ir::StmtKind::While:
    case ir::StmtKind::Return:
    case ir::StmtKind::Assert:
      if (ir::ValueOf(stmt)) Take(ir::ValueOf(stmt));
      return;
    default:
      return;
  }
}

// `total += loss`, `total = total + loss`, and the total was not begun in the same round: `loss = f(x)`, `loss += g(x)`.
bool FlowFrom::AddsToRounds(ir::StmtId id, ir::ExprId target) const {
  const ir::Stmt& stmt = module_[id];
  if (stmt.kind == ir::StmtKind::AugAssign) return static_cast<ir::BinaryOp>(stmt.op) == ir::BinaryOp::Add && !IsBegunBefore(id, PlaceOf(target));
  const ir::Expr& value = module_[ir::AssignedOf(stmt)];
  const bool is_sum = value.kind == ir::ExprKind::Binary && static_cast<ir::BinaryOp>(value.op) == ir::BinaryOp::Add;
  if (!is_sum || module_[target].kind != ir::ExprKind::Name) return false;
  const auto is_target = [&](ir::ExprId side) {
    return module_[side].kind == ir::ExprKind::Name && ir::NameOf(module_[side]) == ir::NameOf(module_[target]);
  };
  return (is_target(ir::LeftOf(value)) || is_target(ir::RightOf(value))) && !IsBegunBefore(id, PlaceOf(target));
}

// Whether a statement that comes before on every way begins a place anew, in the same round of the innermost loop that a seed stands in.
bool FlowFrom::IsBegunBefore(ir::StmtId id, Place place) const {
  for (ir::StmtId at = id; at; at = tree_.Parent(at)) {
    for (const ir::StmtId before : module_.statements(tree_.BlockOf(at))) {
      if (before == at) break;
      if (Begins(before, place)) return true;
    }
    const ir::StmtId around = tree_.Parent(at);
    if (!around) break;
    if (BindsAtHead(around, place)) return true;
    const bool is_loop = module_[around].kind == ir::StmtKind::For || module_[around].kind == ir::StmtKind::While;
    if (is_loop && std::ranges::any_of(seeds_, [&](uint32_t seed) { return HoldsExpr(around, ir::ExprId{seed}); })) break;
  }
  return false;
}

bool FlowFrom::HoldsExpr(ir::StmtId stmt, ir::ExprId expr) const {
  const ir::StmtId own = tree_.StatementOf(expr);
  return own && tree_.Holds(stmt, own);
}

// The variable of a `for`, or what a `with` gives.
bool FlowFrom::BindsAtHead(ir::StmtId id, Place place) const {
  const ir::Stmt& stmt = module_[id];
  if (stmt.kind == ir::StmtKind::For) return Binds(ir::ExprId{stmt.a}, place);
  return stmt.kind == ir::StmtKind::With &&
         std::ranges::any_of(ir::WithItemsOf(module_, stmt), [&](const ir::WithItem& item) { return item.target && Binds(item.target, place); });
}

// Whether a place holds something else behind a statement, whichever way it took: nothing that is made of what it held.
bool FlowFrom::Begins(ir::StmtId id, Place place) const {
  const ir::Stmt& stmt = module_[id];
  const auto in_block = [&](ir::BlockId block) {
    return block && std::ranges::any_of(module_.statements(block), [&](ir::StmtId inner) { return Begins(inner, place); });
  };
  switch (stmt.kind) {
    case ir::StmtKind::Assign:
    case ir::StmtKind::AnnAssign:
      return ir::AssignedOf(stmt) && !Mentions(ir::AssignedOf(stmt), place) &&
             std::ranges::any_of(TargetsOf(id), [&](ir::ExprId target) { return Binds(target, place); });
    case ir::StmtKind::If:
      return in_block(ir::BodyOf(stmt)) && in_block(ir::ElseBlockOf(stmt));
    case ir::StmtKind::With:
      return BindsAtHead(id, place) || in_block(ir::BodyOf(stmt));
    default:
      return false;
  }
}

bool FlowFrom::Binds(ir::ExprId target, Place place) const {
  const ir::ExprKind kind = module_[target].kind;
  if (kind == ir::ExprKind::Name || kind == ir::ExprKind::Attribute) return PlaceOf(target) == place;
  if (kind == ir::ExprKind::Starred) return Binds(ir::OperandOf(module_[target]), place);
  if (kind != ir::ExprKind::Tuple && kind != ir::ExprKind::List) return false;
  bool binds = false;
  for (const ir::ExprId item : ir::Items(module_, module_[target])) binds = binds || Binds(item, place);
  return binds;
}

bool FlowFrom::Mentions(ir::ExprId expr, Place place) const {
  return ir::AnyPart(module_, expr, [&](ir::ExprId part) {
    const ir::ExprKind kind = module_[part].kind;
    return (kind == ir::ExprKind::Name || kind == ir::ExprKind::Attribute) && PlaceOf(part) == place;
  });
}

// `steps, loss = train()` of a function that returns as many.
bool FlowFrom::IsTakenApart(ir::ExprId value, ir::ExprId target) const {
  const bool is_list = module_[target].kind == ir::ExprKind::Tuple || module_[target].kind == ir::ExprKind::List;
  if (!is_list || items_.empty() || !value || !seeds_.contains(value.index)) return false;
  const auto targets = ir::Items(module_, module_[target]);
  for (const ir::ExprId item : targets) {
    if (module_[item].kind == ir::ExprKind::Starred) return false;
  }
  return targets.size() == items_.size();
}

std::vector<ir::ExprId> FlowFrom::TargetsOf(ir::StmtId id) const {
  const ir::Stmt& stmt = module_[id];
  if (stmt.kind != ir::StmtKind::Assign) return {ir::ExprId{stmt.a}};
  std::vector<ir::ExprId> targets;
  for (const ir::ExprId target : ir::TargetsOf(module_, stmt)) targets.push_back(target);
  return targets;
}

void FlowFrom::ReadAssign(ir::StmtId id) {
  const ir::ExprId value = ir::AssignedOf(module_[id]);
  const std::vector<ir::ExprId> targets = TargetsOf(id);
  Held what;
  if (value && Take(value)) what = {true, IsOfGiven(value), IsOfTotal(value) || AddsToRounds(id, targets[0])};
  for (const ir::ExprId target : targets) {
    Take(target);
    Held put = what;
    const bool is_item = module_[target].kind == ir::ExprKind::Subscript && module_[ir::RightOf(module_[target])].kind != ir::ExprKind::Slice;
    if (is_item && Holds(ir::RightOf(module_[target]))) {
      is_filed_ = true;
      put.is_of_total = what.is_of_total || !IsBegunBefore(id, PlaceOf(target));
    }
    // An item that is set leaves the others in place.
    if (IsTakenApart(value, target)) {
      for (size_t i = 0; i < items_.size(); ++i) Set(ir::Items(module_, module_[target])[i], items_[i] ? what : Held{});
      continue;
    }
    if (what.holds || module_[target].kind != ir::ExprKind::Subscript) Set(target, put);
  }
}

// Notes which parts of an expression hold it, innermost first.
bool FlowFrom::Take(ir::ExprId expr) {
  if ((ends_ && (ends_(expr) || IsListOfEnds(expr))) || IsCallOf(expr, "keys")) return false;
  Held what{seeds_.contains(expr.index) || IsIn(held_, expr), IsIn(given_, expr), IsIn(totals_, expr)};
  const Question take = [&](ir::ExprId part) {
    const bool part_holds = Take(part);
    what = {what.holds || part_holds, what.is_of_given || IsOfGiven(part), what.is_of_total || IsOfTotal(part)};
    return part_holds;
  };
  if (module_[expr].kind == ir::ExprKind::Comprehension) TakeComprehension(module_[expr], take);
  else ir::ForEachPart(module_, expr, take);
  if (what.holds) found_.insert(expr.index);
  if (what.holds && what.is_of_given) of_given_.insert(expr.index);
  if (what.holds && what.is_of_total) of_totals_.insert(expr.index);
  return what.holds;
}

// What a comprehension names is its own.
void FlowFrom::TakeComprehension(const ir::Expr& comprehension, const Question& take) {
  const auto outside = std::tuple(held_, given_, totals_);
  for (const ir::Clause& clause : ir::ClausesOf(module_, comprehension)) {
    const bool holds = take(clause.iter);
    SetRound(clause.target, clause.iter, {holds, IsOfGiven(clause.iter), IsOfTotal(clause.iter)});
    take(clause.target);
    for (const ir::ExprId condition : ir::Exprs(module_, clause.conditions)) take(condition);
  }
  take(ir::OperandOf(comprehension));
  is_filed_ = is_filed_ || FilesUnder(comprehension);
  std::tie(held_, given_, totals_) = outside;
}

// `[wandb.Image(picture) for picture in pictures]`.
bool FlowFrom::IsListOfEnds(ir::ExprId expr) const {
  return module_[expr].kind == ir::ExprKind::Comprehension && ends_(ir::OperandOf(module_[expr]));
}

bool FlowFrom::IsIn(const std::set<Place>& places, ir::ExprId expr) const {
  if (module_[expr].kind == ir::ExprKind::Name) return places.contains({ir::NameOf(module_[expr]).index, kWhole});
  if (module_[expr].kind != ir::ExprKind::Attribute) return false;
  const Place place = PlaceOf(expr);
  return place.second != kWhole && places.contains(place);
}

void FlowFrom::Set(ir::ExprId target, Held what) {
  const ir::ExprKind kind = module_[target].kind;
  if (kind == ir::ExprKind::Tuple || kind == ir::ExprKind::List) {
    for (const ir::ExprId item : ir::Items(module_, module_[target])) Set(item, what);
    return;
  }
  if (kind == ir::ExprKind::Starred) return Set(ir::OperandOf(module_[target]), what);
  const Place place = PlaceOf(target);
  if (place.first == kWhole) return;
  const auto note = [&](std::set<Place>& places, bool is_so) {
    if (is_so) places.insert(place);
    else places.erase(place);
  };
  note(held_, what.holds);
  if (what.holds) ever_.insert(place);
  note(given_, what.holds && what.is_of_given);
  note(totals_, what.holds && what.is_of_total);
}

// `for name, loss in losses.items()`, also through `list`, `sorted` or whatever else is handed nothing but these: the names are not made of
// the losses, and neither are the numbers of `enumerate`.
void FlowFrom::SetRound(ir::ExprId target, ir::ExprId iter, Held what) {
  const bool is_pair = module_[target].kind == ir::ExprKind::Tuple && ir::Items(module_, module_[target]).size() == 2;
  const ir::Expr& call = module_[iter];
  const bool is_around = call.kind == ir::ExprKind::Call && module_[ir::CalleeOf(call)].kind == ir::ExprKind::Name && ir::ArgCount(module_, call) > 0;
  const bool counts = is_around && program_.text(ir::NameOf(module_[ir::CalleeOf(call)])) == "enumerate";
  if (is_around && !counts && HasOnePlaced(call)) return SetRound(target, ir::ArgAt(module_, call, 0).value, what);
  if (!is_pair || (!counts && !IsCallOf(iter, "items"))) return Set(target, what);
  Set(ir::Items(module_, module_[target])[0], {});
  const ir::ExprId rest = ir::Items(module_, module_[target])[1];
  if (counts) return SetRound(rest, ir::ArgAt(module_, call, 0).value, what);
  Set(rest, what);
}

// `for name in sums:`, and `sums[name]` in the loop.
bool FlowFrom::IsKeyOf(ir::ExprId target, ir::ExprId iter, ir::StmtId loop) const {
  if (module_[target].kind != ir::ExprKind::Name || (module_[iter].kind != ir::ExprKind::Name && module_[iter].kind != ir::ExprKind::Attribute)) return false;
  const auto is_same = [&](ir::ExprId a, ir::ExprId b) { return module_[a].kind == module_[b].kind && PlaceOf(a) == PlaceOf(b); };
  return std::ranges::any_of(index_.ExprsOf(module_id_, ir::ExprKind::Subscript), [&](ir::ExprId id) {
    if (module_[id].begin < module_[loop].begin || module_[id].end > module_[loop].end) return false;
    return is_same(ir::LeftOf(module_[id]), iter) && is_same(ir::RightOf(module_[id]), target);
  });
}

// `tqdm(losses, desc="losses")`, and not `zip(losses, names)`.
bool FlowFrom::HasOnePlaced(const ir::Expr& call) const {
  const ir::Arg first = ir::ArgAt(module_, call, 0);
  if (first.kind != ir::ArgKind::Positional) return false;
  for (uint32_t i = 1; i < ir::ArgCount(module_, call); ++i) {
    if (ir::ArgAt(module_, call, i).kind != ir::ArgKind::Keyword) return false;
  }
  return true;
}

bool FlowFrom::IsCallOf(ir::ExprId expr, std::string_view method) const {
  if (module_[expr].kind != ir::ExprKind::Call || ir::ArgCount(module_, module_[expr]) > 0) return false;
  const ir::Expr& callee = module_[ir::CalleeOf(module_[expr])];
  return callee.kind == ir::ExprKind::Attribute && program_.text(ir::AttrOf(callee)) == method;
}

// `{name: boxes for name, boxes in zip(names, found)}`, and not a dictionary that is copied (`for key, value in batch.items()`).
bool FlowFrom::FilesUnder(const ir::Expr& comprehension) const {
  const ir::Expr& item = module_[ir::OperandOf(comprehension)];
  if (static_cast<ir::ComprehensionKind>(comprehension.op) != ir::ComprehensionKind::Dict || item.kind != ir::ExprKind::Tuple) return false;
  return Holds(ir::Items(module_, item)[0]) && std::ranges::none_of(ir::ClausesOf(module_, comprehension), [&](const ir::Clause& clause) {
    return module_[clause.iter].kind == ir::ExprKind::Call && module_[ir::CalleeOf(module_[clause.iter])].kind == ir::ExprKind::Attribute;
  });
}

// `results.update({image_id: boxes})`.
bool FlowFrom::FilesUnder(ir::ExprId arg) const {
  const ir::Expr& dict = module_[arg];
  if (dict.kind != ir::ExprKind::Dict) return false;
  for (uint32_t i = 0; i < ir::DictCount(dict); ++i) {
    if (Holds(ir::DictItemAt(module_, dict, i).key)) return true;
  }
  return false;
}

// `json.dump(results, file)`: a module keeps nothing.
bool FlowFrom::IsImported(ir::ExprId object) const {
  if (module_[object].kind != ir::ExprKind::Name) return false;
  const base::NameId name = ir::NameOf(module_[object]);
  for (uint32_t i = 0; i < module_.imports.size(); ++i) {
    const ir::Import& import = module_.imports[ir::ImportId{i}];
    if (!import.name && (import.as_name ? import.as_name : import.module) == name) return true;
  }
  return false;
}

// `losses.append(loss)`, `self.meter.update(loss)`.
void FlowFrom::ReadCall(ir::StmtId id, ir::ExprId call) {
  const ir::ExprId callee = ir::CalleeOf(module_[call]);
  if (fills_ && fills_(call)) {
    for (uint32_t i = 0; i < ir::ArgCount(module_, module_[call]); ++i) {
      const ir::ExprId arg = ir::ArgAt(module_, module_[call], i).value;
      if (module_[arg].kind == ir::ExprKind::Name) Set(arg, {true, IsOfGiven(arg), IsOfTotal(arg)});
    }
    return;
  }
  if (module_[callee].kind != ir::ExprKind::Attribute || IsImported(ir::ObjectOf(module_[callee]))) return;
  const ir::Expr& given = module_[ir::ObjectOf(module_[callee])];
  if (given.kind == ir::ExprKind::Name && self_ && ir::NameOf(given) == self_) return;
  if (uses_up_ && uses_up_(call)) return;
  for (uint32_t i = 0; i < ir::ArgCount(module_, module_[call]); ++i) {
    const ir::ExprId arg = ir::ArgAt(module_, module_[call], i).value;
    if (!Holds(arg)) continue;
    is_filed_ = is_filed_ || FilesUnder(arg);
    const ir::ExprId object = ir::ObjectOf(module_[callee]);
    const bool is_of_total = !IsBegunBefore(id, PlaceOf(object)) || IsOfTotal(object) || IsOfTotal(arg);
    return Set(object, {true, (counts_ && counts_(arg)) || IsOfGiven(object) || IsOfGiven(arg), is_of_total});
  }
}

FlowFrom::Place FlowFrom::PlaceOf(ir::ExprId target) const {
  uint32_t field = kWhole;
  while (target) {
    const ir::Expr& expr = module_[target];
    if (expr.kind == ir::ExprKind::Name) return {ir::NameOf(expr).index, field};
    if (expr.kind == ir::ExprKind::Attribute) field = ir::AttrOf(expr).index;
    else if (expr.kind != ir::ExprKind::Subscript) break;
    target = expr.kind == ir::ExprKind::Attribute ? ir::ObjectOf(expr) : ir::LeftOf(expr);
  }
  return {kWhole, kWhole};
}

}  // namespace allranks::objects
