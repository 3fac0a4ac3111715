#include "analyzer/objects/flow_from.h"

#include <algorithm>
#include <tuple>

#include "analyzer/ir/walk.h"

namespace allranks::objects {

FlowFrom::FlowFrom(const binding::Program& program, const ProgramIndex& index, FuncId function, std::vector<ir::ExprId> seeds,
                   uint32_t begin, Question ends, Question counts, Question fills)
    : module_(program.module_of(function)), ends_(std::move(ends)), counts_(std::move(counts)), fills_(std::move(fills)) {
  for (const ir::ExprId seed : seeds) seeds_.insert(seed.index);
  const ir::ModuleId module_id = program.funcs[function].module;
  std::vector<ir::StmtId> stmts;
  for (uint32_t i = 0; i < module_.stmts.size(); ++i) {
    const ir::StmtId id{i};
    if (module_[id].begin >= begin && index.FunctionOf(module_id, id) == function) stmts.push_back(id);
  }
  std::ranges::sort(stmts, {}, [&](ir::StmtId id) { return module_[id].begin; });
  // Twice, for what a loop hands to its next round.
  for (int round = 0; round < 2; ++round) {
    for (const ir::StmtId id : stmts) Read(module_[id]);
  }
}

void FlowFrom::Read(const ir::Stmt& stmt) {
  switch (stmt.kind) {
    case ir::StmtKind::Assign:
      return ReadAssign(stmt);
    case ir::StmtKind::AugAssign:
    case ir::StmtKind::AnnAssign:
      if (ir::AssignedOf(stmt) && Take(ir::AssignedOf(stmt))) Set(ir::ExprId{stmt.a}, true, IsOfGiven(ir::AssignedOf(stmt)));
      return;
    case ir::StmtKind::For: {
      const ir::ExprId target = ir::ExprId{stmt.a};
      const bool holds = Take(ir::AssignedOf(stmt)) || seeds_.contains(target.index);
      return Set(target, holds, IsOfGiven(ir::AssignedOf(stmt)));
    }
    case ir::StmtKind::Expr:
      if (Take(ir::ValueOf(stmt)) && module_[ir::ValueOf(stmt)].kind == ir::ExprKind::Call) ReadCall(ir::ValueOf(stmt));
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

void FlowFrom::ReadAssign(const ir::Stmt& stmt) {
  const ir::ExprId value = ir::AssignedOf(stmt);
  const bool holds = value && Take(value);
  for (const ir::ExprId target : ir::TargetsOf(module_, stmt)) {
    Take(target);
    if (module_[target].kind == ir::ExprKind::Subscript && module_[ir::RightOf(module_[target])].kind != ir::ExprKind::Slice) {
      is_filed_ = is_filed_ || Holds(ir::RightOf(module_[target]));
    }
    // An item that is set leaves the others in place.
    if (holds || module_[target].kind != ir::ExprKind::Subscript) Set(target, holds, IsOfGiven(value));
  }
}

// Notes which parts of an expression hold it, innermost first.
bool FlowFrom::Take(ir::ExprId expr) {
  if (ends_ && (ends_(expr) || IsListOfEnds(expr))) return false;
  bool holds = seeds_.contains(expr.index) || IsIn(held_, expr);
  bool is_of_given = IsIn(given_, expr);
  const Question take = [&](ir::ExprId part) {
    const bool part_holds = Take(part);
    holds = holds || part_holds;
    is_of_given = is_of_given || IsOfGiven(part);
    return part_holds;
  };
  if (module_[expr].kind == ir::ExprKind::Comprehension) TakeComprehension(module_[expr], take);
  else ir::ForEachPart(module_, expr, take);
  if (holds) found_.insert(expr.index);
  if (holds && is_of_given) of_given_.insert(expr.index);
  return holds;
}

// What a comprehension names is its own.
void FlowFrom::TakeComprehension(const ir::Expr& comprehension, const Question& take) {
  const auto outside = std::pair(held_, given_);
  for (const ir::Clause& clause : ir::ClausesOf(module_, comprehension)) {
    const bool holds = take(clause.iter);
    Set(clause.target, holds, IsOfGiven(clause.iter));
    take(clause.target);
    for (const ir::ExprId condition : ir::Exprs(module_, clause.conditions)) take(condition);
  }
  take(ir::OperandOf(comprehension));
  is_filed_ = is_filed_ || FilesUnder(comprehension);
  std::tie(held_, given_) = outside;
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

void FlowFrom::Set(ir::ExprId target, bool holds, bool is_of_given) {
  const ir::ExprKind kind = module_[target].kind;
  if (kind == ir::ExprKind::Tuple || kind == ir::ExprKind::List) {
    for (const ir::ExprId item : ir::Items(module_, module_[target])) Set(item, holds, is_of_given);
    return;
  }
  if (kind == ir::ExprKind::Starred) return Set(ir::OperandOf(module_[target]), holds, is_of_given);
  const Place place = PlaceOf(target);
  if (place.first == kWhole) return;
  if (holds) held_.insert(place);
  else held_.erase(place);
  if (holds && is_of_given) given_.insert(place);
  else given_.erase(place);
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
void FlowFrom::ReadCall(ir::ExprId call) {
  const ir::ExprId callee = ir::CalleeOf(module_[call]);
  if (fills_ && fills_(call)) {
    for (uint32_t i = 0; i < ir::ArgCount(module_, module_[call]); ++i) {
      const ir::ExprId arg = ir::ArgAt(module_, module_[call], i).value;
      if (module_[arg].kind == ir::ExprKind::Name) Set(arg, true, IsOfGiven(arg));
    }
    return;
  }
  if (module_[callee].kind != ir::ExprKind::Attribute || IsImported(ir::ObjectOf(module_[callee]))) return;
  for (uint32_t i = 0; i < ir::ArgCount(module_, module_[call]); ++i) {
    const ir::ExprId arg = ir::ArgAt(module_, module_[call], i).value;
    if (!Holds(arg)) continue;
    is_filed_ = is_filed_ || FilesUnder(arg);
    return Set(ir::ObjectOf(module_[callee]), true, (counts_ && counts_(arg)) || IsOfGiven(ir::ObjectOf(module_[callee])) || IsOfGiven(arg));
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
