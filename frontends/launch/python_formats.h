// Texts of Python that are put together by a pattern: `"--nproc_per_node %d" % n`, `"--nproc_per_node {}".format(n)`.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "analyzer/launch/word.h"

namespace allranks::launch_files {

// What stands for the place of that number, or of that name; nothing: it is not known.
using ValueOfPlace = std::function<std::optional<launch::Word>(std::string_view name, size_t index)>;

// `%d`, `%-8s`, `%(name)s`, `%%`. A value is put in where it is taken as it is; all else is `unknown`.
launch::Word WithPercents(const launch::Word& pattern, const ValueOfPlace& value, const launch::Word& unknown);
// `{}`, `{0}`, `{name}`, `{x.y:>8}`, `{{`
launch::Word WithBraces(const launch::Word& pattern, const ValueOfPlace& value, const launch::Word& unknown);

}  // namespace allranks::launch_files
