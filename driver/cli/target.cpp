#include "driver/cli/target.h"

#include "analyzer/source/file_system.h"

namespace allranks::cli {

Target ParseTarget(const std::string& text) {
  const size_t colon = text.rfind(':');
  const bool is_file = source::RealFileSystem().Kind(text).has_value();
  if (colon == std::string::npos || colon == 0 || is_file) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

}  // namespace allranks::cli
