// The command line of `allranks verify`, which is also all of the program `allranks-verify`.
#pragma once

#include <string_view>

namespace allranks::verify {

// One line for a list of commands.
constexpr std::string_view kVerifySummary =
    "replay findings on real ranks, or in a simulator, and say what happens";

// `allranks verify --help`.
std::string_view VerifyHelp();

// The word by which a program starts itself again as one rank.
constexpr std::string_view kWorkerCommand = "verify-worker";

// `argv` begins with the word `verify`. Returns the exit code: 0 nothing reproduced, 1 something reproduced, 2
// error, 4 backend unavailable, 130 interrupted.
int RunVerify(int argc, const char* const* argv, std::string_view version);

// One rank on NCCL; see kWorkerCommand.
int RunNcclWorker();

}  // namespace allranks::verify
