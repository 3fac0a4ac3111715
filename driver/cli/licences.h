#pragma once

#include <span>
#include <string_view>

namespace allranks::cli {

// A file of this repository as it was when the tool was built.
struct EmbeddedFile {
  std::string_view name;
  std::string_view text;
};

// LICENSE and THIRD_PARTY_NOTICES.
std::span<const EmbeddedFile> EmbeddedLicences();

}  // namespace allranks::cli
