// Which functions a text of C, C++ or CUDA defines, and which names their bodies use: read textually, in one pass, so that
// files which cannot communicate need not be given to a compiler.
//
// What is said is too much rather than too little: each name before a parenthesis of a definition counts as a name of it
// (`EXPORT(f)`, initializers of a constructor), each word of a body as used, and of `#if` all branches count. A macro is a
// function of its name. An operator goes by the name of its class, as its calls do not name it. Not seen are definitions in
// the style of C before 1989, and calls through an operator of an object whose type is not named there.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace allranks::cpp {

// Names are hashes of 32 bits: two that collide make one more file matter.
struct NamedFunction {
  std::vector<uint32_t> names;
  std::vector<uint32_t> uses;  // sorted, each once
  bool mentions = false;       // its body does, as `mentions` of the call says
};

// `declared`: gets the names of functions that it declares without a body, sorted.
std::vector<NamedFunction> ScanFunctions(std::string_view text, const std::function<bool(std::string_view)>& mentions,
                                         std::vector<uint32_t>* declared = nullptr);

uint32_t HashOfName(std::string_view name);

}  // namespace allranks::cpp
