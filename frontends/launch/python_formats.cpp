#include "frontends/launch/python_formats.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace allranks::launch_files {
namespace {

using launch::Word;

// Puts the parts of a pattern together: what stands between its places, and what stands for each of them.
class Filling {
 public:
  Filling(const Word& pattern, const ValueOfPlace& value, const Word& unknown) : pattern_(pattern), value_(value), unknown_(unknown) {}

  void Keep(size_t begin, size_t end) {
    if (begin < end) filled_.Append(pattern_.Between(begin, end));
  }
  // The value of a place that has this name, or else this number, or else the next one. `is_plain`: it is taken as it is.
  void Put(std::string_view name, std::optional<size_t> index, bool is_plain) {
    const size_t at = index ? *index : name.empty() ? next_++ : 0;
    const std::optional<Word> value = is_plain ? value_(index ? "" : name, at) : std::nullopt;
    filled_.Append(value ? *value : unknown_);
  }
  Word Take() { return std::move(filled_); }

 private:
  const Word& pattern_;
  const ValueOfPlace& value_;
  const Word& unknown_;
  Word filled_;
  size_t next_ = 0;
};

}  // namespace

Word WithPercents(const Word& pattern, const ValueOfPlace& value, const Word& unknown) {
  const std::string& text = pattern.text();
  Filling filling(pattern, value, unknown);
  size_t kept = 0;
  for (size_t at = text.find('%'); at != std::string::npos; at = text.find('%', kept)) {
    filling.Keep(kept, at);
    size_t end = at + 1;
    std::string_view name;
    if (end < text.size() && text[end] == '(') {
      const size_t close = std::min(text.find(')', end), text.size() - 1);
      name = std::string_view(text).substr(end + 1, close - end - 1);
      end = close + 1;
    }
    const size_t form = end;
    end = std::min(text.find_first_not_of("-+ #0123456789.", end), text.size() - 1);
    const bool is_percent = text[end] == '%' && end > at;
    if (is_percent) filling.Keep(end, end + 1);
    else filling.Put(name, std::nullopt, end == form && (text[end] == 's' || text[end] == 'd' || text[end] == 'i'));
    kept = end + 1;
  }
  filling.Keep(kept, text.size());
  return filling.Take();
}

Word WithBraces(const Word& pattern, const ValueOfPlace& value, const Word& unknown) {
  const std::string& text = pattern.text();
  Filling filling(pattern, value, unknown);
  size_t kept = 0;
  for (size_t at = text.find_first_of("{}"); at != std::string::npos; at = text.find_first_of("{}", kept)) {
    filling.Keep(kept, at);
    kept = at + 1;
    const bool is_twice = kept < text.size() && text[kept] == text[at];
    if (is_twice) filling.Keep(at, kept++);
    if (is_twice || text[at] == '}') continue;
    const size_t close = text.find('}', at);
    if (close == std::string::npos) break;
    const std::string_view place = std::string_view(text).substr(at + 1, close - at - 1);
    const std::string_view name = place.substr(0, place.find_first_of(".[:!"));
    size_t index = 0;
    const bool is_number = !name.empty() && std::from_chars(name.data(), name.data() + name.size(), index).ptr == name.data() + name.size();
    filling.Put(name, is_number ? std::optional(index) : std::nullopt, name == place);
    kept = close + 1;
  }
  filling.Keep(kept, text.size());
  return filling.Take();
}

}  // namespace allranks::launch_files
