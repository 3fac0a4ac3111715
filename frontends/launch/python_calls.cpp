#include "frontends/launch/python_calls.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "frontends/launch/built_lists.h"
#include "frontends/launch/commands.h"
#include "frontends/launch/python_background.h"
#include "frontends/launch/python_environment.h"
#include "frontends/launch/python_formats.h"
#include "frontends/launch/python_values.h"
#include "frontends/launch/read.h"
#include "frontends/launch/templates.h"

namespace allranks::launch_files {
namespace {

using ir::ExprId;
using ir::ExprKind;
using launch::LaunchFile;
using launch::Piece;

constexpr std::string_view kInBackground = "subprocess.Popen";

// What a call that starts a command is given: a text or a list of words, always a list, or the words one by one.
enum class Given : uint8_t { Command, List, Words };
struct Starter {
  std::string_view name;
  Given given = Given::Command;
  uint32_t at = 0;   // of the first argument that says it
};
// Behind the name of the program, and how it is waited for, there are the words of the command.
constexpr std::array kStarters = {
    Starter{"subprocess.run"}, Starter{"subprocess.Popen"}, Starter{"subprocess.call"}, Starter{"subprocess.check_call"}, Starter{"subprocess.check_output"},
    Starter{"subprocess.getoutput"}, Starter{"subprocess.getstatusoutput"}, Starter{"os.system"}, Starter{"os.popen"},
    Starter{"asyncio.create_subprocess_shell"}, Starter{"asyncio.create_subprocess_exec", Given::Words},
    Starter{"os.execv", Given::List, 1}, Starter{"os.execvp", Given::List, 1}, Starter{"os.spawnv", Given::List, 2}, Starter{"os.spawnvp", Given::List, 2},
    Starter{"os.execl", Given::Words, 1}, Starter{"os.execlp", Given::Words, 1}, Starter{"os.spawnl", Given::Words, 2}, Starter{"os.spawnlp", Given::Words, 2}};

// `os.execve` and its kin: the environment comes behind the words.
bool TakesEnvironment(std::string_view callee) { return (callee.starts_with("os.exec") || callee.starts_with("os.spawn")) && callee.ends_with('e'); }
// `wait` in the text of one call.
constexpr uint32_t kMostSectionsOfCall = 1000;
// Lists in lists, sums of sums.
constexpr int kDeepestCall = 16;
// What all texts of a file take that are put together of others: each of them may hold another one many times.
constexpr size_t kMostOfTexts = 16u << 20;
constexpr size_t kBytesOfPart = 100;

class CallReader {
 public:
  explicit CallReader(const PythonInput& input)
      : in_(input), module_(input.module), background_(input.module, input.names), commands_(input.tables, [](const std::string&) { return std::nullopt; }),
        values_(input.module, input.names) {
    file_.file = module_.file;
    file_.path = in_.path;
    file_.kind = launch::FileKind::Python;
    file_.syntax.file = module_.file;
  }

  LaunchFile Run() {
    for (uint32_t i = 0; i < module_.imports.size(); ++i) NoteImport(module_.imports[ir::ImportId{i}]);
    for (uint32_t i = 0; i < module_.stmts.size(); ++i) NoteGrowth(module_.stmts[ir::StmtId{i}]);
    for (uint32_t i = 0; i < module_.exprs.size(); ++i) NoteGrowth(ExprId{i});
    built_ = BuiltLists(module_, in_.names);
    environment_.emplace(PythonNames{.module = module_, .names = in_.names, .imported = imported_, .assigned = values_.variables(), .text = [this](ExprId id) { return TextOf(id, 0); }});
    for (uint32_t i = 0; i < module_.exprs.size(); ++i) Visit(ExprId{i});
    return std::move(file_);
  }

 private:
  std::string_view Text(base::NameId name) const { return name ? in_.names.View(name) : std::string_view(); }

  // `import subprocess as sp`, `from subprocess import run`
  void NoteImport(const ir::Import& import) {
    const std::string module(Text(import.module));
    if (module != "subprocess" && module != "os" && module != "asyncio") return;
    const std::string_view bound = import.as_name ? Text(import.as_name) : import.name ? Text(import.name) : Text(import.module);
    imported_[bound] = import.name ? module + "." + std::string(Text(import.name)) : module;
  }

  // `cmd += [...]`
  void NoteGrowth(const ir::Stmt& stmt) {
    if (stmt.kind == ir::StmtKind::AugAssign) grown_.insert(NameOf(ir::ValueOf(stmt)));
  }
  std::string_view NameOf(ExprId id) const {
    return id && module_[id].kind == ExprKind::Name ? Text(ir::NameOf(module_[id])) : std::string_view();
  }

  // `cmd.append(...)`
  void NoteGrowth(ExprId id) {
    const ir::Expr& expr = module_[id];
    if (expr.kind != ExprKind::Attribute) return;
    const std::string_view method = Text(ir::AttrOf(expr));
    if (method == "append" || method == "extend" || method == "insert") grown_.insert(NameOf(ir::ObjectOf(expr)));
  }

  std::string CalleeOf(const ir::Expr& call) const {
    const ir::Expr& callee = module_[ir::CalleeOf(call)];
    const bool is_attribute = callee.kind == ExprKind::Attribute;
    const std::string_view name = is_attribute ? NameOf(ir::ObjectOf(callee)) : NameOf(ir::CalleeOf(call));
    const auto known = imported_.find(name);
    if (known == imported_.end()) return {};
    return is_attribute ? known->second + "." + std::string(Text(ir::AttrOf(callee))) : known->second;
  }

  void Visit(ExprId id) {
    const ir::Expr& call = module_[id];
    if (call.kind != ExprKind::Call || ir::ArgCount(module_, call) == 0) return;
    const std::string callee = CalleeOf(call);
    if (callee.empty()) return;
    const size_t before = file_.jobs.size();
    ReadCall(id, callee);
    PlaceJobs(before, id, callee == kInBackground && background_.GoesOn(id));
  }

  // Where the jobs of a call stand among those of the program.
  void PlaceJobs(size_t before, ExprId call, bool in_background) {
    const uint32_t first = before == 0 ? 0 : file_.jobs[before - 1].order + 1;
    for (size_t i = before; i < file_.jobs.size(); ++i) {
      launch::Job& job = file_.jobs[i];
      job.order += first;
      job.section += background_.SectionOf(call) * kMostSectionsOfCall;
      job.in_background = job.in_background || in_background;
    }
  }

  void ReadCall(ExprId id, const std::string& callee) {
    const ir::Expr& call = module_[id];
    const bool takes_environment = TakesEnvironment(callee);
    const auto starter = std::ranges::find(kStarters, std::string_view(callee).substr(0, callee.size() - (takes_environment ? 1 : 0)), &Starter::name);
    if (starter == kStarters.end()) return;
    if (starter->given == Given::Words) return takes_environment ? void() : ReadWords(id, starter->at);
    const ExprId first = starter->at == 0 && !PositionalOf(call, 0) ? KeywordOf(call, "args") : PositionalOf(call, starter->at);
    if (!first) return;
    settings_ = environment_->Of(id, takes_environment ? PositionalOf(call, starter->at + 1) : KeywordOf(call, "env"));
    // `def run(cmd): subprocess.run(cmd)` starts what it is handed.
    const std::vector<ExprId> handed = values_.HandedTo(first);
    for (const ExprId command : handed) ReadCommand(id, command, *starter);
    if (handed.empty()) ReadCommand(id, first, *starter);
  }

  void ReadCommand(ExprId id, ExprId first, const Starter& starter) {
    const ExprId named = Unwrapped(first);
    const ExprId joined = JoinedBy(named);
    const auto built = built_.find((joined ? joined : named).index);
    if (built != built_.end()) return ReadBuilt(built->second, first, module_.span(id), static_cast<bool>(joined));
    const ExprId command = Followed(first);
    if (IsList(command)) ReadList(command, Grows(first), module_.span(id));
    else if (starter.given == Given::Command) ReadText(TextOf(command, 0), {});
  }

  // `cmd` of `shlex.split(cmd)` and `cmd.split()`
  ExprId Unwrapped(ExprId id) const {
    const ir::Expr& expr = module_[id];
    return expr.kind == ExprKind::Call && IsOfText(expr) ? InnerOf(expr) : id;
  }
  ExprId InnerOf(const ir::Expr& call) const {
    return ir::ArgCount(module_, call) > 0 ? ir::ArgAt(module_, call, 0).value : ir::ObjectOf(module_[ir::CalleeOf(call)]);
  }
  // `words` of `" ".join(words)` and `shlex.join(words)`; none: it is neither.
  ExprId JoinedBy(ExprId id) const {
    const ir::Expr& call = module_[id];
    if (call.kind != ExprKind::Call || ir::ArgCount(module_, call) != 1) return {};
    const ir::Expr& callee = module_[ir::CalleeOf(call)];
    if (callee.kind != ExprKind::Attribute || Text(ir::AttrOf(callee)) != "join") return {};
    const ExprId object = ir::ObjectOf(callee);
    const bool joins_words = NameOf(object) == "shlex" || (module_[object].kind == ExprKind::Constant && TextOf(object, 0).text() == " ");
    return joins_words ? PositionalOf(call, 0) : ExprId();
  }

  ExprId KeywordOf(const ir::Expr& call, std::string_view keyword) const {
    for (uint32_t i = 0; i < ir::ArgCount(module_, call); ++i) {
      const ir::Arg arg = ir::ArgAt(module_, call, i);
      if (arg.kind == ir::ArgKind::Keyword && Text(arg.keyword) == keyword) return arg.value;
    }
    return {};
  }
  ExprId PositionalOf(const ir::Expr& call, uint32_t index) const {
    if (index >= ir::ArgCount(module_, call)) return {};
    const ir::Arg arg = ir::ArgAt(module_, call, index);
    return arg.kind == ir::ArgKind::Positional ? arg.value : ExprId();
  }

  // `os.execlp("torchrun", "torchrun", "train.py")`: the first word of the command is the second argument.
  void ReadWords(ExprId id, uint32_t at) {
    const ir::Expr& call = module_[id];
    ShellCommand command{.words = {}, .environment = environment_->Of(id, KeywordOf(call, "env")), .span = module_.span(id), .input = {}, .arms = {}};
    for (uint32_t i = at; i < ir::ArgCount(module_, call); ++i) {
      const ir::Arg arg = ir::ArgAt(module_, call, i);
      if (arg.kind == ir::ArgKind::Positional) AddItem(arg.value, 0, command.words);
      else if (arg.kind != ir::ArgKind::Keyword) command.words.push_back(Unknown(arg.value));
    }
    if (!command.words.empty()) commands_.ReadWords(std::move(command), file_);
  }

  ExprId Followed(ExprId id) const { return values_.Followed(id); }
  bool Grows(ExprId id) const { return grown_.contains(NameOf(id)); }

  bool IsList(ExprId id) const {
    const ir::Expr& expr = module_[id];
    if (expr.kind == ExprKind::List || expr.kind == ExprKind::Tuple) return true;
    return expr.kind == ExprKind::Binary && IsList(Followed(ir::LeftOf(expr)), 0);
  }
  bool IsList(ExprId id, int depth) const {
    const ir::Expr& expr = module_[id];
    if (depth > kDeepestCall) return false;
    return expr.kind == ExprKind::List || (expr.kind == ExprKind::Binary && IsList(Followed(ir::LeftOf(expr)), depth + 1));
  }

  // A list or text that the function has built up: in each way in which it may have done so. `is_joined`: the words of the list are a text.
  void ReadBuilt(const std::vector<BuiltList>& ways, ExprId use, source::Span span, bool is_joined) {
    for (const BuiltList& way : ways) {
      if (way.is_text) {
        if (!is_joined) ReadText(BuiltText(way, use, 0), way.arms);
        continue;
      }
      ShellCommand command{.words = {}, .environment = settings_, .span = span, .input = {}, .arms = way.arms};
      for (const BuiltPart& part : way.parts) {
        if (!part.value) command.words.push_back(Unknown(use));
        else if (part.is_element) AddItem(part.value, 0, command.words);
        else AddWords(part.value, 0, command.words);
      }
      if (is_joined) ReadText(Joined(command.words, use), way.arms);
      else if (!command.words.empty()) commands_.ReadWords(std::move(command), file_);
    }
  }
  Word BuiltText(const BuiltList& way, ExprId use, int depth) const {
    Word text;
    for (const BuiltPart& part : way.parts) text.Append(part.value ? TextOf(part.value, depth + 1) : Unknown(use));
    return text;
  }
  Word Joined(const std::vector<Word>& words, ExprId use) const {
    Word text;
    for (const Word& word : words) {
      if (!text.empty()) text.Add(Piece{.text = " ", .origin = module_.span(use)});
      text.Append(word);
    }
    return text;
  }

  void ReadList(ExprId list, bool grows, source::Span span) {
    ShellCommand command{.words = {}, .environment = settings_, .span = span, .input = {}, .arms = {}};
    AddWords(list, 0, command.words);
    if (grows) command.words.push_back(Unknown(list));
    if (!command.words.empty()) commands_.ReadWords(std::move(command), file_);
  }
  void AddWords(ExprId id, int depth, std::vector<Word>& words) const {
    const ir::Expr& expr = module_[id];
    copied_ += kBytesOfPart;
    if (depth > kDeepestCall || copied_ > kMostOfTexts) return;
    if (expr.kind == ExprKind::List || expr.kind == ExprKind::Tuple) {
      for (const ExprId item : ir::Items(module_, expr)) AddItem(item, depth, words);
    } else if (expr.kind == ExprKind::Binary) {
      AddWords(Followed(ir::LeftOf(expr)), depth + 1, words);
      AddWords(Followed(ir::RightOf(expr)), depth + 1, words);
    } else {
      words.push_back(Unknown(id));
    }
  }
  // What is put in as it is: a word, or with a star any number of them.
  void AddItem(ExprId item, int depth, std::vector<Word>& words) const {
    const bool is_star = module_[item].kind == ExprKind::Starred;
    const ExprId list = is_star ? ir::OperandOf(module_[item]) : ExprId();
    if (is_star && !Grows(list) && IsList(Followed(list), 0)) AddWords(Followed(list), depth + 1, words);
    else words.push_back(is_star ? Unknown(item) : TextOf(item, depth));
  }

  void ReadText(const Word& text, const std::vector<std::pair<uint32_t, uint32_t>>& arms) {
    if (text.text().find_first_not_of(launch::kUnknownPart) == std::string::npos) return;
    ShellInput input;
    input.text = WithoutTemplates(text);
    for (const launch::Setting& setting : settings_) input.variables[setting.name] = {.words = {setting.value}, .is_exported = true, .span = setting.span};
    const size_t before = file_.jobs.size();
    commands_.ReadScript(std::move(input), false, file_);
    for (size_t i = before; i < file_.jobs.size(); ++i) file_.jobs[i].arms.insert(file_.jobs[i].arms.end(), arms.begin(), arms.end());
  }

  // A text, an f-string, a sum of texts, a pattern with its values; the rest is unknown.
  Word TextOf(ExprId id, int depth) const {
    const ir::Expr& expr = module_[id];
    copied_ += kBytesOfPart + (expr.kind == ExprKind::Constant ? expr.end - expr.begin : 0);
    if (depth > kDeepestCall || copied_ > kMostOfTexts) return Unknown(id);
    if (expr.kind == ExprKind::Constant) return Constant(id);
    if (expr.kind == ExprKind::Name || (expr.kind == ExprKind::Attribute && Followed(id) != id)) return TextOfName(id, depth);
    if (expr.kind == ExprKind::Attribute && Text(ir::AttrOf(expr)) == "executable") return Word(Piece{.text = "python", .origin = module_.span(id)});
    if (expr.kind == ExprKind::Call) return TextOfCall(id, depth);
    Word text;
    if (expr.kind == ExprKind::FString) {
      for (const ExprId item : ir::Items(module_, expr)) text.Append(TextOf(item, depth + 1));
    } else if (expr.kind == ExprKind::Binary && static_cast<ir::BinaryOp>(expr.op) == ir::BinaryOp::Add) {
      text.Append(TextOf(ir::LeftOf(expr), depth + 1));
      text.Append(TextOf(ir::RightOf(expr), depth + 1));
    } else if (expr.kind == ExprKind::Binary && static_cast<ir::BinaryOp>(expr.op) == ir::BinaryOp::Mod) {
      return WithPercents(TextOf(ir::LeftOf(expr), depth + 1), [&](std::string_view, size_t index) { return ValueAt(ir::RightOf(expr), index, depth); }, Unknown(id));
    } else {
      return Unknown(id);
    }
    return text;
  }

  Word TextOfName(ExprId id, int depth) const {
    const auto built = built_.find(id.index);
    if (built != built_.end() && built->second.size() == 1 && built->second.front().is_text) return BuiltText(built->second.front(), id, depth);
    const ExprId value = Followed(id);
    return value == id || Grows(id) ? Unknown(id) : TextOf(value, depth + 1);
  }
  Word TextOfCall(ExprId id, int depth) const {
    const ir::Expr& call = module_[id];
    if (IsOfText(call)) return TextOf(InnerOf(call), depth + 1);
    if (const ExprId joined = JoinedBy(id)) {
      std::vector<Word> words;
      AddWords(Followed(joined), depth + 1, words);
      if (Grows(joined)) words.push_back(Unknown(joined));
      return Joined(words, id);
    }
    const ir::Expr& callee = module_[ir::CalleeOf(call)];
    if (callee.kind != ExprKind::Attribute || Text(ir::AttrOf(callee)) != "format") return Unknown(id);
    const auto value = [&](std::string_view name, size_t index) -> std::optional<Word> {
      const ExprId given = name.empty() ? PositionalOf(call, static_cast<uint32_t>(index)) : KeywordOf(call, name);
      return given ? std::optional(TextOf(given, depth + 1)) : std::nullopt;
    };
    return WithBraces(TextOf(ir::ObjectOf(callee), depth + 1), value, Unknown(id));
  }

  // Of what stands behind `%`: of a tuple that item, of anything else itself.
  std::optional<Word> ValueAt(ExprId values, size_t index, int depth) const {
    const ir::Expr& expr = module_[values];
    if (expr.kind == ExprKind::Dict) return std::nullopt;
    if (expr.kind != ExprKind::Tuple) return index == 0 ? std::optional(TextOf(values, depth + 1)) : std::nullopt;
    const auto items = ir::Items(module_, expr);
    return index < items.size() ? std::optional(TextOf(items[index], depth + 1)) : std::nullopt;
  }

  // `str(8)`, `shlex.split("torchrun ...")`, `"torchrun ...".split()`
  bool IsOfText(const ir::Expr& call) const {
    const ExprId callee = ir::CalleeOf(call);
    if (NameOf(callee) == "str") return ir::ArgCount(module_, call) == 1;
    if (module_[callee].kind != ExprKind::Attribute) return false;
    const std::string_view method = Text(ir::AttrOf(module_[callee]));
    if (method == "strip") return ir::ArgCount(module_, call) == 0;
    return method == "split" && (ir::ArgCount(module_, call) == 0 || NameOf(ir::ObjectOf(module_[callee])) == "shlex");
  }

  Word Constant(ExprId id) const {
    const ir::Expr& expr = module_[id];
    if (ir::ConstantKindOf(expr) == ir::ConstantKind::Int) return Word(Piece{.text = std::to_string(ir::IntOf(expr)), .origin = module_.span(id)});
    if (ir::ConstantKindOf(expr) != ir::ConstantKind::Str) return Unknown(id);
    const std::string_view written = std::string_view(in_.text.text).substr(expr.begin, expr.end - expr.begin);
    if (const std::optional<Word> plain = Plain(id, written)) return *plain;
    return ir::TextOf(expr) ? Word(Piece{.text = std::string(Text(ir::TextOf(expr))), .origin = module_.span(id)}) : Unknown(id);
  }
  // A literal whose text stands in the file as it is.
  std::optional<Word> Plain(ExprId id, std::string_view written) const {
    const size_t quotes = written.starts_with("\"\"\"") || written.starts_with("'''") ? 3 : 1;
    const bool is_literal = written.size() >= 2 * quotes && (written[0] == '"' || written[0] == '\'') && written.back() == written[0];
    if (!is_literal) return std::nullopt;
    const std::string_view text = written.substr(quotes, written.size() - 2 * quotes);
    if (text.find('\\') != std::string_view::npos || text.find(written[0]) != std::string_view::npos) return std::nullopt;
    source::Span origin = module_.span(id);
    origin.begin += static_cast<uint32_t>(quotes);
    origin.end -= static_cast<uint32_t>(quotes);
    return Word(Piece{.text = std::string(text), .origin = origin});
  }

  // As a variable in a shell, which may stand for any number of words.
  Word Unknown(ExprId id) const {
    const std::string_view name = module_[id].kind == ExprKind::Starred ? NameOf(ir::OperandOf(module_[id])) : NameOf(id);
    const std::string_view variable = name.empty() ? "value" : name;
    return Word(Piece{.text = std::string(1, launch::kUnknownPart), .origin = module_.span(id), .sureness = Sureness::Unknown,
                      .variable = std::string(variable)});
  }

  const PythonInput& in_;
  const ir::Module& module_;
  PythonBackground background_;
  CommandReader commands_;
  std::map<std::string_view, std::string> imported_;
  PythonValues values_;
  std::set<std::string_view> grown_;
  std::map<uint32_t, std::vector<BuiltList>> built_;   // by the expression that uses it
  std::optional<PythonEnvironment> environment_;
  std::vector<launch::Setting> settings_;              // of the command that is being read
  mutable size_t copied_ = 0;                          // bytes of texts that were put together, each time anew
  LaunchFile file_;
};

}  // namespace

bool StartsProcesses(std::string_view text) {
  constexpr std::array<std::string_view, 6> kWords = {"subprocess", "os.system", "os.popen", "execv", "execl", "os.spawn"};
  return std::ranges::any_of(kWords, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

bool StartsCommands(std::string_view text) {
  return StartsProcesses(text) && std::ranges::any_of(CommandWords(), [&](const std::string& word) { return text.find(word) != std::string_view::npos; });
}

LaunchFile ReadPythonCalls(const PythonInput& input) { return CallReader(input).Run(); }

}  // namespace allranks::launch_files
