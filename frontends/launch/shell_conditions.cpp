#include "frontends/launch/shell_conditions.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace allranks::launch_files {
namespace {

// Signs that make a text a pattern of many.
constexpr std::string_view kOfPatterns = "*?[(|";

// As it is compared; nothing: it may be another one. `least`: how sure it has to be.
std::optional<Word> ValueOf(TSNode node, const Expansion& expansion, Sureness least) {
  if (TypeOf(node) == "variable_name") {
    const std::vector<Word> words = expansion.Variable(node, expansion.TextOf(node));
    return words.size() == 1 && words[0].IsKnown() && words[0].sureness() >= least ? std::optional(words[0]) : std::nullopt;
  }
  const Word value = expansion.Value(node);
  return value.IsKnown() && value.sureness() >= least ? std::optional(value) : std::nullopt;
}

std::optional<bool> OfNumbers(std::string_view op, int64_t left, int64_t right) {
  if (op == "-eq" || op == "==") return left == right;
  if (op == "-ne" || op == "!=") return left != right;
  if (op == "-lt" || op == "<") return left < right;
  if (op == "-le" || op == "<=") return left <= right;
  if (op == "-gt" || op == ">") return left > right;
  if (op == "-ge" || op == ">=") return left >= right;
  return std::nullopt;
}

std::optional<bool> OfTexts(std::string_view op, const std::string& left, const std::string& right) {
  if (right.find_first_of(kOfPatterns) != std::string::npos) return std::nullopt;
  if (op == "=" || op == "==") return left == right;
  return op == "!=" ? std::optional(left != right) : std::nullopt;
}

std::optional<bool> OfComparison(TSNode node, bool is_arithmetic, const Expansion& expansion, Sureness least) {
  const std::vector<TSNode> parts = ChildrenOf(node);
  if (parts.size() != 3) return std::nullopt;
  const std::optional<Word> left = ValueOf(parts[0], expansion, least);
  const std::optional<Word> right = ValueOf(parts[2], expansion, least);
  const std::string_view op = expansion.TextOf(parts[1]);
  if (!left || !right) return std::nullopt;
  const bool is_of_texts = !is_arithmetic && !op.starts_with('-');
  if (is_of_texts) return OfTexts(op, left->text(), right->text());
  return left->Number() && right->Number() ? OfNumbers(op, *left->Number(), *right->Number()) : std::nullopt;
}

}  // namespace

std::vector<TSNode> ConditionOf(const std::vector<TSNode>& parts) {
  const auto then = std::ranges::find_if(parts, [](TSNode part) { return TypeOf(part) == "then"; });
  std::vector<TSNode> condition(parts.begin(), then);
  std::erase_if(condition, [](TSNode part) { return TypeOf(part) == "elif"; });
  return condition;
}

std::optional<bool> Holds(const std::vector<TSNode>& condition, const Expansion& expansion, Sureness least) {
  std::vector<TSNode> tests;
  std::ranges::copy_if(condition, std::back_inserter(tests), [](TSNode part) { return ts_node_is_named(part); });
  const bool is_test = tests.size() == 1 && (TypeOf(tests[0]) == "test_command" || TypeOf(tests[0]) == "compound_statement");
  if (!is_test) return std::nullopt;
  std::vector<TSNode> inner;
  std::ranges::copy_if(ChildrenOf(tests[0]), std::back_inserter(inner), [](TSNode part) { return ts_node_is_named(part); });
  if (inner.size() != 1 || TypeOf(inner[0]) != "binary_expression") return std::nullopt;
  return OfComparison(inner[0], expansion.TextOf(tests[0]).starts_with("(("), expansion, least);
}

std::optional<bool> IsChosen(TSNode choice, TSNode arm, const Expansion& expansion, Sureness least) {
  const TSNode value_node = ts_node_child_by_field_name(choice, "value", 5);
  const std::optional<Word> value = ts_node_is_null(value_node) ? std::nullopt : ValueOf(value_node, expansion, least);
  if (!value) return std::nullopt;
  bool is_certain = true;
  for (const TSNode part : ChildrenOf(arm)) {
    if (TypeOf(part) == ")") break;
    if (!ts_node_is_named(part)) continue;
    const std::string_view pattern = expansion.TextOf(part);
    const bool is_plain = pattern.find_first_of("*?[($`\"'\\") == std::string_view::npos;
    if (is_plain && pattern == value->text()) return true;
    is_certain = is_certain && is_plain;
  }
  return is_certain ? std::optional(false) : std::nullopt;
}

}  // namespace allranks::launch_files
