#include "driver/cli/wording.h"

#include <algorithm>

namespace allranks::cli {

std::string Counted(size_t count, std::string_view one) { return std::to_string(count) + " " + std::string(one) + (count == 1 ? "" : "s"); }

std::string FirstOf(const std::vector<std::string>& names, size_t most) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), most); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > most ? text + " and " + std::to_string(names.size() - most) + " more" : text;
}

}  // namespace allranks::cli
