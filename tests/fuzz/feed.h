// What feeds a fuzz target in every build: the same texts every time.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tests/fuzz/mutator.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace allranks::tests {

inline void FeedText(std::string_view text) { LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size()); }

// Mutations of a text; `pieces` are words of its language.
inline void FeedMutated(const std::string& original, std::span<const std::string_view> pieces, int rounds) {
  Mutator mutator(static_cast<uint32_t>(original.size()), pieces);
  for (int round = 0; round < rounds; ++round) {
    const std::string text = mutator.Mutate(original);
    SCOPED_TRACE(text);
    FeedText(text);
  }
}

// All beginnings of a text.
inline void FeedCut(std::string_view text) {
  for (size_t length = 0; length <= text.size(); ++length) FeedText(text.substr(0, length));
}

}  // namespace allranks::tests
