// What a .gitattributes file says of who wrote a file: `linguist-generated`, `linguist-vendored`
// (https://github.com/github-linguist/linguist/blob/main/docs/overrides.md).
#pragma once

#include <string_view>

#include "driver/pipeline/gitignore.h"

namespace allranks::pipeline {

struct AttributesFile {
  explicit AttributesFile(std::string_view text);
  bool empty() const { return generated.empty() && vendored.empty(); }

  // Of a file: `Ignores` says whether it has the attribute, or nothing where no line speaks of it.
  IgnoreFile generated;
  IgnoreFile vendored;
};

}  // namespace allranks::pipeline
