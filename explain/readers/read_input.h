// One file of a recording, whatever it is: told by its bytes, not by its name. The name says the rank.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "explain/readers/recording.h"

namespace allranks::explain {

// The rank that the name of a file says: the number at its end ("trace_rank_3", "rank3.log", "3.json"), or the last folder that
// is a number ("attempt_0/3/error.json", "2/stderr.log"). None: it says none.
std::optional<uint32_t> RankOfName(std::string_view path);

// Adds what the bytes say; one line on what is wrong, or nothing.
[[nodiscard]] std::string ReadInput(std::string_view path, std::string_view bytes, Recording& recording);

// Whether the bytes are a report of `allranks check`, as JSON or SARIF: no recording.
bool IsReport(std::string_view bytes);

}  // namespace allranks::explain
