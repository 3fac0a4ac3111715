#pragma once

#include <string>

namespace allranks::cli {

// `FILE:FUNCTION` taken apart; a file whose own name has a colon is taken as it is.
struct Target {
  std::string file;
  std::string function;  // "Trainer.save"; empty: the whole file
};

Target ParseTarget(const std::string& text);

}  // namespace allranks::cli
