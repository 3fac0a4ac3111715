// Starts `allranks-clang` for one translation unit at a time and holds it to its limits.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/base/result.h"
#include "frontends/cpp/exchange.h"

namespace allranks::cpp {

// What one translation unit may cost. Beyond it the file is given up, and only that file.
struct Limits {
  uint32_t seconds = 120;  // of processor time: a machine that does other work as well gives up no file for it
  uint64_t memory_bytes = uint64_t{6} << 30;  // of address space: a file with all of PyTorch's headers takes 0.7 GiB
};

// Whether `memory_bytes` is enforced: a sanitizer reserves more address space than any limit would leave.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLimitsMemory = false;
#else
constexpr bool kLimitsMemory = true;
#endif

// The helper beside this program, or where an installation puts it (../libexec/allranks). An error says how to get it.
[[nodiscard]] base::Result<std::string> FindHelper();

// Any thread. An error is one line on what became of the file: crashed, too slow, too large.
[[nodiscard]] base::Result<Reply> RunHelper(const std::string& program, const Request& request, const Limits& limits);

}  // namespace allranks::cpp
