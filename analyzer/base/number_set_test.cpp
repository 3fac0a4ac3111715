#include "analyzer/base/number_set.h"

#include <gtest/gtest.h>

#include <set>

namespace allranks::base {
namespace {

TEST(NumberSet, EachNumberIsNewOnce) {
  NumberSet numbers;
  std::set<uint32_t> known;
  uint32_t state = 1;
  for (int i = 0; i < 5000; ++i) {
    state = state * 1664525u + 1013904223u;
    // Many twice, some in a row and some far apart.
    const uint32_t number = i % 3 == 0 ? static_cast<uint32_t>(i) : state >> (state % 32);
    if (number == 0xffffffffu) continue;
    ASSERT_EQ(numbers.Add(number), known.insert(number).second) << number;
    ASSERT_EQ(numbers.size(), known.size());
  }
}

}  // namespace
}  // namespace allranks::base
