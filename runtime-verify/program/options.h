#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime-verify/coordinator/machine.h"

namespace allranks::verify {

struct Options {
  std::vector<std::string> paths;
  std::string backend = "auto";        // auto nccl gloo sim
  std::string output_format = "full";  // full concise json sarif
  std::string output_file;
  std::string color = "auto";
  std::vector<uint32_t> ranks;
  VerifierOptions verifier;
  MachineOptions machine;
  bool self_test = false;
  bool mismatches = false;
  bool quiet = false;
  bool launched = false;
  bool allow_remote = false;
  // Only to print and leave with this code; negative: run.
  int exit_code = -1;
  std::string message;
};

Options ParseOptions(int argc, const char* const* argv);

}  // namespace allranks::verify
