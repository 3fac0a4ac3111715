// `allranks config [KEY]`: what can be set; `--schema`: as a JSON schema.
#include "driver/cli/commands.h"
#include "driver/cli/exit_codes.h"
#include "driver/cli/terminal.h"
#include "driver/config/option_table.h"

namespace allranks::cli {

int RunConfig(const ConfigArguments& arguments) {
  if (arguments.schema) return WriteOut(config::OptionSchema()) ? kExitClean : kExitError;
  if (arguments.all) return WriteOut(config::OptionPage()) ? kExitClean : kExitError;
  if (arguments.key.empty()) return WriteOut(config::OptionList()) ? kExitClean : kExitError;
  const config::Option* option = config::FindOption(arguments.key);
  if (option == nullptr) {
    PrintError(config::UnknownKey(arguments.key));
    return kExitError;
  }
  return WriteOut(config::OptionText(*option)) ? kExitClean : kExitError;
}

}  // namespace allranks::cli
