#pragma once

#include <string>
#include <string_view>

namespace allranks::python {

// What stands before a literal's quote.
struct StringPrefix {
  bool bytes = false;
  bool raw = false;
  bool format = false;
};

// Of the opening of a literal, such as `Rb"""`.
StringPrefix PrefixOf(std::string_view opening);

// A string's text as the program sees it, put together piece by piece; texts too long to be a name are not
// kept.
class LiteralText {
 public:
  // Longer texts are prose: the analysis compares names, devices and options.
  static constexpr size_t kLongest = 256;

  // Adds the source between quotes or interpolations.
  void Add(std::string_view source, StringPrefix prefix);

  bool empty() const { return text_.empty() && !too_long_; }
  bool too_long() const { return too_long_; }
  const std::string& text() const { return text_; }

 private:
  void Decode(std::string_view source, StringPrefix prefix);
  // Both take the source from behind the backslash, and give how much of it they read.
  size_t DecodeEscape(std::string_view rest, StringPrefix prefix);
  size_t DecodeNumber(std::string_view rest, size_t first_digit, size_t most_digits, uint32_t base,
                      bool bytes);

  std::string text_;
  bool too_long_ = false;
};

}  // namespace allranks::python
