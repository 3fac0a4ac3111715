#include "frontends/launch/commands.h"

#include <algorithm>
#include <array>

#include "frontends/launch/cloned.h"
#include "frontends/launch/misread.h"
#include "frontends/launch/unset.h"

namespace allranks::launch_files {
namespace {

using launch::Job;
using launch::LaunchFile;
using launch::LauncherTable;
using launch::Layer;
using launch::Option;
using launch::OptionEntry;

// `bash -c "bash -c ..."` ends somewhere.
constexpr int kDeepestText = 8;
// Bytes of scripts that a file starts with arguments. People write some dozen lines of this kind, and their scripts are short.
constexpr size_t kMostCalled = 1 << 20;
// Bytes of texts that commands hand to a shell. Such a text stands in the file, or a variable holds it: then it may be read many times.
constexpr size_t kMostNested = 8u << 20;

bool IsOptionWord(const Word& word) { return word.text().size() > 1 && word.text()[0] == '-'; }

bool IsAssignment(const Word& word) {
  const size_t equals = word.text().find('=');
  if (equals == std::string::npos || equals == 0) return false;
  return std::ranges::all_of(word.text().substr(0, equals), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

// Whether an unknown word alone (`$ARGS`) may hold options: something that looks like the script follows.
bool MayBeOptions(const std::vector<Word>& words, size_t at) {
  if (words[at].Variable().empty()) return false;
  return std::any_of(words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end(), [](const Word& word) {
    return word.text().find(".py") != std::string::npos || word.text() == "-m" || word.text() == "--module";
  });
}

source::Span Around(source::Span a, source::Span b) {
  if (a.file != b.file) return a;
  return {a.file, std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

bool StartsRanks(const Job& job) {
  return std::ranges::any_of(job.layers, [](const Layer& layer) { return layer.launcher->is_job; });
}

// `cp a.py b.log`: a name that no script and no configuration has.
bool EndsInOtherName(const Word& target) {
  constexpr std::array<std::string_view, 6> kOfScripts = {".py", ".sh", ".json", ".yaml", ".yml", ".toml"};
  const std::string_view text = target.text();
  const size_t dot = text.rfind('.');
  const bool has_ending = dot != std::string_view::npos && dot + 1 < text.size() &&
                          std::ranges::all_of(text.substr(dot + 1), [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; });
  return has_ending && std::ranges::none_of(kOfScripts, [&](std::string_view ending) { return text.ends_with(ending); });
}

// Whether the rest of the line behind a command writes a file.
bool WritesFile(const ShellCommand& command, std::string_view text) {
  const std::string_view line = text.substr(std::min<size_t>(command.begin, text.size()));
  return line.substr(0, line.find_first_of("\n|")).find('>') != std::string_view::npos;
}

// Scripts that it starts need not be of the project.
bool BringsFiles(const ShellCommand& command, std::string_view text) {
  constexpr std::array<std::string_view, 5> kFetchers = {"wget", "curl", "scp", "unzip", "tar"};
  constexpr std::array<std::string_view, 4> kCopiers = {"cp", "mv", "ln", "rsync"};
  // Of the others, `git diff` and `git log` tell about files and leave them as they are.
  constexpr std::array<std::string_view, 8> kTelling = {"diff", "log", "status", "branch", "rev-parse", "add", "commit", "describe"};
  const std::string& name = command.words[0].text();
  if (std::ranges::count(kFetchers, name) > 0) return true;
  if (std::ranges::count(kCopiers, name) > 0) return !EndsInOtherName(command.words.back());
  if (name == "git") return command.words.size() < 2 || std::ranges::count(kTelling, command.words[1].text()) == 0;
  return name == "cat" && (command.input || WritesFile(command, text));
}

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// White space, backslashes and comments alone.
bool IsNothing(std::string_view text) {
  bool is_comment = false;
  for (const char c : text) {
    if (c == '\n') is_comment = false;
    else if (c == '#') is_comment = true;
    else if (!is_comment && !IsBlank(c) && c != '\\') return false;
  }
  return true;
}

void AddAssignment(const Word& word, std::vector<launch::Setting>& environment) {
  const size_t equals = word.text().find('=');
  environment.push_back({word.text().substr(0, equals), word.From(equals + 1), word.span(), true});
}

std::vector<Word> PartsOf(const Word& list) {
  std::vector<Word> parts;
  const std::string& text = list.text();
  for (size_t at = 0; at < text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    parts.push_back(list.Between(at, comma));
    at = comma + 1;
  }
  return parts;
}

// `--export=ALL,NAME=VALUE,OTHER`. Without `ALL` only what is named goes on.
void AddNamedExports(const Word& list, std::vector<launch::Setting>& environment) {
  const std::vector<Word> parts = PartsOf(list);
  const auto is_named = [&](std::string_view name) { return std::ranges::any_of(parts, [&](const Word& part) { return part.text() == name || !part.IsKnown(); }); };
  if (!is_named("ALL")) std::erase_if(environment, [&](const launch::Setting& setting) { return !is_named(setting.name); });
  for (const Word& part : parts) {
    if (IsAssignment(part)) AddAssignment(part, environment);
  }
}

// `mpirun -x NAME=VALUE`, `srun --export=ALL,NAME=VALUE,...`
void AddExports(const Layer& layer, std::vector<launch::Setting>& environment) {
  for (const Option& option : layer.options) {
    if (option.means == "export" && IsAssignment(option.value)) AddAssignment(option.value, environment);
    if (option.means == "exports") AddNamedExports(option.value, environment);
  }
}

// `docker run -e NAME=VALUE`: of programs whose options are not described.
void AddContainerVariable(const std::vector<Word>& words, size_t at, std::vector<launch::Setting>& environment) {
  const std::string& text = words[at].text();
  constexpr std::string_view kJoined = "--env=";
  const bool is_option = text == "-e" || text == "--env";
  if (is_option && at + 1 < words.size() && IsAssignment(words[at + 1])) AddAssignment(words[at + 1], environment);
  if (text.starts_with(kJoined) && IsAssignment(words[at].From(kJoined.size()))) AddAssignment(words[at].From(kJoined.size()), environment);
}

Word JoinedWords(const std::vector<Word>& words, size_t from) {
  Word text;
  for (size_t i = from; i < words.size(); ++i) {
    if (i > from) text.Add({.text = " ", .origin = words[i].span()});
    text.Append(words[i]);
  }
  return text;
}

}  // namespace

// The launcher whose command begins at a word, and how many words that takes.
const LauncherTable* CommandReader::LauncherAt(const std::vector<Word>& words, size_t at, size_t* length) const {
  const std::string& word = words[at].text();
  *length = 1;
  if (word.empty() || word[0] == '-') return nullptr;
  const size_t slash = word.rfind('/');
  const std::string name = slash == std::string::npos ? word : word.substr(slash + 1);
  for (size_t count = std::min<size_t>(3, words.size() - at); count > 1; --count) {
    std::string several = name;
    for (size_t i = 1; i < count; ++i) several += " " + words[at + i].text();
    if (const LauncherTable* found = tables_.FindCommand(several)) {
      *length = count;
      return found;
    }
  }
  const LauncherTable* one = tables_.FindCommand(name);
  const bool is_python = (one != nullptr && one->name == "python") ||
                         (words[at].pieces().size() == 1 && (words[at].Variable() == "PYTHON" || words[at].Variable() == "PYTHON_BIN"));
  if (!is_python) return one;
  for (size_t i = at + 1; i + 1 < words.size() && IsOptionWord(words[i]); ++i) {
    if (words[i].text() != "-m") continue;
    if (const LauncherTable* module = tables_.FindModule(words[i + 1].text())) {
      *length = i + 2 - at;
      return module;
    }
    break;
  }
  return one;
}

// One option with its values; returns the place behind them.
size_t CommandReader::ReadOption(const std::vector<Word>& words, size_t at, Layer& layer) const {
  const Word& word = words[at];
  const size_t equals = word.text().find('=');
  Option option{.means = {}, .name = word.text().substr(0, equals), .word = word, .value = {}};
  const OptionEntry* entry = launch::FindOption(*layer.launcher, option.name);
  // `-N4`
  if (entry == nullptr && word.text().size() > 2 && word.text()[0] == '-' && word.text()[1] != '-') {
    entry = launch::FindOption(*layer.launcher, word.text().substr(0, 2));
    if (entry != nullptr && entry->takes == "value") {
      option.name = word.text().substr(0, 2);
      option.means = entry->means;
      option.value = word.From(2);
      layer.options.push_back(std::move(option));
      return at + 1;
    }
    entry = nullptr;
  }
  option.is_known = entry != nullptr || !word.IsKnown();
  if (entry != nullptr) option.means = entry->means;
  if (equals != std::string::npos) {
    option.value = word.From(equals + 1);
    layer.options.push_back(std::move(option));
    return at + 1;
  }
  const bool takes_value = entry != nullptr && (entry->takes == "value" || entry->takes == "many");
  // Of an option that nobody knows: what follows is its value unless it looks like a script.
  const bool guesses_value = entry == nullptr && at + 1 < words.size() && !IsOptionWord(words[at + 1]) && at + 2 < words.size() &&
                             words[at + 1].text().find(".py") == std::string::npos && layer.launcher->starts == "script" &&
                             words[at + 1].IsKnown();
  size_t next = at + 1;
  if ((takes_value || guesses_value) && next < words.size()) option.value = words[next++];
  layer.options.push_back(std::move(option));
  return next;
}

size_t CommandReader::ReadOptions(const std::vector<Word>& words, size_t at, Layer& layer) const {
  while (at < words.size()) {
    const Word& word = words[at];
    if (word.text() == "--") return at + 1;
    if (!IsOptionWord(word)) {
      if (!layer.launcher->is_job || !MayBeOptions(words, at)) return at;
      layer.options.push_back({.means = "unknown", .name = word.Shown(), .word = word, .value = {}});
      ++at;
      continue;
    }
    at = ReadOption(words, at, layer);
    if (layer.options.back().means == "module" && layer.launcher->name == "python") return at;
  }
  return at;
}

void CommandReader::Read(const ShellCommand& command, std::vector<Layer> outer, bool is_remote, int depth, LaunchFile& file) const {
  const std::vector<Word>& words = command.words;
  size_t at = 0;
  size_t first_length = 0;
  const bool may_start = !words.empty() && (LauncherAt(words, 0, &first_length) != nullptr || words[0].text().ends_with(".sh") || IsAssignment(words[0]));
  if (!may_start && outer.empty()) return;
  ShellCommand inner = WithExported(command);
  while (at < words.size()) {
    size_t length = 1;
    const LauncherTable* launcher = LauncherAt(words, at, &length);
    if (launcher == nullptr) {
      if (words[at].text().ends_with(".sh")) {
        NoteCalledScript(words, at, depth, file);
        // Where the script is seen to start nothing, it is itself what is started.
        const size_t before = file.jobs.size();
        ReadCalled(inner, at, outer, is_remote, depth, file);
        if (file.jobs.size() > before) return;
        break;
      }
      if (IsAssignment(words[at])) {
        AddAssignment(words[at], inner.environment);
        ++at;
        continue;
      }
      break;
    }
    Layer layer{.launcher = launcher, .word = words[at], .span = words[at].span(), .shell = command.shell};
    for (size_t i = 1; i < length; ++i) layer.word.Append(words[at + i]);
    at += length;
    file.runs_debugger = file.runs_debugger || launcher->name == "debugger";
    if (launcher->starts == "search") {
      // The first word of a launcher that starts processes, whatever stands before it.
      size_t found = at;
      while (found < words.size() && !(LauncherAt(words, found, &length) != nullptr && (LauncherAt(words, found, &length)->is_job || LauncherAt(words, found, &length)->name == "shell"))) {
        AddContainerVariable(words, found++, inner.environment);
      }
      at = found;
      continue;
    }
    if (launcher->starts.ends_with("shell text")) {
      const bool remote = launcher->starts.starts_with("remote");
      if (command.input) return ReadNested(*command.input, inner, std::move(outer), is_remote || remote, depth, file);
      if (remote) {
        while (at < words.size() && (IsOptionWord(words[at]) || words[at].text().find('@') != std::string::npos)) ++at;
        return ReadNested(JoinedWords(words, std::min(at + 1, words.size())), inner, std::move(outer), true, depth, file);
      }
      while (at < words.size() && IsOptionWord(words[at]) && words[at].text().find('c') == std::string::npos) ++at;
      if (at < words.size() && !IsOptionWord(words[at])) NoteCalledScript(words, at, depth, file);
      if (at + 1 < words.size() && IsOptionWord(words[at])) return ReadNested(words[at + 1], inner, std::move(outer), is_remote, depth, file);
      return ReadCalled(inner, at, std::move(outer), is_remote, depth, file);
    }
    at = ReadOptions(words, at, layer);
    inner.in_background = inner.in_background || launcher->detaches;
    if (launcher->starts == "text") return ReadNested(JoinedWords(words, at), inner, std::move(outer), is_remote, depth, file);
    if (launcher->starts == "first text") return at < words.size() ? ReadNested(words[at], inner, std::move(outer), is_remote, depth, file) : void();
    AddExports(layer, inner.environment);
    if (launcher->starts == "input" && ReadInput(inner, at, layer, depth, file)) return;
    const size_t last = std::min(at, words.size()) - 1;
    layer.span = Around(layer.span, words[last].span());
    if (launcher->is_job || launcher->name == "python") outer.push_back(std::move(layer));
    if (launcher->starts == "second command") ++at;
    if (launcher->starts == "none" || launcher->starts == "input" || launcher->starts == "script" || launcher->name == "python") break;
  }
  if (!outer.empty()) Add(inner, std::move(outer), at, is_remote, file);
}

// Of a script that is called here, what it calls is its own.
void CommandReader::NoteCalledScript(const std::vector<Word>& words, size_t at, int depth, LaunchFile& file) {
  const bool is_script = depth == 0 && words[at].span().file == file.file && words[at].text().ends_with(".sh");
  if (is_script) file.called.push_back({.path = words[at], .args = {words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end()}, .cloned = {}});
}

// What a scheduler is handed: a here-document, a text, a script, or a command that runs in the allocation.
bool CommandReader::ReadInput(const ShellCommand& command, size_t at, const Layer& batch, int depth, LaunchFile& file) const {
  const Option* text = batch.Find("text");
  if (command.input || text != nullptr) {
    ReadBatch(command.input ? *command.input : text->value, command, batch, depth, file);
    return true;
  }
  size_t length = 1;
  const size_t first = file.jobs.size();
  if (at < command.words.size()) NoteCalledScript(command.words, at, depth, file);
  if (at < command.words.size() && LauncherAt(command.words, at, &length) != nullptr) {
    ShellCommand inner = command;
    inner.words.erase(inner.words.begin(), inner.words.begin() + static_cast<std::ptrdiff_t>(at));
    if (depth < kDeepestText) Read(inner, {}, true, depth + 1, file);
    Allocate(batch, first, file);
    return true;
  }
  const bool tells = !batch.options.empty() || !command.environment.empty();
  const std::optional<Word> script = tells ? Called(command, at, file) : std::nullopt;
  if (!script) return false;
  calling_.push_back(script->span().file);
  ReadBatch(*script, command, batch, depth, file, {command.words.begin() + static_cast<std::ptrdiff_t>(at) + 1, command.words.end()});
  calling_.pop_back();
  return true;
}

void CommandReader::Add(const ShellCommand& command, std::vector<Layer> layers, size_t rest, bool is_remote, LaunchFile& file) const {
  Job job{.file = file.file, .span = command.span};
  job.layers = std::move(layers);
  job.environment = command.environment;
  job.is_module = job.innermost().Find("module") != nullptr;
  size_t at = rest;
  if (at < command.words.size()) job.script = command.words[at++];
  for (; at < command.words.size(); ++at) job.args.push_back(command.words[at]);
  job.in_background = command.in_background;
  job.is_repeated = command.is_repeated;
  job.is_passed_over = command.is_passed_over;
  job.loop_variable = command.loop_variable;
  job.rounds = command.rounds;
  job.section = command.section;
  job.order = command.order;
  job.arms = command.arms;
  job.is_remote = is_remote;
  file.jobs.push_back(std::move(job));
}

void CommandReader::ReadNested(const Word& text, const ShellCommand& command, std::vector<Layer> outer, bool is_remote, int depth,
                               LaunchFile& file, std::vector<Word> arguments) const {
  if (depth >= kDeepestText || text.empty()) return;
  if (nested_ > kMostNested) return;
  nested_ += text.text().size();
  if (nested_ > kMostNested) file.problems.push_back({"it hands shells more text than is followed", command.span, true});
  if (nested_ > kMostNested) return;
  ShellInput input{.text = text, .variables = {}, .arguments = std::move(arguments), .shell = static_cast<uint8_t>(command.shell + 1), .path = {}, .sourcing = {}, .trees = trees_, .open = open_};
  input.is_checked = false;
  for (const launch::Setting& setting : command.environment) {
    input.variables[setting.name] = {.words = {setting.value}, .is_exported = true, .span = setting.span};
  }
  ShellScript script = ReadShell(input);
  const size_t first = file.jobs.size();
  for (ShellCommand& inner : script.commands) {
    inner.in_background = inner.in_background || command.in_background;
    // Loops in loops are not counted.
    inner.rounds = inner.is_repeated ? (command.is_repeated ? 0 : inner.rounds) : command.rounds;
    if (!inner.is_repeated) inner.loop_variable = command.loop_variable;
    inner.is_repeated = inner.is_repeated || command.is_repeated;
    inner.is_passed_over = inner.is_passed_over || command.is_passed_over;
    inner.section += command.section;
    inner.order = command.order;
    inner.arms.insert(inner.arms.begin(), command.arms.begin(), command.arms.end());
    Read(inner, outer, is_remote, depth + 1, file);
  }
  // Of a script that this one writes.
  if (const std::optional<Layer> allocation = ReadDirectives(tables_, script.directives)) {
    for (size_t i = first; i < file.jobs.size(); ++i) {
      file.jobs[i].allocation = allocation;
      file.jobs[i].first_shell = input.shell;
    }
  }
}

// The text of the script that a word names, if it is worth to read it once more: each script is read on its own as well.
std::optional<Word> CommandReader::Called(const ShellCommand& command, size_t at, const LaunchFile& file) const {
  if (at >= command.words.size() || !command.words[at].IsKnown() || !open_ || called_ >= kMostCalled) return std::nullopt;
  std::optional<Word> text = open_(command.words[at].text());
  // One that calls itself does what it does, with other arguments.
  const bool is_own = text && (text->span().file == file.file || std::ranges::count(calling_, text->span().file) > 0);
  if (!text || is_own || (known_ != nullptr && !known_->IsWorthReading(text->span().file, text->text(), command, at))) return std::nullopt;
  called_ += text->text().size();
  return text;
}

// Further in, a bound may have been reached.
void CommandReader::NoteCalled(source::FileId script, size_t first, int depth, const LaunchFile& file) const {
  if (known_ != nullptr && depth == 0 && nested_ <= kMostNested) known_->Note(script, std::span(file.jobs).subspan(first));
}

void CommandReader::ReadCalled(const ShellCommand& command, size_t at, std::vector<Layer> outer, bool is_remote, int depth, LaunchFile& file) const {
  if (at >= command.words.size()) return;
  std::vector<Word> arguments(command.words.begin() + static_cast<std::ptrdiff_t>(at) + 1, command.words.end());
  const bool is_told = std::ranges::any_of(arguments, &Word::IsKnown) ||
                       std::ranges::any_of(command.environment, [](const launch::Setting& setting) { return setting.value.IsKnown(); });
  const std::optional<Word> text = is_told ? Called(command, at, file) : std::nullopt;
  if (!text) return;
  const size_t first = file.jobs.size();
  calling_.push_back(text->span().file);
  ReadNested(*text, command, std::move(outer), is_remote, depth, file, std::move(arguments));
  calling_.pop_back();
  NoteCalled(text->span().file, first, depth, file);
}

// `sbatch --nodes=2 <<EOF`: options of the command count more than the lines `#SBATCH` of the text.
void CommandReader::ReadBatch(const Word& text, const ShellCommand& command, const Layer& batch, int depth, LaunchFile& file,
                              std::vector<Word> arguments) const {
  const size_t first = file.jobs.size();
  ReadNested(text, command, {}, true, depth, file, std::move(arguments));
  for (size_t i = first; i < file.jobs.size(); ++i) file.jobs[i].first_shell = static_cast<uint8_t>(command.shell + 1);
  Allocate(batch, first, file);
}

void CommandReader::Allocate(const Layer& batch, size_t first, LaunchFile& file) {
  for (size_t i = first; i < file.jobs.size(); ++i) {
    Job& job = file.jobs[i];
    if (!job.allocation) job.allocation = batch;
    else job.allocation->options.insert(job.allocation->options.end(), batch.options.begin(), batch.options.end());
  }
}

void CommandReader::ReadWords(ShellCommand command, LaunchFile& file) const { Read(command, {}, false, 0, file); }

void CommandReader::ReadScript(const Word& text, bool is_file, LaunchFile& file) const {
  ReadScript({.text = text, .variables = {}, .arguments = {}, .path = {}, .sourcing = {}, .open = open_}, is_file, file);
}

void CommandReader::ReadScript(ShellInput input, bool is_file, LaunchFile& file) const {
  input.open = open_;
  input.trees = trees_;
  if (is_file) input.path = "./";
  ShellScript script = ReadShell(input);
  const std::optional<Layer> allocation = ReadDirectives(tables_, script.directives);
  const ShellCommand* before = nullptr;
  ClonedFolders cloned;
  for (const ShellCommand& command : script.commands) {
    const size_t first = file.jobs.size();
    const size_t calls = file.called.size();
    cloned.Follow(command);
    if (command.in_background) {
      std::ranges::copy_if(command.environment, std::back_inserter(file.background_devices), [](const launch::Setting& setting) { return setting.name == "CUDA_VISIBLE_DEVICES"; });
    }
    file.brings_files = file.brings_files || BringsFiles(command, input.text.text());
    Read(command, {}, false, 0, file);
    for (size_t i = calls; i < file.called.size(); ++i) file.called[i].cloned = cloned.Here();
    const bool is_job = file.jobs.size() == first + 1;
    if (before != nullptr && !is_job) NoteLost(input.text, *before, command, file);
    before = is_job ? &command : nullptr;
    // `cat > job.sh <<EOF`: the text is a script that somebody runs.
    const size_t own = file.jobs.size();
    const bool is_script = command.input && own == first && command.input->text().find("#!") < 8;
    if (is_script) ReadNested(*command.input, WithExported(command), {}, true, 0, file);
    // One that is handed to the scheduler has an allocation of its own.
    for (size_t i = first; i < own; ++i) {
      if (!file.jobs[i].allocation) file.jobs[i].allocation = allocation;
      file.jobs[i].cloned = cloned.Here();
    }
  }
  file.changes_folder = file.changes_folder || script.changes_folder;
  file.settings.insert(file.settings.end(), script.exports.begin(), script.exports.end());
  file.syntax.statements.insert(file.syntax.statements.end(), script.statements.begin(), script.statements.end());
  file.syntax.comments.insert(file.syntax.comments.end(), script.comments.begin(), script.comments.end());
  const bool is_whole = is_file || file.kind == launch::FileKind::Make;
  std::ranges::copy_if(script.problems, std::back_inserter(file.problems), [&](const launch::ReadProblem& problem) { return is_whole || problem.is_limit; });
  // What is broken is told of as such, and a file that starts nothing of a job is not asked.
  const bool is_asked = is_file && script.problems.empty() && (std::ranges::any_of(file.jobs, StartsRanks) || !script.directives.empty());
  if (is_asked) AddUnset(script.variables, input.text, file);
  if (is_asked) AddMisread(std::move(script), input.text, file);
}

namespace {

// Whether no line of a command on a page is continued, and further lines of options follow: the page breaks one long line
// so that it can be read, and shows nothing that is meant to be pasted as it stands.
bool IsLayoutOfPage(std::string_view text, const ShellCommand& job, const ShellCommand& lost) {
  const std::string_view own = text.substr(job.begin, lost.end - job.begin);
  if (own.find("\\\n") != std::string_view::npos) return false;
  const size_t next = text.find_first_not_of(" \t\r\n", lost.end);
  return next != std::string_view::npos && text[next] == '-' && text.substr(lost.end, next - lost.end).find('\n') != std::string_view::npos;
}

// `# ... (other parameters)` between two lines of a command.
bool IsOmission(std::string_view gap) { return gap.find("...") != std::string_view::npos || gap.find("…") != std::string_view::npos; }

// `train.py ...`: a page leaves out what everybody knows by then.
bool EndsInOmission(const ShellCommand& job) {
  const std::string& last = job.words.back().text();
  return last == "..." || last == "…";
}

}  // namespace

namespace {

// `trainer.devices=8`, as Hydra and OmegaConf take settings. Variables of the shell have no dots.
bool IsSettingWord(const std::string& word) {
  const size_t equals = word.find('=');
  const size_t dot = word.find('.');
  return dot != std::string::npos && dot > 0 && equals != std::string::npos && dot < equals && word.find_first_of("/ ") > equals;
}

// A line of white space alone between the first line end and the last.
bool HasEmptyLine(std::string_view gap) {
  for (size_t at = gap.find('\n'); at != std::string_view::npos;) {
    const size_t next = gap.find('\n', at + 1);
    if (next == std::string_view::npos) return false;
    if (std::ranges::all_of(gap.substr(at, next - at), IsBlank)) return true;
    at = next;
  }
  return false;
}

}  // namespace

// A command that is an option, right below a job: the shell does not see that the two belong together.
void CommandReader::NoteLost(const Word& text, const ShellCommand& before, const ShellCommand& command, LaunchFile& file) const {
  const std::string& first = command.words[0].text();
  const bool is_option = first.size() > 2 && first[0] == '-' && (first[1] == '-' || std::isalpha(static_cast<unsigned char>(first[1])) != 0);
  if ((!is_option && !IsSettingWord(first)) || command.begin < before.end) return;
  size_t end = before.end;
  while (end > before.begin && IsBlank(text.text()[end - 1])) --end;
  const std::string_view gap = std::string_view(text.text()).substr(end, command.begin - end);
  const size_t line_end = gap.find('\n');
  if (line_end == std::string_view::npos || !IsNothing(gap)) return;
  const bool is_page = file.kind == launch::FileKind::Markdown;
  if (is_page && (IsLayoutOfPage(text.text(), before, command) || EndsInOmission(before) || IsOmission(gap))) return;
  launch::LostArguments lost{.job = static_cast<uint32_t>(file.jobs.size() - 1), .first = is_option ? command.words[0].Between(0, std::min(first.find('='), first.size())) : command.words[0]};
  const size_t comment = gap.find('#');
  const size_t backslash = text.text()[end - 1] == '\\' ? end - 1 : end + std::min(gap.find('\\'), line_end);
  const bool is_behind_backslash = backslash < end + std::min(comment, line_end);
  // What starts no ranks, and settings, may stand alone: the backslash shows that it was to go on.
  if ((!is_option || !StartsRanks(file.jobs.back())) && !is_behind_backslash) return;
  // A command that ends as one, and an empty line: what stands further down was not meant to go on with it.
  if (!is_behind_backslash && HasEmptyLine(gap)) return;
  // `\\` is a word.
  if (backslash < end + line_end && backslash > 0 && text.text()[backslash - 1] == '\\') return;
  const bool is_joined = backslash + 1 == end + line_end && comment == std::string_view::npos;
  if (is_joined) {
    // The line goes on in an empty one, which does not.
    const size_t empty = text.text().rfind('\n', command.begin);
    const source::Span last = text.Between(empty, empty + 1).span();
    lost.mistake = {last.file, last.begin, last.begin};
  } else if (comment < line_end && is_behind_backslash) {
    lost.by = launch::LostBy::SpaceBehindBackslash;
  } else if (comment != std::string_view::npos) {
    lost.by = launch::LostBy::Comment;
    lost.mistake = text.Between(end + comment, end + comment + 1).span();
  } else if (backslash < end + line_end) {
    lost.by = launch::LostBy::SpaceBehindBackslash;
    lost.mistake = text.Between(backslash + 1, end + line_end).span();
  } else {
    const source::Span last = text.Between(end - 1, end).span();
    lost.mistake = {last.file, last.end, last.end};
  }
  file.lost.push_back(std::move(lost));
}

namespace {

// One option of a line `#SBATCH`; the place behind it.
size_t ReadDirective(const std::vector<Word>& words, size_t at, Layer& layer) {
  const std::string& text = words[at].text();
  const size_t equals = text.find('=');
  const bool has_next = at + 1 < words.size();
  Option option{.means = {}, .name = text.substr(0, equals), .word = words[at], .value = {}};
  const OptionEntry* entry = launch::FindOption(*layer.launcher, option.name);
  const bool is_joined = entry == nullptr && equals == std::string::npos && text.size() > 2 && text[1] != '-';
  if (is_joined) entry = launch::FindOption(*layer.launcher, text.substr(0, 2));
  const bool takes_next = equals == std::string::npos && !is_joined && has_next && (entry == nullptr ? !IsOptionWord(words[at + 1]) : entry->takes == "value");
  if (equals != std::string::npos) option.value = words[at].From(equals + 1);
  else if (is_joined) option.value = words[at].From(2);
  else if (takes_next) option.value = words[at + 1];
  const bool is_long = option.name.starts_with("--") && words[at].IsKnown();
  option.is_known = entry != nullptr;
  if (entry != nullptr) option.means = entry->means;
  if (entry != nullptr || is_long) layer.options.push_back(std::move(option));
  return at + (takes_next ? 2 : 1);
}

}  // namespace

std::optional<Layer> ReadDirectives(const launch::LauncherTables& tables, const std::vector<Word>& lines) {
  const LauncherTable* table = tables.Find("sbatch");
  if (lines.empty() || table == nullptr) return std::nullopt;
  Layer layer{.launcher = table, .word = lines.front(), .span = lines.front().span()};
  for (const Word& line : lines) {
    std::vector<Word> words = SplitWords(line);
    const auto comment = std::ranges::find_if(words, [](const Word& word) { return word.text().starts_with("#"); });
    words.erase(comment, words.end());
    for (size_t at = 0; at < words.size() && IsOptionWord(words[at]);) at = ReadDirective(words, at, layer);
  }
  return layer;
}

}  // namespace allranks::launch_files
