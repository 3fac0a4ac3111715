#include "analyzer/source/notebook.h"

#include <nlohmann/json.hpp>

#include "analyzer/base/json_problem.h"
#include "analyzer/base/lowered.h"

namespace allranks::source {
namespace {

using Json = nlohmann::json;

// Outputs are images and logs, often megabytes; the parser drops them as it meets them.
bool KeepJson(int /*depth*/, Json::parse_event_t event, Json& parsed) {
  if (event != Json::parse_event_t::key || !parsed.is_string()) return true;
  const std::string& key = parsed.get_ref<const std::string&>();
  return key != "outputs" && key != "attachments";
}

base::Result<Json> ParseJson(std::string_view text) {
  try {
    return Json::parse(text.begin(), text.end(), KeepJson);
  } catch (const Json::exception& error) {
    return base::Fail("not a notebook: " + base::JsonProblem(error.what()));
  }
}

const Json* Member(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

std::string LanguageOf(const Json& notebook) {
  const Json* metadata = Member(notebook, "metadata");
  if (metadata == nullptr) return "python";
  for (const auto& [object, name] :
       {std::pair("language_info", "name"), std::pair("kernelspec", "language")}) {
    const Json* info = Member(*metadata, object);
    const Json* language = info == nullptr ? nullptr : Member(*info, name);
    if (language == nullptr || !language->is_string()) continue;
    return base::Lowered(language->get<std::string>());
  }
  return "python";
}

// The lists of cells: one in nbformat 4, one a worksheet in nbformat 3.
std::vector<const Json*> CellLists(const Json& notebook) {
  std::vector<const Json*> lists;
  if (const Json* cells = Member(notebook, "cells"); cells != nullptr && cells->is_array())
    lists.push_back(cells);
  const Json* worksheets = Member(notebook, "worksheets");
  if (worksheets == nullptr || !worksheets->is_array()) return lists;
  for (const Json& worksheet : *worksheets) {
    const Json* cells = Member(worksheet, "cells");
    if (cells != nullptr && cells->is_array()) lists.push_back(cells);
  }
  return lists;
}

// A cell's source is one string or a list of lines, under a name that depends on the format.
std::string SourceOf(const Json& cell) {
  const Json* source = Member(cell, "source");
  if (source == nullptr) source = Member(cell, "input");
  if (source == nullptr) return {};
  if (source->is_string()) return source->get<std::string>();
  std::string text;
  if (!source->is_array()) return text;
  for (const Json& line : *source) {
    if (line.is_string()) text += line.get_ref<const std::string&>();
  }
  return text;
}

bool IsCodeCell(const Json& cell) {
  const Json* type = Member(cell, "cell_type");
  return type != nullptr && type->is_string() && type->get_ref<const std::string&>() == "code";
}

uint32_t CountLines(std::string_view text) {
  uint32_t lines = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool pair = text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n';
    if (text[at] == '\n' || (text[at] == '\r' && !pair)) ++lines;
  }
  return lines;
}

// ---- Magics
// -----------------------------------------------------------------------------------------------------

// What is still open at the start of a line: a magic can only stand where a statement can.
struct OpenState {
  uint32_t brackets = 0;
  char quote = 0;
  bool triple = false;
  bool continued = false;

  bool at_statement() const { return brackets == 0 && quote == 0 && !continued; }
};

// Reads one line of Python; returns where its code ends (at a comment or the line's end).
size_t Advance(std::string_view line, OpenState* state) {
  state->continued = false;
  for (size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    const bool three_quotes = at + 2 < line.size() && line[at + 1] == c && line[at + 2] == c;
    if (c == '\\') {
      state->continued = at + 1 == line.size();
      ++at;
    } else if (state->quote != 0) {
      if (c != state->quote || (state->triple && !three_quotes)) continue;
      if (state->triple) at += 2;
      state->quote = 0;
    } else if (c == '"' || c == '\'') {
      state->quote = c;
      state->triple = three_quotes;
      if (three_quotes) at += 2;
    } else if (c == '#') {
      return at;
    } else if (c == '(' || c == '[' || c == '{') {
      ++state->brackets;
    } else if ((c == ')' || c == ']' || c == '}') && state->brackets > 0) {
      --state->brackets;
    }
  }
  // A simple string does not outlive its line, unless the line is continued.
  if (state->quote != 0 && !state->triple && !state->continued) state->quote = 0;
  return line.size();
}

std::string_view TrimRight(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

size_t IndentOf(std::string_view line) {
  size_t indent = 0;
  while (indent < line.size() && (line[indent] == ' ' || line[indent] == '\t')) ++indent;
  return indent;
}

bool IsMagicStart(char c) { return c == '%' || c == '!' || c == '?'; }

// `files = !ls` and `t = %timeit -o f()`: where the right side starts, or npos.
size_t AssignedMagic(std::string_view code) {
  const size_t equals = code.find('=');
  if (equals == std::string_view::npos || equals == 0) return std::string_view::npos;
  const std::string_view left = code.substr(0, equals);
  const bool plain = std::all_of(left.begin(), left.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == ',' || c == ' ' || c == '.' || c >= 0x80;
  });
  if (!plain) return std::string_view::npos;
  const size_t right = code.find_first_not_of(" \t", equals + 1);
  if (right == std::string_view::npos || (code[right] != '!' && code[right] != '%'))
    return std::string_view::npos;
  return right;
}

// The cell magics whose body is Python all the same.
bool HasPythonBody(std::string_view first_line) {
  for (const std::string_view name : {"%%time", "%%timeit", "%%capture", "%%prun", "%%memit", "%%mprun"}) {
    if (!first_line.starts_with(name)) continue;
    if (first_line.size() == name.size() || first_line[name.size()] == ' ') return true;
  }
  return false;
}

// Splits off the first line; `end` gets its line end as written.
std::string_view TakeLine(std::string_view* text, std::string_view* end) {
  const size_t stop = text->find_first_of("\r\n");
  const std::string_view line = text->substr(0, stop);
  *end = {};
  if (stop == std::string_view::npos) {
    *text = {};
    return line;
  }
  const size_t length = text->substr(stop).starts_with("\r\n") ? 2 : 1;
  *end = text->substr(stop, length);
  text->remove_prefix(stop + length);
  return line;
}

class MagicRemover {
 public:
  std::string Run(std::string_view cell) {
    std::string_view rest = cell;
    while (!rest.empty()) {
      std::string_view end;
      const std::string_view line = TakeLine(&rest, &end);
      AddLine(line);
      result_ += end;
    }
    return std::move(result_);
  }

 private:
  void AddLine(std::string_view line) {
    if (all_comment_ || in_magic_) return AddComment(line);
    const size_t indent = IndentOf(line);
    const std::string_view code = line.substr(indent);
    if (!seen_code_ && code.starts_with("%%")) {
      all_comment_ = !HasPythonBody(code);
      return AddComment(line);
    }
    if (!code.empty() && code[0] != '#') seen_code_ = true;
    if (state_.at_statement() && !code.empty() && AddMagic(line, indent, code)) return;
    Advance(line, &state_);
    result_ += line;
  }

  // A magic line, written as something that Python can read. False: the line is none.
  bool AddMagic(std::string_view line, size_t indent, std::string_view code) {
    OpenState after = state_;
    const size_t code_end = Advance(code, &after);
    const std::string_view plain = TrimRight(code.substr(0, code_end));
    if (IsMagicStart(code[0]) || (plain.ends_with('?') && after.at_statement())) {
      in_magic_ = code.ends_with('\\');
      result_ += line.substr(0, indent);
      // An indented magic may be all that a block has.
      if (indent > 0) result_ += "pass  ";
      result_ += "# ";
      result_ += code;
      return true;
    }
    const size_t right = AssignedMagic(plain);
    if (right == std::string_view::npos) return false;
    in_magic_ = code.ends_with('\\');
    result_ += line.substr(0, indent + right);
    result_ += "None  # ";
    result_ += code.substr(right);
    return true;
  }

  void AddComment(std::string_view line) {
    in_magic_ = in_magic_ && line.ends_with('\\');
    if (line.empty()) return;
    result_ += "# ";
    result_ += line;
  }

  std::string result_;
  OpenState state_;
  bool seen_code_ = false;
  // The rest of the cell belongs to a cell magic such as `%%bash`.
  bool all_comment_ = false;
  // The magic above goes on behind its backslash.
  bool in_magic_ = false;
};

}  // namespace

std::string WithoutMagics(std::string_view cell) { return MagicRemover().Run(cell); }

base::Result<NotebookText> ReadNotebook(std::string_view json) {
  const base::Result<Json> notebook = ParseJson(json);
  if (!notebook) return base::Fail(notebook.error().message);
  if (!notebook->is_object()) return base::Fail("not a notebook: the JSON is no object");
  const std::vector<const Json*> lists = CellLists(*notebook);
  if (lists.empty()) return base::Fail("not a notebook: it has no list `cells`");
  NotebookText result;
  if (!LanguageOf(*notebook).starts_with("python") && LanguageOf(*notebook) != "ipython") return result;
  uint32_t line = 0;
  uint32_t number = 0;
  for (const Json* cells : lists) {
    for (const Json& cell : *cells) {
      ++number;
      if (!IsCodeCell(cell)) continue;
      std::string source = WithoutMagics(SourceOf(cell));
      if (!source.ends_with('\n')) source += '\n';
      result.cells.push_back({.first_line = line, .number = number});
      line += CountLines(source);
      result.text += source;
    }
  }
  return result;
}

}  // namespace allranks::source
