#include "frontends/python/lower.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/python/grammar_gaps.h"
#include "frontends/python/lowering.h"
#include "frontends/python/outline.h"
#include "frontends/python/parse.h"
#include "frontends/python/syntax_errors.h"

namespace allranks::python {

struct ParsedText {
  std::string text;
  Tree tree;
};

LastParse::LastParse() = default;
LastParse::~LastParse() = default;
LastParse::LastParse(LastParse&&) noexcept = default;
LastParse& LastParse::operator=(LastParse&&) noexcept = default;

namespace {

// Replaces what the parser cannot take, byte by byte, so that all offsets stay: it ends a line only at "\n",
// and stops some of its loops at NUL.
void MakeParseable(std::string* text) {
  for (size_t at = text->find('\r'); at != std::string::npos; at = text->find('\r', at + 1)) {
    if (at + 1 >= text->size() || (*text)[at + 1] != '\n') (*text)[at] = '\n';
  }
  std::replace(text->begin(), text->end(), '\0', ' ');
}

bool HasLoneReturn(std::string_view text) {
  for (size_t at = text.find('\r'); at != std::string_view::npos; at = text.find('\r', at + 1)) {
    if (at + 1 >= text.size() || text[at + 1] != '\n') return true;
  }
  return false;
}

// What is parsed at once: the file, or each cell of a notebook, so that a bracket left open in one cell harms
// no other.
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

}  // namespace

// One file on its way to IR.
class FileLowering {
 public:
  FileLowering(const source::SourceFile& file, source::FileId file_id, base::Interner* interner, LastParse* last, const IsOver& is_over)
      : file_(file),
        last_(last),
        text_(file.text),
        builder_(file_id, ir::Language::Python, file.text.size()),
        lowering_(&builder_, interner, is_over),
        parser_(is_over) {
    const uint32_t size = static_cast<uint32_t>(file.text.size());
    builder_.StartFunction({.name = interner->Intern("<module>"), .end = size});
  }

  ir::Module Run() {
    if (file_.has_nul || HasLoneReturn(file_.text)) MakeParseable(Editable());
    if (file_.has_nul) {
      const uint32_t place = static_cast<uint32_t>(file_.text.find('\0'));
      builder_.AddProblem(ir::ProblemKind::Syntax, {place, place + 1}, "null byte in the source");
    }
    for (const ir::Range range : Stretches(file_)) Stretch(range);
    lowering_.FinishTopLevel();
    builder_.SortByPlace();
    return builder_.Finish();
  }

 private:
  // How often a text is parsed again: few programs have more mistakes at once.
  static constexpr int kMostAttempts = 4;

  // The text to hide bytes in, made once: names that lowering has read stay where they are.
  std::string* Editable() {
    if (changed_.empty()) {
      changed_ = std::string(text_);
      text_ = changed_;
    }
    return &changed_;
  }

  // What cannot be parsed as a whole is parsed statement by statement: the parser, left to itself, drops all
  // that follows a bracket left open, and takes time that grows with the square of the text.
  void Stretch(ir::Range range) {
    if (IndentsTooDeep(text_.substr(range.begin, range.end - range.begin))) {
      return lowering_.Unreadable(range, "more levels of indentation than any program has");
    }
    if (last_ != nullptr && !file_.is_notebook() && LowerEdited()) return;
    Tree tree = parser_.Parse(text_, range.begin, range.end);
    for (int attempt = 0; attempt < kMostAttempts && tree != nullptr && CloseGaps(tree, range); ++attempt) {
      tree = parser_.Parse(text_, range.begin, range.end);
    }
    if (tree != nullptr && !ErrorOf(tree, range)) {
      Lower(tree, true);
      return Keep(std::move(tree));
    }
    for (const ir::Range statement : SplitStatements(text_, range)) Statement(statement);
  }

  // Whether the text could be read by taking over what is as it was. Where errors are found depends on how the parser came
  // there, so that such a text is parsed from its beginning.
  bool LowerEdited() {
    if (last_->parsed_ == nullptr) return false;
    ParsedText& parsed = *last_->parsed_;
    Tree tree = parser_.ParseEdited(text_, parsed.text, parsed.tree.get());
    // What follows is an edit of this text; the tree knows what was edited so far.
    parsed.text = text_;
    if (tree == nullptr || ts_node_has_error(ts_tree_root_node(tree.get()))) return false;
    Lower(tree, true);
    Keep(std::move(tree));
    return true;
  }

  void Keep(Tree tree) {
    if (last_ == nullptr || file_.is_notebook() || ts_node_has_error(ts_tree_root_node(tree.get()))) return;
    last_->parsed_ = std::make_unique<ParsedText>(ParsedText{.text = std::string(text_), .tree = std::move(tree)});
  }

  // True if the text was changed where the parser knows too little of Python.
  bool CloseGaps(const Tree& tree, ir::Range range) {
    constexpr size_t kMostPlaces = 20;
    const std::vector<uint32_t> places = ErrorPlaces(ts_tree_root_node(tree.get()), kMostPlaces);
    if (places.empty()) return false;
    std::vector<uint32_t> stars;
    const bool changed = CloseGrammarGaps(range, places, Editable(), &stars);
    lowering_.AddStars(stars);
    return changed;
  }

  // Hides what is broken until the rest can be read, a few times.
  void Statement(ir::Range range) {
    Tree tree = parser_.Parse(text_, range.begin, range.end);
    std::optional<SyntaxError> error = ErrorOf(tree, range);
    for (int attempt = 0; error && attempt < kMostAttempts && !HasManyProblems(); ++attempt) {
      if (!lowering_.IsMasked(error->range.begin)) AddSyntaxError(*error, &builder_);
      lowering_.AddMasked(MaskStatement(error->range.begin, range, Editable()));
      tree = parser_.Parse(text_, range.begin, range.end);
      error = ErrorOf(tree, range);
    }
    if (tree == nullptr) return lowering_.Unreadable(range, "too far from Python to be parsed");
    Lower(tree, !error);
  }

  // The first error that hides more than its own place, if any.
  std::optional<SyntaxError> ErrorOf(const Tree& tree, ir::Range range) const {
    if (tree != nullptr && !ts_node_has_error(ts_tree_root_node(tree.get()))) return {};
    const std::optional<TextFault> fault = FindTextFault(text_, range);
    if (fault) return SyntaxError{.range = {fault->offset, fault->offset + 1}, .text = fault->text};
    return tree == nullptr ? std::nullopt : SpreadErrorIn(ts_tree_root_node(tree.get()), text_);
  }

  bool HasManyProblems() const { return builder_.module().problems.size() >= kMostProblems; }

  void Lower(const Tree& tree, bool add_errors) {
    const TSNode root = ts_tree_root_node(tree.get());
    if (add_errors) AddSyntaxErrors(root, text_, &builder_);
    lowering_.Tree(root, text_);
  }

  const source::SourceFile& file_;
  LastParse* last_;
  // The file's text, or that of `changed_`: as long, and equal but for bytes that were hidden from the
  // parser.
  std::string_view text_;
  std::string changed_;
  ir::Builder builder_;
  Lowering lowering_;
  Parser parser_;
};

ir::Module Lower(const source::SourceFile& file, source::FileId file_id, base::Interner& interner, LastParse* last,
                 const IsOver& is_over) {
  return FileLowering(file, file_id, &interner, last, is_over).Run();
}

}  // namespace allranks::python
