#include "driver/pipeline/prefilter.h"

#include <algorithm>
#include <cstring>

namespace allranks::pipeline {
namespace {

constexpr uint32_t kFound = 0xffffffffu;
constexpr uint32_t kMissing = 0xfffffffeu;

constexpr size_t kBeginBytes = 4;
// Sixteen thousand bits stay in the first-level cache, and some hundred names fill hardly any of them.
constexpr unsigned kBeginBits = 14;

uint32_t BeginAt(const char* bytes) {
  uint32_t begin = 0;
  std::memcpy(&begin, bytes, kBeginBytes);
  constexpr uint32_t kGoldenRatio = 0x9E3779B1u;
  return (begin * kGoldenRatio) >> (32 - kBeginBits);
}

}  // namespace

Prefilter::Prefilter(std::span<const std::string> names) {
  always_ = names.empty() || std::any_of(names.begin(), names.end(), [](const std::string& n) { return n.empty(); });
  const bool has_begins = std::ranges::all_of(names, [](const std::string& name) { return name.size() >= kBeginBytes; });
  if (has_begins) begins_.resize((size_t{1} << kBeginBits) / 64);
  for (const std::string& name : names) {
    if (has_begins) begins_[BeginAt(name.data()) / 64] |= uint64_t{1} << (BeginAt(name.data()) % 64);
    for (const char c : name) {
      uint8_t& column = column_[static_cast<uint8_t>(c)];
      if (column == 0) column = static_cast<uint8_t>(columns_++);
    }
  }
  auto add_row = [&] {
    table_.resize(table_.size() + columns_, kMissing);
    return static_cast<uint32_t>(table_.size() - columns_);
  };
  add_row();
  for (const std::string& name : names) {
    uint32_t row = 0;
    for (size_t i = 0; i < name.size() && row != kFound; ++i) {
      const size_t cell = row + column_[static_cast<uint8_t>(name[i])];
      if (i + 1 == name.size()) {
        table_[cell] = kFound;
      } else if (table_[cell] == kMissing) {
        // add_row() moves the table, so the cell is named again afterwards.
        const uint32_t added = add_row();
        table_[cell] = added;
      }
      row = table_[cell];
    }
  }
  // Breadth first: a missing step goes where the longest proper suffix of what was read would go.
  // Entries are a row and the row of its longest proper suffix.
  std::vector<std::pair<uint32_t, uint32_t>> queue = {{0, 0}};
  for (size_t at = 0; at < queue.size(); ++at) {
    const auto [row, suffix] = queue[at];
    for (uint32_t column = 0; column < columns_; ++column) {
      uint32_t& cell = table_[row + column];
      const uint32_t by_suffix = row == 0 ? 0 : table_[suffix + column];
      if (by_suffix == kFound) cell = kFound;
      if (cell == kMissing) {
        cell = by_suffix;
      } else if (cell != kFound) {
        queue.emplace_back(cell, by_suffix);
      }
    }
  }
}

size_t Prefilter::NextBegin(std::string_view text, size_t at) const {
  for (; at + kBeginBytes <= text.size(); ++at) {
    const uint32_t begin = BeginAt(text.data() + at);
    if ((begins_[begin / 64] >> (begin % 64) & 1) != 0) return at;
  }
  return at;
}

bool Prefilter::Mentions(std::string_view text) const {
  if (always_) return true;
  uint32_t row = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    // In the first row nothing that was read belongs to a name.
    if (row == 0 && !begins_.empty()) at = NextBegin(text, at);
    if (at >= text.size()) return false;
    row = table_[row + column_[static_cast<uint8_t>(text[at])]];
    if (row == kFound) return true;
  }
  return false;
}

}  // namespace allranks::pipeline
