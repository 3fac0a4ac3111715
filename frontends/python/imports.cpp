#include "frontends/python/imports.h"

#include <utility>

namespace allranks::python {
namespace {

constexpr std::string_view kImport = "import";
constexpr std::string_view kFrom = "from";

bool IsNameByte(char c) {
  const unsigned char byte = static_cast<unsigned char>(c);
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
         byte == '_' || byte >= 0x80;
}

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\f'; }

// Reads one import statement, from its `import` word in both directions.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<ScannedImport> Run() {
    // The word is rare, so that looking for it is faster than looking at each line.
    for (size_t at = text_.find(kImport); at != std::string_view::npos; at = text_.find(kImport, at + 1)) {
      const size_t end = at + kImport.size();
      if ((at > 0 && IsNameByte(text_[at - 1])) || (end < text_.size() && IsNameByte(text_[end]))) continue;
      Statement(at);
    }
    return std::move(found_);
  }

 private:
  void Statement(size_t import) {
    at_ = import + kImport.size();
    if (StartsStatement(import)) return Plain();
    ScannedImport from;
    if (!FromBefore(import, &from)) return;
    from.names = Names();
    if (!from.names.empty()) found_.push_back(std::move(from));
  }

  // Whether a statement may begin at `at`: behind a line's indentation, a semicolon or a colon.
  bool StartsStatement(size_t at) const {
    at = SkipBlanksBack(at);
    if (at == 0) return true;
    const char before = text_[at - 1];
    if (before == ';' || before == ':') return true;
    // A line that goes on is no new one.
    return (before == '\n' || before == '\r') && SkipSpaceBack(at) == at;
  }

  size_t SkipBlanksBack(size_t at) const {
    while (at > 0 && IsBlank(text_[at - 1])) --at;
    return at;
  }

  // Also over continued lines.
  size_t SkipSpaceBack(size_t at) const {
    for (;;) {
      at = SkipBlanksBack(at);
      size_t line = at;
      if (line > 0 && text_[line - 1] == '\n') --line;
      if (line > 0 && text_[line - 1] == '\r') --line;
      if (line == at || line == 0 || text_[line - 1] != '\\') return at;
      at = line - 1;
    }
  }

  // `from ..a.b ` in front of the word `import`.
  bool FromBefore(size_t import, ScannedImport* result) const {
    size_t at = SkipSpaceBack(import);
    std::string module;
    // A dotted name, back to front; spaces around its dots are rare, and only dots may lead it.
    const size_t module_end = at;
    while (at > 0 && (IsNameByte(text_[at - 1]) || text_[at - 1] == '.')) --at;
    module = text_.substr(at, module_end - at);
    size_t dots = 0;
    while (dots < module.size() && module[dots] == '.') ++dots;
    result->level = static_cast<uint32_t>(dots);
    result->module = module.substr(dots);
    if (dots == 0 || module.size() > dots) at = DotsBefore(at, result);
    if (result->level == 0 && result->module.empty()) return false;
    at = SkipSpaceBack(at);
    if (at < kFrom.size() || text_.substr(at - kFrom.size(), kFrom.size()) != kFrom) return false;
    return StartsStatement(at - kFrom.size());
  }

  // `from . m`: dots that stand apart from the name.
  size_t DotsBefore(size_t at, ScannedImport* result) const {
    size_t dot = SkipSpaceBack(at);
    while (dot > 0 && text_[dot - 1] == '.') {
      ++result->level;
      at = dot - 1;
      dot = SkipSpaceBack(at);
    }
    return at;
  }

  void SkipBlanks() {
    while (at_ < text_.size()) {
      if (IsBlank(text_[at_])) {
        ++at_;
      } else if (text_[at_] == '\\' && at_ + 1 < text_.size() &&
                 (text_[at_ + 1] == '\n' || text_[at_ + 1] == '\r')) {
        at_ += text_.substr(at_ + 1, 2) == "\r\n" ? 3 : 2;
      } else {
        return;
      }
    }
  }

  // Also over lines and comments, between parentheses.
  void SkipSpace() {
    for (;;) {
      SkipBlanks();
      if (at_ >= text_.size()) return;
      if (text_[at_] == '#') {
        while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
      } else if (text_[at_] == '\n' || text_[at_] == '\r') {
        ++at_;
      } else {
        return;
      }
    }
  }

  std::string_view Word() {
    const size_t begin = at_;
    while (at_ < text_.size() && IsNameByte(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  // `a.b as c, d`.
  void Plain() {
    for (;;) {
      SkipBlanks();
      std::string module(Word());
      for (SkipBlanks(); at_ < text_.size() && text_[at_] == '.'; SkipBlanks()) {
        ++at_;
        SkipBlanks();
        module += '.';
        module += Word();
      }
      if (module.empty()) return;
      found_.push_back({.level = 0, .module = std::move(module), .names = {}});
      SkipAlias(false);
      if (at_ >= text_.size() || text_[at_] != ',') return;
      ++at_;
    }
  }

  // `(a as b, c)`, without parentheses, or `*`.
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    SkipBlanks();
    if (at_ < text_.size() && text_[at_] == '*') return {"*"};
    const bool in_parentheses = at_ < text_.size() && text_[at_] == '(';
    if (in_parentheses) ++at_;
    for (;;) {
      in_parentheses ? SkipSpace() : SkipBlanks();
      const std::string_view name = Word();
      if (name.empty()) return names;
      names.emplace_back(name);
      SkipAlias(in_parentheses);
      if (at_ >= text_.size() || text_[at_] != ',') return names;
      ++at_;
    }
  }

  void SkipAlias(bool in_parentheses) {
    in_parentheses ? SkipSpace() : SkipBlanks();
    const size_t begin = at_;
    if (Word() != "as") {
      at_ = begin;
      return;
    }
    in_parentheses ? SkipSpace() : SkipBlanks();
    Word();
    in_parentheses ? SkipSpace() : SkipBlanks();
  }

  const std::string_view text_;
  size_t at_ = 0;
  std::vector<ScannedImport> found_;
};

}  // namespace

std::vector<ScannedImport> ScanImports(std::string_view text) { return Scanner(text).Run(); }

std::vector<std::vector<std::string>> ScanAddedFolders(std::string_view text) {
  constexpr std::string_view kPath = "sys.path.";
  constexpr size_t kLongestCall = 400;
  std::vector<std::vector<std::string>> added;
  for (size_t at = text.find(kPath); at != std::string_view::npos; at = text.find(kPath, at + 1)) {
    const std::string_view call = text.substr(at + kPath.size(), kLongestCall);
    if (!call.starts_with("append(") && !call.starts_with("insert(")) continue;
    std::vector<std::string>& texts = added.emplace_back();
    int open = 0;
    for (size_t i = call.find('('); i < call.size(); ++i) {
      if (call[i] == '(') ++open;
      if (call[i] == ')' && --open == 0) break;
      if (call[i] != '"' && call[i] != '\'') continue;
      const size_t end = call.find(call[i], i + 1);
      if (end == std::string_view::npos) break;
      texts.emplace_back(call.substr(i + 1, end - i - 1));
      i = end;
    }
  }
  return added;
}

}  // namespace allranks::python
