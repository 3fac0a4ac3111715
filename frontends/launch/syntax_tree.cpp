#include "frontends/launch/syntax_tree.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>

extern "C" const TSLanguage* tree_sitter_bash(void);

namespace allranks::launch_files {
namespace {

struct Budget {
  uint64_t asked = 0;
  uint64_t most = 0;
};

// The parser asks every hundred steps or so. Scripts that people write take less than one question a byte.
constexpr uint64_t kQuestionsPerByte = 4;
constexpr uint64_t kFreeQuestions = 20000;

bool IsOverBudget(TSParseState* state) {
  auto* budget = static_cast<Budget*>(state->payload);
  return ++budget->asked > budget->most;
}

const char* ReadText(void* payload, uint32_t offset, TSPoint /*point*/, uint32_t* length) {
  const std::string_view text = *static_cast<const std::string_view*>(payload);
  *length = offset < text.size() ? static_cast<uint32_t>(text.size()) - offset : 0;
  return *length == 0 ? "" : text.data() + offset;
}

// Scripts and blocks are many and short: one parser for all of a thread saves what it sets up.
TSParser* OwnParser() {
  static thread_local const std::unique_ptr<TSParser, void (*)(TSParser*)> parser = [] {
    std::unique_ptr<TSParser, void (*)(TSParser*)> made(ts_parser_new(), ts_parser_delete);
    ts_parser_set_language(made.get(), tree_sitter_bash());
    return made;
  }();
  return parser.get();
}

const std::vector<std::string_view>& Types() {
  static const std::vector<std::string_view> types = [] {
    const TSLanguage* language = tree_sitter_bash();
    std::vector<std::string_view> all;
    for (uint32_t i = 0; i < ts_language_symbol_count(language); ++i) all.emplace_back(ts_language_symbol_name(language, static_cast<TSSymbol>(i)));
    all.emplace_back("ERROR");
    return all;
  }();
  return types;
}

struct Cursor {
  TSTreeCursor cursor = {};
  ~Cursor() { ts_tree_cursor_delete(&cursor); }
};

bool IsOfArgument(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("_./:=,@%-").find(c) != std::string_view::npos; }
bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// The end of blanks and continued lines from a place on; the place itself: it is neither.
size_t BehindBlanks(std::string_view text, size_t at) {
  while (at < text.size() && (IsBlank(text[at]) || text.substr(at, 2) == "\\\n")) at += IsBlank(text[at]) ? 1 : 2;
  return at;
}

size_t BehindName(std::string_view text, size_t at) {
  while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_')) ++at;
  return at;
}

// The end of `$NAME` or `${NAME}`; `at`: it is another expansion.
size_t BehindVariable(std::string_view text, size_t at) {
  const bool is_braced = text.substr(at, 2) == "${";
  const size_t begin = at + (is_braced ? 2 : 1);
  const size_t end = BehindName(text, begin);
  const bool is_number = end > begin + 1 && text[begin] >= '0' && text[begin] <= '9';
  if (end == begin || is_number || (is_braced && text.substr(end, 1) != "}")) return at;
  return end + (is_braced ? 1 : 0);
}

// The end of `"..."` that holds letters, blanks and variables; `at`: it holds more.
size_t BehindQuoted(std::string_view text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && text[end] != '"') {
    const size_t next = text[end] == '$' ? BehindVariable(text, end) : end + (IsOfArgument(text[end]) || text[end] == ' ' ? 1 : 0);
    if (next == end) return at;
    end = next;
  }
  return end < text.size() ? end + 1 : at;
}

// The end of an argument that is plain as a whole; `at`: it is not. `2>&1` begins with a number that is none. `may_expand`: variables and
// quotes may stand in it.
size_t BehindArgument(std::string_view text, size_t at, bool may_expand) {
  size_t end = at;
  while (end < text.size()) {
    const size_t next = may_expand && text[end] == '$'   ? BehindVariable(text, end)
                        : may_expand && text[end] == '"' ? BehindQuoted(text, end)
                                                         : end + (IsOfArgument(text[end]) ? 1 : 0);
    if (next == end) break;
    end = next;
  }
  const bool is_whole = end == text.size() || std::string_view(" \t\n;&|)").find(text[end]) != std::string_view::npos || text.substr(end, 2) == "\\\n";
  return is_whole ? end : at;
}

// Where a text stands while it is gone through: in a comment, between quotes, behind the bracket of a test.
class Surroundings {
 public:
  explicit Surroundings(std::string_view text) : text_(text), has_documents_(text.find("<<") != std::string_view::npos) {}

  void Pass(size_t at) {
    const char c = text_[at];
    const char before = at > 0 ? text_[at - 1] : '\n';
    if (c == '\n') {
      const bool goes_on = before == '\\' && !is_comment_;
      has_test_ = has_test_ && goes_on;
      is_nested_ = is_nested_ && (goes_on || quote_ != '\0');
      is_comment_ = false;
    }
    if (is_comment_ || (before == '\\' && quote_ != '\'')) return;
    is_comment_ = quote_ == '\0' && c == '#' && BeginsWord(at);
    has_test_ = has_test_ || c == '[';
    is_nested_ = is_nested_ || (quote_ == '"' && c == '(' && before == '$');
    if (c == quote_) quote_ = '\0';
    else if (quote_ == '\0' && !is_comment_ && (c == '"' || c == '\'')) quote_ = c;
  }
  bool BeginsWord(size_t at) const { return at == 0 || IsBlank(text_[at - 1]) || text_[at - 1] == '\n' || text_[at - 1] == '('; }
  bool MayJoin() const { return !is_comment_ && !has_test_; }
  // What stands in a text of several words, or in a here-document, is put in by others.
  bool MayExpand() const { return quote_ == '\0' && !is_nested_ && !has_documents_; }

 private:
  std::string_view text_;
  bool has_documents_ = false;
  bool is_comment_ = false;
  bool has_test_ = false;
  bool is_nested_ = false;  // quotes stand in a command between quotes
  char quote_ = '\0';
};

// What tells where a text stands, and what an option begins with.
bool IsSign(char c) {
  static const std::array<bool, 256> signs = [] {
    std::array<bool, 256> all{};
    for (const char sign : std::string_view("\n#[(\"'-")) all[static_cast<unsigned char>(sign)] = true;
    return all;
  }();
  return signs[static_cast<unsigned char>(c)];
}

}  // namespace

std::string WithJoinedArguments(std::string_view text) {
  std::string joined(text);
  Surroundings around(text);
  for (size_t at = 0; at < text.size(); ++at) {
    if (!IsSign(text[at])) continue;
    around.Pass(at);
    const bool is_option = text[at] == '-' && text.substr(at, 2) == "--" && at + 2 < text.size() && std::isalpha(static_cast<unsigned char>(text[at + 2])) != 0;
    if (!is_option || !around.BeginsWord(at) || !around.MayJoin()) continue;
    const bool may_expand = around.MayExpand();
    size_t end = BehindArgument(text, at, may_expand);
    for (size_t next = BehindBlanks(text, end); end > at && next > end; next = BehindBlanks(text, end)) {
      const size_t behind = BehindArgument(text, next, may_expand);
      if (behind <= next) break;
      end = behind;
    }
    for (size_t i = at; i < end; ++i) {
      if (!IsOfArgument(text[i])) joined[i] = '_';
    }
    if (end > at) at = end - 1;
  }
  return joined;
}

ShellTree::ShellTree(std::string_view whole) {
  const std::string joined = WithJoinedArguments(whole);
  std::string_view text = joined;
  TSParser* parser = OwnParser();
  Budget budget{.asked = 0, .most = kFreeQuestions + kQuestionsPerByte * text.size()};
  const TSInput input = {.payload = &text, .read = ReadText, .encoding = TSInputEncodingUTF8, .decode = nullptr};
  tree_ = ts_parser_parse_with_options(parser, nullptr, input, {.payload = &budget, .progress_callback = IsOverBudget});
  if (tree_ == nullptr) ts_parser_reset(parser);
}

ShellTree::~ShellTree() {
  if (tree_ != nullptr) ts_tree_delete(tree_);
}

std::vector<TSNode> ChildrenOf(TSNode node) {
  std::vector<TSNode> children;
  const uint32_t count = ts_node_child_count(node);
  if (count == 0) return children;
  children.reserve(count);
  // One of a thread keeps its room.
  static thread_local Cursor own;
  ts_tree_cursor_reset(&own.cursor, node);
  if (ts_tree_cursor_goto_first_child(&own.cursor)) {
    do {
      children.push_back(ts_tree_cursor_current_node(&own.cursor));
    } while (ts_tree_cursor_goto_next_sibling(&own.cursor));
  }
  return children;
}

size_t SymbolCount() { return Types().size(); }
// That of an error is the last one.
size_t SymbolOf(TSNode node) { return std::min<size_t>(ts_node_symbol(node), SymbolCount() - 1); }
std::string_view TypeOfSymbol(size_t symbol) { return Types()[symbol]; }
std::string_view TypeOf(TSNode node) { return TypeOfSymbol(SymbolOf(node)); }

uint32_t BeginOf(TSNode node, std::string_view text) {
  const uint32_t begin = ts_node_start_byte(node);
  const std::string_view type = TypeOf(node);
  const bool is_expansion = type == "simple_expansion" || type == "expansion" || type == "command_substitution" || type == "arithmetic_expansion";
  if (!is_expansion) return begin;
  const size_t mark = text.find_first_of("$`", begin);
  return mark < ts_node_end_byte(node) ? static_cast<uint32_t>(mark) : begin;
}

}  // namespace allranks::launch_files
