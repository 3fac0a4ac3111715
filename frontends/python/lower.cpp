#include "frontends/python/lower.h"

#include <algorithm>
#include <string>
#include <vector>

#include "frontends/python/lowering.h"
#include "frontends/python/parse.h"
#include "frontends/python/syntax_errors.h"

namespace allranks::python {
namespace {

// The text with what the parser cannot take replaced byte by byte, so that all offsets stay: it ends a line only at
// "\n", and stops some of its loops at NUL.
std::string Parseable(const source::SourceFile& file) {
  std::string text = file.text;
  for (size_t at = text.find('\r'); at != std::string::npos; at = text.find('\r', at + 1)) {
    if (at + 1 >= text.size() || text[at + 1] != '\n') text[at] = '\n';
  }
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

bool HasLoneReturn(std::string_view text) {
  for (size_t at = text.find('\r'); at != std::string_view::npos; at = text.find('\r', at + 1)) {
    if (at + 1 >= text.size() || text[at + 1] != '\n') return true;
  }
  return false;
}

// What is parsed at once: the file, or each cell of a notebook, so that a bracket left open in one cell harms no other.
std::vector<ir::Range> Stretches(const source::SourceFile& file) {
  const uint32_t size = static_cast<uint32_t>(file.text.size());
  if (!file.is_notebook()) return {{0, size}};
  std::vector<ir::Range> stretches;
  for (size_t i = 0; i < file.cells.size(); ++i) {
    const uint32_t begin = file.line_starts[file.cells[i].first_line];
    const bool is_last = i + 1 == file.cells.size();
    stretches.push_back({begin, is_last ? size : file.line_starts[file.cells[i + 1].first_line]});
  }
  return stretches;
}

void LowerStretch(std::string_view text, ir::Range range, Parser* parser, Lowering* lowering, ir::Builder* builder) {
  if (IndentsTooDeep(text.substr(range.begin, range.end - range.begin))) {
    return lowering->Unreadable(range, "more levels of indentation than any program has");
  }
  const Tree tree = parser->Parse(text, range.begin, range.end);
  if (tree == nullptr) return lowering->Unreadable(range, "too far from Python to be parsed");
  AddSyntaxErrors(ts_tree_root_node(tree.get()), text, builder);
  lowering->Tree(ts_tree_root_node(tree.get()));
}

}  // namespace

ir::Module Lower(const source::SourceFile& file, source::FileId file_id, base::Interner& interner) {
  const uint32_t size = static_cast<uint32_t>(file.text.size());
  std::string changed;
  if (file.has_nul || HasLoneReturn(file.text)) changed = Parseable(file);
  const std::string_view text = changed.empty() ? file.text : changed;

  ir::Builder builder(file_id, ir::Language::Python, size);
  builder.StartFunction({.name = interner.Intern("<module>"), .end = size});
  if (file.has_nul) {
    const uint32_t place = static_cast<uint32_t>(file.text.find('\0'));
    builder.AddProblem(ir::ProblemKind::Syntax, {place, place + 1}, "null byte in the source");
  }
  Lowering lowering(text, &builder, &interner);
  Parser parser;
  for (const ir::Range range : Stretches(file)) LowerStretch(text, range, &parser, &lowering, &builder);
  lowering.FinishTopLevel();
  builder.SortByPlace();
  return builder.Finish();
}

}  // namespace allranks::python
