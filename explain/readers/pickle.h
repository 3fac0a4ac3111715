// Pickles that hold data only: dicts, lists, tuples, texts, numbers.
//
// `pickle.load` is a program that the file writes: GLOBAL, REDUCE, BUILD and their kin import and call what the file
// says. Here these opcodes are refused, so a file can make nothing but values, at most one for each of its bytes.
// Protocols 2 to 5, as torch::jit::Pickler (Flight Recorder) and Python's pickle write them.
#pragma once

#include "explain/readers/document.h"

namespace allranks::explain {

[[nodiscard]] ReadDocument ReadPickle(std::string_view bytes);

}  // namespace allranks::explain
