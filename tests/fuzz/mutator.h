// Small changes to a text, the same ones every time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>

namespace allranks::tests {

class Mutator {
 public:
  // `pieces` are words of the language.
  Mutator(uint32_t seed, std::span<const std::string_view> pieces) : random_(seed), pieces_(pieces) {}

  std::string Mutate(std::string text) {
    const size_t changes = 1 + Below(4);
    for (size_t i = 0; i < changes; ++i) Change(&text);
    return text;
  }

 private:
  size_t Below(size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  void Change(std::string* text) {
    const size_t at = Below(text->size() + 1);
    const size_t length = Below(1 + std::min<size_t>(text->size() - at, 40));
    switch (Below(6)) {
      case 0:
        text->erase(at, 1);
        break;
      case 1:
        text->erase(at, length);
        break;
      case 2:
        text->insert(at, pieces_[Below(pieces_.size())]);
        break;
      case 3:
        text->insert(Below(text->size() + 1), text->substr(at, length));
        break;
      case 4:
        if (at < text->size()) (*text)[at] = static_cast<char>(Below(256));
        break;
      default:
        text->resize(at);
        break;
    }
  }

  // The standard fixes what it gives, unlike its distributions.
  std::mt19937 random_;
  std::span<const std::string_view> pieces_;
};

}  // namespace allranks::tests
