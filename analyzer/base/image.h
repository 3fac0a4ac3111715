// Structures as bytes, and back, for what the same build of the tool writes and reads: one list of fields serves both ways.
// Small numbers take one byte. Any bytes may be read; `ok` says whether they made sense.
//
// The fields of a structure `S` are given by `template <Is<S> T, class Visit> void Fields(T& it, Visit& visit)` beside it. It
// binds them with `auto& [...]`, so that a field which is left out does not compile.
#pragma once

#include <bit>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "analyzer/base/id.h"
#include "analyzer/base/interner.h"

namespace allranks::base {

template <class T, class Wanted>
concept Is = std::is_same_v<std::remove_const_t<T>, Wanted>;

template <class T>
concept Number = std::is_integral_v<T> || std::is_enum_v<T>;

// Names are written as their places in a list of texts, which stands first.
class ImageWriter {
 public:
  explicit ImageWriter(const Interner& names) : names_(names) {}

  template <class... T>
  void operator()(const T&... values) {
    (Write(values), ...);
  }

  std::string Finish() && {
    std::string body = std::move(bytes_);
    bytes_.clear();
    Write(texts_.size());
    for (const std::string_view text : texts_) WriteText(text);
    return std::move(bytes_) + body;
  }

 private:
  template <Number T>
  void Write(T value) {
    for (auto rest = static_cast<uint64_t>(value);; rest >>= 7) {
      const bool is_last = rest < 0x80;
      bytes_ += static_cast<char>((rest & 0x7f) | (is_last ? 0 : 0x80));
      if (is_last) return;
    }
  }
  template <class Tag>
  void Write(Id<Tag> id) {
    Write(static_cast<uint32_t>(id.index + 1));
  }
  void Write(NameId name) {
    if (!name) return Write(uint32_t{0});
    const auto [found, is_new] = places_.try_emplace(name, static_cast<uint32_t>(texts_.size() + 1));
    if (is_new) texts_.push_back(names_.View(name));
    Write(found->second);
  }
  void Write(const std::string& text) { WriteText(text); }
  void Write(std::string_view text) { WriteText(text); }
  void Write(double value) { Write(std::bit_cast<uint64_t>(value)); }
  void Write(std::monostate) {}
  template <class T>
  void Write(const std::optional<T>& value) {
    Write(value.has_value());
    if (value) Write(*value);
  }
  template <class... T>
  void Write(const std::variant<T...>& value) {
    Write(value.index());
    std::visit([this](const auto& held) { Write(held); }, value);
  }
  template <class A, class B>
  void Write(const std::pair<A, B>& pair) {
    (*this)(pair.first, pair.second);
  }
  template <class T>
  void Write(const std::vector<T>& items) {
    WriteAll(items);
  }
  template <class T>
  void Write(const std::deque<T>& items) {
    WriteAll(items);
  }
  template <class IdType, class T>
  void Write(const IdVector<IdType, T>& items) {
    WriteAll(items);
  }
  template <class Key, class Value, class Less>
  void Write(const std::map<Key, Value, Less>& items) {
    WriteAll(items);
  }
  template <class T>
    requires std::is_class_v<T>
  void Write(const T& it) {
    Fields(it, *this);
  }
  void WriteText(std::string_view text) {
    Write(text.size());
    bytes_ += text;
  }
  void WriteAll(const auto& items) {
    Write(items.size());
    for (const auto& item : items) Write(item);
  }

  const Interner& names_;
  std::unordered_map<NameId, uint32_t> places_;
  std::vector<std::string_view> texts_;
  std::string bytes_;
};

class ImageReader {
 public:
  ImageReader(std::string_view bytes, Interner& names) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {
    places_.resize(ReadCount());
    for (NameId& place : places_) place = names.Intern(ReadText());
  }

  bool ok() const { return ok_; }
  bool AtEnd() const { return at_ == end_; }

  template <class... T>
  void operator()(T&... values) {
    (Read(values), ...);
  }

 private:
  uint64_t ReadNumber() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (at_ == end_ || shift > 63) return Fail();
      const auto byte = static_cast<uint8_t>(*at_++);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
  }
  uint64_t Fail() {
    ok_ = false;
    at_ = end_;
    return 0;
  }
  // Of things that take a byte at least.
  size_t ReadCount() {
    const uint64_t count = ReadNumber();
    return count <= static_cast<uint64_t>(end_ - at_) ? count : Fail();
  }
  std::string_view ReadText() {
    const size_t size = ReadCount();
    const std::string_view text(at_, size);
    at_ += size;
    return text;
  }
  template <Number T>
  void Read(T& value) {
    value = static_cast<T>(ReadNumber());
  }
  template <class Tag>
  void Read(Id<Tag>& id) {
    id.index = static_cast<uint32_t>(ReadNumber()) - 1;
  }
  void Read(NameId& name) {
    const uint64_t place = ReadNumber();
    if (place > places_.size()) Fail();
    name = place == 0 || !ok_ ? NameId::None() : places_[place - 1];
  }
  void Read(std::string& text) { text = ReadText(); }
  // Views are of literals of the program: of those there is a bounded number, and they live as long as it does.
  void Read(std::string_view& text) {
    static Interner literals;
    text = literals.View(literals.Intern(ReadText()));
  }
  void Read(double& value) { value = std::bit_cast<double>(ReadNumber()); }
  void Read(std::monostate) {}
  template <class T>
  void Read(std::optional<T>& value) {
    if (ReadNumber() != 0) Read(value.emplace());
  }
  template <class... T>
  void Read(std::variant<T...>& value) {
    const uint64_t index = ReadNumber();
    if (index >= sizeof...(T)) Fail();
    uint64_t at = 0;
    ((at++ == index ? Read(value.template emplace<T>()) : void()), ...);
  }
  template <class A, class B>
  void Read(std::pair<A, B>& pair) {
    (*this)(pair.first, pair.second);
  }
  template <class T>
  void Read(std::vector<T>& items) {
    items.resize(ReadCount());
    for (T& item : items) Read(item);
  }
  template <class T>
  void Read(std::deque<T>& items) {
    items.resize(ReadCount());
    for (T& item : items) Read(item);
  }
  template <class Key, class Value, class Less>
  void Read(std::map<Key, Value, Less>& items) {
    for (size_t left = ReadCount(); left > 0; --left) {
      std::pair<Key, Value> item;
      Read(item);
      items.insert(std::move(item));
    }
  }
  template <class IdType, class T>
  void Read(IdVector<IdType, T>& items) {
    items.resize(ReadCount());
    for (T& item : items) Read(item);
  }
  template <class T>
    requires std::is_class_v<T>
  void Read(T& it) {
    Fields(it, *this);
  }

  const char* at_;
  const char* end_;
  bool ok_ = true;
  std::vector<NameId> places_;
};

}  // namespace allranks::base
