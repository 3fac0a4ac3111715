// `allranks trace FILE[:FUNCTION]`: which collectives each function issues.
#include <algorithm>

#include "analyzer/traces/analysis.h"
#include "driver/cli/commands.h"
#include "driver/cli/exit_codes.h"
#include "driver/cli/settings_of.h"
#include "driver/cli/target.h"
#include "driver/cli/terminal.h"
#include "driver/config/spelling.h"
#include "driver/pipeline/parallel.h"
#include "driver/pipeline/pipeline.h"

namespace allranks::cli {
namespace {

// The names of the functions of a module, for those that misspell one.
std::vector<std::string> FunctionNames(const binding::Program& program, ir::ModuleId module) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < program.funcs.size(); ++i) {
    if (program.funcs[binding::FuncId{i}].module == module) names.push_back(program.FunctionName(binding::FuncId{i}));
  }
  return names;
}

// The one module that was asked for; none if the file was not analysed.
ir::ModuleId RequestedModule(const binding::Program& program) {
  for (uint32_t i = 0; i < program.infos.size(); ++i) {
    if (program.infos[ir::ModuleId{i}].requested) return ir::ModuleId{i};
  }
  return {};
}

int FailTrace(const std::string& message) {
  PrintError(message);
  return kExitError;
}

}  // namespace

int RunTrace(const TraceArguments& arguments) {
  const source::RealFileSystem files;
  const Target target = ParseTarget(arguments.target);
  CheckArguments check;
  check.paths = {target.file};
  check.root = arguments.root;
  check.knowledge = arguments.knowledge;
  check.compile_commands = arguments.compile_commands;
  const base::Result<config::Resolved> resolved = ResolvedOf(check, files);
  if (!resolved) return FailTrace(resolved.error().message);
  pipeline::Analysed analysed;
  pipeline::Options options = OptionsOf(check, *resolved);
  if (const base::Result<bool> nested = AddNested(check, *resolved, files, options); !nested) return FailTrace(nested.error().message);
  const base::Result<pipeline::Output> out = pipeline::Run(options, files, analysed);
  if (!out) return FailTrace(out.error().message);
  if (!out->errors.empty()) return FailTrace(out->errors[0].message);
  const ir::ModuleId module = RequestedModule(analysed.program);
  if (!module) return FailTrace(target.file + ": names no distributed API, so there is nothing to trace");
  const std::vector<std::string> names = FunctionNames(analysed.program, module);
  if (!target.function.empty() && std::find(names.begin(), names.end(), target.function) == names.end()) {
    const std::vector<std::string_view> views(names.begin(), names.end());
    return FailTrace(target.file + ": no function `" + target.function + "`" + config::DidYouMean(target.function, views));
  }
  std::string text;
  pipeline::RunWithDeepStack([&] {
    text = traces::PrintTrace(analysed.program, *analysed.knowledge, analysed.facts, analysed.files, module,
                              target.function);
  });
  return WriteNames(text) ? kExitClean : kExitError;
}

}  // namespace allranks::cli
