// From a word as written to the words that the shell makes of it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/launch/shell.h"
#include "frontends/launch/syntax_tree.h"

namespace allranks::launch_files {

// What values put into words. `A=$A$A` doubles: what grows longer than people write is unknown.
class Growth {
 public:
  // Whether there is room for one more.
  bool Takes(const Word& value);
  bool IsFull() const { return is_full_; }
  void Fill() { is_full_ = true; }

 private:
  size_t pieces_ = 0;
  size_t bytes_ = 0;
  bool is_full_ = false;
};

class Expansion {
 public:
  Expansion(const Word& text, const std::map<std::string, ShellVariable>& variables, uint8_t shell, ShellBudget& budget)
      : text_(text), variables_(variables), shell_(shell), budget_(budget) {}

  // The words that a word of a command becomes: none, one or several.
  std::vector<Word> Words(TSNode node) const;
  // Of `--name=value`, which the grammar takes for an assignment where a command would begin.
  std::vector<Word> StrayWords(TSNode node) const;
  // As the value of a variable: one word.
  Word Value(TSNode node) const;
  Word Cut(TSNode node) const { return text_.Between(Begin(node), ts_node_end_byte(node)); }
  source::Span SpanOf(TSNode node) const;
  std::string_view TextOf(TSNode node) const {
    return std::string_view(text_.text()).substr(Begin(node), ts_node_end_byte(node) - Begin(node));
  }
  uint32_t Begin(TSNode node) const { return BeginOf(node, text_.text()); }
  Word Unknown(TSNode node, std::string_view variable = {}) const;
  // Of a value that is too long.
  Word TooLong(TSNode node) const;
  // The variable that `${name:=value}` gives a value if it has none; empty: this is no such expansion.
  std::string AssignedBy(TSNode node) const;
  // The value of a variable at a place that names it; unknown where nothing is known.
  std::vector<Word> Variable(TSNode node, std::string_view name) const;

 private:
  class Fields;
  void Expand(TSNode node, bool is_quoted, Fields& fields, int depth) const;
  void ExpandString(TSNode node, Fields& fields, int depth) const;
  void ExpandBraced(TSNode node, bool is_quoted, Fields& fields, int depth) const;
  bool IsJoined(TSNode node) const;
  void Joined(TSNode node, Fields& fields) const;
  uint32_t AddNamed(TSNode node, uint32_t at, bool is_quoted, Fields& fields) const;
  void Literal(uint32_t begin, uint32_t end, bool is_quoted, Fields& fields) const;
  void AddVariable(TSNode node, std::string_view name, bool is_quoted, bool all, Fields& fields) const;
  std::optional<int64_t> Arithmetic(TSNode node, int depth) const;
  Word Placed(const Word& word, TSNode node) const;
  std::vector<Word> WordsOf(TSNode command, int depth) const;
  std::optional<Word> PathPrinted(TSNode node, int depth) const;

  const Word& text_;
  const std::map<std::string, ShellVariable>& variables_;
  uint8_t shell_;
  ShellBudget& budget_;
};

}  // namespace allranks::launch_files
