#include "rules/source_edits.h"

#include <algorithm>

namespace allranks::rules {

using findings::Edit;

namespace {

uint32_t LineStart(std::string_view text, uint32_t at) {
  while (at > 0 && text[at - 1] != '\n' && text[at - 1] != '\r') --at;
  return at;
}

uint32_t LineEnd(std::string_view text, uint32_t at) {
  while (at < text.size() && text[at] != '\n' && text[at] != '\r') ++at;
  return at;
}

// What ends the lines of this file.
std::string_view NewLine(std::string_view text) {
  const size_t at = text.find('\n');
  return at != std::string_view::npos && at > 0 && text[at - 1] == '\r' ? "\r\n" : "\n";
}

std::string Indented(std::string_view lines, std::string_view indent, std::string_view new_line) {
  std::string out;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    out += std::string(indent) + std::string(lines.substr(0, end)) + std::string(new_line);
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return out;
}

std::string_view IndentAt(std::string_view text, uint32_t at) {
  const uint32_t start = LineStart(text, at);
  return text.substr(start, at - start);
}

}  // namespace

std::string_view TextOf(const Context& context, source::Span span) {
  return std::string_view(context.files[span.file].text).substr(span.begin, span.end - span.begin);
}

std::string_view TextOf(const Context& context, ir::ModuleId module, ir::ExprId expr) {
  return TextOf(context, context.program.modules[module].span(expr));
}

Edit Replace(source::Span span, std::string text) { return {.span = span, .replacement = std::move(text)}; }

bool BeginsLine(const Context& context, ir::ModuleId module_id, ir::StmtId stmt) {
  const ir::Module& module = context.program.modules[module_id];
  const std::string_view indent = IndentAt(context.files[module.file].text, module[stmt].begin);
  return indent.find_first_not_of(" \t") == std::string_view::npos;
}

Edit InsertBefore(const Context& context, ir::ModuleId module_id, ir::StmtId stmt, std::string_view lines) {
  const ir::Module& module = context.program.modules[module_id];
  const std::string_view text = context.files[module.file].text;
  const uint32_t at = module[stmt].begin;
  const uint32_t start = LineStart(text, at);
  return {.span = {module.file, start, start},
          .replacement = Indented(lines, IndentAt(text, at), NewLine(text))};
}

Edit InsertAfter(const Context& context, ir::ModuleId module_id, ir::StmtId stmt, std::string_view lines) {
  const ir::Module& module = context.program.modules[module_id];
  const std::string_view text = context.files[module.file].text;
  const uint32_t end = LineEnd(text, module[stmt].end);
  std::string added = Indented(lines, IndentAt(text, module[stmt].begin), NewLine(text));
  added.resize(added.size() - NewLine(text).size());
  return {.span = {module.file, end, end}, .replacement = std::string(NewLine(text)) + added};
}

Edit RemoveLine(const Context& context, ir::ModuleId module_id, ir::StmtId stmt) {
  const ir::Module& module = context.program.modules[module_id];
  const std::string_view text = context.files[module.file].text;
  const uint32_t end = LineEnd(text, module[stmt].end) + static_cast<uint32_t>(NewLine(text).size());
  return {.span = {module.file, LineStart(text, module[stmt].begin), std::min<uint32_t>(end, text.size())}, .replacement = ""};
}

std::vector<Edit> EncloseFrom(const Context& context, ir::ModuleId module_id, ir::StmtId first, ir::StmtId with) {
  const ir::Module& module = context.program.modules[module_id];
  const std::string_view text = context.files[module.file].text;
  const ir::StmtId inner = module.statements(ir::BodyOf(module[with])).front();
  if (!BeginsLine(context, module_id, first) || !BeginsLine(context, module_id, with) || !BeginsLine(context, module_id, inner)) return {};
  const uint32_t from = LineStart(text, module[first].begin), head = LineStart(text, module[with].begin);
  const uint32_t body = LineStart(text, module[inner].begin);
  const std::string_view indent = IndentAt(text, module[with].begin), deeper = IndentAt(text, module[inner].begin);
  const std::string_view between = text.substr(from, head - from);
  // Lines inside a text are part of it.
  const bool has_long_text = between.find("\"\"\"") != std::string_view::npos || between.find("'''") != std::string_view::npos;
  if (has_long_text || !deeper.starts_with(indent) || IndentAt(text, module[first].begin) != indent) return {};
  const std::string_view unit = deeper.substr(indent.size());
  std::vector<Edit> edits = {{.span = {module.file, from, from}, .replacement = std::string(text.substr(head, body - head))}};
  for (uint32_t line = from; line < head; line = LineEnd(text, line) + static_cast<uint32_t>(NewLine(text).size())) {
    if (LineEnd(text, line) > line) edits.push_back({.span = {module.file, line, line}, .replacement = std::string(unit)});
  }
  // Both edits of the first line go in at one place.
  edits[0].replacement += edits[1].replacement;
  edits.erase(edits.begin() + 1);
  edits.push_back({.span = {module.file, head, body}, .replacement = ""});
  return edits;
}

Edit AddArgument(const Context& context, ir::ModuleId module_id, ir::ExprId call, std::string_view argument) {
  const ir::Module& module = context.program.modules[module_id];
  const ir::Expr& node = module[call];
  const std::string_view text = context.files[module.file].text;
  const uint32_t count = ir::ArgCount(module, node);
  // Behind the last argument, so that a comma or comment that follows stays where it is.
  if (count > 0) {
    const uint32_t end = module[ir::ArgAt(module, node, count - 1).value].end;
    return {.span = {module.file, end, end}, .replacement = ", " + std::string(argument)};
  }
  const uint32_t close = node.end - 1;
  const bool is_empty = text.substr(0, close).ends_with('(');
  return {.span = {module.file, close, close}, .replacement = (is_empty ? "" : " ") + std::string(argument)};
}

Edit RemoveArgument(const Context& context, ir::ModuleId module_id, ir::ExprId call, ir::ExprId argument) {
  const ir::Module& module = context.program.modules[module_id];
  const std::string_view text = context.files[module.file].text;
  const source::Span span = ArgumentSpan(context, module_id, call, argument);
  uint32_t begin = span.begin;
  uint32_t end = span.end;
  const size_t before = text.find_last_not_of(" \t\r\n", begin - 1);
  const size_t next = text.find_first_not_of(" \t\r\n", end);
  if (next != std::string_view::npos && text[next] == ',') {
    end = static_cast<uint32_t>(text.find_first_not_of(" \t", next + 1));
    // The rest of a line that held nothing else.
    const bool alone = IndentAt(text, begin).find_first_not_of(" \t") == std::string_view::npos;
    if (alone && (text[end] == '\n' || text[end] == '\r')) {
      begin = LineStart(text, begin);
      end = std::min<uint32_t>(LineEnd(text, end) + static_cast<uint32_t>(NewLine(text).size()), text.size());
    }
  } else if (text[before] == ',') {
    begin = static_cast<uint32_t>(before);
  }
  return {.span = {module.file, begin, end}, .replacement = ""};
}

source::Span ArgumentSpan(const Context& context, ir::ModuleId module_id, ir::ExprId call, ir::ExprId argument) {
  const ir::Module& module = context.program.modules[module_id];
  const std::string_view text = context.files[module.file].text;
  const uint32_t callee_end = module[ir::CalleeOf(module[call])].end;
  const uint32_t value = module[argument].begin;
  // Between the argument before, or the parenthesis, and the value stands nothing but the keyword.
  uint32_t previous = callee_end;
  for (uint32_t i = 0; i < ir::ArgCount(module, module[call]); ++i) {
    const uint32_t end = module[ir::ArgAt(module, module[call], i).value].end;
    if (end <= value) previous = std::max(previous, end);
  }
  const size_t separator = text.find_first_of(",(", previous);
  uint32_t begin = separator < value ? static_cast<uint32_t>(separator) + 1 : previous;
  begin = static_cast<uint32_t>(text.find_first_not_of(" \t\r\n", begin));
  // A comment may stand in between.
  while (begin < value && text[begin] == '#') {
    begin = static_cast<uint32_t>(text.find_first_not_of(" \t\r\n", LineEnd(text, begin)));
  }
  return {module.file, begin, module[argument].end};
}

std::vector<Edit> EnsureImport(const Context& context, ir::ModuleId module_id, std::string_view name,
                               std::string_view statement) {
  const ir::Module& module = context.program.modules[module_id];
  const base::NameId id = context.program.names->Find(name);
  if (id && context.program.top_level[module_id.index].contains(id)) return {};
  const auto stmts = module.statements(module.functions[ir::kTopLevel].body);
  for (const ir::StmtId stmt : stmts) {
    const bool is_import = module[stmt].kind == ir::StmtKind::Import;
    const std::string_view text = TextOf(context, module.span(stmt));
    if (!is_import || text.starts_with("from __future__")) continue;
    return {InsertBefore(context, module_id, stmt, statement)};
  }
  return {};
}

findings::Fix MakeFix(std::string title, Applicability applicability, std::vector<Edit> edits) {
  // What is put in stands before what is taken away at the same place.
  std::ranges::stable_sort(edits, {}, [](const Edit& edit) { return std::pair(edit.span.begin, edit.span.end); });
  // Two insertions at one place are one edit: two would be taken for those of two fixes. A line before a statement and
  // the statement's own indentation meet where the statement stands at the left margin.
  std::vector<Edit> joined;
  for (Edit& edit : edits) {
    const bool is_insertion = edit.span.begin == edit.span.end;
    if (is_insertion && !joined.empty() && joined.back().span == edit.span) joined.back().replacement += edit.replacement;
    else joined.push_back(std::move(edit));
  }
  return {.title = std::move(title), .applicability = applicability, .edits = std::move(joined)};
}

}  // namespace allranks::rules
