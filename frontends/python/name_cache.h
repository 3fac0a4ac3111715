#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "analyzer/base/interner.h"

namespace allranks::python {

// Remembers the names of one file: most names of a file come again and again, and the shared table takes a
// lock.
class NameCache {
 public:
  explicit NameCache(base::Interner* interner) : interner_(*interner) {}

  // `text` must outlive the cache.
  base::NameId Intern(std::string_view text) {
    Entry& entry = entries_[SlotOf(text)];
    if (entry.id && entry.text == text) return entry.id;
    entry = {.text = text, .id = interner_.Intern(text)};
    return entry.id;
  }

 private:
  struct Entry {
    std::string_view text;
    base::NameId id;
  };
  static constexpr uint32_t kSlotBits = 9;

  // Length and both ends tell names apart well enough; a clash only costs a look into the shared table.
  static size_t SlotOf(std::string_view text) {
    uint64_t head = 0;
    uint64_t tail = 0;
    const size_t width = text.size() < sizeof(head) ? text.size() : sizeof(head);
    std::memcpy(&head, text.data(), width);
    std::memcpy(&tail, text.data() + text.size() - width, width);
    const uint64_t mixed = (head ^ (tail * 31) ^ text.size()) * 0x9e3779b97f4a7c15ull;
    return static_cast<size_t>(mixed >> (64 - kSlotBits));
  }

  base::Interner& interner_;
  std::array<Entry, 1u << kSlotBits> entries_ = {};
};

}  // namespace allranks::python
