// `allranks trace FILE[:FUNCTION]`: which collectives each function issues.
#include "analyzer/traces/print.h"
#include "driver/cli/commands.h"
#include "driver/cli/exit_codes.h"
#include "driver/cli/settings_of.h"
#include "driver/cli/target.h"
#include "driver/cli/terminal.h"
#include "driver/config/spelling.h"

namespace allranks::cli {
namespace {

// The functions of the file, in their order; those named if a name is given.
std::vector<binding::FuncId> FunctionsOf(const binding::Program& program, const std::string& wanted,
                                         std::vector<std::string>& known) {
  std::vector<binding::FuncId> functions;
  for (uint32_t i = 0; i < program.funcs.size(); ++i) {
    const binding::FuncId id{i};
    if (!program.infos[program.funcs[id].module].requested) continue;
    known.push_back(program.FunctionName(id));
    if (wanted.empty() || known.back() == wanted) functions.push_back(id);
  }
  return functions;
}

}  // namespace

int RunTrace(const TraceArguments& arguments) {
  const source::RealFileSystem files;
  const Target target = ParseTarget(arguments.target);
  CheckArguments check;
  check.paths = {target.file};
  check.root = arguments.root;
  check.knowledge = arguments.knowledge;
  const base::Result<pipeline::Options> options = OptionsOf(check, files);
  if (!options) {
    PrintError(options.error().message);
    return kExitError;
  }
  pipeline::Analysed analysed;
  const base::Result<pipeline::Output> out = pipeline::Run(*options, files, analysed);
  if (!out || !out->errors.empty()) {
    PrintError(!out ? out.error().message : out->errors[0].message);
    return kExitError;
  }
  std::vector<std::string> known;
  const std::vector<binding::FuncId> functions = FunctionsOf(analysed.program, target.function, known);
  if (functions.empty() && !target.function.empty()) {
    const std::vector<std::string_view> views(known.begin(), known.end());
    PrintError(target.file + ": no function `" + target.function + "`" + config::DidYouMean(target.function, views));
    return kExitError;
  }
  std::string text;
  for (const binding::FuncId function : functions) {
    text += traces::PrintTrace(analysed.program, *analysed.knowledge, analysed.facts, function);
  }
  return WriteOut(text) ? kExitClean : kExitError;
}

}  // namespace allranks::cli
