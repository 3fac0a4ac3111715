#include "analyzer/base/hash_index.h"

#include <gtest/gtest.h>

namespace allranks::base {
namespace {

TEST(HashIndex, EmptyHasNothing) {
  EXPECT_EQ(HashIndex().Find(7, [](uint32_t) { return true; }), HashIndex::kNotFound);
}

TEST(HashIndex, EqualHashesAreToldApartByTheCaller) {
  constexpr uint64_t kHash = 0x1234567890abcdef;
  HashIndex index;
  for (uint32_t element = 0; element < 3; ++element) index.Add(kHash, element);
  EXPECT_EQ(index.Find(kHash, [](uint32_t element) { return element == 2; }), 2u);
  EXPECT_EQ(index.Find(kHash, [](uint32_t) { return false; }), HashIndex::kNotFound);
}

TEST(HashIndex, FindsEverythingAfterGrowing) {
  constexpr uint32_t kCount = 10'000;
  const auto hash = [](uint32_t element) { return element * 0x9e3779b97f4a7c15ull; };
  HashIndex index;
  for (uint32_t element = 0; element < kCount; ++element) index.Add(hash(element), element);
  for (uint32_t wanted = 0; wanted < kCount; ++wanted) {
    ASSERT_EQ(index.Find(hash(wanted), [&](uint32_t element) { return element == wanted; }), wanted);
  }
  EXPECT_EQ(index.Find(hash(kCount), [&](uint32_t element) { return element == kCount; }), HashIndex::kNotFound);
}

}  // namespace
}  // namespace allranks::base
