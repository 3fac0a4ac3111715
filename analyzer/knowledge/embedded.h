#pragma once

#include <span>
#include <string_view>

namespace allranks::knowledge {

// A file of this repository as it was when the tool was built.
struct EmbeddedFile {
  std::string_view name;
  std::string_view text;
};

std::span<const EmbeddedFile> EmbeddedKnowledge();
// Of knowledge/launch/: what launchers, their options and their configurations mean.
std::span<const EmbeddedFile> EmbeddedLaunchKnowledge();
// LICENSE and THIRD_PARTY_NOTICES.
std::span<const EmbeddedFile> EmbeddedLicences();

}  // namespace allranks::knowledge
