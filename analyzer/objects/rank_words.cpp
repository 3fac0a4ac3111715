#include "analyzer/objects/rank_words.h"

#include <algorithm>
#include <string>

#include "analyzer/base/lowered.h"
#include "analyzer/ir/walk.h"
#include "analyzer/objects/open_params.h"

namespace allranks::objects {

RankWords::RankWords(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index)
    : program_(program), facts_(facts), index_(index) {
  for (const KnownCall& call : index.known_calls()) {
    NoteRankOfJob(call);
    NoteIndex(call);
  }
  // Twice: what is given the name of a test is one as well.
  for (int round = 0; round < 2; ++round) {
    for (uint32_t m = 0; m < program.modules.size(); ++m) {
      NoteStores(ir::ModuleId{m});
      NoteArguments(ir::ModuleId{m});
    }
  }
}

bool RankWords::IsWord(std::string_view name) {
  const std::string text = base::Lowered(name);
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"rank", "main", "master", "primary", "zero", "chief", "leader", "coordinator",
                                              "should_save", "process_index"},
      [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

void RankWords::NoteStores(ir::ModuleId module_id) {
  const ir::Module& module = program_.modules[module_id];
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::Stmt& stmt = module[ir::StmtId{i}];
    if (stmt.kind != ir::StmtKind::Assign) continue;
    const FuncId function = index_.FunctionOf(module_id, ir::StmtId{i});
    if (!function) continue;
    const bool is_test = IsTest(function, ir::AssignedOf(stmt)) || IsEmptiedOnSomeRanks(function, ir::StmtId{i});
    const bool is_rank = IsRank(module_id, ir::AssignedOf(stmt));
    for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
      if (is_test) Note(function, target);
      if (is_rank && module[target].kind == ir::ExprKind::Attribute) numbers_.insert(ir::AttrOf(module[target]));
    }
  }
}

void RankWords::Note(FuncId function, ir::ExprId target) {
  const ir::Module& module = program_.module_of(function);
  if (module[target].kind == ir::ExprKind::Name) variables_.insert({function.index, ir::NameOf(module[target])});
  if (module[target].kind == ir::ExprKind::Attribute) attributes_.insert(ir::AttrOf(module[target]));
}

// `Saver(save_to_disk=is_main_process)`: what the object keeps under that name.
void RankWords::NoteArguments(ir::ModuleId module_id) {
  const ir::Module& module = program_.modules[module_id];
  for (const ir::ExprId call : index_.ExprsOf(module_id, ir::ExprKind::Call)) {
    const ir::StmtId stmt = index_.tree(module_id).StatementOf(call);
    const FuncId function = stmt ? index_.FunctionOf(module_id, stmt) : FuncId::None();
    if (!function) continue;
    for (uint32_t i = 0; i < ir::ArgCount(module, module[call]); ++i) {
      const ir::Arg arg = ir::ArgAt(module, module[call], i);
      if (arg.kind == ir::ArgKind::Keyword && IsTest(function, arg.value)) attributes_.insert(arg.keyword);
    }
  }
}

// `init_process_group(rank=self.gpu)`
void RankWords::NoteRankOfJob(const KnownCall& call) {
  const bool is_init = call.entry->has_operation && call.entry->operation.op_class == knowledge::OpClass::Init;
  const ir::ExprId rank = is_init ? index_.ArgExpr(call, "rank") : ir::ExprId::None();
  const ir::Module& module = program_.module_of(call.function);
  if (rank && module[rank].kind == ir::ExprKind::Attribute) numbers_.insert(ir::AttrOf(module[rank]));
}

bool RankWords::IsRank(ir::ModuleId module, ir::ExprId value) const { return value && MayBeRank(facts_.value(module, value), 0); }

// The number of a process as it stands: `gpu` of `mp.spawn(worker)`, `dist.get_rank()`.
bool RankWords::MayBeRank(ValueId value, int depth) const {
  constexpr int kDeepest = 4;
  if (!value || depth > kDeepest) return false;
  const variation::Value& node = facts_.values_store[value];
  if (node.kind == variation::ValueKind::Param) return MayBePassedRank(node.function(), node.param_index(), depth + 1);
  if (node.kind == variation::ValueKind::Select) {
    return std::ranges::any_of(facts_.values_store.Kids(value).subspan(1), [&](ValueId arm) { return MayBeRank(arm, depth + 1); });
  }
  return variation::IsCoordinate(node, knowledge::Coordinate::Rank) || variation::IsCoordinate(node, knowledge::Coordinate::LocalRank);
}

// `mp.spawn(worker, nprocs=count)` in a job of several processes, `worker(0)` without one: nothing is known of what callers disagree on,
// but some of them pass a rank.
bool RankWords::MayBePassedRank(FuncId function, uint32_t param, int depth) const {
  if (indices_.contains({function.index, param})) return true;
  if (const ValueId known = facts_.param(function, param)) return MayBeRank(known, depth);
  return std::ranges::any_of(index_.CallersOf(function), [&](const Site& caller) { return MayBeRank(index_.PassedBy(caller, function, param), depth); });
}

// The first parameter of what `mp.spawn` starts.
void RankWords::NoteIndex(const KnownCall& call) {
  for (const knowledge::RoleOf& role : call.entry->roles) {
    if (role.role != knowledge::Role::StartsWithIndex) continue;
    const ValueId started = index_.Arg(call, program_.text(role.param));
    if (!started || facts_.values_store[started].kind != variation::ValueKind::Function) continue;
    const auto kids = facts_.values_store.Kids(started);
    const bool is_bound = !kids.empty() && kids[0];
    indices_.insert({facts_.values_store[started].function().index, is_bound ? 1 : 0});
  }
}

// `if rank != 0: self.folder = None`
bool RankWords::IsEmptiedOnSomeRanks(FuncId function, ir::StmtId stmt) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::ExprId value = ir::AssignedOf(module[stmt]);
  if (!value || module[value].kind != ir::ExprKind::Constant) return false;
  const ir::ConstantKind kind = ir::ConstantKindOf(module[value]);
  if (kind != ir::ConstantKind::None && kind != ir::ConstantKind::False) return false;
  const ir::StmtId branch = index_.tree(module_id).Parent(stmt);
  return branch && module[branch].kind == ir::StmtKind::If && Speaks(function, ir::ValueOf(module[branch]));
}

// `args.gpu == 0`, `gpu in (0, -1)`; whether there is one at all is no question about ranks.
bool RankWords::ComparesRank(FuncId function, const ir::Expr& comparison) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Expr& left = module[ir::LeftOf(comparison)];
  const bool is_number = left.kind == ir::ExprKind::Attribute && numbers_.contains(ir::AttrOf(left));
  const bool is_rank = left.kind == ir::ExprKind::Name && IsRank(module_id, ir::LeftOf(comparison));
  if (!is_number && !is_rank) return false;
  const ir::CompareOp op = ir::ComparisonAt(module, comparison, 0).op;
  return op != ir::CompareOp::Is && op != ir::CompareOp::IsNot;
}

// `rank == 0`, `args.save and is_master(args)`, `is_master()`; not what is made with a rank.
bool RankWords::IsTest(FuncId function, ir::ExprId value) const {
  // `int size;` of C has none.
  if (!value) return false;
  const ir::Module& module = program_.module_of(function);
  const ir::Expr& expr = module[value];
  switch (expr.kind) {
    case ir::ExprKind::Bool:
    case ir::ExprKind::Compare:
    case ir::ExprKind::Unary:
      return Speaks(function, value);
    case ir::ExprKind::Conditional:
      return Speaks(function, ir::TestOf(expr)) || IsTest(function, ir::ThenOf(module, expr)) || IsTest(function, ir::ElseOf(module, expr));
    case ir::ExprKind::Name:
      return variables_.contains({function.index, ir::NameOf(expr)});
    case ir::ExprKind::Call:
      return Speaks(function, ir::CalleeOf(expr));
    default:
      return false;
  }
}

// `config["rank"]`, `config.get("rank")`
bool RankWords::IsWordAsKey(const ir::Module& module, ir::ExprId id) const {
  const ir::Expr& expr = module[id];
  ir::ExprId key;
  if (expr.kind == ir::ExprKind::Subscript) key = ir::IndexOf(expr);
  const bool may_get = expr.kind == ir::ExprKind::Call && ir::ArgCount(module, expr) > 0;
  if (may_get && module[ir::CalleeOf(expr)].kind == ir::ExprKind::Attribute) {
    if (program_.text(ir::AttrOf(module[ir::CalleeOf(expr)])) == "get") key = ir::ArgAt(module, expr, 0).value;
  }
  if (!key || module[key].kind != ir::ExprKind::Constant || ir::ConstantKindOf(module[key]) != ir::ConstantKind::Str) return false;
  const base::NameId text = ir::TextOf(module[key]);
  return text && IsWord(program_.text(text));
}

bool RankWords::Speaks(FuncId function, ir::ExprId test, int depth) const {
  constexpr int kDeepest = 8;
  const ir::Module& module = program_.module_of(function);
  const ir::Expr& expr = module[test];
  const ValueId value = expr.kind == ir::ExprKind::Name ? facts_.value(program_.funcs[function].module, test) : ValueId::None();
  const bool is_left = value && facts_.values_store[value].kind == variation::ValueKind::Param && !NameOfOpenParam(program_, facts_, value);
  if (expr.kind == ir::ExprKind::Name && !is_left) {
    const base::NameId name = ir::NameOf(expr);
    if (IsWord(program_.text(name)) || variables_.contains({function.index, name})) return true;
    // A parameter of a name by which such a test is passed somewhere.
    const auto& params = program_.function(function).params;
    if (attributes_.contains(name) && std::ranges::any_of(params, [&](const ir::Param& param) { return param.name == name; })) return true;
  }
  if (expr.kind == ir::ExprKind::Attribute) {
    const base::NameId name = ir::AttrOf(expr);
    if (IsWord(program_.text(name)) || attributes_.contains(name)) return true;
  }
  bool found = IsWordAsKey(module, test) || (expr.kind == ir::ExprKind::Compare && ComparesRank(function, expr));
  if (depth < kDeepest) {
    ir::ForEachPart(module, test, [&](ir::ExprId part) { found = found || Speaks(function, part, depth + 1); });
  }
  return found;
}

}  // namespace allranks::objects
