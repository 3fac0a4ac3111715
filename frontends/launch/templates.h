// Places of a text that somebody fills in before it is used.
#pragma once

#include "analyzer/launch/word.h"

namespace allranks::launch_files {

// `{{ x }}`, `{% if %}`, `${{ x }}` and `<YOUR_HOST>` become unknown parts.
launch::Word WithoutTemplates(const launch::Word& text);

}  // namespace allranks::launch_files
