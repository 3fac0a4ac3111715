#include "frontends/cpp/function_names.h"

#include <xxhash.h>

#include <algorithm>
#include <string>
#include <utility>

namespace allranks::cpp {
namespace {

// Before a parenthesis these are no name of a function.
constexpr std::string_view kNoNames[] = {
    "__attribute__", "__declspec", "alignas", "bool", "char", "decltype", "double", "explicit", "float", "for", "if", "int", "long",
    "noexcept", "requires", "return", "size_t", "sizeof", "static_assert", "switch", "throw", "unsigned", "void", "while",
};

// Words that what is used may follow.
constexpr std::string_view kStatements[] = {"case", "co_await", "co_return", "co_yield", "delete", "do", "else", "new", "return", "throw"};

// Deeper conditions go on as if they had one branch; more words before parentheses are no names.
constexpr size_t kMostBranches = 64;
constexpr size_t kMostNames = 16;
constexpr size_t kMostScopes = 64;

bool IsWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsWordPart(char c) { return IsWordStart(c) || (c >= '0' && c <= '9'); }

std::string_view WordAt(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && IsWordPart(text[end])) ++end;
  return text.substr(at, end - at);
}

class Scanner {
 public:
  Scanner(std::string_view text, const std::function<bool(std::string_view)>& mentions) : text_(text), mentions_(mentions) {}

  std::vector<NamedFunction> Run(std::vector<uint32_t>* declared) {
    while (at_ < text_.size()) Step();
    if (state_.depth > 0) EndBody();
    for (NamedFunction& function : functions_) SortOnce(function.uses);
    SortOnce(declared_);
    if (declared != nullptr) *declared = std::move(declared_);
    return std::move(functions_);
  }

 private:
  // Where the text is between braces. The branches of an `#if` begin alike.
  struct State {
    std::vector<std::string_view> classes;  // of the open scopes; empty: a namespace, or a class without a name
    size_t deeper = 0;                      // open scopes within kMostScopes others
    size_t depth = 0;                       // of the braces of a body; 0: not in one
    size_t begin = 0;                       // of that body
    std::vector<uint32_t> names;            // of the declaration that is being read
  };

  static void SortOnce(std::vector<uint32_t>& names) {
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
  }

  void Step() {
    const char c = text_[at_];
    if (text_.substr(at_, 2) == "//") return SkipTo(text_.find('\n', at_));
    if (text_.substr(at_, 2) == "/*") return SkipBehind("*/", at_ + 2);
    if (c == '"' || c == '\'') return Quoted(c);
    if (c == '#' && IsFirstOnLine()) return Directive();
    if (IsWordStart(c)) return Word();
    if (c >= '0' && c <= '9') return Number();
    ++at_;
    if (state_.depth > 0) InBody(c);
    else InScope(c);
  }

  void SkipTo(size_t end) { at_ = std::min(end, text_.size()); }
  void SkipBehind(std::string_view mark, size_t from) {
    const size_t found = text_.find(mark, from);
    SkipTo(found == std::string_view::npos ? found : found + mark.size());
  }

  void Quoted(char quote) {
    if (quote == '"' && at_ > 0 && text_[at_ - 1] == 'R') {
      const size_t open = text_.find('(', at_);
      if (open == std::string_view::npos) return SkipTo(open);
      return SkipBehind(")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"", open);
    }
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    SkipTo(at_ + 1);
  }

  bool IsFirstOnLine() const {
    const size_t before = at_ == 0 ? std::string_view::npos : text_.find_last_not_of(" \t", at_ - 1);
    return before == std::string_view::npos || text_[before] == '\n';
  }

  // With all lines that it goes on over.
  std::string_view WholeDirective() const {
    size_t end = text_.find('\n', at_);
    while (end != std::string_view::npos && end > at_ && text_[end - 1] == '\\') end = text_.find('\n', end + 1);
    return text_.substr(at_, std::min(end, text_.size()) - at_);
  }

  void Directive() {
    const std::string_view whole = WholeDirective();
    const size_t first = text_.find_first_not_of(" \t", at_ + 1);
    const std::string_view word = first == std::string_view::npos ? std::string_view() : WordAt(text_, first);
    if (word.starts_with("if") && branches_.size() < kMostBranches) branches_.push_back(state_);
    if (word.starts_with("el") && !branches_.empty()) state_ = branches_.back();
    if (word == "endif" && !branches_.empty()) branches_.pop_back();
    if (word == "define") Macro(whole.substr(first + word.size() - at_));
    at_ += whole.size();
  }

  void Macro(std::string_view definition) {
    const size_t first = definition.find_first_not_of(" \t");
    if (first == std::string_view::npos || !IsWordStart(definition[first])) return;
    const std::string_view name = WordAt(definition, first);
    NamedFunction macro{.names = {HashOfName(name)}};
    for (size_t at = first + name.size(); at < definition.size();) {
      if (!IsWordStart(definition[at])) {
        ++at;
        continue;
      }
      const std::string_view word = WordAt(definition, at);
      macro.uses.push_back(HashOfName(word));
      at += word.size();
    }
    macro.mentions = mentions_(definition);
    functions_.push_back(std::move(macro));
  }

  void Word() {
    const std::string_view word = WordAt(text_, at_);
    at_ += word.size();
    if (state_.depth > 0) {
      if (text_.substr(at_, 2) == "::") return;
      const uint32_t name = HashOfName(word);
      (DeclaresLocally(at_ - word.size()) ? locals_ : uses_).push_back(name);
      return;
    }
    if (angles_ > 0) return;
    if (last_ == "class" || last_ == "struct" || last_ == "union") declared_class_ = word;
    before_last_ = std::exchange(last_, word);
  }

  // `auto f =`, `int f;`: what stands directly behind a word other than a statement's is a variable of the body.
  bool DeclaresLocally(size_t at) const {
    const size_t blank = text_.find_last_not_of(" \t", at - 1);
    if (blank == std::string_view::npos || blank + 1 == at || !IsWordPart(text_[blank])) return false;
    size_t begin = blank;
    while (begin > 0 && IsWordPart(text_[begin - 1])) --begin;
    const std::string_view before = text_.substr(begin, blank + 1 - begin);
    return std::ranges::find(kStatements, before) == std::end(kStatements);
  }

  void Number() {
    while (at_ < text_.size() && (IsWordPart(text_[at_]) || text_[at_] == '.' || text_[at_] == '\'')) ++at_;
  }

  void InBody(char c) {
    if (c == '{') ++state_.depth;
    if (c == '}' && --state_.depth == 0) EndBody();
  }

  void EndBody() {
    const std::string_view body = text_.substr(state_.begin, at_ - state_.begin);
    std::ranges::sort(locals_);
    std::erase_if(uses_, [this](uint32_t name) { return std::ranges::binary_search(locals_, name); });
    functions_.push_back({.names = state_.names, .uses = std::move(uses_), .mentions = mentions_(body)});
    uses_.clear();
    locals_.clear();
    const size_t next = text_.find_first_not_of(" \t\r\n", at_);
    const bool was_initializer = next != std::string_view::npos && (text_[next] == ',' || text_[next] == '{');
    if (!was_initializer) EndDeclaration();
  }

  void EndDeclaration() {
    state_.names.clear();
    declared_class_ = last_ = before_last_ = {};
    parentheses_ = angles_ = 0;
  }

  void InScope(char c) {
    if (c == '(' && parentheses_++ == 0) AddName();
    if (c == ')' && parentheses_ > 0) --parentheses_;
    if (c == '<' && last_ != "operator" && parentheses_ == 0) ++angles_;
    if (c == '>' && angles_ > 0 && text_[at_ - 2] != '-') --angles_;
    if (c == ';' && parentheses_ == 0) {
      declared_.insert(declared_.end(), state_.names.begin(), state_.names.end());
      EndDeclaration();
    }
    if (c == '}') {
      if (state_.deeper > 0) --state_.deeper;
      else if (!state_.classes.empty()) state_.classes.pop_back();
      EndDeclaration();
    }
    if (c == '{') {
      if (state_.names.empty()) {
        if (state_.classes.size() < kMostScopes) state_.classes.push_back(declared_class_);
        else ++state_.deeper;
        EndDeclaration();
      } else {
        state_.depth = 1;
        state_.begin = at_;
      }
    }
    const bool ends_name = c == '*' || c == '&' || c == ',' || c == '=';
    if (ends_name && parentheses_ == 0 && angles_ == 0) last_ = before_last_ = {};
  }

  void AddName() {
    if (state_.names.size() >= kMostNames) return;
    if (last_ == "operator" || before_last_ == "operator") {
      const std::string_view qualifier = last_ == "operator" ? before_last_ : std::string_view();
      const std::string_view name = !qualifier.empty() || state_.classes.empty() ? qualifier : state_.classes.back();
      state_.names.push_back(HashOfName(name.empty() ? "operator" : name));
      if (!state_.classes.empty()) state_.names.push_back(HashOfName(state_.classes.back()));
      return;
    }
    if (!last_.empty() && std::ranges::find(kNoNames, last_) == std::end(kNoNames)) state_.names.push_back(HashOfName(last_));
  }

  std::string_view text_;
  const std::function<bool(std::string_view)>& mentions_;
  size_t at_ = 0;
  State state_;
  std::vector<State> branches_;
  std::vector<uint32_t> uses_;    // of the body that is being read
  std::vector<uint32_t> locals_;  // variables of that body
  size_t parentheses_ = 0;
  size_t angles_ = 0;  // of arguments of templates, which are no names of it
  std::string_view last_;  // words of that declaration
  std::string_view before_last_;
  std::string_view declared_class_;
  std::vector<NamedFunction> functions_;
  std::vector<uint32_t> declared_;
};

}  // namespace

uint32_t HashOfName(std::string_view name) { return XXH32(name.data(), name.size(), 0); }

std::vector<NamedFunction> ScanFunctions(std::string_view text, const std::function<bool(std::string_view)>& mentions,
                                         std::vector<uint32_t>* declared) {
  return Scanner(text, mentions).Run(declared);
}

}  // namespace allranks::cpp
