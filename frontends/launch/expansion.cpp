#include "frontends/launch/expansion.h"

#include <algorithm>
#include <cctype>

namespace allranks::launch_files {
namespace {

using launch::kUnknownPart;
using launch::Piece;

// Nested expansions deeper than people write are unknown.
constexpr int kDeepestExpansion = 24;
// What values put into one word, and into all of a script.
constexpr size_t kMostPieces = 4096;
constexpr size_t kMostBytes = 64u << 10;
constexpr size_t kMostCopied = 64u << 20;
constexpr size_t kBytesOfPiece = 100;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
// Each time it is expanded it is another one.
bool IsRandom(std::string_view text) { return text.find("RANDOM") != std::string_view::npos || text.starts_with("$(shuf "); }
bool IsNamePart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// What `dirname` makes of a path; nothing: the folder is not known.
std::optional<Word> FolderOf(const Word& path) {
  const size_t slash = path.text().rfind('/');
  if (slash == std::string::npos || slash == 0) return std::nullopt;
  const Word folder = path.Between(0, slash);
  return folder.IsKnown() ? std::optional(folder) : std::nullopt;
}

// The commands of a substitution: in a list, beside a redirection.
void CommandsIn(TSNode node, std::vector<TSNode>& commands, int depth) {
  if (depth > kDeepestExpansion) return;
  for (const TSNode child : ChildrenOf(node)) {
    const std::string_view type = TypeOf(child);
    if (type == "command") commands.push_back(child);
    if (type == "list" || type == "redirected_statement") CommandsIn(child, commands, depth + 1);
  }
}

}  // namespace

bool ShellBudget::Copies(const Word& value) {
  copied += value.text().size() + value.pieces().size() * kBytesOfPiece;
  return copied <= kMostCopied;
}

bool Growth::Takes(const Word& value) {
  pieces_ += value.pieces().size();
  bytes_ += value.text().size();
  is_full_ = is_full_ || pieces_ > kMostPieces || bytes_ > kMostBytes;
  return !is_full_;
}

// The words as they grow.
class Expansion::Fields {
 public:
  void Add(const Word& word) {
    if (growth_.Takes(word)) AddWritten(word);
  }
  // What stands in the text: it is as long as that, and no longer.
  void AddWritten(Word word) {
    if (current_.empty()) current_ = std::move(word);
    else current_.Append(word);
    has_current_ = true;
  }
  // What is not quoted falls into words at white space.
  void AddSplit(const Word& word) {
    const std::string& text = word.text();
    size_t at = 0;
    while (at < text.size() && !growth_.IsFull()) {
      if (IsSpace(text[at])) {
        Close();
        ++at;
        continue;
      }
      size_t end = at;
      while (end < text.size() && !IsSpace(text[end])) ++end;
      Add(word.Between(at, end));
      at = end;
    }
  }
  void Open() { has_current_ = true; }
  bool IsFull() const { return growth_.IsFull(); }
  void Fill() { growth_.Fill(); }
  void Close() {
    if (has_current_) words_.push_back(std::move(current_));
    current_ = {};
    has_current_ = false;
  }
  std::vector<Word> Take() {
    Close();
    return std::move(words_);
  }

 private:
  std::vector<Word> words_;
  Word current_;
  bool has_current_ = false;
  Growth growth_;
};

std::vector<Word> Expansion::Words(TSNode node) const {
  // Most words of most commands.
  const bool is_plain = TypeOf(node) == "word" && TextOf(node).find_first_of("\\ \t$\"") == std::string_view::npos;
  if (is_plain) return {Cut(node)};
  Fields fields;
  Expand(node, false, fields, 0);
  if (fields.IsFull()) return {TooLong(node)};
  return fields.Take();
}

std::vector<Word> Expansion::StrayWords(TSNode node) const {
  Fields fields;
  Joined(node, fields);
  return fields.IsFull() ? std::vector<Word>{TooLong(node)} : fields.Take();
}

Word Expansion::Value(TSNode node) const {
  Fields fields;
  Expand(node, true, fields, 0);
  if (fields.IsFull()) return TooLong(node);
  Word value;
  for (const Word& word : fields.Take()) {
    if (!value.empty()) value.Add({.text = " ", .origin = word.span()});
    value.Append(word);
  }
  return value;
}

// As `Cut(node).span()`, and without a copy of the text where it is all written in one stretch.
source::Span Expansion::SpanOf(TSNode node) const {
  const std::vector<Piece>& pieces = text_.pieces();
  const bool is_plain = pieces.size() == 1 && pieces[0].origin.end - pieces[0].origin.begin == text_.text().size();
  if (!is_plain) return Cut(node).span();
  const source::Span all = pieces[0].origin;
  if (Begin(node) >= ts_node_end_byte(node)) return {};
  return {all.file, all.begin + Begin(node), all.begin + ts_node_end_byte(node)};
}

Word Expansion::Unknown(TSNode node, std::string_view variable) const {
  return Word(Piece{.text = std::string(1, kUnknownPart), .origin = SpanOf(node), .sureness = Sureness::Unknown,
                    .variable = std::string(variable), .shell = shell_});
}

Word Expansion::TooLong(TSNode node) const {
  if (!budget_.too_long) budget_.too_long = SpanOf(node);
  return Unknown(node);
}

std::vector<Word> Expansion::Variable(TSNode node, std::string_view name) const {
  const auto known = variables_.find(std::string(name));
  if (known == variables_.end()) return {Unknown(node, name)};
  const std::vector<Word>& words = known->second.words;
  const bool has_room = std::ranges::all_of(words, [&](const Word& word) { return budget_.Copies(word); });
  return has_room ? words : std::vector<Word>{TooLong(node)};
}

void Expansion::AddVariable(TSNode node, std::string_view name, bool is_quoted, bool all, Fields& fields) const {
  if (fields.IsFull()) return;
  const std::vector<Word> words = Variable(node, name);
  const size_t count = all ? words.size() : std::min<size_t>(words.size(), 1);
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) fields.Close();
    if (is_quoted) fields.Add(words[i]);
    else fields.AddSplit(words[i]);
  }
}

// Whether a word is several arguments, or one with variables in it, that the tree has as one.
bool Expansion::IsJoined(TSNode node) const {
  const std::string_view text = TextOf(node);
  const size_t sign = text.starts_with("--") ? text.find_first_of(" \t$\"") : std::string_view::npos;
  return sign != std::string_view::npos && text[sign - 1] != '\\' && TypeOf(node) == "word";
}

void Expansion::Joined(TSNode node, Fields& fields) const {
  const std::string_view text = text_.text();
  const uint32_t end = ts_node_end_byte(node);
  bool is_quoted = false;
  for (uint32_t at = Begin(node); at < end;) {
    const char c = text[at];
    const size_t sign = std::min<size_t>(text.find_first_of(is_quoted ? "\"$" : " \t$\"\\\n", at), end);
    if (sign > at) fields.AddWritten(text_.Between(at, sign));
    else if (c == '$') at = AddNamed(node, at, is_quoted, fields);
    else if (c == ' ' || c == '\t') fields.Close();
    else if (c == '"') is_quoted = !is_quoted;
    if (c == '"' && sign == at) fields.Open();
    at = sign > at ? static_cast<uint32_t>(sign) : c == '$' ? at : at + 1;
  }
}

// `$NAME` or `${NAME}` at a place; the place behind it.
uint32_t Expansion::AddNamed(TSNode node, uint32_t at, bool is_quoted, Fields& fields) const {
  const std::string_view text = text_.text();
  const uint32_t begin = at + (text[at + 1] == '{' ? 2 : 1);
  uint32_t name_end = begin;
  while (name_end < text.size() && IsNamePart(text[name_end])) ++name_end;
  const std::string name(text.substr(begin, name_end - begin));
  const uint32_t end = name_end + begin - at - 1;
  if (variables_.contains(name)) {
    AddVariable(node, name, is_quoted, false, fields);
  } else if (!fields.IsFull()) {
    fields.Add(Word(Piece{.text = std::string(1, kUnknownPart), .origin = text_.Between(at, end).span(), .sureness = Sureness::Unknown, .variable = name, .shell = shell_}));
  }
  return end;
}

// A stretch of the text as it is, but for backslashes.
void Expansion::Literal(uint32_t begin, uint32_t end, bool is_quoted, Fields& fields) const {
  const std::string_view text = text_.text();
  uint32_t from = begin;
  for (uint32_t at = begin; at < end; ++at) {
    if (text[at] != '\\' || at + 1 >= end) continue;
    const char next = text[at + 1];
    const bool is_escape = !is_quoted || next == '"' || next == '$' || next == '\\' || next == '`' || next == '\n';
    if (!is_escape) continue;
    if (at > from) fields.AddWritten(text_.Between(from, at));
    from = next == '\n' ? at + 2 : at + 1;
    ++at;
  }
  if (end > from) fields.AddWritten(text_.Between(from, end));
}

void Expansion::ExpandString(TSNode node, Fields& fields, int depth) const {
  fields.Open();
  uint32_t at = Begin(node);
  const std::string_view text = text_.text();
  const uint32_t quotes = text[at] == '$' ? 2 : 1;
  at += quotes;
  const uint32_t end = ts_node_end_byte(node) - (text[ts_node_end_byte(node) - 1] == '"' ? 1 : 0);
  for (const TSNode child : ChildrenOf(node)) {
    const std::string_view type = TypeOf(child);
    if (type == "\"" || type == "$" || type == "string_content") continue;
    if (Begin(child) > at) Literal(at, Begin(child), true, fields);
    Expand(child, true, fields, depth + 1);
    at = ts_node_end_byte(child);
  }
  if (end > at) Literal(at, end, true, fields);
}

std::string Expansion::AssignedBy(TSNode node) const {
  const std::string_view text = TextOf(node);
  size_t at = 2;
  while (at < text.size() && IsNamePart(text[at])) ++at;
  const std::string_view rest = text.substr(std::min(at, text.size()));
  return rest.starts_with(":=") || rest.starts_with("=") ? std::string(text.substr(2, at - 2)) : std::string();
}

// A value that is computed here: this is where it is written.
Word Expansion::Placed(const Word& word, TSNode node) const {
  Word out;
  for (Piece piece : word.pieces()) {
    piece.origin = SpanOf(node);
    out.Add(std::move(piece));
  }
  return out;
}

// The words of a command.
std::vector<Word> Expansion::WordsOf(TSNode command, int depth) const {
  Fields fields;
  for (const TSNode child : ChildrenOf(command)) {
    if (!ts_node_is_named(child) || TypeOf(child) == "file_redirect") continue;
    Expand(child, false, fields, depth + 1);
    fields.Close();
  }
  return fields.IsFull() ? std::vector<Word>{TooLong(command)} : fields.Take();
}

// The path that `$(dirname "$0")`, `$(realpath "$0")` or `$(cd "$(dirname "$0")" && pwd)` prints, as far as its folder is known, and the
// name of the program that `$(which python)` finds.
std::optional<Word> Expansion::PathPrinted(TSNode node, int depth) const {
  std::vector<TSNode> commands;
  CommandsIn(node, commands, 0);
  if (commands.empty() || commands.size() > 2) return std::nullopt;
  const std::vector<Word> words = WordsOf(commands[0], depth);
  if (words.size() < 2) return std::nullopt;
  const std::string& name = words[0].text();
  const Word& path = words.back();
  if (commands.size() == 2) {
    const std::vector<Word> second = WordsOf(commands[1], depth);
    const bool is_folder = name == "cd" && !second.empty() && second[0].text() == "pwd" && path.IsKnown();
    return is_folder ? std::optional(path) : std::nullopt;
  }
  // The program that is started by that name.
  const bool looks_up = (name == "which" && words.size() == 2) || (name == "command" && words.size() == 3 && words[1].text() == "-v");
  if (looks_up) return path;
  if (name == "dirname") return FolderOf(path);
  return name == "realpath" || name == "readlink" ? std::optional(path) : std::nullopt;
}

// `${name}`, `${name:-default}`, `${name[@]}`, `${name[0]}`, `${name%/*}`; every other form is unknown.
void Expansion::ExpandBraced(TSNode node, bool is_quoted, Fields& fields, int depth) const {
  const std::string_view text = TextOf(node);
  size_t at = 2;
  while (at < text.size() && IsNamePart(text[at])) ++at;
  const std::string_view name = text.size() > 2 ? text.substr(2, at - 2) : std::string_view();
  std::string_view rest = text.substr(std::min(at, text.size()));
  const bool all = rest.starts_with("[@]") || rest.starts_with("[*]");
  if (all) rest.remove_prefix(3);
  if (name.empty()) return fields.Add(Unknown(node));
  if (rest == "}" || rest == "[0]}") return AddVariable(node, name, is_quoted, all, fields);
  if (rest == "%/*}") {
    const std::vector<Word> path = Variable(node, name);
    const std::optional<Word> folder = path.size() == 1 ? FolderOf(path[0]) : std::nullopt;
    return fields.Add(folder ? Placed(*folder, node) : Unknown(node));
  }
  const bool has_default = rest.starts_with(":-") || rest.starts_with(":=") || rest.starts_with("-") || rest.starts_with("=");
  const bool is_required = rest.starts_with(":?") || rest.starts_with("?");
  if (!has_default) return fields.Add(Unknown(node, is_required ? name : std::string_view()));
  const std::vector<Word> value = Variable(node, name);
  const bool is_set = !value.empty() && value[0].IsKnown() && !value[0].text().empty();
  if (is_set) return AddVariable(node, name, is_quoted, all, fields);
  const auto begin = static_cast<uint32_t>(Begin(node) + at + (all ? 3 : 0) + (rest[0] == ':' ? 2 : 1));
  Fields inner;
  const std::vector<TSNode> children = ChildrenOf(node);
  bool has_node = false;
  for (const TSNode child : children) {
    if (Begin(child) < begin || !ts_node_is_named(child)) continue;
    has_node = true;
    Expand(child, true, inner, depth + 1);
  }
  if (!has_node) Literal(begin, ts_node_end_byte(node) - 1, true, inner);
  if (inner.IsFull()) return fields.Fill();
  Word result;
  for (const Word& word : inner.Take()) {
    if (!result.empty()) result.Add({.text = " ", .origin = word.span()});
    for (Piece piece : word.pieces()) {
      piece.sureness = std::min(piece.sureness, Sureness::Default);
      result.Add(std::move(piece));
    }
  }
  if (is_quoted) fields.Add(result);
  else fields.AddSplit(result);
}

void Expansion::Expand(TSNode node, bool is_quoted, Fields& fields, int depth) const {
  const std::string_view type = TypeOf(node);
  if (depth > kDeepestExpansion) return fields.Add(Unknown(node));
  if (type == "string" || type == "translated_string") return ExpandString(node, fields, depth);
  if (type == "raw_string") {
    fields.Open();
    const uint32_t begin = Begin(node) + 1;
    const uint32_t end = ts_node_end_byte(node) - 1;
    if (end > begin) fields.AddWritten(text_.Between(begin, end));
    return;
  }
  if (type == "concatenation" || type == "command_name") {
    for (const TSNode child : ChildrenOf(node)) Expand(child, is_quoted, fields, depth + 1);
    return;
  }
  if (type == "array") {
    for (const TSNode child : ChildrenOf(node)) {
      if (!ts_node_is_named(child) || TypeOf(child) == "comment") continue;
      Expand(child, false, fields, depth + 1);
      fields.Close();
    }
    return;
  }
  if (type == "simple_expansion") {
    const std::string_view name = TextOf(node).substr(1);
    const bool all = name == "@" || name == "*";
    return AddVariable(node, name, is_quoted, all, fields);
  }
  if (type == "expansion") return ExpandBraced(node, is_quoted, fields, depth);
  if (type == "command_substitution") {
    if (const std::optional<Word> path = PathPrinted(node, depth)) return fields.Add(Placed(*path, node));
  }
  if (type == "arithmetic_expansion") {
    if (const std::optional<int64_t> number = Arithmetic(node, depth)) {
      return fields.Add(Word(Piece{.text = std::to_string(*number), .origin = SpanOf(node)}));
    }
    return fields.Add(Unknown(node, IsRandom(TextOf(node)) ? "RANDOM" : ""));
  }
  if (IsJoined(node)) return Joined(node, fields);
  if (type == "word" || type == "number" || type == "string_content" || type == "test_operator" || type == "regex" ||
      type == "variable_name" || type == "extglob_pattern" || !ts_node_is_named(node)) {
    const uint32_t begin = Begin(node);
    return Literal(begin, ts_node_end_byte(node), false, fields);
  }
  if (type == "brace_expression") return Literal(Begin(node), ts_node_end_byte(node), false, fields);
  fields.Add(Unknown(node, IsRandom(TextOf(node)) ? "RANDOM" : ""));
}

// Of numbers and variables that are numbers.
std::optional<int64_t> Expansion::Arithmetic(TSNode node, int depth) const {
  if (depth > kDeepestExpansion) return std::nullopt;
  const std::string_view type = TypeOf(node);
  if (type == "number") return Cut(node).Number();
  if (type == "variable_name" || type == "simple_expansion" || type == "expansion") {
    if (type == "expansion" && TextOf(node).find_first_of(":-[#%/") != std::string_view::npos) return std::nullopt;
    std::string_view name = TextOf(node);
    while (!name.empty() && (name.front() == '$' || name.front() == '{')) name.remove_prefix(1);
    while (!name.empty() && name.back() == '}') name.remove_suffix(1);
    const std::vector<Word> words = Variable(node, name);
    // A default stays one: nothing is computed from it.
    if (words.size() != 1 || words[0].sureness() != Sureness::Written) return std::nullopt;
    return words[0].Number();
  }
  std::vector<TSNode> inner;
  std::string_view op;
  for (const TSNode child : ChildrenOf(node)) {
    if (ts_node_is_named(child)) inner.push_back(child);
    else if (TypeOf(child).find_first_of("+-*/%") == 0) op = TypeOf(child);
  }
  if (type == "binary_expression" && inner.size() == 2 && op.size() == 1) {
    const std::optional<int64_t> left = Arithmetic(inner[0], depth + 1);
    const std::optional<int64_t> right = Arithmetic(inner[1], depth + 1);
    int64_t result = 0;
    if (!left || !right) return std::nullopt;
    switch (op[0]) {
      case '+': return __builtin_add_overflow(*left, *right, &result) ? std::nullopt : std::optional(result);
      case '-': return __builtin_sub_overflow(*left, *right, &result) ? std::nullopt : std::optional(result);
      case '*': return __builtin_mul_overflow(*left, *right, &result) ? std::nullopt : std::optional(result);
      case '/': return *right > 0 ? std::optional(*left / *right) : std::nullopt;
      case '%': return *right > 0 ? std::optional(*left % *right) : std::nullopt;
      default: return std::nullopt;
    }
  }
  if ((type == "arithmetic_expansion" || type == "parenthesized_expression") && inner.size() == 1) return Arithmetic(inner[0], depth + 1);
  return std::nullopt;
}

std::vector<Word> SplitWords(const Word& line) {
  std::vector<Word> words;
  const std::string& text = line.text();
  for (size_t at = 0; at < text.size();) {
    if (IsSpace(text[at])) {
      ++at;
      continue;
    }
    const char quote = text[at] == '"' || text[at] == '\'' ? text[at] : '\0';
    const size_t begin = at + (quote != '\0' ? 1 : 0);
    size_t end = begin;
    while (end < text.size() && (quote != '\0' ? text[end] != quote : !IsSpace(text[end]))) ++end;
    words.push_back(line.Between(begin, end));
    at = end + (quote != '\0' ? 1 : 0);
  }
  return words;
}

}  // namespace allranks::launch_files
