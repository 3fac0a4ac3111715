#include "analyzer/objects/sure_failures.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "analyzer/ir/bindings.h"
#include "analyzer/objects/every_way.h"
#include "analyzer/objects/gradient_mode.h"

namespace allranks::objects {
namespace {

using variation::ValueKind;

constexpr std::string_view kBuiltins = "builtins.";
constexpr std::string_view kParser = "argparse.ArgumentParser";
constexpr std::string_view kMakeGroup = "torch.distributed.init_process_group";
constexpr std::string_view kMakeLoader = "torch.utils.data.DataLoader.__init__";
constexpr std::string_view kMakeSampler = "torch.utils.data.distributed.DistributedSampler.__init__";

// `dir(builtins)` of Python 3.8 to 3.14, what every module has, what IPython adds, and what Python 2 had. Sorted.
constexpr std::string_view kNames[] = {
  "ArithmeticError", "AssertionError", "AttributeError", "BaseException", "BaseExceptionGroup", "BlockingIOError", "BrokenPipeError",
  "BufferError", "BytesWarning", "ChildProcessError", "ConnectionAbortedError", "ConnectionError", "ConnectionRefusedError",
  "ConnectionResetError", "DeprecationWarning", "EOFError", "Ellipsis", "EncodingWarning", "EnvironmentError", "Exception",
  "ExceptionGroup", "False", "FileExistsError", "FileNotFoundError", "FloatingPointError", "FutureWarning", "GeneratorExit", "IOError",
  "ImportError", "ImportWarning", "IndentationError", "IndexError", "InterruptedError", "IsADirectoryError", "KeyError",
  "KeyboardInterrupt", "LookupError", "MemoryError", "ModuleNotFoundError", "NameError", "None", "NotADirectoryError", "NotImplemented",
  "NotImplementedError", "OSError", "OverflowError", "PendingDeprecationWarning", "PermissionError", "ProcessLookupError",
  "PythonFinalizationError", "RecursionError", "ReferenceError", "ResourceWarning", "RuntimeError", "RuntimeWarning", "StandardError",
  "StopAsyncIteration", "StopIteration", "SyntaxError", "SyntaxWarning", "SystemError", "SystemExit", "TabError", "TimeoutError", "True",
  "TypeError", "UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError", "UnicodeError", "UnicodeTranslateError", "UnicodeWarning",
  "UserWarning", "ValueError", "Warning", "WindowsError", "ZeroDivisionError", "_", "__annotations__", "__build_class__", "__builtins__",
  "__cached__", "__class__", "__debug__", "__dict__", "__doc__", "__file__", "__import__", "__loader__", "__module__", "__name__",
  "__package__", "__path__", "__qualname__", "__spec__", "abs", "aiter", "all", "anext", "any", "apply", "ascii", "basestring", "bin",
  "bool", "breakpoint", "buffer", "bytearray", "bytes", "callable", "chr", "classmethod", "cmp", "coerce", "compile", "complex",
  "copyright", "credits", "delattr", "dict", "dir", "display", "divmod", "enumerate", "eval", "exec", "execfile", "exit", "file", "filter",
  "float", "format", "frozenset", "get_ipython", "getattr", "globals", "hasattr", "hash", "help", "hex", "id", "input", "int", "intern",
  "isinstance", "issubclass", "iter", "len", "license", "list", "locals", "long", "map", "max", "memoryview", "min", "next", "object",
  "oct", "open", "ord", "pow", "print", "profile", "property", "quit", "range", "raw_input", "reduce", "reload", "repr", "reveal_type",
  "reversed", "round", "set", "setattr", "slice", "sorted", "staticmethod", "str", "sum", "super", "tuple", "type", "unichr", "unicode",
  "vars", "xrange", "zip",
};
static_assert(std::ranges::is_sorted(kNames));

// Sorted.
constexpr std::string_view kMembersOfDictionary[] = {"clear", "copy", "fromkeys", "get", "has_key", "items", "iteritems", "iterkeys", "itervalues", "keys", "pop",
                                                     "popitem", "setdefault", "update", "values"};
static_assert(std::ranges::is_sorted(kMembersOfDictionary));

bool EndsGroup(const knowledge::Entry& entry) { return entry.has_operation && entry.operation.op_class == knowledge::OpClass::Destroy; }

bool MayLeave(const ir::Module& module, const ir::Stmt& stmt) {
  if (stmt.kind == ir::StmtKind::Return || stmt.kind == ir::StmtKind::Break || stmt.kind == ir::StmtKind::Continue) return true;
  bool found = false;
  ir::ForEachBlock(module, stmt, [&](ir::BlockId block) {
    ir::ForEachStmtIn(module, block, [&](const ir::Stmt& inner) { found = found || inner.kind == ir::StmtKind::Return; });
  });
  return found;
}

// What is evaluated whenever an expression is: not what `and`, `or`, `if` and comprehensions may leave out.
template <class Visit>
void ForEachSurePart(const ir::Module& module, ir::ExprId id, Visit visit) {
  const ir::Expr& expr = module[id];
  switch (expr.kind) {
    case ir::ExprKind::Bool: {
      const ir::ExprList items = ir::Items(module, expr);
      if (items.size() > 0 && items[0]) visit(items[0]);
      return;
    }
    case ir::ExprKind::Conditional:
      return visit(ir::TestOf(expr));
    case ir::ExprKind::Comprehension:
    case ir::ExprKind::Lambda:
    case ir::ExprKind::Opaque:
      return;
    case ir::ExprKind::Compare:
      // `a < b < c` may stop behind b.
      visit(ir::CalleeOf(expr));
      return visit(ir::ComparisonAt(module, expr, 0).operand);
    default:
      ir::ForEachPart(module, id, visit);
  }
}

// Of `a, b`; not of `a, *more`.
std::optional<size_t> CountItems(const ir::Module& module, const ir::Expr& tuple) {
  if (tuple.kind != ir::ExprKind::Tuple) return std::nullopt;
  const ir::ExprList items = ir::Items(module, tuple);
  bool is_open = false;
  for (const ir::ExprId item : items) is_open = is_open || module[item].kind == ir::ExprKind::Starred;
  return is_open ? std::nullopt : std::optional<size_t>(items.size());
}

// How many values a function returns, at each place where it does; none if that of one is not known.
std::vector<size_t> NumbersReturned(const ir::Module& module, const ir::Function& function) {
  if (function.is_generator || (function.flags & ir::kAsync) != 0) return {};
  std::vector<size_t> numbers;
  bool are_known = true;
  ir::ForEachStmtIn(module, function.body, [&](const ir::Stmt& stmt) {
    if (stmt.kind != ir::StmtKind::Return) return;
    const ir::ExprId value = ir::ValueOf(stmt);
    const size_t here = value ? CountItems(module, module[value]).value_or(0) : 0;
    are_known = are_known && here != 0;
    numbers.push_back(here);
  });
  return are_known ? numbers : std::vector<size_t>();
}

// How many items a tuple or list that is written out has; no expression is an empty one.
std::optional<uint32_t> ItemsOf(const ir::Module& module, ir::ExprId id) {
  if (!id) return 0;
  const ir::ExprKind kind = module[id].kind;
  if (kind != ir::ExprKind::Tuple && kind != ir::ExprKind::List) return std::nullopt;
  uint32_t count = 0;
  for (const ir::ExprId item : ir::Items(module, module[id])) {
    if (module[item].kind == ir::ExprKind::Starred) return std::nullopt;
    ++count;
  }
  return count;
}

}  // namespace

bool SureFailures::AreBefore(ir::ModuleId module, uint32_t position, const std::function<bool(FuncId)>& is_aside) const {
  bool is_anywhere = false;
  const bool is_on_all = IsOnEveryWay(index_, module, position, [&](FuncId function, ir::StmtId stmt) {
    const bool is_before = AreBefore(function, stmt) || CallsWrongly(function, stmt);
    is_anywhere = is_anywhere || is_before;
    return is_before || (is_aside && is_aside(function));
  });
  return is_on_all && is_anywhere;
}

bool SureFailures::FailsAtImports(ir::ModuleId module_id) const {
  const ir::Module& module = program_.modules[module_id];
  const FuncId top = program_.func(module_id, ir::kTopLevel);
  return module.language == ir::Language::Python && std::ranges::any_of(module.statements(program_.function(top).body), [&](ir::StmtId stmt) {
    return module[stmt].kind == ir::StmtKind::Import && Fails(top, stmt);
  });
}

bool SureFailures::AddsOptionsTwice(ir::ModuleId script) const {
  constexpr size_t kMostFunctions = 16;
  std::vector<FuncId> functions = {program_.func(script, ir::kTopLevel)};
  for (size_t i = 0; i < functions.size(); ++i) {
    const ir::ModuleId module_id = program_.funcs[functions[i]].module;
    for (uint32_t s = 0; s < program_.modules[module_id].stmts.size(); ++s) {
      if (index_.FunctionOf(module_id, ir::StmtId{s}) != functions[i]) continue;
      const Failure failure = At(functions[i], ir::StmtId{s});
      if (failure.kind == FailureKind::OptionAgain) return true;
      const bool is_new = failure.kind == FailureKind::InCalled && std::ranges::find(functions, failure.called) == functions.end();
      if (is_new && functions.size() < kMostFunctions) functions.push_back(failure.called);
    }
  }
  return false;
}

bool SureFailures::IsFirst(FuncId function, ir::StmtId stmt) const {
  return !IsOnEveryWay(index_, function, stmt, [&](FuncId other, ir::StmtId at) {
    const bool is_itself = other == function && at == stmt;
    return AreBefore(other, at, !is_itself) || (!is_itself && CallsWrongly(other, at));
  });
}

// `of_loop_itself`: a loop of which no round begins is before its own body, and before itself where that is what is asked for.
bool SureFailures::AreBefore(FuncId function, ir::StmtId stmt, bool of_loop_itself) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  if (module.language != ir::Language::Python) return false;
  const ir::Tree& tree = index_.tree(module_id);
  for (ir::StmtId at = stmt; at; at = tree.Parent(at)) {
    // No round of such a loop begins.
    if (module[at].kind == ir::StmtKind::For && (at != stmt || of_loop_itself) && UnpacksOtherNumber(module_id, module[at])) return true;
    if (FailBefore(function, tree.BlockOf(at), at)) return true;
  }
  if (program_.funcs[function].function == ir::kTopLevel) return false;
  if (FailsAbove(function) || IsCalledWrongly(function)) return true;
  return index_.CallersOf(function).empty() && FailsWhenRun(program_.func(module_id, ir::kTopLevel));
}

// A statement of the block in front of this one of it. Of many that are asked for, the block is looked at once.
bool SureFailures::FailBefore(FuncId function, ir::BlockId block, ir::StmtId stmt) const {
  const ir::Module& module = program_.module_of(function);
  const auto stmts = module.statements(block);
  const auto place = static_cast<uint32_t>(std::ranges::lower_bound(stmts, module[stmt].begin, {}, [&](ir::StmtId each) { return module[each].begin; }) - stmts.begin());
  // A macro puts several statements at one position.
  const uint32_t end = place + static_cast<uint32_t>(std::ranges::find(stmts.subspan(place), stmt) - stmts.subspan(place).begin());
  Looked& looked = blocks_[(uint64_t{function.index} << 32) | block.index];
  while (!looked.fails && looked.count < end) {
    if (Fails(function, stmts[looked.count])) looked.fails = true;
    else ++looked.count;
  }
  return looked.fails && looked.count < end;
}

// The file fails before it defines the function, wherever it is called.
bool SureFailures::FailsAbove(FuncId function) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const FuncId top = program_.func(module_id, ir::kTopLevel);
  const uint32_t begin = program_.function(function).begin;
  const auto stmts = module.statements(program_.function(top).body);
  Looked& looked = tops_[module_id.index];
  while (!looked.fails && !looked.leaves && looked.count < stmts.size() && module[stmts[looked.count]].end <= begin) {
    const ir::StmtId stmt = stmts[looked.count];
    if (Fails(top, stmt)) {
      looked.fails = true;
    } else {
      looked.leaves = MayLeave(module, module[stmt]);
      ++looked.count;
    }
  }
  return looked.fails && module[stmts[looked.count]].end <= begin;
}

// A call in the statement does not get into what it calls: `save(model)` of `def save(model, path)`, or `save(model, args.path)` where no parser
// takes `--path`.
bool SureFailures::CallsWrongly(FuncId function, ir::StmtId stmt) const {
  const ir::Module& module = program_.module_of(function);
  if (module.language != ir::Language::Python) return false;
  bool is_wrong = false;
  ir::ForEachExpr(module, module[stmt], [&](ir::ExprId expr) { is_wrong = is_wrong || HoldsWrongCall(function, expr); });
  return is_wrong;
}

bool SureFailures::HoldsWrongCall(FuncId function, ir::ExprId id) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  if (WrongCall(function, id)) return true;
  bool is_wrong = false;
  if (module[id].kind == ir::ExprKind::Call && PlainFunctionOf(function, id)) {
    for (uint32_t i = 0; i < ir::ArgCount(module, module[id]); ++i) is_wrong = is_wrong || options_.IsReadBy(module_id, ir::ArgAt(module, module[id], i).value);
  }
  ForEachSurePart(module, id, [&](ir::ExprId part) { is_wrong = is_wrong || HoldsWrongCall(function, part); });
  return is_wrong;
}

// Of a function, a method or a class of the project, which does not take what it is given.
Failure SureFailures::WrongCall(FuncId function, ir::ExprId id) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  if (module[id].kind != ir::ExprKind::Call) return {};
  const FuncId plain = PlainFunctionOf(function, id);
  const FuncId init = plain ? FuncId::None() : ConstructorOf(module_id, id);
  const FuncId called = plain ? plain : init ? init : MethodOf(function, id);
  if (!called) return WrongStart(function, id);
  const std::span<const ir::Param> params = program_.function(called).params;
  const Misfit misfit = MisfitOf(module, module[id], plain ? params : params.subspan(1));
  return misfit ? Failure{.kind = FailureKind::WrongArguments, .expr = id, .called = called, .misfit = misfit} : Failure();
}

// `mp.spawn(worker, args=(world_size,), nprocs=world_size)` of `def worker(rank, world_size, config)`: each process fails as it begins.
Failure SureFailures::WrongStart(FuncId function, ir::ExprId id) const {
  const KnownCall* call = index_.KnownCallAt({function, id});
  if (call == nullptr) return {};
  const ir::Module& module = program_.module_of(function);
  for (const knowledge::RoleOf& role : call->entry->roles) {
    if (role.role != knowledge::Role::StartsWithIndex) continue;
    const ValueId started = index_.Arg(*call, program_.text(role.param));
    const std::optional<uint32_t> handed = ItemsOf(module, index_.ArgExpr(*call, "args"));
    if (!started || !handed || facts_.values_store[started].kind != variation::ValueKind::Function || facts_.values_store.ReceiverOf(started)) continue;
    const FuncId worker = facts_.values_store[started].function();
    const Misfit misfit = MisfitOf(*handed + 1, {}, program_.function(worker).params);
    if (misfit) return {.kind = FailureKind::WrongArguments, .expr = id, .called = worker, .misfit = misfit};
  }
  return {};
}

// All calls of it lack an argument, or have one too many.
bool SureFailures::IsCalledWrongly(FuncId function) const {
  const auto callers = index_.CallersOf(function);
  return !callers.empty() && index_.GivenTo(function).empty() && std::ranges::all_of(callers, [&](const Site& caller) {
    return WrongCall(caller.function, caller.expr).called == function;
  });
}

// Each run of the function comes to a statement that fails. Of the top level of a file: each import of it.
bool SureFailures::FailsWhenRun(FuncId function) const {
  const auto [known, is_new] = functions_.try_emplace(function.index, false);
  if (!is_new) return known->second;
  const ir::Function& info = program_.function(function);
  const bool is_run_by_call = !info.is_generator && (info.flags & ir::kAsync) == 0;
  const bool may_fail = is_run_by_call && program_.module_of(function).language == ir::Language::Python;
  return functions_[function.index] = may_fail && FailsInBlock(function, info.body);
}

bool SureFailures::FailsInBlock(FuncId function, ir::BlockId block) const {
  const ir::Module& module = program_.module_of(function);
  for (const ir::StmtId stmt : module.statements(block)) {
    if (Fails(function, stmt)) return true;
    if (MayLeave(module, module[stmt])) return false;
  }
  return false;
}

Failure SureFailures::At(FuncId function, ir::StmtId id) const {
  const uint64_t key = (uint64_t{function.index} << 32) | id.index;
  const auto [known, is_new] = statements_.try_emplace(key);
  if (!is_new) return known->second;
  return statements_[key] = FailureOf(function, id);
}

Failure SureFailures::FailureOf(FuncId function, ir::StmtId id) const {
  const ir::Module& module = program_.module_of(function);
  const ir::Stmt& stmt = module[id];
  switch (stmt.kind) {
    case ir::StmtKind::Import:
    case ir::StmtKind::Assign:
    // A `with` may take the exception (`suppress`), so that only its own expressions count.
    case ir::StmtKind::With:
    case ir::StmtKind::Expr:
    case ir::StmtKind::For:
    case ir::StmtKind::While:
    case ir::StmtKind::If:
    case ir::StmtKind::AugAssign:
    case ir::StmtKind::Return:
      break;
    default:
      return {};
  }
  Failure failure = FailureAsAWhole(function, id);
  ir::ForEachExpr(module, stmt, [&](ir::ExprId expr) {
    if (!failure) failure = FailureInside(function, id, expr);
  });
  return failure;
}

Failure SureFailures::FailureAsAWhole(FuncId function, ir::StmtId id) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Stmt& stmt = program_.modules[module_id][id];
  if (stmt.kind == ir::StmtKind::Import) {
    for (uint32_t i = 0; i < stmt.c; ++i) {
      if (const Failure failure = FailureOfImport(module_id, ir::ImportId{stmt.a + i})) return failure;
    }
  }
  if (stmt.kind == ir::StmtKind::Assign) {
    if (SetsVariableToNumber(module_id, stmt)) return {.kind = FailureKind::NumberInEnvironment};
    if (const FuncId called = ReturnsOtherNumber(function, stmt)) return {.kind = FailureKind::UnpackedResult, .called = called};
  }
  if (stmt.kind == ir::StmtKind::Expr && AddsOptionAgain(function, id)) return {.kind = FailureKind::OptionAgain};
  if (stmt.kind == ir::StmtKind::For && UnpacksOtherNumber(module_id, stmt)) return {.kind = FailureKind::UnpackedPairs};
  if (stmt.kind == ir::StmtKind::If && FailsOnSomeRanks(function, stmt)) return {.kind = FailureKind::OnSomeRanks};
  if (FailsInRounds(function, id)) return {.kind = FailureKind::InRounds};
  if (stmt.kind != ir::StmtKind::Import && MakesGroupAgain(function, id)) return {.kind = FailureKind::SecondGroup};
  return {};
}

// A loop that trains has a round.
bool SureFailures::FailsInRounds(FuncId function, ir::StmtId id) const {
  const ir::Module& module = program_.module_of(function);
  const bool is_loop = module[id].kind == ir::StmtKind::For || module[id].kind == ir::StmtKind::While;
  return is_loop && training_.Trains(program_.funcs[function].module, id) && FailsInBlock(function, ir::BodyOf(module[id]));
}

// `if rank == 0: ... else: save(path)`, where one arm fails, or `if distributed:`, where the arm of a job of several does.
bool SureFailures::FailsOnSomeRanks(FuncId function, const ir::Stmt& stmt) const {
  const variation::ValueId test = facts_.value(program_.funcs[function].module, ir::ValueOf(stmt));
  if (!test) return false;
  if (IsOfSeveral(test)) return FailsInBlock(function, ir::BodyOf(stmt));
  if (!facts_.values_store[test].is_equality()) return false;
  const variation::Operands asked = facts_.values_store.OperandsOf(test);
  const variation::Value& left = facts_.values_store[asked.left];
  const variation::ValueId passed = left.kind == ValueKind::Param ? facts_.param(left.function(), left.param_index()) : asked.left;
  if (!passed) return false;
  const variation::Value& rank = facts_.values_store[passed];
  const bool is_rank = variation::IsCoordinate(rank, knowledge::Coordinate::Rank) || variation::IsCoordinate(rank, knowledge::Coordinate::LocalRank);
  if (!is_rank || facts_.values_store[asked.right].count() != 0) return false;
  const ir::BlockId otherwise = ir::ElseBlockOf(stmt);
  return FailsInBlock(function, ir::BodyOf(stmt)) || (otherwise && FailsInBlock(function, otherwise));
}

// It is true wherever there are several ranks: `args.distributed`, also where that is first false and then set.
bool SureFailures::IsOfSeveral(variation::ValueId test) const {
  const std::vector<variation::ValueId> leaves = values_.Leaves(test);
  const auto is_distributed = [&](variation::ValueId leaf) { return variation::IsCoordinate(facts_.values_store[leaf], knowledge::Coordinate::Distributed); };
  return std::ranges::any_of(leaves, is_distributed) && std::ranges::all_of(leaves, [&](variation::ValueId leaf) {
    return is_distributed(leaf) || facts_.values_store[leaf].kind == ValueKind::Bool;
  });
}

// Whenever the expression is evaluated.
Failure SureFailures::FailureInside(FuncId function, ir::StmtId stmt, ir::ExprId id) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Expr& expr = module[id];
  if (expr.kind == ir::ExprKind::Name) return FailureOfName(function, stmt, id);
  // What a call and an attribute are of is evaluated first.
  Failure failure;
  ForEachSurePart(module, id, [&](ir::ExprId part) {
    if (!failure) failure = FailureInside(function, stmt, part);
  });
  if (failure) return failure;
  if (expr.kind == ir::ExprKind::Call) return FailureOfCall(function, id);
  if (options_.IsReadBy(module_id, id)) return {.kind = FailureKind::MissingOption, .expr = id};
  if (ReadsMemberOfDictionary(module_id, id)) return {.kind = FailureKind::MemberOfDictionary, .expr = id};
  if (fields_.IsReadBy(module_id, id)) return {.kind = FailureKind::MissingField, .expr = id};
  const FailureKind of_wrapped = MemberOfWrapped(module_id, id);
  return of_wrapped == FailureKind::None ? Failure() : Failure{.kind = of_wrapped, .expr = id};
}

Failure SureFailures::FailureOfName(FuncId function, ir::StmtId stmt, ir::ExprId id) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  if (IsUnboundName(module_id, id)) return {.kind = FailureKind::UnboundName, .expr = id};
  if (!late_.IsReadBy(function, stmt, id)) return {};
  // At the top of a file a name is Python's own until it is bound.
  const bool is_of_file = program_.funcs[function].function == ir::kTopLevel;
  const std::string_view name = program_.text(ir::NameOf(program_.modules[module_id][id]));
  if (is_of_file && (std::ranges::binary_search(kNames, name) || !imports_.KnowsNamesOf(module_id) || !program_.stars[module_id.index].empty())) return {};
  return {.kind = FailureKind::LateName, .expr = id};
}

Failure SureFailures::FailureOfCall(FuncId function, ir::ExprId id) const {
  if (const Failure failure = WrongCall(function, id)) return failure;
  if (const base::NameId refused = RefusedArgument(function, id)) {
    return {.kind = FailureKind::RefusedArgument, .expr = id, .misfit = {Misfit::Kind::Unknown, refused}};
  }
  if (const Failure failure = FailureOfKnown(function, id)) return failure;
  const ir::ModuleId module_id = program_.funcs[function].module;
  for (const FuncId called : {PlainFunctionOf(function, id), ConstructorOf(module_id, id), MethodOf(function, id)}) {
    if (called && FailsWhenRun(called)) return {.kind = FailureKind::InCalled, .expr = id, .called = called};
  }
  return {};
}

// Of a library, by the values that it is given.
Failure SureFailures::FailureOfKnown(FuncId function, ir::ExprId id) const {
  const variation::CallFact* call = facts_.call(function, id);
  if (call == nullptr || !call->entry) return {};
  const std::string_view name = program_.text(knowledge_[call->entry].name);
  if (name == kMakeGroup && LacksScheme(*call)) return {.kind = FailureKind::NoScheme, .expr = id};
  if (name == kMakeLoader && ShufflesBesideSampler(*call)) return {.kind = FailureKind::SamplerAndShuffle, .expr = id};
  if (name == kMakeSampler && IsSamplerOfOneRank(program_.funcs[function].module, id)) return {.kind = FailureKind::OnSomeRanks, .expr = id};
  return {};
}

// `init_process_group("nccl", init_method="127.0.0.1:29500")`
bool SureFailures::LacksScheme(const variation::CallFact& call) const {
  const variation::ValueId given = ArgumentOf(call, "init_method");
  const std::string_view address = given ? values_.Str(given) : std::string_view();
  return !address.empty() && address.find("://") == std::string_view::npos;
}

// `DataLoader(data, sampler=DistributedSampler(data), shuffle=True)`, which PyTorch refuses
// (https://github.com/pytorch/pytorch/blob/main/torch/utils/data/dataloader.py).
bool SureFailures::ShufflesBesideSampler(const variation::CallFact& call) const {
  const variation::ValueId shuffle = ArgumentOf(call, "shuffle");
  if (!shuffle || shuffle != facts_.values_store.True()) return false;
  const variation::ValueId sampler = ArgumentOf(call, "sampler");
  const std::vector<variation::ValueId> leaves = sampler ? values_.Leaves(sampler) : std::vector<variation::ValueId>();
  return !leaves.empty() && std::ranges::all_of(leaves, [&](variation::ValueId leaf) {
    const variation::ValueKind kind = facts_.values_store[leaf].kind;
    return kind == variation::ValueKind::Object || kind == variation::ValueKind::Instance;
  });
}

// What is passed for a parameter of a library's function; none: nothing, or it is not seen.
variation::ValueId SureFailures::ArgumentOf(const variation::CallFact& call, std::string_view param) const {
  const std::vector<base::NameId>& params = knowledge_[call.entry].params;
  const std::span<const variation::ValueId> args = facts_.args(call);
  for (size_t i = 0; i < std::min(params.size(), args.size()); ++i) {
    if (program_.text(params[i]) == param) return args[i];
  }
  return variation::ValueId::None();
}

// `DistributedSampler(data, num_replicas=1, rank=dist.get_rank())`, which refuses the rank on all but the first. The rank may be 0 where there
// is no job: `get_rank() if is_initialized() else 0`.
bool SureFailures::IsSamplerOfOneRank(ir::ModuleId module, ir::ExprId id) const {
  const variation::ValueId sampler = facts_.value(module, id);
  if (!sampler || values_.Int(values_.MadeWith(sampler, "num_replicas")) != 1) return false;
  const auto is_rank = [&](variation::ValueId value) { return variation::IsCoordinate(facts_.values_store[value], knowledge::Coordinate::Rank); };
  const variation::ValueId rank = values_.MadeWith(sampler, "rank");
  const std::vector<variation::ValueId> leaves = rank ? values_.Leaves(rank) : std::vector<variation::ValueId>();
  return std::ranges::any_of(leaves, is_rank) &&
         std::ranges::all_of(leaves, [&](variation::ValueId leaf) { return is_rank(leaf) || values_.Int(leaf) == 0; });
}

// `model.freeze()` of `model = DDP(net)`; or, on several ranks, behind `if distributed: model = DDP(net)`.
FailureKind SureFailures::MemberOfWrapped(ir::ModuleId module_id, ir::ExprId id) const {
  const ir::Module& module = program_.modules[module_id];
  const variation::ValueId object = module[id].kind == ir::ExprKind::Attribute ? facts_.value(module_id, ir::ObjectOf(module[id])) : variation::ValueId::None();
  if (!object || fields_.IsSpokenOf(ir::AttrOf(module[id]))) return FailureKind::None;
  const auto lacks = [&](variation::ValueId wrapper) { return wrapped_.AreLacking(wrapper, wrapped_.InnerOf(wrapper), ir::AttrOf(module[id])); };
  if (wrapped_.IsWrapped(object)) return lacks(object) ? FailureKind::MemberOfWrapped : FailureKind::None;
  const std::vector<variation::ValueId> leaves = LeavesOfOneWay(object);
  const auto wrapper = std::ranges::find_if(leaves, [&](variation::ValueId leaf) { return wrapped_.IsWrapped(leaf); });
  if (wrapper == leaves.end() || !lacks(*wrapper)) return FailureKind::None;
  const std::vector<variation::ValueId> inner = values_.Leaves(wrapped_.InnerOf(*wrapper));
  const bool is_one_model = std::ranges::all_of(leaves, [&](variation::ValueId leaf) { return wrapped_.IsWrapped(leaf) || std::ranges::count(inner, leaf) > 0; });
  return is_one_model ? FailureKind::OnSomeRanks : FailureKind::None;
}

// What a value may be, where a condition that stands in several choices of it comes out alike: `(model.module if distributed else model)`
// behind `if distributed: model = DDP(model)` is the model itself.
std::vector<variation::ValueId> SureFailures::LeavesOfOneWay(variation::ValueId value) const {
  constexpr size_t kMostParts = 64;
  struct OneWay {
    variation::ValueId value;
    // Conditions, and how they come out.
    std::vector<std::pair<variation::ValueId, bool>> chosen;
  };
  std::vector<variation::ValueId> leaves;
  std::vector<OneWay> work = {{value, {}}};
  for (size_t seen = 0; !work.empty() && seen < kMostParts; ++seen) {
    const OneWay part = std::move(work.back());
    work.pop_back();
    const variation::Value& node = facts_.values_store[part.value];
    const variation::ValueId passed = node.kind == ValueKind::Param ? facts_.param(node.function(), node.param_index()) : variation::ValueId::None();
    if (passed && passed != part.value) {
      work.push_back({passed, part.chosen});
    } else if (node.kind == ValueKind::Select) {
      const variation::Arms arms = facts_.values_store.ArmsOf(part.value);
      const auto known = std::ranges::find(part.chosen, arms.condition, [](const auto& each) { return each.first; });
      for (const bool holds : {true, false}) {
        if (known != part.chosen.end() && known->second != holds) continue;
        OneWay next{holds ? arms.then_value : arms.else_value, part.chosen};
        next.chosen.emplace_back(arms.condition, holds);
        if (next.value) work.push_back(std::move(next));
      }
    } else if (std::ranges::find(leaves, part.value) == leaves.end()) {
      leaves.push_back(part.value);
    }
  }
  return work.empty() ? leaves : std::vector<variation::ValueId>();
}

// `args.epochs` behind `args = vars(args)`.
bool SureFailures::ReadsMemberOfDictionary(ir::ModuleId module_id, ir::ExprId id) const {
  const ir::Module& module = program_.modules[module_id];
  if (module[id].kind != ir::ExprKind::Attribute) return false;
  const std::string_view name = program_.text(ir::AttrOf(module[id]));
  const variation::ValueId object = facts_.value(module_id, ir::ObjectOf(module[id]));
  if (!object || name.starts_with("__") || std::ranges::binary_search(kMembersOfDictionary, name)) return false;
  const variation::Value& value = facts_.values_store[object];
  const base::NameId made_by = value.kind == ValueKind::Derived ? facts_.values_store.OperationOf(value) : base::NameId();
  const bool is_dictionary = value.kind == ValueKind::Dict && !value.is_dict(variation::DictKind::Attributes) && !value.is_dict(variation::DictKind::Places);
  if (is_dictionary && IsFieldThatMayBeReplaced(module_id, ir::ObjectOf(module[id]))) return false;
  return is_dictionary || (made_by && program_.text(made_by) == "__dict__");
}

// `self.options` of a class of which one of the files sets fields by names that are made while the program runs.
bool SureFailures::IsFieldThatMayBeReplaced(ir::ModuleId module_id, ir::ExprId id) const {
  const ir::Module& module = program_.modules[module_id];
  if (module[id].kind != ir::ExprKind::Attribute) return false;
  if (fields_.SetsFieldsByName(module_id)) return true;
  const variation::ValueId object = facts_.value(module_id, ir::ObjectOf(module[id]));
  const ValueKind kind = object ? facts_.values_store[object].kind : ValueKind::Unknown;
  if (kind != ValueKind::Instance && kind != ValueKind::Class) return false;
  const binding::ClassInfo& info = program_.classes[facts_.values_store[object].class_id()];
  const auto sets = [&](binding::ClassId each) { return fields_.SetsFieldsByName(program_.classes[each].module); };
  return std::ranges::any_of(info.mro, sets) || std::ranges::any_of(info.subclasses, sets);
}

// What a call runs, where it names a function of this file or one that it takes from a file that was surely found.
FuncId SureFailures::PlainFunctionOf(FuncId function, ir::ExprId id) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const variation::CallFact* call = facts_.call(function, id);
  if (call == nullptr || call->kind != variation::CallKind::Function) return FuncId::None();
  const binding::Func& called = program_.funcs[call->function];
  if (called.function == ir::kTopLevel || called.owner || called.parent || !IsCalledAsWritten(program_, values_, facts_, call->function)) return FuncId::None();
  const bool is_itself = call->callee && facts_.values_store[call->callee].kind == ValueKind::Function;
  return is_itself && Names(module_id, ir::CalleeOf(module[id]), call->function) ? call->function : FuncId::None();
}

// The method that `trainer.step(batch)` runs, or the `forward` of `model(batch)`, where no class that the object may be of has another one.
FuncId SureFailures::MethodOf(FuncId function, ir::ExprId id) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const variation::CallFact* call = facts_.call(function, id);
  if (module[id].kind != ir::ExprKind::Call || call == nullptr || call->kind != variation::CallKind::Function || !program_.funcs[call->function].owner) return FuncId::None();
  const ir::Function& method = program_.function(call->function);
  const ir::ExprId callee = ir::CalleeOf(module[id]);
  const bool is_named = module[callee].kind == ir::ExprKind::Attribute && ir::AttrOf(module[callee]) == method.name;
  const variation::ValueId object = facts_.value(module_id, is_named ? ir::ObjectOf(module[callee]) : callee);
  const bool takes_itself = !method.params.empty() && method.params[0].kind != ir::ParamKind::Star && IsCalledAsWritten(program_, values_, facts_, call->function);
  if (!object || !takes_itself || facts_.values_store[object].kind != ValueKind::Instance) return FuncId::None();
  const variation::Value& value = facts_.values_store[object];
  const auto has_it = [&](binding::ClassId each) { return program_.FindMethod(each, method.name) == call->function; };
  const bool may_be_other = value.origin() != variation::InstanceOrigin::Exact && IsOfSeveralClasses(method.name) && !std::ranges::all_of(program_.classes[value.class_id()].subclasses, has_it);
  const auto is_decorated = [&](binding::ClassId each) { return !program_.ir_class(each).decorators.empty(); };
  const bool is_it = value.origin() != variation::InstanceOrigin::Super && has_it(value.class_id()) && !may_be_other &&
                     std::ranges::none_of(program_.classes[value.class_id()].mro, is_decorated);
  return is_it && !fields_.MayBeSet(value.class_id(), method.name) ? call->function : FuncId::None();
}

// Whether several classes have a method of this name.
bool SureFailures::IsOfSeveralClasses(base::NameId method) const {
  if (method_names_.empty()) {
    for (uint32_t i = 0; i < program_.classes.size(); ++i) {
      for (const auto& [name, function] : program_.classes[binding::ClassId{i}].methods) ++method_names_[name];
    }
  }
  const auto known = method_names_.find(method);
  return known != method_names_.end() && known->second > 1;
}

// `save`, also where it is taken from another file, and `helpers.save`.
bool SureFailures::Names(ir::ModuleId module_id, ir::ExprId id, FuncId function) const {
  const ir::Module& module = program_.modules[module_id];
  const ir::ModuleId home = program_.funcs[function].module;
  const base::NameId name = program_.function(function).name;
  if (module[id].kind == ir::ExprKind::Name) return ir::NameOf(module[id]) == name && (home == module_id || IsTakenFrom(module_id, home) || IsTakenThrough(module_id, function));
  if (module[id].kind != ir::ExprKind::Attribute || ir::AttrOf(module[id]) != name) return false;
  const ir::ExprId object = ir::ObjectOf(module[id]);
  const variation::ValueId value = facts_.value(module_id, object);
  const bool is_file = module[object].kind == ir::ExprKind::Name && value && facts_.values_store[value].kind == ValueKind::Module;
  if (!is_file) return false;
  const ir::ModuleId file = facts_.values_store[value].module();
  return HandsOn(file, function) && IsTakenFrom(module_id, file);
}

// A file has it, or a package has it from one of its files.
bool SureFailures::HandsOn(ir::ModuleId file, FuncId function) const {
  const ir::ModuleId home = program_.funcs[function].module;
  return file == home || (program_.Lookup(file, program_.function(function).name).function == function && IsTakenFrom(file, home));
}

// `from helpers import save`, of a package that hands it on.
bool SureFailures::IsTakenThrough(ir::ModuleId module_id, FuncId function) const {
  const auto& imports = program_.modules[module_id].imports;
  for (uint32_t i = 0; i < imports.size(); ++i) {
    const ir::ModuleId file = program_.import_targets[module_id.index][i].module;
    const bool is_it = imports[ir::ImportId{i}].name == program_.function(function).name && file;
    if (is_it && HandsOn(file, function) && imports_.IsSureOf(module_id, ir::ImportId{i}, file)) return true;
  }
  return false;
}

bool SureFailures::IsTakenFrom(ir::ModuleId module_id, ir::ModuleId from) const {
  const auto& imports = program_.modules[module_id].imports;
  for (uint32_t i = 0; i < imports.size(); ++i) {
    const binding::Target& target = program_.import_targets[module_id.index][i];
    const bool is_of_it = target.kind == binding::TargetKind::Variable || target.kind == binding::TargetKind::Module;
    if (is_of_it && target.module == from && imports_.IsSureOf(module_id, ir::ImportId{i}, from)) return true;
  }
  return false;
}

// `PairsDataset = Pairs` at the top level, where nothing else in the file binds the one name or the other.
bool SureFailures::IsOnlyOtherNameOf(ir::ModuleId module_id, base::NameId other, base::NameId name) const {
  const ir::Module& module = program_.modules[module_id];
  const auto top = module.statements(program_.function(program_.func(module_id, ir::kTopLevel)).body);
  const bool is_named = std::ranges::any_of(top, [&](ir::StmtId id) {
    if (module[id].kind != ir::StmtKind::Assign) return false;
    const ir::ExprId assigned = ir::AssignedOf(module[id]);
    if (!assigned || module[assigned].kind != ir::ExprKind::Name || ir::NameOf(module[assigned]) != name) return false;
    bool is_it = false;
    for (const ir::ExprId target : ir::TargetsOf(module, module[id])) {
      is_it = is_it || (module[target].kind == ir::ExprKind::Name && ir::NameOf(module[target]) == other);
    }
    return is_it;
  });
  if (!is_named) return false;
  size_t others = 0, names = 0;
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    ir::ForEachBinding(module, module[ir::StmtId{i}], [&](const ir::Binding& binding) {
      others += binding.name == other ? 1 : 0;
      names += binding.name == name ? 1 : 0;
    });
  }
  return others == 1 && names == 1;
}

// The `__init__` that makes an object, where it is surely the one of this class, and nothing stands before it.
FuncId SureFailures::ConstructorOf(ir::ModuleId module_id, ir::ExprId id) const {
  const ir::Module& module = program_.modules[module_id];
  const ir::ExprId callee = ir::CalleeOf(module[id]);
  const variation::ValueId made = facts_.value(module_id, callee);
  if (!made || facts_.values_store[made].kind != ValueKind::Class || module[callee].kind != ir::ExprKind::Name) return FuncId::None();
  const binding::ClassInfo& info = program_.classes[facts_.values_store[made].class_id()];
  const ir::Class& written = program_.modules[info.module].classes[info.ir_class];
  const base::NameId called = ir::NameOf(module[callee]);
  const bool is_plain = written.decorators.empty() && std::ranges::none_of(written.bases, [](const ir::Arg& base) { return base.kind == ir::ArgKind::Keyword; });
  const auto method = [&](std::string_view name) {
    return std::ranges::find_if(info.methods, [&](const auto& each) { return program_.text(each.first) == name; });
  };
  const auto init = method("__init__");
  if (!is_plain || init == info.methods.end() || method("__new__") != info.methods.end()) return FuncId::None();
  if (info.module != module_id && !IsTakenFrom(module_id, info.module)) return FuncId::None();
  if (written.name != called && !IsOnlyOtherNameOf(info.module, called, written.name)) return FuncId::None();
  const ir::Function& function = program_.function(init->second);
  const bool takes_itself = !function.params.empty() && function.params[0].kind != ir::ParamKind::Star && function.decorators.empty();
  return takes_itself ? init->second : FuncId::None();
}

// `loaders_of(config)` of `def loaders_of(config, tokenizer)`, an argument by a name that it does not have, or one too many.
Misfit SureFailures::MisfitOf(const ir::Module& module, const ir::Expr& call, std::span<const ir::Param> params) {
  uint32_t positional = 0;
  std::vector<base::NameId> keywords;
  for (uint32_t i = 0; i < ir::ArgCount(module, call); ++i) {
    const ir::Arg arg = ir::ArgAt(module, call, i);
    if (arg.kind == ir::ArgKind::Positional) ++positional;
    else if (arg.kind == ir::ArgKind::Keyword) keywords.push_back(arg.keyword);
    else return {};
  }
  return MisfitOf(positional, std::move(keywords), params);
}

Misfit SureFailures::MisfitOf(uint32_t positional, std::vector<base::NameId> keywords, std::span<const ir::Param> params) {
  bool takes_keywords = false, takes_more = false;
  Misfit misfit;
  for (const ir::Param& param : params) {
    takes_keywords = takes_keywords || param.kind == ir::ParamKind::DoubleStar;
    takes_more = takes_more || param.kind == ir::ParamKind::Star;
    if (param.kind == ir::ParamKind::Star || param.kind == ir::ParamKind::DoubleStar) continue;
    const bool by_place = param.kind != ir::ParamKind::KeywordOnly && positional > 0;
    const auto by_name = std::ranges::find(keywords, param.name);
    const bool is_named = by_name != keywords.end();
    // One argument twice; where it may only be given by its place, a name is that of something else.
    if (by_place && is_named && param.kind == ir::ParamKind::Normal) return {Misfit::Kind::Twice, param.name};
    positional -= by_place ? 1 : 0;
    if (is_named) keywords.erase(by_name);
    else if (!by_place && !param.default_value && !misfit) misfit = {Misfit::Kind::Lacks, param.name};
  }
  // A name that was misspelt says more than the argument that it leaves out.
  if (!takes_keywords && !keywords.empty()) return {Misfit::Kind::Unknown, keywords[0]};
  if (misfit) return misfit;
  return positional > 0 && !takes_more ? Misfit{Misfit::Kind::TooMany} : Misfit();
}

// `parser.add_argument("--workers")` a second time.
bool SureFailures::AddsOptionAgain(FuncId function, ir::StmtId id) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const auto [parser, options] = OptionsOf(module, id);
  if (!parser || options.empty()) return false;
  bool is_again = false;
  for (const ir::StmtId other : module.statements(index_.tree(module_id).BlockOf(id))) {
    if (other == id) break;
    const auto [other_parser, other_options] = OptionsOf(module, other);
    is_again = is_again || (other_parser == parser && std::ranges::any_of(other_options, [&](base::NameId option) { return std::ranges::count(options, option) > 0; }));
    const auto look = [&](const ir::Stmt& stmt) {
      ir::ForEachBinding(module, stmt, [&](const ir::Binding& binding) { is_again = is_again && binding.name != parser; });
    };
    look(module[other]);
    ir::ForEachBlock(module, module[other], [&](ir::BlockId block) { ir::ForEachStmtIn(module, block, look); });
  }
  return is_again && IsStrictParser(module_id, id);
}

// The variable of a parser, and the options that a statement adds to it.
std::pair<base::NameId, std::vector<base::NameId>> SureFailures::OptionsOf(const ir::Module& module, ir::StmtId id) const {
  if (module[id].kind != ir::StmtKind::Expr) return {};
  const ir::Expr& call = module[ir::ValueOf(module[id])];
  if (call.kind != ir::ExprKind::Call) return {};
  const ir::Expr& callee = module[ir::CalleeOf(call)];
  if (callee.kind != ir::ExprKind::Attribute || program_.text(ir::AttrOf(callee)) != "add_argument") return {};
  const ir::Expr& object = module[ir::ObjectOf(callee)];
  if (object.kind != ir::ExprKind::Name) return {};
  std::vector<base::NameId> options;
  for (uint32_t i = 0; i < ir::ArgCount(module, call); ++i) {
    const ir::Arg arg = ir::ArgAt(module, call, i);
    const ir::Expr& value = module[arg.value];
    const bool is_text = value.kind == ir::ExprKind::Constant && ir::ConstantKindOf(value) == ir::ConstantKind::Str;
    if (arg.kind == ir::ArgKind::Positional && is_text && program_.text(ir::TextOf(value)).starts_with('-')) options.push_back(ir::TextOf(value));
  }
  return {ir::NameOf(object), std::move(options)};
}

// Of argparse, without `conflict_handler="resolve"` anywhere in the file.
bool SureFailures::IsStrictParser(ir::ModuleId module_id, ir::StmtId id) const {
  const ir::Module& module = program_.modules[module_id];
  const variation::ValueId parser = facts_.value(module_id, ir::ObjectOf(module[ir::CalleeOf(module[ir::ValueOf(module[id])])]));
  if (!parser || facts_.values_store[parser].kind != ValueKind::Derived) return false;
  const base::NameId made_by = facts_.values_store.OperationOf(facts_.values_store[parser]);
  return made_by && program_.text(made_by) == kParser && std::ranges::none_of(index_.ExprsOf(module_id, ir::ExprKind::Call), [&](ir::ExprId expr) {
    for (uint32_t i = 0; i < ir::ArgCount(module, module[expr]); ++i) {
      const ir::Arg arg = ir::ArgAt(module, module[expr], i);
      if (arg.kind == ir::ArgKind::Keyword && program_.text(arg.keyword) == "conflict_handler") return true;
    }
    return false;
  });
}

// The analysis takes a name that nothing binds for one of Python's own.
// (Not in a lambda, which may stand in a comprehension that has the name.)
bool SureFailures::IsUnboundName(ir::ModuleId module, ir::ExprId expr) const {
  const ir::StmtId stmt = index_.tree(module).StatementOf(expr);
  const FuncId function = stmt ? index_.FunctionOf(module, stmt) : FuncId::None();
  if (!function || !program_.function(function).name) return false;
  const variation::ValueId value = facts_.value(module, expr);
  if (!value || facts_.values_store[value].kind != ValueKind::External) return false;
  const std::string_view text = program_.text(facts_.values_store[value].name());
  const std::string_view name = program_.text(ir::NameOf(program_.modules[module][expr]));
  if (!text.starts_with(kBuiltins) || text.substr(kBuiltins.size()) != name) return false;
  if (std::ranges::binary_search(kNames, name) || imports_.IsBoundIn(module, ir::NameOf(program_.modules[module][expr]))) return false;
  return imports_.KnowsNamesOf(module);
}

// Because there is no such thing, or what is read for it fails itself.
Failure SureFailures::FailureOfImport(ir::ModuleId module_id, ir::ImportId import_id) const {
  if (imports_.Is(module_id, import_id)) {
    return {.kind = imports_.HangsOnStart(module_id, import_id) ? FailureKind::ImportFromElsewhere : FailureKind::MissingImport, .import = import_id};
  }
  const ir::ModuleId read = imports_.FileOf(module_id, import_id);
  const auto fails_when_read = [&](ir::ModuleId file) { return FailsWhenRun(program_.func(file, ir::kTopLevel)); };
  const bool fails = read && (fails_when_read(read) || std::ranges::any_of(imports_.PackagesAround(module_id, read), fails_when_read));
  return fails ? Failure{.kind = FailureKind::InImported, .import = import_id} : Failure();
}

// `init_process_group` of a process that has its group: behind a statement of the same blocks that made it, with nothing between them that may end it.
bool SureFailures::MakesGroupAgain(FuncId function, ir::StmtId id) const {
  if (!MakesGroup(function, id)) return false;
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  for (ir::StmtId at = id; at; at = tree.Parent(at)) {
    for (const ir::StmtId other : module.statements(tree.BlockOf(at))) {
      if (other == at) break;
      if (MakesGroup(function, other)) return !MayEndGroup(function, module[other].begin, module[id].begin);
    }
  }
  return false;
}

bool SureFailures::MakesGroup(FuncId function, ir::StmtId id) const {
  const ir::Module& module = program_.module_of(function);
  const ir::StmtKind kind = module[id].kind;
  if (kind != ir::StmtKind::Expr && kind != ir::StmtKind::Assign && kind != ir::StmtKind::Return) return false;
  bool makes = false;
  ir::ForEachExpr(module, module[id], [&](ir::ExprId expr) { makes = makes || MakesGroup(function, expr); });
  return makes;
}

bool SureFailures::MakesGroup(FuncId function, ir::ExprId id) const {
  const ir::Module& module = program_.module_of(function);
  if (module[id].kind == ir::ExprKind::Call) {
    const variation::CallFact* fact = facts_.call(function, id);
    if (fact != nullptr && fact->entry && program_.text(knowledge_[fact->entry].name) == kMakeGroup) return true;
    const FuncId called = PlainFunctionOf(function, id);
    if (called && MakesGroupWhenRun(called)) return true;
  }
  bool makes = false;
  ForEachSurePart(module, id, [&](ir::ExprId part) { makes = makes || MakesGroup(function, part); });
  return makes;
}

// And leaves it there.
bool SureFailures::MakesGroupWhenRun(FuncId function) const {
  const auto [known, is_new] = makes_group_.try_emplace(function.index, false);
  if (!is_new) return known->second;
  const ir::Function& info = program_.function(function);
  const ir::Module& module = program_.module_of(function);
  if (info.is_generator || (info.flags & ir::kAsync) != 0) return false;
  bool makes = false;
  for (const ir::StmtId stmt : module.statements(info.body)) {
    makes = makes || MakesGroup(function, stmt);
    if (makes || MayLeave(module, module[stmt])) break;
  }
  return makes_group_[function.index] = makes && !MayEndGroup(function);
}

bool SureFailures::MayEndGroup(FuncId function) const {
  const std::vector<FuncId> run = index_.RunBy({function});
  return std::ranges::any_of(run, [&](FuncId each) {
    return std::ranges::any_of(index_.KnownCallsIn(each), [](const KnownCall& call) { return EndsGroup(*call.entry); });
  });
}

// What is called between two places of a function.
bool SureFailures::MayEndGroup(FuncId function, uint32_t begin, uint32_t end) const {
  const ir::Module& module = program_.module_of(function);
  return std::ranges::any_of(facts_.functions[function].calls, [&](const auto& each) {
    const auto& [expr, call] = each;
    if (module[expr].begin < begin || module[expr].begin >= end) return false;
    return (call.entry && EndsGroup(knowledge_[call.entry])) || (call.function && MayEndGroup(call.function));
  });
}

// `os.environ["MASTER_PORT"] = 29500`: only texts can be put there.
bool SureFailures::SetsVariableToNumber(ir::ModuleId module_id, const ir::Stmt& stmt) const {
  const ir::Module& module = program_.modules[module_id];
  const ir::Expr& assigned = module[ir::AssignedOf(stmt)];
  if (assigned.kind != ir::ExprKind::Constant || ir::ConstantKindOf(assigned) == ir::ConstantKind::Str) return false;
  for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
    if (module[target].kind != ir::ExprKind::Subscript) continue;
    const variation::ValueId object = facts_.value(module_id, ir::ObjectOf(module[target]));
    if (!object || facts_.values_store[object].kind != ValueKind::External) continue;
    if (program_.text(facts_.values_store[object].name()) == "os.environ") return true;
  }
  return false;
}

// `for step, images, labels in enumerate(loader)`: what it yields are pairs. (A loop over nothing has no round to fail in.)
bool SureFailures::UnpacksOtherNumber(ir::ModuleId module_id, const ir::Stmt& loop) const {
  const ir::Module& module = program_.modules[module_id];
  const ir::Expr& target = module[ir::ValueOf(loop)];
  const variation::ValueId iterable = facts_.value(module_id, ir::AssignedOf(loop));
  const bool is_call = iterable && facts_.values_store[iterable].kind == ValueKind::Derived;
  const std::optional<size_t> items = CountItems(module, target);
  if (!items || !is_call || module[ir::AssignedOf(loop)].kind != ir::ExprKind::Call) return false;
  const base::NameId made_by = facts_.values_store.OperationOf(facts_.values_store[iterable]);
  return made_by && program_.text(made_by) == "builtins.enumerate" && *items != 2;
}

// `model, epoch = load(path)`, where `load` returns three values, or four: that function.
FuncId SureFailures::ReturnsOtherNumber(FuncId function, const ir::Stmt& stmt) const {
  const ir::Module& module = program_.module_of(function);
  const ir::ExprId assigned = ir::AssignedOf(stmt);
  if (module[assigned].kind != ir::ExprKind::Call) return FuncId::None();
  const FuncId plain = PlainFunctionOf(function, assigned);
  const FuncId called = plain ? plain : MethodOf(function, assigned);
  const std::vector<size_t> returned = called ? NumbersReturned(program_.module_of(called), program_.function(called)) : std::vector<size_t>();
  bool is_other = false;
  for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
    const std::optional<size_t> items = CountItems(module, module[target]);
    is_other = is_other || (items && !returned.empty() && std::ranges::count(returned, *items) == 0);
  }
  return is_other ? called : FuncId::None();
}

// One of Python's own names, and a file of the same program stores something else under it: `builtins.print = print_on_rank_zero`.
bool SureFailures::MayBeReplaced(std::string_view known, ir::ModuleId used_in) const {
  if (!known.starts_with(kBuiltins)) return false;
  const std::string_view name = known.substr(kBuiltins.size());
  for (const ir::ModuleId module_id : binding::Neighbourhood(program_).Of(used_in)) {
    const ir::Module& module = program_.modules[module_id];
    const auto stores = [&](const ir::Stmt& stmt) {
      bool is_it = false;
      if (stmt.kind != ir::StmtKind::Assign) return is_it;
      for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
        is_it = is_it || (module[target].kind == ir::ExprKind::Attribute && program_.text(ir::AttrOf(module[target])) == name);
      }
      return is_it;
    };
    if (module.language == ir::Language::Python && std::ranges::any_of(module.stmts, stores)) return true;
  }
  return false;
}

// `deepspeed.initialize(model=model, lr=0.1)`: `lr`.
base::NameId SureFailures::RefusedArgument(FuncId function, ir::ExprId id) const {
  const variation::CallFact* fact = facts_.call(function, id);
  const ir::Module& module = program_.module_of(function);
  const variation::ValueId callee = facts_.value(program_.funcs[function].module, ir::CalleeOf(module[id]));
  // Of some of Python's own functions no call is noted.
  const bool is_own = (fact == nullptr || !fact->entry) && callee && facts_.values_store[callee].kind == ValueKind::External;
  const knowledge::EntryId entry = is_own ? knowledge_.FindEntry(facts_.values_store[callee].name()) : fact != nullptr ? fact->entry : knowledge::EntryId();
  if (!entry || !knowledge_[entry].Has(knowledge::Role::TakesNoOther)) return {};
  const std::vector<base::NameId>& params = knowledge_[entry].params;
  for (uint32_t i = 0; i < ir::ArgCount(module, module[id]); ++i) {
    const ir::Arg arg = ir::ArgAt(module, module[id], i);
    if (arg.kind != ir::ArgKind::Keyword || std::ranges::count(params, arg.keyword) > 0) continue;
    return MayBeReplaced(program_.text(knowledge_[entry].name), program_.funcs[function].module) ? base::NameId() : arg.keyword;
  }
  return {};
}

}  // namespace allranks::objects
