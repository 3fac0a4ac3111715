#include "frontends/cpp/outline.h"

#include <algorithm>
#include <array>
#include <string>

namespace allranks::cpp {
namespace {

constexpr NameHash kOffset = 2166136261u;
constexpr NameHash kPrime = 16777619u;

NameHash HashFrom(NameHash start, std::string_view text) {
  NameHash hash = start;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * kPrime;
  return hash;
}

bool IsNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<uint8_t>(c) >= 0x80;
}
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNamePart(char c) { return IsNameStart(c) || IsDigit(c); }
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

// Words before a `(` that name nothing.
constexpr std::string_view kNoNames[] = {"if", "for", "while", "switch", "catch", "return", "sizeof", "alignas", "alignof", "decltype",
                                         "noexcept", "throw", "static_assert", "requires", "explicit", "__attribute__", "__declspec",
                                         "__launch_bounds__", "defined", "void", "int", "bool", "char", "float", "double", "const", "unsigned",
                                         "long", "short", "auto", "true", "false", "typename", "class", "struct"};

enum class TokenKind : uint8_t { End, Name, Quoted, Number, Mark, Directive };
struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;  // of a mark its first character; of a directive all of it, with continued lines
};

class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  Token Next() {
    SkipGaps();
    if (at_ >= text_.size()) return {};
    const char c = text_[at_];
    if (c == '#' && at_line_start_) return Directive();
    at_line_start_ = false;
    if (IsNameStart(c)) return NameOrPrefix();
    if (IsDigit(c)) return Number();
    if (c == '"') return Quoted();
    if (c == '\'') return Character();
    return {TokenKind::Mark, text_.substr(at_++, 1)};
  }

 private:
  char At(size_t at) const { return at < text_.size() ? text_[at] : '\0'; }

  void SkipGaps() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') at_line_start_ = true;
      else if (c == '/' && At(at_ + 1) == '/') SkipLineComment();
      else if (c == '/' && At(at_ + 1) == '*') SkipBlockComment();
      else if (c == '\\' && (At(at_ + 1) == '\n' || At(at_ + 1) == '\r')) ++at_;
      else if (!IsBlank(c)) return;
    }
  }
  // Stays before the end of the line.
  void SkipLineComment() {
    while (at_ + 1 < text_.size() && (text_[at_ + 1] != '\n' || text_[at_] == '\\')) ++at_;
  }
  // Stays on its last character.
  void SkipBlockComment() {
    const size_t end = text_.find("*/", at_ + 2);
    at_ = end == std::string_view::npos ? text_.size() - 1 : end + 1;
  }

  Token Directive() {
    const size_t begin = at_;
    bool in_comment = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (in_comment) {
        if (c == '*' && At(at_ + 1) == '/') in_comment = false, ++at_;
      } else if (c == '/' && At(at_ + 1) == '*') {
        in_comment = true, ++at_;
      } else if (c == '\n' && At(at_ - 1) != '\\' && !(At(at_ - 1) == '\r' && At(at_ - 2) == '\\')) {
        break;
      }
    }
    return {TokenKind::Directive, text_.substr(begin, at_ - begin)};
  }

  Token NameOrPrefix() {
    const size_t begin = at_;
    while (IsNamePart(At(at_))) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (At(at_) != '"' || name.size() > 3) return {TokenKind::Name, name};
    return name.back() == 'R' ? Raw() : Quoted();
  }

  Token Number() {
    const size_t begin = at_;
    while (IsNamePart(At(at_)) || At(at_) == '.' || (At(at_) == '\'' && IsNamePart(At(at_ + 1)))) ++at_;
    return {TokenKind::Number, text_.substr(begin, at_ - begin)};
  }

  Token Quoted() {
    const size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_, text_.size());
    const Token token{TokenKind::Quoted, text_.substr(begin, at_ - begin)};
    if (At(at_) == '"') ++at_;
    return token;
  }

  Token Character() {
    ++at_;
    while (at_ < text_.size() && text_[at_] != '\'' && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_, text_.size());
    if (At(at_) == '\'') ++at_;
    return {TokenKind::Number, {}};
  }

  // R"mark( ... )mark"
  Token Raw() {
    const size_t open = std::min(text_.find('(', at_), text_.size());
    const std::string close = ")" + std::string(text_.substr(at_ + 1, open - std::min(open, at_ + 1))) + "\"";
    const size_t end = text_.find(close, open);
    at_ = end == std::string_view::npos ? text_.size() : end + close.size();
    return {TokenKind::Number, {}};
  }

  std::string_view text_;
  size_t at_ = 0;
  bool at_line_start_ = true;
};

// What stands before the `;` or the `{` of a declaration.
struct Head {
  std::vector<NameHash> called;  // names before a `(`: the function, and macros around it
  std::vector<NameHash> uses;
  NameHash last_name = 0;        // the name read last
  NameHash assigned = 0;         // the name before `=`
  NameHash class_name = 0;
  NameHash before_operator = 0;
  uint32_t parens = 0;
  uint32_t braces = 0;           // of a value among its parts
  uint32_t names = 0;
  char last = 0;                 // the mark read last, 'n' of a name, 'q' of a word behind the parameters (`const`)
  bool is_value = false;         // of a parameter, behind its `=`
  bool is_type = false, is_enum = false, is_namespace = false, is_extern = false, has_quoted = false, has_parens = false, is_assigned = false,
       is_operator = false, lists_members = false, is_global = false, is_device = false, is_host = false, is_void = false, is_template = false;
};

enum class ScopeKind : uint8_t { Plain, Class };
struct Scope {
  ScopeKind kind{};
  NameHash name = 0;
};

constexpr uint32_t kNoBody = 0xffffffffu;
// A text with more scopes or branches in one another is taken as a whole.
constexpr size_t kDeepest = 256;

// What a branch of the preprocessor begins with, and its alternatives as well.
struct State {
  std::vector<Scope> scopes;
  Head head;
  uint32_t body = kNoBody;  // the definition whose body this is
  uint32_t depth = 0;       // of braces in it
  bool is_dropped = false;  // the body runs on a device
  uint32_t angles = 0;      // of `template <...>`
};

class Outliner {
 public:
  explicit Outliner(std::string_view text) : tokens_(text) {}

  Outline Run() {
    for (Token token = tokens_.Next(); token.kind != TokenKind::End; token = tokens_.Next()) Take(token);
    const bool is_closed = !is_broken_ && state_.scopes.empty() && state_.body == kNoBody;
    Unique(mentions_);
    Unique(out_.declares);
    if (!is_closed) return WholeText();
    for (Body& body : bodies_) Add(std::move(body));
    out_.introduces = out_.declares;
    out_.introduces.insert(out_.introduces.end(), out_.names.begin(), out_.names.end());
    Unique(out_.introduces);
    return std::move(out_);
  }

 private:
  struct Body {
    std::vector<NameHash> names;
    std::vector<NameHash> uses;
    bool is_void = false;
  };

  static void Unique(std::vector<NameHash>& names) {
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
  }

  void Add(Body body) {
    Unique(body.uses);
    const auto names = static_cast<uint32_t>(out_.names.size());
    const auto uses = static_cast<uint32_t>(out_.uses.size());
    out_.names.insert(out_.names.end(), body.names.begin(), body.names.end());
    out_.uses.insert(out_.uses.end(), body.uses.begin(), body.uses.end());
    out_.definitions.push_back({names, static_cast<uint32_t>(out_.names.size()), uses, static_cast<uint32_t>(out_.uses.size()),
                                body.is_void});
  }

  Outline WholeText() {
    Body whole;
    for (const Body& body : bodies_) whole.uses.insert(whole.uses.end(), body.uses.begin(), body.uses.end());
    whole.uses.insert(whole.uses.end(), mentions_.begin(), mentions_.end());
    whole.names = called_;
    out_.introduces = mentions_;
    Unique(whole.names);
    Add(std::move(whole));
    return std::move(out_);
  }

  void Take(const Token& token) {
    if (token.kind == TokenKind::Directive) return TakeDirective(token.text);
    if (token.kind == TokenKind::Name) mentions_.push_back(HashOf(token.text));
    if (state_.body != kNoBody) return TakeInBody(token);
    if (state_.angles > 0) return TakeInTemplate(token);
    TakeInHead(token);
  }

  // ---- The preprocessor

  void TakeDirective(std::string_view text) {
    Tokens tokens(text.substr(1));
    const Token word = tokens.Next();
    if (word.text == "define") return TakeMacro(tokens);
    if (word.text == "if" || word.text == "ifdef" || word.text == "ifndef") {
      BeginBranch();
    } else if ((word.text == "else" || word.text == "elif" || word.text == "elifdef" || word.text == "elifndef") && !branches_.empty()) {
      std::vector<NameHash> uses = std::move(state_.head.uses);
      state_ = branches_.back();
      state_.head.uses = std::move(uses);
    } else if (word.text == "endif" && !branches_.empty()) {
      branches_.pop_back();
    }
  }

  // What is kept of a branch is bounded, and so are branches in one another: names that a head has used go from one to the next.
  void BeginBranch() {
    if (branches_.size() >= kDeepest || state_.head.called.size() > kDeepest) is_broken_ = true;
    if (is_broken_) return;
    std::vector<NameHash> uses = std::move(state_.head.uses);
    branches_.push_back(state_);
    state_.head.uses = std::move(uses);
  }

  void TakeMacro(Tokens& tokens) {
    const Token name = tokens.Next();
    if (name.kind != TokenKind::Name) return;
    mentions_.push_back(HashOf(name.text));
    Body macro{.names = {HashOf(name.text)}, .uses = {}, .is_void = false};
    std::string_view last;
    int pasting = 0;
    for (Token token = tokens.Next(); token.kind != TokenKind::End; token = tokens.Next()) {
      pasting = token.text == "#" ? pasting + 1 : 0;
      if (pasting == 2 && !last.empty()) macro.uses.push_back(HashOfPasted(last));
      if (token.kind == TokenKind::Name) {
        last = token.text;
        mentions_.push_back(HashOf(last));
      }
      Use(token, &macro.uses);
    }
    bodies_.push_back(std::move(macro));
  }

  static void Use(const Token& token, std::vector<NameHash>* uses) {
    if (token.kind == TokenKind::Name) uses->push_back(HashOf(token.text));
    if (token.kind == TokenKind::Quoted) uses->push_back(HashOfQuoted(token.text));
  }

  // ---- Bodies

  void TakeInBody(const Token& token) {
    if (!state_.is_dropped) Use(token, &bodies_[state_.body].uses);
    if (token.kind == TokenKind::Name) last_name_ = HashOf(token.text);
    if (token.kind != TokenKind::Mark) return;
    const char mark = token.text[0];
    if (mark == '(') called_.push_back(last_name_);
    if (mark == '{') ++state_.depth;
    if (mark != '}' || --state_.depth > 0) return;
    state_.body = kNoBody;
    state_.head = {};
  }

  void BeginBody() {
    Head& head = state_.head;
    const bool is_inside = !state_.scopes.empty() && state_.scopes.back().kind == ScopeKind::Class;
    // Nobody spells the name of an operator or of a destructor where it is called, but that of its class.
    if (head.is_operator && head.before_operator != 0) head.called.push_back(head.before_operator);
    if (head.is_operator && is_inside) head.called.push_back(state_.scopes.back().name);
    state_.is_dropped = head.is_global || (head.is_device && !head.is_host);
    state_.body = static_cast<uint32_t>(bodies_.size());
    state_.depth = 1;
    bodies_.push_back({.names = std::move(head.called), .uses = std::move(head.uses), .is_void = head.is_void});
    if (state_.is_dropped) bodies_.back().uses.clear();
    head = {};
  }

  // ---- Heads

  void TakeInTemplate(const Token& token) {
    if (token.text == "<") ++state_.angles;
    if (token.text == ">" && --state_.angles == 0) state_.head.last = '>';
    // It was no list after all.
    if (token.text == ";" || token.text == "{" || token.text == "}") {
      state_.angles = 0;
      TakeInHead(token);
    }
  }

  void TakeInHead(const Token& token) {
    Head& head = state_.head;
    switch (token.kind) {
      case TokenKind::Name: return TakeName(token.text);
      case TokenKind::Quoted:
        head.has_quoted = true;
        if (IsValue()) Use(token, &head.uses);
        return;
      case TokenKind::Mark: return TakeMark(token.text[0]);
      default: head.last = '0';
    }
  }

  // Types and the name of what is defined call nothing; values do, and the members and bases that a constructor makes.
  bool IsValue() const {
    const Head& head = state_.head;
    return head.is_assigned || head.lists_members || head.is_value || head.braces > 0;
  }

  void TakeName(std::string_view name) {
    Head& head = state_.head;
    const NameHash hash = HashOf(name);
    if (IsValue()) head.uses.push_back(hash);
    if (head.parens > 0 || head.braces > 0) {
      head.last = 'n';
      last_name_ = hash;
      return;
    }
    if (name == "template" && head.names == 0) head.is_template = true;
    else if (name == "namespace") head.is_namespace = true;
    else if (name == "extern") head.is_extern = true;
    else if (name == "enum") head.is_enum = true;
    else if (name == "class" || name == "struct" || name == "union") head.is_type = true;
    else if (name == "operator") head.is_operator = true, head.before_operator = head.last_name;
    else if (name == "void" && !head.has_parens) head.is_void = true;
    else if (name == "__global__") head.is_global = true;
    else if (name == "__device__") head.is_device = true;
    else if (name == "__host__") head.is_host = true;
    else if (head.is_type && !head.lists_members && !head.has_parens && name != "final") head.class_name = hash;
    constexpr std::array<std::string_view, 6> kBehind = {"const", "noexcept", "override", "final", "try", "mutable"};
    head.last = head.has_parens && std::ranges::count(kBehind, name) > 0 ? 'q' : 'n';
    head.last_name = std::ranges::count(kNoNames, name) > 0 ? 0 : hash;
    ++head.names;
  }

  void TakeMark(char mark) {
    Head& head = state_.head;
    if (mark == '{') return Open();
    if (mark == '}') return Close();
    if (head.braces > 0) return;
    if (mark == '(') {
      if (head.parens++ == 0) TakeCalled();
    } else if (mark == ')') {
      if (head.parens > 0 && --head.parens == 0) head.is_value = false;
    } else if (head.parens > 0 && mark == '=') {
      head.is_value = true;
    } else if (head.parens == 0) {
      TakeOuterMark(mark);
    }
    if (mark != ';' || head.parens > 0) head.last = mark;
  }

  void TakeCalled() {
    Head& head = state_.head;
    if (head.last_name == 0 || head.is_assigned || (head.lists_members && head.has_parens)) return;
    head.called.push_back(head.last_name);
    called_.push_back(head.last_name);
    head.has_parens = true;
  }

  void TakeOuterMark(char mark) {
    Head& head = state_.head;
    if (mark == '<' && head.is_template && head.names == 1) {
      state_.angles = 1;
      head.names = 0;
      head.is_template = false;
    } else if (mark == '=' && !head.is_operator && !head.is_assigned) {
      head.is_assigned = true;
      head.assigned = head.last_name;
    } else if (mark == ':' && head.last != ':' && (head.has_parens || head.is_type)) {
      is_first_colon_ = true;
      listed_before_ = head.lists_members;
      head.lists_members = true;
    } else if (mark == ':' && head.last == ':' && is_first_colon_) {
      head.lists_members = listed_before_;
      is_first_colon_ = false;
    } else if (mark == ':' && head.names == 1 && !head.has_parens) {
      const NameHash name = head.last_name;
      // `public:`, or the `Class::` of its constructor.
      head = {};
      head.last_name = name;
    } else if (mark == '*' && !head.has_parens) {
      head.is_void = false;
    } else if (mark == ';') {
      EndDeclaration();
    }
    if (mark != ':') is_first_colon_ = false;
  }

  void EndDeclaration() {
    Head& head = state_.head;
    if (head.last_name != 0 && !head.is_assigned) out_.declares.push_back(head.last_name);
    if (head.is_assigned && head.assigned != 0) bodies_.push_back({.names = {head.assigned}, .uses = std::move(head.uses), .is_void = false});
    else out_.declares.insert(out_.declares.end(), head.called.begin(), head.called.end());
    head = {};
  }

  void Open() {
    Head& head = state_.head;
    const bool ends_function = head.has_parens && (head.last == ')' || head.last == 'q' || head.last == '&');
    if (head.braces > 0 || head.parens > 0 || head.is_enum || head.is_assigned) {
      ++head.braces;
    } else if (head.is_namespace || (head.is_extern && head.has_quoted && !head.has_parens)) {
      Enter({ScopeKind::Plain, 0});
    } else if (head.is_type && !ends_function) {
      Enter({ScopeKind::Class, head.class_name});
    } else if (head.lists_members && (head.last == 'n' || head.last == '>')) {
      // `: member{value}`.
      ++head.braces;
    } else if (head.has_parens || head.is_operator) {
      BeginBody();
    } else if (head.names >= 2) {
      // `Type variable{value}`.
      ++head.braces;
      head.assigned = head.last_name;
      head.is_assigned = true;
    } else {
      Enter({ScopeKind::Plain, 0});
    }
  }

  void Enter(Scope scope) {
    state_.head = {};
    if (state_.scopes.size() >= kDeepest) is_broken_ = true;
    else state_.scopes.push_back(scope);
  }

  void Close() {
    Head& head = state_.head;
    if (head.braces > 0) {
      --head.braces;
      head.last = '}';
      return;
    }
    head = {};
    if (state_.scopes.empty()) is_broken_ = true;
    else state_.scopes.pop_back();
  }

  Tokens tokens_;
  State state_;
  std::vector<State> branches_;
  std::vector<Body> bodies_;
  std::vector<NameHash> mentions_;  // every name
  std::vector<NameHash> called_;    // every name before a `(`
  NameHash last_name_ = 0;
  bool is_first_colon_ = false;  // of a `::`, or one by itself
  bool listed_before_ = false;
  bool is_broken_ = false;
  Outline out_;
};

}  // namespace

NameHash HashOf(std::string_view name) { return HashFrom(kOffset, name); }
NameHash HashOfQuoted(std::string_view text) { return HashFrom(HashFrom(kOffset, "\""), text); }
NameHash HashOfPasted(std::string_view part) { return HashFrom(HashFrom(kOffset, "##"), part); }

Outline OutlineOf(std::string_view text) { return Outliner(text).Run(); }

}  // namespace allranks::cpp
