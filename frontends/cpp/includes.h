#pragma once

#include <string_view>
#include <vector>

namespace allranks::cpp {

// The files that `#include` lines of a text name, in quotes or angle brackets, read textually: macros are not expanded,
// and lines that a condition leaves out count as well.
std::vector<std::string_view> ScanIncludes(std::string_view text);

// By their endings: `.c .cc .cpp .cxx .C .cu`, and headers `.h .hh .hpp .hxx .cuh .inl`.
bool IsSourceName(std::string_view path);
bool IsHeaderName(std::string_view path);

// Of the standard library of C, or of POSIX: every system has it, and `#include <stdio.h>` means no `net/stdio.h` of a project.
bool IsStandardHeader(std::string_view path);

}  // namespace allranks::cpp
