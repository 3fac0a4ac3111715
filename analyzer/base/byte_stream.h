// Numbers, texts and arrays as bytes, one after the other.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace allranks::base {

static_assert(std::endian::native == std::endian::little, "byte streams are little-endian");

class ByteWriter {
 public:
  void U32(uint32_t value) { Raw(&value, sizeof value); }
  void U64(uint64_t value) { Raw(&value, sizeof value); }
  void Text(std::string_view text) {
    U32(static_cast<uint32_t>(text.size()));
    Raw(text.data(), text.size());
  }
  // Elements without padding, whose every value is valid.
  template <class T>
  void Array(std::span<const T> items) {
    static_assert(std::is_trivially_copyable_v<T>);
    U32(static_cast<uint32_t>(items.size()));
    Raw(items.data(), items.size_bytes());
  }
  std::string Finish() { return std::move(bytes_); }

 private:
  void Raw(const void* data, size_t size) {
    if (size != 0) bytes_.append(static_cast<const char*>(data), size);
  }
  std::string bytes_;
};

// Reads what a ByteWriter wrote. Past the end, or once anything failed, it yields zeros and empty things.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  uint32_t U32() {
    uint32_t value = 0;
    Raw(&value, sizeof value);
    return value;
  }
  uint64_t U64() {
    uint64_t value = 0;
    Raw(&value, sizeof value);
    return value;
  }
  std::string_view Text() {
    const uint32_t size = U32();
    if (size > rest_.size()) return Fail();
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
  }
  template <class T>
  std::vector<T> Array() {
    static_assert(std::is_trivially_copyable_v<T>);
    const uint32_t count = Count(sizeof(T));
    std::vector<T> items(count);
    Raw(items.data(), count * sizeof(T));
    return items;
  }
  // How many elements of at least `least_bytes` follow; more than there are bytes for is a failure.
  uint32_t Count(size_t least_bytes) {
    const uint32_t count = U32();
    if (count <= rest_.size() / least_bytes) return count;
    Fail();
    return 0;
  }
  bool ok() const { return ok_; }
  bool AtEnd() const { return rest_.empty(); }

 private:
  std::string_view Fail() {
    ok_ = false;
    rest_ = {};
    return {};
  }
  void Raw(void* data, size_t size) {
    if (size > rest_.size()) {
      Fail();
      return;
    }
    if (size != 0) std::memcpy(data, rest_.data(), size);
    rest_.remove_prefix(size);
  }
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace allranks::base
