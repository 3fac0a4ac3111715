// String literals: pieces of text and, in f-strings, the expressions between them.
#include "frontends/python/lowering.h"

namespace allranks::python {

// What is known of a literal while its pieces are read.
struct Lowering::StringParts {
  explicit StringParts(std::vector<ExprId>* store) : items(store) {}

  ExprList items;
  // Text since the last interpolation, and where it stands.
  LiteralText text;
  Range text_range;
  bool has_interpolation = false;
  bool is_formatted = false;
  bool bytes = false;
};

ExprId Lowering::String() {
  const Range range = this->range();
  StringParts parts(&expr_store_);
  parts.text_range = range;
  if (kind() == Kind::String) {
    StringPiece(&parts);
  } else {
    cursor_->ForEachChild([&](Kind child) {
      if (child == Kind::String) StringPiece(&parts);
    });
  }
  const ir::ConstantKind constant = parts.bytes ? ir::ConstantKind::Bytes : ir::ConstantKind::Str;
  if (!parts.has_interpolation) return TextConstant(range, constant, parts.text);
  if (!parts.text.empty()) parts.items.Add(TextConstant(parts.text_range, constant, parts.text));
  return builder_.FString(range, parts.items.items(), parts.is_formatted ? ir::kFormatted : uint16_t{0});
}

// One literal; several stand side by side in an implicit concatenation.
void Lowering::StringPiece(StringParts* parts) {
  StringPrefix prefix;
  // The text that is not yet added starts here; the parser's own nodes for it are not looked at.
  uint32_t from = cursor_->begin();
  uint32_t quote_length = 1;
  const uint32_t end = cursor_->end();
  bool closed = false;
  const auto add_text = [&](uint32_t to) { AddText({from, to}, prefix, parts); };
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::StringStart) {
      prefix = PrefixOf(TextHere());
      parts->bytes = parts->bytes || prefix.bytes;
      from = cursor_->end();
      quote_length = TextHere().ends_with("\"\"\"") || TextHere().ends_with("'''") ? 3 : 1;
    } else if (child == Kind::StringEnd) {
      // The parser counts backslashes at the end of a raw string to its closing quote.
      add_text(cursor_->end() - quote_length);
      closed = true;
    } else if (child == Kind::Interpolation) {
      add_text(cursor_->begin());
      from = cursor_->end();
      InterpolationOf(parts);
    }
  });
  if (!closed) add_text(end);
}

void Lowering::AddText(Range range, StringPrefix prefix, StringParts* parts) {
  if (range.end <= range.begin) return;
  if (parts->text.empty()) parts->text_range.begin = range.begin;
  parts->text_range.end = range.end;
  parts->text.Add(text_.substr(range.begin, range.end - range.begin), prefix);
}

// `{x = }` also prints what stands before its value.
void Lowering::AddSelfDocumentation(StringParts* parts) {
  const uint32_t begin = cursor_->begin() + 1;
  bool after_equals = false;
  cursor_->ForEachChild([&](Kind child) {
    if (after_equals) AddText({begin, cursor_->begin()}, {.raw = true}, parts);
    after_equals = child == Kind::EqualsToken;
  });
}

// The expression in braces, then those of its format specification.
void Lowering::InterpolationOf(StringParts* parts) {
  if (cursor_->HasChild(Kind::EqualsToken)) AddSelfDocumentation(parts);
  if (!parts->text.empty())
    parts->items.Add(TextConstant(parts->text_range, ir::ConstantKind::Str, parts->text));
  parts->text = {};
  parts->has_interpolation = true;
  parts->is_formatted = parts->is_formatted || cursor_->HasChild(Kind::FormatSpecifier);
  CollectExpressions(&parts->items);
}

ExprId Lowering::TextConstant(Range range, ir::ConstantKind constant, const LiteralText& text) {
  if (text.too_long()) return builder_.Text(range, constant, {});
  return builder_.Text(range, constant, interner_.Intern(text.text()));
}

}  // namespace allranks::python
