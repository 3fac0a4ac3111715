// `allranks server`: the language server.
#include "driver/cli/commands.h"
#include "driver/server/stdio.h"

namespace allranks::cli {

int RunServer(const ServerArguments&) { return server::ServeStdio(Version()); }

}  // namespace allranks::cli
