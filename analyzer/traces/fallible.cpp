#include "analyzer/traces/fallible.h"

#include <algorithm>
#include <string_view>

namespace allranks::traces {
namespace {

// These strike one rank: its memory, its files, its data, its network.
constexpr std::string_view kBroad[] = {"BaseException", "Exception", "RuntimeError", "OSError", "IOError",
                                       "FileNotFoundError", "MemoryError", "OutOfMemoryError", "EOFError",
                                       "PermissionError", "FileExistsError", "ConnectionError", "TimeoutError",
                                       "HTTPError", "RequestException", "JSONDecodeError", "UnicodeDecodeError",
                                       "UnpicklingError", "CalledProcessError"};
// These follow from the program or its installation, or are meant for all.
constexpr std::string_view kUniform[] = {"ImportError", "ModuleNotFoundError", "AttributeError", "NameError",
                                         "NotImplementedError", "KeyboardInterrupt", "StopIteration",
                                         "StopAsyncIteration", "GeneratorExit", "SystemExit", "TypeError",
                                         "AssertionError", "LookupError"};
// Calls that read data or files, run a model, or talk to somebody.
constexpr std::string_view kFallible[] = {"open", "load", "loads", "read", "read_text", "read_bytes", "readline",
                                          "next", "urlopen", "urlretrieve", "get_object", "download", "download_file",
                                          "snapshot_download", "hf_hub_download", "from_pretrained", "load_dataset",
                                          "run", "check_call", "check_output", "forward", "generate", "rollout",
                                          "backward", "train_step", "training_step", "validation_step", "evaluate",
                                          "makedirs", "mkdir", "remove", "unlink", "rmtree", "copy", "copyfile", "move",
                                          "rename", "replace", "model", "net", "compute_loss", "collate", "decode"};

template <size_t N>
bool Contains(const std::string_view (&names)[N], std::string_view name) {
  return std::ranges::find(names, name) != std::end(names);
}

std::string_view LastName(const State& state, const ir::Module& module, ir::ExprId id) {
  const ir::Expr& expr = module[id];
  if (expr.kind == ir::ExprKind::Name) return state.program.text(ir::NameOf(expr));
  if (expr.kind == ir::ExprKind::Attribute) return state.program.text(ir::AttrOf(expr));
  return {};
}

Breadth BreadthOf(const State& state, ir::ModuleId module_id, ir::ExprId type) {
  const ir::Module& module = state.program.modules[module_id];
  const ir::Expr& expr = module[type];
  if (expr.kind == ir::ExprKind::Tuple) {
    Breadth widest = Breadth::Uniform;
    for (const ir::ExprId item : ir::Items(module, expr)) widest = std::max(widest, BreadthOf(state, module_id, item));
    return widest;
  }
  const std::string_view name = LastName(state, module, type);
  if (Contains(kBroad, name)) return Breadth::Broad;
  // The project's own exceptions say what its data can be like.
  const ValueId value = state.facts.value(module_id, type);
  if (value && state.values[value].kind == variation::ValueKind::Class) return Breadth::Broad;
  return Contains(kUniform, name) ? Breadth::Uniform : Breadth::Narrow;
}

bool Inside(const ir::Expr& expr, uint32_t begin, uint32_t end) { return begin <= expr.begin && expr.end <= end; }

}  // namespace

Breadth HandlerBreadth(const State& state, ir::ModuleId module, const ir::Handler& handler) {
  return handler.type ? BreadthOf(state, module, handler.type) : Breadth::Broad;
}

bool CanFailOnOneRank(const State& state, FuncId func, ir::StmtId stmt) {
  const ir::Module& module = state.program.module_of(func);
  const uint32_t begin = module[stmt].begin;
  const uint32_t end = module[stmt].end;
  for (const auto& [expr_id, call] : state.facts.functions[func].calls) {
    const ir::Expr& expr = module[expr_id];
    if (expr.kind != ir::ExprKind::Call || !Inside(expr, begin, end)) continue;
    const bool is_known = call.kind == variation::CallKind::Known;
    if (is_known && state.program.text(state.knowledge[call.entry].name).ends_with(".__call__")) return true;
    // An operation that fails mostly fails for all that take part in it.
    if (is_known && state.knowledge[call.entry].has_operation) continue;
    if (Contains(kFallible, LastName(state, module, ir::CalleeOf(expr)))) return true;
    // Running a module: out of memory, a bad batch.
    if (call.receiver && module[ir::CalleeOf(expr)].kind != ir::ExprKind::Attribute) return true;
  }
  return false;
}

}  // namespace allranks::traces
