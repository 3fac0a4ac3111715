#include <exception>
#include <new>

#include "driver/cli/commands.h"
#include "driver/cli/exit_codes.h"
#include "driver/cli/terminal.h"
#include "driver/reports/place.h"
#include "runtime-verify/program/verify.h"

namespace allranks::cli {
namespace {

struct Dispatch {
  int operator()(const CheckArguments& a) const { return a.watch ? RunWatch(a) : RunCheck(a); }
  int operator()(const ConfigArguments& a) const { return RunConfig(a); }
  int operator()(const RuleArguments& a) const { return RunRule(a); }
  int operator()(const IrArguments& a) const { return RunIr(a); }
  int operator()(const TraceArguments& a) const { return RunTrace(a); }
  int operator()(const ServerArguments& a) const { return RunServer(a); }
  int operator()(const ExplainArguments& a) const { return RunExplain(a); }
  int operator()(const CleanArguments& a) const { return RunClean(a); }
  int operator()(const DescribeArguments& a) const { return RunDescribe(a); }
  int operator()(const VersionArguments& a) const { return RunVersion(a); }
  int operator()(const Message& message) const {
    if (message.exit_code != kExitClean) {
      WriteErr(reports::CleanLines(message.text));
      return message.exit_code;
    }
    return WriteOut(message.text) ? message.exit_code : kExitError;
  }
};

}  // namespace

int Main(int argc, const char* const* argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  // As one rank: its descriptors are the coordinator's business.
  if (command == verify::kWorkerCommand) return verify::RunNcclWorker();
  PrepareStreams();
  // Has options of its own, which the program that stands alone shares.
  if (command == "verify") return verify::RunVerify(argc - 1, argv + 1, Version());
  try {
    return std::visit(Dispatch(), ParseArguments(argc, argv));
  } catch (const std::bad_alloc&) {
    PrintError("out of memory; check fewer files at once, or use fewer --jobs");
  } catch (const std::exception& error) {
    PrintError(std::string("internal error: ") + error.what() + "; please report it");
  }
  return kExitError;
}

}  // namespace allranks::cli
