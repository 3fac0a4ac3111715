#include "frontends/cpp/syntax/tree.h"

#include <unordered_map>

extern "C" const TSLanguage* tree_sitter_cpp(void);

namespace allranks::cpp::syntax {
namespace {

struct Budget {
  uint64_t asked = 0;
  uint64_t most = 0;
};

// The parser asks every hundred steps or so. Programs that people write take less than one question a byte.
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

TSParser* OwnParser() {
  static thread_local const std::unique_ptr<TSParser, void (*)(TSParser*)> parser = [] {
    std::unique_ptr<TSParser, void (*)(TSParser*)> made(ts_parser_new(), ts_parser_delete);
    ts_parser_set_language(made.get(), tree_sitter_cpp());
    return made;
  }();
  return parser.get();
}

TSTree* Parsed(std::string_view text) {
  TSParser* parser = OwnParser();
  Budget budget{.asked = 0, .most = kFreeQuestions + kQuestionsPerByte * text.size()};
  const TSInput input = {.payload = &text, .read = ReadText, .encoding = TSInputEncodingUTF8, .decode = nullptr};
  TSTree* tree = ts_parser_parse_with_options(parser, nullptr, input, {.payload = &budget, .progress_callback = IsOverBudget});
  if (tree == nullptr) ts_parser_reset(parser);
  return tree;
}

std::vector<Kind> KindsBySymbol() {
  std::unordered_map<std::string_view, Kind> kinds;
#define NODE(kind, name) kinds.emplace(name, Kind::kind);
#include "frontends/cpp/syntax/kinds.def"
  const TSLanguage* language = tree_sitter_cpp();
  std::vector<Kind> by_symbol(ts_language_symbol_count(language), Kind::Other);
  for (size_t i = 0; i < by_symbol.size(); ++i) {
    const auto symbol = static_cast<TSSymbol>(i);
    if (ts_language_symbol_type(language, symbol) != TSSymbolTypeRegular) continue;
    const auto found = kinds.find(ts_language_symbol_name(language, symbol));
    if (found != kinds.end()) by_symbol[i] = found->second;
  }
  return by_symbol;
}

}  // namespace

Kind Node::kind() const {
  static const std::vector<Kind> kinds = KindsBySymbol();
  const TSSymbol symbol = ts_node_symbol(node_);
  // That of an error lies behind all others.
  return symbol < kinds.size() ? kinds[symbol] : Kind::Error;
}

Node Node::operator[](std::string_view field) const {
  return Node(ts_node_child_by_field_name(node_, field.data(), static_cast<uint32_t>(field.size())), field);
}

std::vector<Node> Node::Children() const {
  std::vector<Node> children;
  TSTreeCursor cursor = ts_tree_cursor_new(node_);
  for (bool more = ts_tree_cursor_goto_first_child(&cursor); more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
    const char* field = ts_tree_cursor_current_field_name(&cursor);
    const Node child(ts_tree_cursor_current_node(&cursor), field ? std::string_view(field) : std::string_view());
    if (ts_node_is_named(child.raw()) && child.kind() != Kind::Comment) children.push_back(child);
  }
  ts_tree_cursor_delete(&cursor);
  return children;
}

bool Node::HasWord(std::string_view word, std::string_view text) const {
  const uint32_t count = ts_node_child_count(node_);
  for (uint32_t i = 0; i < count; ++i) {
    if (Node(ts_node_child(node_, i)).TextIn(text) == word) return true;
  }
  return false;
}

Tree::Tree(std::string_view text) : tree_(Parsed(text), ts_tree_delete) {}

}  // namespace allranks::cpp::syntax
