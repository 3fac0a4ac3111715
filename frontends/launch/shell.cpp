#include "frontends/launch/shell.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "frontends/launch/expansion.h"
#include "frontends/launch/misread.h"
#include "frontends/launch/shell_conditions.h"
#include "frontends/launch/shell_memory.h"
#include "frontends/launch/shell_trees.h"
#include "frontends/launch/syntax_tree.h"

namespace allranks::launch_files {
namespace {

using launch::kUnknownPart;
using launch::Piece;

// Scripts of people nest a dozen levels, and run some hundred commands; a loop of functions that call one another has no end.
constexpr int kDeepestCommand = 120;
constexpr size_t kMostCommands = 20000;
constexpr size_t kMostShellSteps = 2000000;
constexpr int kDeepestShellCall = 8;
// Files that source one another multiply. People source a handful; to parse one costs as much as a step for each eight bytes.
constexpr size_t kMostSources = 200;
constexpr size_t kBytesPerStep = 8;
// Functions that call one another in several places are followed again each time. Beyond this, each is followed once: all of its
// commands have been seen.
constexpr size_t kMostStepsInCalls = 20000;
constexpr std::array<const char*, 11> kParameters = {"1", "2", "3", "4", "5", "6", "7", "8", "9", "@", "*"};

bool IsOneOf(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

// The last quote that opens and is not closed, if one is. Here-documents are read as if they were commands.
std::optional<uint32_t> UnclosedQuote(std::string_view text) {
  char quote = '\0';
  uint32_t opened = 0;
  for (uint32_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool begins_word = at == 0 || text[at - 1] == ' ' || text[at - 1] == '\n' || text[at - 1] == '\t' || text[at - 1] == ';';
    if (quote == '\0' && c == '#' && begins_word) {
      while (at < text.size() && text[at] != '\n') ++at;
    } else if (c == '\\' && quote != '\'') {
      ++at;
    } else if (quote == c) {
      quote = '\0';
    } else if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
      opened = at;
    }
  }
  return quote == '\0' ? std::nullopt : std::optional(opened);
}

// The first `case ... in` at the beginning of a line that has no `esac`. Words of here-documents count as well.
std::optional<uint32_t> UnclosedCase(std::string_view text) {
  std::vector<uint32_t> open;
  const auto ends_word = [&](size_t at) { return at >= text.size() || std::string_view(" \t\r\n;)&|").find(text[at]) != std::string_view::npos; };
  for (size_t line = 0; line < text.size(); line = std::min(text.find('\n', line), text.size()) + 1) {
    const std::string_view rest = text.substr(line, text.find('\n', line) - line);
    const size_t comment = std::min(rest.find(" #"), rest.starts_with('#') ? 0 : rest.size());
    const size_t first = std::min(rest.find_first_not_of(" \t"), rest.size());
    if (rest.substr(first).starts_with("case ") && rest.find(" in", first) != std::string_view::npos) open.push_back(static_cast<uint32_t>(line + first));
    constexpr std::string_view kEnd = "esac";
    for (size_t at = rest.find(kEnd); at < comment; at = rest.find(kEnd, at + 1)) {
      const bool is_word = (at == 0 || ends_word(line + at - 1)) && ends_word(line + at + kEnd.size());
      if (is_word && !open.empty()) open.pop_back();
    }
  }
  return open.empty() ? std::nullopt : std::optional(open.front());
}

// The first `$(` or `{` that nothing closes. Quotes inside quotes and patterns of `case` close too much rather than too little.
std::optional<uint32_t> UnclosedBracket(std::string_view text) {
  std::vector<uint32_t> open;
  char quote = '\0';
  const auto is_blank = [&](size_t at) { return at >= text.size() || text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r' || text[at] == ';'; };
  for (uint32_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool begins_word = at == 0 || is_blank(at - 1) || text[at - 1] == ')';
    if (quote == '\0' && c == '#' && begins_word) {
      while (at < text.size() && text[at] != '\n') ++at;
    } else if (c == '\\' && quote != '\'') {
      ++at;
    } else if (quote == '\'' || c == '\'') {
      quote = c != '\'' || quote == '"' ? quote : quote == '\'' ? '\0' : '\'';
    } else if (c == '"') {
      quote = quote == '"' ? '\0' : '"';
    } else if ((c == '$' && at + 1 < text.size() && text[at + 1] == '(') || (c == '{' && quote == '\0' && begins_word && is_blank(at + 1))) {
      open.push_back(at);
      at += c == '$' ? 1 : 0;
    } else if (!open.empty() && (c == ')' ? text[open.back()] == '$' : c == '}' && quote == '\0' && begins_word && text[open.back()] == '{')) {
      open.pop_back();
    } else if (c == '(' && quote == '\0' && !open.empty() && text[open.back()] == '$') {
      open.push_back(open.back());
    }
  }
  return open.empty() ? std::nullopt : std::optional(open.front());
}

// Where the shell looks for a command: at the beginning of a line, and behind what ends or opens another.
bool IsCommandPlace(std::string_view text, size_t at) {
  const size_t last = at == 0 ? std::string_view::npos : text.find_last_not_of(" \t", at - 1);
  if (last == std::string_view::npos || std::string_view("\n;&|({)").find(text[last]) != std::string_view::npos) return true;
  const size_t word = text.find_last_of(" \t\n;", last) + 1;
  return IsOneOf(text.substr(word, last + 1 - word), {"then", "else", "do"});
}

// Whether a text has the word that ends a statement as often as the one that begins it: then the grammar has lost its way, and no word is
// missing.
bool IsBalanced(std::string_view text, std::string_view end) {
  const std::string_view begin = end == "fi" ? "if" : end == "done" ? "do" : "case";
  const auto count = [&](std::string_view word) {
    size_t found = 0;
    for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
      const size_t behind = at + word.size();
      const bool is_word = behind == text.size() || std::string_view(" \t\r\n;)&|").find(text[behind]) != std::string_view::npos;
      found += is_word && IsCommandPlace(text, at) ? 1 : 0;
    }
    return found;
  };
  return count(end) >= count(begin);
}

enum class Statement : uint8_t { None, Comment, Command, Assignment, Declaration, Unset, If, Case, For, Loop, Function, Redirected, Apart, List, Test, Several, Error };

Statement StatementOf(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, Statement>, 22> kStatements = {{
      {"comment", Statement::Comment}, {"command", Statement::Command}, {"variable_assignment", Statement::Assignment},
      {"declaration_command", Statement::Declaration}, {"unset_command", Statement::Unset}, {"if_statement", Statement::If},
      {"case_statement", Statement::Case}, {"for_statement", Statement::For}, {"while_statement", Statement::Loop},
      {"c_style_for_statement", Statement::Loop}, {"function_definition", Statement::Function},
      {"redirected_statement", Statement::Redirected}, {"subshell", Statement::Apart}, {"pipeline", Statement::Apart},
      {"program", Statement::Several}, {"list", Statement::List}, {"compound_statement", Statement::Several},
      {"do_group", Statement::Several}, {"variable_assignments", Statement::Several}, {"negated_command", Statement::Several},
      {"test_command", Statement::Test}, {"ERROR", Statement::Error}}};
  const auto found = std::ranges::find(kStatements, type, &std::pair<std::string_view, Statement>::first);
  return found == kStatements.end() ? Statement::None : found->second;
}

// Whether `${N:=2}` or `${N=2}` stands in a text.
bool MayAssign(std::string_view text) {
  constexpr std::string_view kBegin = "${";
  for (size_t at = text.find(kBegin); at != std::string_view::npos; at = text.find(kBegin, at + 1)) {
    size_t end = at + kBegin.size();
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) ++end;
    end += end < text.size() && text[end] == ':' ? 1 : 0;
    if (end < text.size() && text[end] == '=') return true;
  }
  return false;
}

// Each node is asked: the types are looked up once.
Statement StatementAt(TSNode node) {
  static const std::vector<Statement> statements = [] {
    std::vector<Statement> all;
    for (size_t symbol = 0; symbol < SymbolCount(); ++symbol) all.push_back(StatementOf(TypeOfSymbol(symbol)));
    return all;
  }();
  return statements[SymbolOf(node)];
}

class ShellReader {
 public:
  explicit ShellReader(const ShellInput& input)
      : input_(input), text_(input.text), own_tree_(input.trees != nullptr ? input.trees->Of(text_.text()) : std::make_shared<const ShellTree>(text_.text())),
        tree_(*own_tree_), memory_(input.variables), budget_(input.budget != nullptr ? *input.budget : own_budget_),
        expansion_(text_, memory_.all(), input.shell, budget_), exports_all_(input.exports_all) {}

  ShellScript Run() {
    if (!tree_.IsParsed()) {
      out_.problems.push_back({"the shell's parser gave up", text_.Between(0, 1).span()});
      return std::move(out_);
    }
    if (!input_.path.empty()) SetOwnPath();
    if (!input_.arguments.empty()) SetArguments(input_.arguments, input_.arguments[0].span());
    VisitAll(tree_.root(), 0);
    // An error may stand in a value, which is not walked.
    if (input_.is_checked && out_.problems.empty() && !is_looked_through_ && ts_node_has_error(tree_.root())) NoteBracket();
    // Functions that nobody calls here may be called by whoever sources the file.
    for (const auto& [name, body] : functions_) {
      if (called_.contains(name)) continue;
      memory_.Begin();
      Visit(body, 0);
      memory_.TakeBack();
    }
    NoteLimits();
    out_.variables = memory_.Take();
    return std::move(out_);
  }

 private:
  void NoteLimits() {
    const source::Span begin = text_.Between(0, 1).span();
    if (budget_.sources_itself) out_.problems.push_back({"it sources itself: that is followed once", begin, true});
    if (budget_.is_spent) out_.problems.push_back({"it runs or sources more than is followed", begin, true});
    if (!budget_.too_long) return;
    // In a file that is sourced, what sources it is the place.
    out_.problems.push_back({"a value grows longer than is kept", budget_.too_long->file == begin.file ? *budget_.too_long : begin, true});
  }

  // `$0` is the script that was started, also in a file that it sources.
  void SetOwnPath() {
    const Piece folder{.text = input_.path, .origin = text_.Between(0, 1).span(), .is_own_folder = true};
    const Piece name{.text = std::string(1, kUnknownPart), .origin = folder.origin, .sureness = Sureness::Unknown};
    ShellVariable path{.words = {Word(folder)}, .span = folder.origin};
    path.words[0].Add(name);
    if (memory_.Find("0") == nullptr) memory_.Set("0", path);
    memory_.Set("BASH_SOURCE", std::move(path));
  }

  findings::Extent ExtentOf(TSNode node) const {
    const source::Span span = expansion_.SpanOf(node);
    return span.file ? findings::Extent{span.begin, span.end, span.end} : findings::Extent{};
  }

  // The children of a node in order; `&` behind a command puts it in the background.
  void VisitAll(TSNode node, int depth) { VisitList(ChildrenOf(node), depth); }

  void VisitList(const std::vector<TSNode>& nodes, int depth) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      const bool is_background = i + 1 < nodes.size() && TypeOf(nodes[i + 1]) == "&";
      const bool before = in_background_;
      in_background_ = in_background_ || is_background;
      Visit(nodes[i], depth + 1);
      in_background_ = before;
    }
  }

  void Visit(TSNode node, int depth) {
    steps_in_calls_ += call_depth_ > 0 ? 1 : 0;
    if (++budget_.steps > kMostShellSteps || depth > kDeepestCommand) {
      budget_.is_spent = true;
      return;
    }
    const Statement statement = StatementAt(node);
    if (ts_node_is_missing(node) || statement == Statement::Error) NoteError(node);
    if (!ts_node_is_named(node)) return;
    switch (statement) {
      case Statement::Comment: return VisitComment(node);
      case Statement::Command: return VisitCommand(node);
      case Statement::Assignment: return VisitAssignment(node, false);
      case Statement::Declaration: return VisitDeclaration(node);
      case Statement::Unset: return VisitUnset(node);
      case Statement::If: return VisitIf(node, depth);
      case Statement::Case: return VisitCase(node, depth);
      case Statement::For: return VisitFor(node, depth);
      case Statement::Loop: return VisitLoop(node, depth);
      case Statement::Function: return VisitFunction(node);
      case Statement::Redirected: return VisitRedirected(node, depth);
      case Statement::Apart: return VisitApart(node, depth);
      case Statement::List: return VisitPair(node, depth);
      case Statement::Test: return NoteGluedBracket(node);
      case Statement::Error:
      case Statement::Several: return VisitAll(node, depth);
      case Statement::None: return;
    }
  }

  // The grammar does not know all that shells read, so an error of its alone says little. A quote that nobody closes is one
  // for every shell, and so are an `if` without its `fi` and a bracket that nothing closes.
  void NoteError(TSNode node) {
    if (!out_.problems.empty() || !input_.is_checked) return;
    if (const size_t conflict = text_.text().find("\n<<<<<<< "); conflict != std::string::npos && text_.text().find("\n>>>>>>> ", conflict) != std::string::npos) {
      out_.problems.push_back({"a conflict of two versions is left in it", text_.Between(conflict + 1, conflict + 8).span()});
      return;
    }
    const bool is_open = ts_node_is_missing(node) && IsOneOf(TypeOf(node), {"fi", "done", "esac"});
    if (is_open && IsBalanced(text_.text(), TypeOf(node))) return;
    if (is_open) {
      const uint32_t begin = ts_node_start_byte(ts_node_parent(node));
      out_.problems.push_back({"this has no `" + std::string(TypeOf(node)) + "`", text_.Between(begin, begin + 1).span()});
      return;
    }
    if (std::exchange(is_looked_through_, true)) return;
    const std::optional<uint32_t> quote = UnclosedQuote(text_.text());
    if (quote) out_.problems.push_back({"this quote is not closed", text_.Between(*quote, *quote + 1).span()});
    const std::optional<uint32_t> choice = quote ? std::nullopt : UnclosedCase(text_.text());
    if (choice) out_.problems.push_back({"this has no `esac`", text_.Between(*choice, *choice + 1).span()});
    if (!quote && !choice) NoteBracket();
  }

  void NoteBracket() {
    const std::optional<uint32_t> bracket = UnclosedBracket(text_.text());
    if (bracket) out_.problems.push_back({"this is not closed", text_.Between(*bracket, *bracket + 1).span()});
  }

  void VisitComment(TSNode node) {
    out_.comments.push_back(ExtentOf(node));
    const std::string_view text = expansion_.TextOf(node);
    constexpr std::string_view kSbatch = "#SBATCH";
    const bool is_directive = text.starts_with(kSbatch) && text.size() > kSbatch.size() && (text[kSbatch.size()] == ' ' || text[kSbatch.size()] == '\t');
    if (is_directive && has_command_) NoteMisread(node, launch::MisreadAs::LateDirective, "");
    if (is_directive && !has_command_) {
      const Word line = expansion_.Cut(node).From(kSbatch.size());
      out_.directives.push_back(line);
      out_.statements.push_back(ExtentOf(node));
      NoteDirective(line);
    }
  }

  void NoteMisread(TSNode node, launch::MisreadAs as, std::string text) {
    if (!input_.is_checked) return;
    const uint32_t begin = expansion_.Begin(node);
    const uint32_t end = std::min<uint32_t>(ts_node_end_byte(node), static_cast<uint32_t>(std::min(text_.text().find('\n', begin), text_.text().size())));
    out_.misread.push_back({.as = as, .span = text_.Between(begin, std::max(end, begin + 1)).span(), .text = std::move(text)});
  }

  // A command that was to be an assignment, a test or a comment.
  void NoteMisreadCommand(TSNode node) {
    const TSNode name = ts_node_child_by_field_name(node, "name", 4);
    if (ts_node_is_null(name) || !input_.is_checked) return;
    const std::string_view text = std::string_view(text_.text()).substr(expansion_.Begin(name), ts_node_end_byte(node) - expansion_.Begin(name));
    const TSNode first = ts_node_child(node, 0);
    const bool is_prefix = TypeOf(first) == "variable_assignment";
    const bool is_empty = is_prefix && expansion_.TextOf(first).ends_with('=');
    const size_t length = ts_node_end_byte(name) - expansion_.Begin(name);
    if (const std::optional<Misread> misread = MisreadOf(text, length, is_empty)) NoteMisread(is_prefix ? first : name, misread->as, misread->text);
  }

  // `NAME==4`
  void NoteDoubledSign(TSNode assignment) {
    const std::string name = input_.is_checked ? DoublySigned(expansion_.TextOf(assignment)) : std::string();
    if (!name.empty()) NoteMisread(assignment, launch::MisreadAs::DoubledSign, name);
  }

  // `[$N -eq 1]`: the parser forgives what the shell does not.
  void NoteGluedBracket(TSNode node) {
    const std::string_view text = expansion_.TextOf(node);
    const bool is_glued = text.size() > 1 && text[0] == '[' && text[1] != '[' && std::string_view(" \t\n\\").find(text[1]) == std::string_view::npos;
    if (is_glued) NoteMisread(node, launch::MisreadAs::GluedBracket, "");
  }

  // `hosts=("$lines")`, where `lines` holds what Slurm says of the hosts, one a line.
  void NoteOneElement(TSNode array, const std::string& name) {
    const std::vector<TSNode> parts = ChildrenOf(array);
    if (!input_.is_checked || parts.size() != 3 || TypeOf(parts[1]) != "string") return;
    const std::string_view text = expansion_.TextOf(parts[1]);
    const std::string variable = PlainVariable(text.substr(1, text.size() - 2));
    const ShellVariable* known = variable.empty() ? nullptr : memory_.Find(variable);
    const bool is_here = known != nullptr && text_.pieces().size() == 1 && known->span.file == text_.span().file && known->span.end <= text_.text().size();
    const std::string_view source = is_here ? std::string_view(text_.text()).substr(known->span.begin, known->span.end - known->span.begin) : text;
    if (source.find("show hostname") != std::string_view::npos) NoteMisread(array, launch::MisreadAs::OneElement, name);
  }

  // What Slurm tells the script of what was asked for.
  void NoteDirective(const Word& line) {
    const std::vector<Word> words = SplitWords(line);
    for (size_t i = 0; i < words.size(); ++i) {
      const std::string& text = words[i].text();
      if (text.starts_with("#")) return;
      const size_t equals = text.find('=');
      const std::string name = text.substr(0, equals);
      const Word value = equals != std::string::npos ? words[i].From(equals + 1) : i + 1 < words.size() ? words[i + 1] : Word();
      const auto set = [&](std::initializer_list<const char*> variables) {
        if (!value.Number()) return;
        for (const char* variable : variables) SetIfUnset(variable, value);
      };
      if (name == "--nodes" || name == "-N") set({"SLURM_NNODES", "SLURM_JOB_NUM_NODES"});
      if (name == "--ntasks-per-node" || name == "--tasks-per-node") set({"SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE"});
      if (name == "--ntasks" || name == "-n") set({"SLURM_NTASKS", "SLURM_NPROCS"});
      if (name == "--export") SetExports(value);
      if (name == "--gpus-per-node") set({"SLURM_GPUS_PER_NODE", "SLURM_GPUS_ON_NODE"});
      if (name == "--gres" && value.text().starts_with("gpu:")) {
        const size_t colon = value.text().rfind(':');
        const Word count = value.From(colon + 1);
        if (count.Number()) SetIfUnset("SLURM_GPUS_ON_NODE", count);
      }
    }
  }
  // `--export=ALL,NAME=VALUE`
  void SetExports(const Word& list) {
    const std::string& text = list.text();
    for (size_t at = 0; at < text.size();) {
      const size_t comma = std::min(text.find(',', at), text.size());
      const size_t equals = text.find('=', at);
      if (equals < comma) {
        const Word value = list.Between(equals + 1, comma);
        Assign(text.substr(at, equals - at), {.words = {value}, .span = list.Between(at, comma).span()}, false, true);
      }
      at = comma + 1;
    }
  }
  void SetIfUnset(const std::string& name, const Word& value) {
    if (memory_.Find(name) == nullptr) memory_.Set(name, {.words = {value}, .is_exported = false, .span = value.span()});
  }

  void VisitAssignment(TSNode node, bool is_export) {
    has_command_ = true;
    out_.statements.push_back(ExtentOf(node));
    const std::string_view text = expansion_.TextOf(node);
    if (text.starts_with('-')) return VisitStray(node);
    NoteDoubledSign(node);
    const TSNode name_node = ts_node_child_by_field_name(node, "name", 4);
    const TSNode value_node = ts_node_child_by_field_name(node, "value", 5);
    if (ts_node_is_null(name_node)) return;
    if (TypeOf(name_node) == "subscript") {
      // One element of an array: the rest is as before, and nothing is certain of it.
      const std::string_view subscript = expansion_.TextOf(name_node);
      const std::string name(subscript.substr(0, subscript.find('[')));
      memory_.Set(name, {.words = {expansion_.Unknown(node, name)}, .is_array = true, .span = expansion_.SpanOf(node)});
      return;
    }
    const std::string name(expansion_.TextOf(name_node));
    const bool is_append = text.substr(name.size()).starts_with("+=");
    ShellVariable variable;
    variable.span = expansion_.Cut(node).span();
    if (ts_node_is_null(value_node)) {
      variable.words = {IsToBeFilledIn(name, is_append) ? UnknownValue(name, expansion_.Cut(node).span()) : Word(Piece{.text = "", .origin = expansion_.Cut(node).span()})};
    } else if (TypeOf(value_node) == "array") {
      variable.words = expansion_.Words(value_node);
      variable.is_array = true;
      NoteOneElement(value_node, name);
    } else {
      variable.words = {expansion_.Value(value_node)};
    }
    Assign(name, std::move(variable), is_append, is_export || exports_all_);
  }

  // `MODEL=` with nothing behind it, and no other value further down: whoever uses the script writes one there.
  bool IsToBeFilledIn(const std::string& name, bool is_append) const {
    if (is_append) return false;
    const std::string& text = text_.text();
    size_t count = 0;
    for (size_t at = text.find(name); at != std::string::npos && count < 2; at = text.find(name, at + 1)) {
      const size_t end = at + name.size();
      const bool is_name = at == 0 || (std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0 && text[at - 1] != '_');
      count += is_name && (text.compare(end, 1, "=") == 0 || text.compare(end, 2, "+=") == 0) ? 1 : 0;
    }
    return count < 2;
  }

  // `${N:=2}` assigns what it stands for, wherever it is written.
  void AssignDefaults(TSNode node, int depth) {
    if (depth > kDeepestCommand) return;
    for (const TSNode child : ChildrenOf(node)) {
      if (ts_node_is_named(child)) AssignDefaults(child, depth + 1);
    }
    const std::string name = TypeOf(node) == "expansion" ? expansion_.AssignedBy(node) : std::string();
    if (name.empty()) return;
    const ShellVariable* known = memory_.Find(name);
    const bool is_set = known != nullptr && !known->words.empty() && !known->words[0].text().empty();
    if (!is_set) Assign(name, {.words = {expansion_.Value(node)}, .span = expansion_.SpanOf(node)}, false, exports_all_);
  }

  void Assign(const std::string& name, ShellVariable variable, bool is_append, bool is_export) {
    const ShellVariable* known = memory_.Find(name);
    const bool was_exported = known != nullptr && known->is_exported;
    if (is_append && known != nullptr) {
      AppendTo(*known, variable);
    } else if (is_append) {
      variable.words.insert(variable.words.begin(), UnknownValue(name, variable.span));
    }
    variable.is_exported = is_export || was_exported;
    if (variable.is_exported && !variable.words.empty()) out_.exports.push_back({name, variable.words[0], variable.span});
    memory_.Set(name, std::move(variable));
  }

  static Word UnknownValue(const std::string& name, source::Span span) {
    return Word(Piece{.text = std::string(1, kUnknownPart), .origin = span, .sureness = Sureness::Unknown, .variable = name});
  }

  // `A+=...`: what was there before stands in front.
  void AppendTo(const ShellVariable& known, ShellVariable& variable) {
    Growth growth;
    const auto has_room = [&](const Word& word) { return growth.Takes(word) && budget_.Copies(word); };
    const bool is_kept = std::ranges::all_of(known.words, has_room) && std::ranges::all_of(variable.words, has_room);
    const bool is_array = variable.is_array || known.is_array;
    std::vector<Word> words = is_kept ? known.words : std::vector<Word>{UnknownValue("", variable.span)};
    if (!is_kept && !budget_.too_long) budget_.too_long = variable.span;
    if (is_kept && is_array) words.insert(words.end(), variable.words.begin(), variable.words.end());
    else if (is_kept && !words.empty() && !variable.words.empty()) words[0].Append(variable.words[0]);
    variable.is_array = is_array;
    variable.words = std::move(words);
  }

  void VisitDeclaration(TSNode node) {
    has_command_ = true;
    out_.statements.push_back(ExtentOf(node));
    const std::string_view keyword = expansion_.TextOf(node);
    const bool is_export = keyword.starts_with("export") || keyword.find(" -x") != std::string_view::npos;
    for (const TSNode child : ChildrenOf(node)) {
      if (TypeOf(child) == "variable_assignment") VisitAssignment(child, is_export);
      if (TypeOf(child) != "variable_name" || !is_export) continue;
      const std::string name(expansion_.TextOf(child));
      const ShellVariable* known = memory_.Find(name);
      if (known == nullptr || known->is_exported) continue;
      ShellVariable exported = *known;
      exported.is_exported = true;
      if (!exported.words.empty()) out_.exports.push_back({name, exported.words[0], exported.span});
      memory_.Set(name, std::move(exported));
    }
  }

  void VisitUnset(TSNode node) {
    for (const TSNode child : ChildrenOf(node)) {
      if (ts_node_is_named(child)) memory_.Erase(std::string(expansion_.TextOf(child)));
    }
  }

  // `[ $N -eq 2 ] && torchrun ...`
  void VisitPair(TSNode node, int depth) {
    const std::vector<TSNode> parts = ChildrenOf(node);
    const std::optional<bool> first = parts.size() == 3 ? Holds({parts[0]}, expansion_) : std::nullopt;
    const bool is_left_out = first && *first != (TypeOf(parts[1]) == "&&");
    if (!is_left_out) return VisitList(parts, depth);
    const bool before = std::exchange(is_passed_over_, true);
    Visit(parts[2], depth + 1);
    is_passed_over_ = before;
  }

  void VisitIf(TSNode node, int depth) {
    const std::vector<TSNode> children = ChildrenOf(node);
    std::vector<TSNode> condition, body, others;
    bool is_body = false;
    for (const TSNode child : children) {
      const std::string_view type = TypeOf(child);
      if (type == "then") is_body = true;
      else if (type == "elif_clause" || type == "else_clause") others.push_back(child);
      else (is_body ? body : condition).push_back(child);
    }
    VisitList(condition, depth);
    const uint32_t choice = next_choice_++;
    std::vector<ShellMemory::Changes> arms;
    bool has_else = false;
    Decision surely, mostly;
    const auto visit_arm = [&](const std::vector<TSNode>& nodes, const std::vector<TSNode>& test) {
      const bool is_left_out = mostly.LeavesOut(Holds(test, expansion_, Sureness::Default));
      const bool before = std::exchange(is_passed_over_, is_passed_over_ || surely.LeavesOut(Holds(test, expansion_)));
      memory_.Begin();
      arms_.emplace_back(choice, static_cast<uint32_t>(arms.size()));
      VisitList(nodes, depth);
      is_passed_over_ = before;
      arms_.pop_back();
      AddArm(arms, is_left_out);
    };
    visit_arm(body, condition);
    for (const TSNode other : others) {
      has_else = has_else || TypeOf(other) == "else_clause";
      const std::vector<TSNode> parts = ChildrenOf(other);
      visit_arm(parts, TypeOf(other) == "else_clause" ? std::vector<TSNode>() : ConditionOf(parts));
    }
    if (!has_else) arms.emplace_back();
    memory_.Join(arms);
  }

  // Which arms are left out: those whose test fails, and all behind one whose test holds.
  struct Decision {
    bool is_made = false;

    bool LeavesOut(std::optional<bool> holds) {
      const bool is_left_out = is_made || holds == false;
      is_made = is_made || holds == true;
      return is_left_out;
    }
  };

  // What an arm sets that is mostly left out is nothing to what follows.
  void AddArm(std::vector<ShellMemory::Changes>& arms, bool is_left_out) {
    ShellMemory::Changes changes = memory_.TakeBack();
    arms.push_back(is_left_out ? ShellMemory::Changes() : std::move(changes));
  }

  void VisitCase(TSNode node, int depth) {
    const uint32_t choice = next_choice_++;
    std::vector<ShellMemory::Changes> arms(1);
    Decision surely, mostly;
    for (const TSNode child : ChildrenOf(node)) {
      if (TypeOf(child) != "case_item") continue;
      const bool is_left_out = mostly.LeavesOut(IsChosen(node, child, expansion_, Sureness::Default));
      const bool before = std::exchange(is_passed_over_, is_passed_over_ || surely.LeavesOut(IsChosen(node, child, expansion_)));
      memory_.Begin();
      arms_.emplace_back(choice, static_cast<uint32_t>(arms.size()));
      VisitAll(child, depth);
      is_passed_over_ = before;
      arms_.pop_back();
      AddArm(arms, is_left_out);
    }
    memory_.Join(arms);
  }

  void VisitFor(TSNode node, int depth) {
    const TSNode variable = ts_node_child_by_field_name(node, "variable", 8);
    const std::string name = ts_node_is_null(variable) ? std::string() : std::string(expansion_.TextOf(variable));
    std::vector<Word> values;
    for (const TSNode child : ChildrenOf(node)) {
      if (TypeOf(child) == "do_group" || TypeOf(child) == "variable_name" || !ts_node_is_named(child)) continue;
      for (Word& word : expansion_.Words(child)) values.push_back(std::move(word));
    }
    const bool is_once = values.size() == 1 && values[0].IsKnown();
    if (is_once) memory_.Set(name, {.words = values, .span = values[0].span()});
    const bool is_inner = is_repeated_;
    if (!is_once && !is_inner && IsCounted(node, values)) {
      loop_variable_ = name;
      rounds_ = static_cast<uint32_t>(values.size());
    } else if (!is_once) {
      rounds_ = 0;
    }
    VisitLoop(node, depth, name, is_once);
    if (!is_once) rounds_ = 0;
  }
  // What the shell puts in for a pattern is not known, and neither is how often a loop runs that may end early.
  bool IsCounted(TSNode node, const std::vector<Word>& values) const {
    const auto is_plain = [](const Word& value) { return value.IsKnown() && value.text().find_first_of("*?[{~") == std::string::npos; };
    const std::string_view body = expansion_.TextOf(node);
    const bool may_end = body.find("break") != std::string_view::npos || body.find("continue") != std::string_view::npos;
    return !may_end && values.size() > 1 && std::ranges::all_of(values, is_plain);
  }

  // One round stands for all: what the body assigns is unknown when it begins.
  void VisitLoop(TSNode node, int depth, const std::string& variable = "", bool is_once = false) {
    if (!is_once) {
      std::set<std::string> assigned;
      AssignedIn(node, assigned, 0);
      if (!variable.empty()) assigned.insert(variable);
      for (const std::string& name : assigned) {
        const ShellVariable* known = memory_.Find(name);
        const bool was_exported = known != nullptr && known->is_exported;
        memory_.Set(name, {.words = {expansion_.Unknown(node, name)}, .is_exported = was_exported, .span = expansion_.SpanOf(node)});
      }
    }
    const bool before = is_repeated_;
    if (before) rounds_ = 0;
    is_repeated_ = is_repeated_ || !is_once;
    for (const TSNode child : ChildrenOf(node)) {
      if (TypeOf(child) == "do_group" || TypeOf(child) == "compound_statement") VisitAll(child, depth);
    }
    is_repeated_ = before;
  }

  void AssignedIn(TSNode node, std::set<std::string>& names, int depth) {
    if (depth > kDeepestCommand || ++budget_.steps > kMostShellSteps) return;
    if (TypeOf(node) == "variable_assignment" && TypeOf(ts_node_parent(node)) != "command") {
      const TSNode name = ts_node_child_by_field_name(node, "name", 4);
      if (!ts_node_is_null(name)) names.insert(std::string(expansion_.TextOf(name)));
    }
    if (TypeOf(node) == "command_name" && expansion_.TextOf(node) == "shift") names.insert(kParameters.begin(), kParameters.end());
    if (TypeOf(node) == "postfix_expression" || TypeOf(node) == "unary_expression") {
      for (const TSNode child : ChildrenOf(node)) names.insert(std::string(expansion_.TextOf(child)));
    }
    for (const TSNode child : ChildrenOf(node)) {
      if (ts_node_is_named(child)) AssignedIn(child, names, depth + 1);
    }
  }

  void VisitFunction(TSNode node) {
    const TSNode name = ts_node_child_by_field_name(node, "name", 4);
    const TSNode body = ts_node_child_by_field_name(node, "body", 4);
    if (!ts_node_is_null(name) && !ts_node_is_null(body)) functions_.insert_or_assign(std::string(expansion_.TextOf(name)), body);
  }

  void VisitApart(TSNode node, int depth) {
    memory_.Begin();
    VisitAll(node, depth);
    memory_.TakeBack();
  }

  void VisitRedirected(TSNode node, int depth) {
    const size_t first = out_.commands.size();
    const TSNode body = ts_node_child_by_field_name(node, "body", 4);
    for (const TSNode child : ChildrenOf(node)) {
      if (TypeOf(child) == "heredoc_redirect") {
        // A pipe or `&&` behind `<<EOF` belongs to the redirection for the parser.
        for (const TSNode inner : ChildrenOf(child)) {
          if (TypeOf(inner) == "pipeline" || TypeOf(inner) == "list" || TypeOf(inner) == "command") Visit(inner, depth + 1);
        }
      }
    }
    if (!ts_node_is_null(body)) Visit(body, depth + 1);
    for (const TSNode child : ChildrenOf(node)) {
      if (TypeOf(child) != "heredoc_redirect") continue;
      for (const TSNode inner : ChildrenOf(child)) {
        if (TypeOf(inner) == "heredoc_body" && out_.commands.size() > first) out_.commands.back().input = HereText(inner, expansion_.TextOf(child));
      }
    }
  }

  // The text of a here-document: variables are put in, unless the word behind `<<` is quoted.
  Word HereText(TSNode body, std::string_view redirect) const {
    const std::string_view head = redirect.substr(0, redirect.find('\n'));
    if (head.find_first_of("'\"\\") != std::string_view::npos) return expansion_.Cut(body);
    Word text;
    Growth growth;
    uint32_t at = ts_node_start_byte(body);
    for (const TSNode child : ChildrenOf(body)) {
      const std::string_view type = TypeOf(child);
      if (type != "simple_expansion" && type != "expansion" && type != "command_substitution") continue;
      const uint32_t begin = BeginOf(child, text_.text());
      if (begin > at) text.Append(Unescaped(text_.Between(at, begin)));
      const Word value = expansion_.Value(child);
      text.Append(growth.Takes(value) ? value : expansion_.TooLong(child));
      at = ts_node_end_byte(child);
    }
    if (ts_node_end_byte(body) > at) text.Append(Unescaped(text_.Between(at, ts_node_end_byte(body))));
    return text;
  }
  // `\$` is a dollar.
  static Word Unescaped(const Word& part) {
    Word out;
    size_t from = 0;
    for (size_t at = part.text().find("\\$"); at != std::string::npos; at = part.text().find("\\$", at + 2)) {
      if (at > from) out.Append(part.Between(from, at));
      from = at + 1;
    }
    if (part.text().size() > from) out.Append(part.From(from));
    return out;
  }

  void VisitCommand(TSNode node) {
    has_command_ = true;
    ShellCommand command;
    out_.statements.push_back(ExtentOf(node));
    command.span = expansion_.SpanOf(node);
    command.begin = ts_node_start_byte(node);
    command.end = ts_node_end_byte(node);
    std::vector<Setting> prefix;
    if (MayAssign(expansion_.TextOf(node))) AssignDefaults(node, 0);
    for (const TSNode child : ChildrenOf(node)) {
      const std::string_view type = TypeOf(child);
      if (type == "variable_assignment" && expansion_.TextOf(child).starts_with('-')) {
        for (Word& word : expansion_.StrayWords(child)) command.words.push_back(std::move(word));
      } else if (type == "variable_assignment") {
        AddPrefix(child, prefix);
        NoteDoubledSign(child);
      } else if (type == "command_name" || (ts_node_is_named(child) && type != "file_redirect" && type != "herestring_redirect" && type != "heredoc_redirect" && type != "comment")) {
        for (Word& word : expansion_.Words(child)) command.words.push_back(std::move(word));
        // What it prints is nothing that anybody asks for.
        if (command.words.size() == 1 && command.words[0].text() == "echo") break;
      }
    }
    if (command.words.empty()) return;
    if (input_.is_checked) NoteMisreadCommand(node);
    if (Builtin(command)) return;
    command.environment = std::move(prefix);
    AddCommand(std::move(command));
  }

  // `--lr=0.1` where a command begins.
  void VisitStray(TSNode node) {
    ShellCommand command;
    command.span = expansion_.SpanOf(node);
    command.begin = ts_node_start_byte(node);
    command.end = ts_node_end_byte(node);
    command.words = expansion_.StrayWords(node);
    if (!command.words.empty()) AddCommand(std::move(command));
  }

  void AddCommand(ShellCommand command) {
    if (out_.commands.size() >= kMostCommands) {
      budget_.is_spent = true;
      return;
    }
    command.exported = Exported();
    command.in_background = in_background_;
    command.is_repeated = is_repeated_;
    command.is_passed_over = is_passed_over_;
    command.loop_variable = loop_variable_;
    command.rounds = rounds_;
    command.section = section_;
    command.order = static_cast<uint32_t>(out_.commands.size());
    command.shell = input_.shell;
    command.arms = arms_;
    out_.commands.push_back(std::move(command));
  }

  std::shared_ptr<const std::vector<Setting>> Exported() {
    if (exported_ != nullptr && exported_at_ == memory_.export_changes()) return exported_;
    auto exported = std::make_shared<std::vector<Setting>>();
    for (const auto& [name, variable] : memory_.all()) {
      if (!variable.is_exported || variable.words.empty()) continue;
      if (budget_.Copies(variable.words[0])) exported->push_back({name, variable.words[0], variable.span});
      else budget_.is_spent = true;
    }
    exported_ = std::move(exported);
    exported_at_ = memory_.export_changes();
    return exported_;
  }

  void AddPrefix(TSNode assignment, std::vector<Setting>& prefix) const {
    const TSNode name = ts_node_child_by_field_name(assignment, "name", 4);
    const TSNode value = ts_node_child_by_field_name(assignment, "value", 5);
    if (ts_node_is_null(name)) return;
    Setting setting{.name = std::string(expansion_.TextOf(name)), .value = {}, .span = expansion_.SpanOf(assignment), .is_of_command = true};
    if (!ts_node_is_null(value)) setting.value = expansion_.Value(value);
    prefix.push_back(std::move(setting));
  }

  // Commands that change what the shell knows. True: nothing is started.
  bool Builtin(const ShellCommand& command) {
    const std::string& name = command.words[0].text();
    if (const auto function = functions_.find(name); function != functions_.end()) {
      Call(function->first, function->second, command);
      return true;
    }
    if (name == "wait") {
      ++section_;
      return true;
    }
    if (name == "source" || name == ".") {
      if (command.words.size() > 1) Source(command.words[1]);
      return true;
    }
    if (name == "read" || name == "mapfile" || name == "readarray") {
      for (size_t i = 1; i < command.words.size(); ++i) {
        if (!command.words[i].text().starts_with("-")) SetUnknown(command.words[i]);
      }
      return true;
    }
    if (name == "set") NoteSet(command);
    if (name == "cd" || name == "pushd") out_.changes_folder = true;
    if (name == "shift") Shift(command);
    return IsOneOf(name, {"set", "shift", "shopt", "trap", "exit", "return", "true", "false", ":", "echo", "printf", "let", "ulimit", "umask"}) && name != "echo";
  }

  // `set -a`, `set -eua`, `set -o allexport`: what is assigned from here on is exported. `+` ends it.
  void NoteSet(const ShellCommand& command) {
    for (size_t i = 1; i < command.words.size(); ++i) {
      const std::string& word = command.words[i].text();
      const bool is_switch = word.size() > 1 && (word[0] == '-' || word[0] == '+');
      if (!is_switch || word == "--") return;
      const bool is_named = word[1] == 'o' && i + 1 < command.words.size();
      const bool is_all = is_named ? command.words[++i].text() == "allexport" : word.find('a') != std::string::npos;
      if (is_all) exports_all_ = word[0] == '-';
    }
  }

  // `shift 2`. Where it is not known by how much, nothing is known of the arguments.
  void Shift(const ShellCommand& command) {
    const ShellVariable* known = memory_.Find("@");
    if (known == nullptr) return;
    const std::optional<int64_t> count = command.words.size() > 1 ? command.words[1].Number() : std::optional<int64_t>(1);
    std::vector<Word> words = known->words;
    const source::Span span = known->span;
    for (const char* parameter : kParameters) memory_.Erase(parameter);
    if (!count || *count < 0 || static_cast<size_t>(*count) > words.size()) return;
    words.erase(words.begin(), words.begin() + *count);
    SetArguments(words, span);
  }
  void SetArguments(const std::vector<Word>& words, source::Span span) {
    for (size_t i = 0; i < words.size() && i < 9; ++i) memory_.Set(std::to_string(i + 1), {.words = {words[i]}, .span = words[i].span()});
    const ShellVariable all{.words = words, .is_array = true, .span = span};
    memory_.Set("@", all);
    memory_.Set("*", all);
  }

  void SetUnknown(const Word& name) {
    const Piece unknown{.text = std::string(1, kUnknownPart), .origin = name.span(), .sureness = Sureness::Unknown, .variable = name.text()};
    memory_.Set(name.text(), {.words = {Word(unknown)}, .span = name.span()});
  }

  void Call(const std::string& name, TSNode body, const ShellCommand& command) {
    const bool is_new = called_.insert(name).second;
    if (!is_new && steps_in_calls_ > kMostStepsInCalls) return;
    if (call_depth_ >= kDeepestShellCall) {
      budget_.is_spent = true;
      return;
    }
    std::map<std::string, ShellVariable> saved;
    for (const char* parameter : kParameters) {
      if (const ShellVariable* known = memory_.Find(parameter)) saved.emplace(parameter, *known);
      memory_.Erase(parameter);
    }
    SetArguments({command.words.begin() + 1, command.words.end()}, command.span);
    ++call_depth_;
    Visit(body, 0);
    --call_depth_;
    for (const char* parameter : kParameters) memory_.Erase(parameter);
    for (auto& [parameter, variable] : saved) memory_.Set(parameter, std::move(variable));
  }

  // What a sourced file leaves in variables; its commands are reported where they stand.
  void Source(const Word& path) {
    if (!path.IsKnown() || !input_.open || input_.sourcing.size() >= kDeepestShellCall) return;
    if (++budget_.sources > kMostSources || budget_.steps > kMostShellSteps) {
      budget_.is_spent = true;
      return;
    }
    const std::optional<Word> text = input_.open(path.text());
    if (!text) return;
    ShellInput inner{.text = *text, .variables = memory_.all(), .shell = input_.shell, .path = FolderOf(path.text()), .exports_all = exports_all_, .is_checked = false,
                     .sourcing = input_.sourcing, .budget = &budget_, .trees = input_.trees, .open = input_.open};
    inner.sourcing.push_back(text_.span().file);
    // A file that sources itself does so in a branch that is not taken again, or has no end.
    if (std::ranges::count(inner.sourcing, text->span().file) > 0) {
      budget_.sources_itself = true;
      return;
    }
    budget_.steps += text->text().size() / kBytesPerStep;
    ShellScript script = ReadShell(inner);
    script.variables.erase("BASH_SOURCE");
    for (auto& [name, variable] : script.variables) memory_.Set(name, std::move(variable));
    out_.exports.insert(out_.exports.end(), script.exports.begin(), script.exports.end());
    out_.changes_folder = out_.changes_folder || script.changes_folder;
  }

  static std::string FolderOf(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
  }

  const ShellInput& input_;
  const Word& text_;
  std::shared_ptr<const ShellTree> own_tree_;
  const ShellTree& tree_;
  ShellMemory memory_;
  ShellBudget own_budget_;
  ShellBudget& budget_;
  Expansion expansion_;
  ShellScript out_;
  std::shared_ptr<const std::vector<Setting>> exported_;
  size_t exported_at_ = 0;
  std::map<std::string, TSNode> functions_;
  std::set<std::string> called_;
  std::vector<std::pair<uint32_t, uint32_t>> arms_;
  uint32_t next_choice_ = 0;
  uint32_t section_ = 0;
  size_t steps_in_calls_ = 0;
  int call_depth_ = 0;
  bool in_background_ = false;
  bool is_repeated_ = false;
  bool is_passed_over_ = false;
  std::string loop_variable_;
  uint32_t rounds_ = 0;
  bool has_command_ = false;
  bool exports_all_ = false;
  bool is_looked_through_ = false;  // for what nothing closes
};

}  // namespace

ShellCommand WithExported(const ShellCommand& command) {
  ShellCommand whole = command;
  if (whole.exported != nullptr) whole.environment.insert(whole.environment.begin(), whole.exported->begin(), whole.exported->end());
  whole.exported = nullptr;
  return whole;
}

ShellScript ReadShell(const ShellInput& input) { return ShellReader(input).Run(); }

}  // namespace allranks::launch_files
