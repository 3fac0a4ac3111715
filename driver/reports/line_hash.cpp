#include "driver/reports/line_hash.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <unordered_map>

#include "driver/reports/text_width.h"

namespace allranks::reports {
namespace {

constexpr size_t kWindow = 100;
constexpr uint64_t kFactor = 37;
constexpr uint16_t kEndOfFile = 65535;
constexpr size_t kNoLine = static_cast<size_t>(-1);

constexpr uint64_t FactorOfOldest() {
  uint64_t power = 1;
  for (size_t i = 0; i < kWindow; ++i) power *= kFactor;
  return power;
}

class Hasher {
 public:
  Hasher() { line_at_.fill(kNoLine); }

  void Take(uint16_t unit) {
    if (unit == ' ' || unit == '\t' || (after_cr_ && unit == '\n')) {
      after_cr_ = false;
      return;
    }
    after_cr_ = unit == '\r';
    if (after_cr_) unit = '\n';
    Flush();
    if (at_line_start_) line_at_[index_] = lines_++;
    at_line_start_ = unit == '\n';
    Push(unit);
  }
  std::vector<std::string> Finish() {
    Take(kEndOfFile);
    for (size_t i = 0; i < kWindow; ++i) {
      Flush();
      Push(0);
    }
    return std::move(hashes_);
  }

 private:
  // The hash of the line that began a window ago is complete.
  void Flush() {
    if (line_at_[index_] == kNoLine) return;
    std::array<char, 20> digits{};
    std::snprintf(digits.data(), digits.size(), "%llx", static_cast<unsigned long long>(hash_));
    hashes_.resize(lines_);
    hashes_[line_at_[index_]] = std::string(digits.data()) + ":" + std::to_string(++seen_[hash_]);
    line_at_[index_] = kNoLine;
  }
  void Push(uint16_t unit) {
    hash_ = hash_ * kFactor + unit - FactorOfOldest() * window_[index_];
    window_[index_] = unit;
    index_ = (index_ + 1) % kWindow;
  }

  std::array<uint16_t, kWindow> window_{};
  std::array<size_t, kWindow> line_at_{};
  std::unordered_map<uint64_t, int> seen_;
  std::vector<std::string> hashes_;
  uint64_t hash_ = 0;
  size_t index_ = 0;
  size_t lines_ = 0;
  bool at_line_start_ = true;
  bool after_cr_ = false;
};

}  // namespace

std::vector<std::string> LineHashes(std::string_view text) {
  constexpr char32_t kFirstOfTwo = 0x10000;
  Hasher hasher;
  for (const Decoded& c : DecodeAll(text)) {
    const auto value = static_cast<uint32_t>(c.valid ? c.value : 0xfffd);
    if (value < kFirstOfTwo) {
      hasher.Take(static_cast<uint16_t>(value));
      continue;
    }
    hasher.Take(static_cast<uint16_t>(0xd800 + ((value - kFirstOfTwo) >> 10)));
    hasher.Take(static_cast<uint16_t>(0xdc00 + ((value - kFirstOfTwo) & 0x3ff)));
  }
  return hasher.Finish();
}

}  // namespace allranks::reports
