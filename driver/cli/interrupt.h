// SIGINT and SIGTERM ask the run to end with what it has; a second one ends the process at once.
#pragma once

namespace allranks::cli {

// From here on the first of either signal is noted. A process that was started to ignore SIGINT goes on to do so.
void CatchInterrupts();

bool IsInterrupted();

// As shells name it: 130 after SIGINT, 143 after SIGTERM.
int InterruptedExitCode();

}  // namespace allranks::cli
