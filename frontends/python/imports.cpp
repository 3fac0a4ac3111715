#include "frontends/python/imports.h"

namespace allranks::python {
namespace {

bool IsNamePart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<ScannedImport> Run() {
    while (at_ < text_.size()) {
      SkipBlanks();
      if (TakeWord("import")) ReadModules();
      else if (TakeWord("from")) ReadFrom();
      SkipLine();
    }
    return std::move(imports_);
  }

 private:
  void SkipBlanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\f')) ++at_;
  }

  void SkipLine() {
    while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r' && text_[at_] != ';') ++at_;
    if (at_ < text_.size()) ++at_;
  }

  // Also over line ends, comments and backslashes: inside parentheses.
  void SkipInParentheses() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
      } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\\') {
        ++at_;
      } else {
        return;
      }
    }
  }

  bool TakeWord(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    const size_t end = at_ + word.size();
    if (end >= text_.size() || (text_[end] != ' ' && text_[end] != '\t' && text_[end] != '.' && text_[end] != '(')) {
      return false;
    }
    at_ = end;
    SkipBlanks();
    return true;
  }

  std::string_view TakeDotted() {
    const size_t start = at_;
    while (at_ < text_.size() && (IsNamePart(text_[at_]) || text_[at_] == '.')) ++at_;
    return text_.substr(start, at_ - start);
  }

  void SkipAlias() {
    SkipBlanks();
    if (!TakeWord("as")) return;
    TakeDotted();
    SkipBlanks();
  }

  bool TakeComma() {
    SkipBlanks();
    if (at_ >= text_.size() || text_[at_] != ',') return false;
    ++at_;
    SkipBlanks();
    return true;
  }

  void ReadModules() {
    do {
      const std::string_view module = TakeDotted();
      if (module.empty()) return;
      imports_.push_back({.level = 0, .module = module, .names = {}});
      SkipAlias();
    } while (TakeComma());
  }

  void ReadFrom() {
    ScannedImport import;
    while (at_ < text_.size() && text_[at_] == '.') {
      ++import.level;
      ++at_;
      SkipBlanks();
    }
    if (!TakeWord("import")) {
      import.module = TakeDotted();
      SkipBlanks();
      if (!TakeWord("import")) return;
    }
    const bool in_parentheses = at_ < text_.size() && text_[at_] == '(';
    if (in_parentheses) ++at_;
    do {
      if (in_parentheses) SkipInParentheses();
      const std::string_view name = TakeDotted();
      if (name.empty()) break;
      import.names.push_back(name);
      SkipAlias();
      if (in_parentheses) SkipInParentheses();
    } while (TakeComma());
    imports_.push_back(std::move(import));
  }

  std::string_view text_;
  size_t at_ = 0;
  std::vector<ScannedImport> imports_;
};

}  // namespace

std::vector<ScannedImport> ScanImports(std::string_view text) { return Scanner(text).Run(); }

}  // namespace allranks::python
