// How deep the statements of a text of C, C++ or CUDA lie within one another without braces: `if (a) if (b) f();`, and each
// `else if` of a chain. Clang looks a name up through all of them, so that its time grows with the square of that depth. Brackets it
// bounds itself.
#pragma once

#include <cstddef>
#include <string_view>

namespace allranks::cpp {

// Chains of tests that programs write for people or for machines are far shorter.
constexpr size_t kDeepestNesting = 2000;

// Read textually, in one pass: what macros stand for is not seen, and of `#if` all branches count.
size_t NestingOf(std::string_view text);

}  // namespace allranks::cpp
