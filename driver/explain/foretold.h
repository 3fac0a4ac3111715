// Findings of `allranks check`, read back from a report of it, JSON or SARIF: what they name, and their schedule.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/result.h"
#include "witness/witness.h"

namespace allranks::explain {

struct Spot {
  std::string path;
  uint32_t line = 0;
  std::string text;  // what the report says of it
};

struct Foretold {
  std::string code;
  std::string message;
  std::string fingerprint;
  std::string function;
  Spot place;
  std::optional<Spot> condition;
  std::vector<Spot> why;
  std::vector<Spot> others;  // calls, victims, notes
  std::optional<witness::Witness> witness;
  std::string help;
};

[[nodiscard]] base::Result<std::vector<Foretold>> ReadForetold(const std::string& shown, std::string_view text);

// A copy of the report in which the finding of this fingerprint has the verdict; the text itself if it has none.
std::string WithVerdict(std::string_view text, const std::string& fingerprint, const std::string& evidence);

}  // namespace allranks::explain
