#include "frontends/launch/read.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <map>
#include <utility>

#include "analyzer/base/lowered.h"
#include "frontends/launch/cloned.h"
#include "frontends/launch/cluster.h"
#include "frontends/launch/commands.h"
#include "frontends/launch/pages.h"
#include "frontends/launch/templates.h"
#include "frontends/launch/yaml.h"

namespace allranks::launch_files {
namespace {

using launch::ConfigId;
using launch::ConfigKind;
using launch::FileKind;
using launch::LaunchFile;
using launch::Piece;
using launch::Word;

// Shell stands below these in YAML.
constexpr std::array<std::string_view, 7> kShellKeys = {"run", "script", "command", "cmd", "setup", "entrypoint", "args"};

std::string_view NameOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool IsJustfile(std::string_view path) { return base::Lowered(NameOf(path)) == "justfile" || path.ends_with(".just"); }
bool IsTox(std::string_view path) { return NameOf(path) == "tox.ini"; }

class FileReader {
 public:
  explicit FileReader(const ReadInput& input) : in_(input), commands_(input.tables, input.open, input.trees, input.called) {
    file_.file = in_.id;
    file_.path = in_.path;
    file_.kind = in_.kind;
    file_.syntax.file = in_.id;
    if (in_.kind == FileKind::Json) file_.syntax.comment_mark = "";
  }

  LaunchFile Run() {
    switch (in_.kind) {
      case FileKind::Shell: commands_.ReadScript(WithoutTemplates(Text(0, in_.text.text.size())), true, file_); break;
      case FileKind::Make: IsTox(in_.path) ? ReadTox() : IsJustfile(in_.path) ? ReadJustfile() : ReadMakefile(); break;
      case FileKind::Docker: ReadDockerfile(); break;
      case FileKind::Markdown: ReadPage(); break;
      case FileKind::Notebook: ReadNotebook(); break;
      case FileKind::Json: ReadConfig(ReadJson(in_.text, in_.id)); break;
      case FileKind::Yaml: ReadConfig(ReadYaml(in_.text, in_.id)); break;
      case FileKind::Toml: ReadConfig(ReadToml(in_.text, in_.id)); break;
      // Read as code is (python_calls.h).
      case FileKind::Python: break;
    }
    const bool is_page = in_.kind == FileKind::Markdown || in_.kind == FileKind::Notebook;
    if (is_page) ForgetPlaceholders();
    return std::move(file_);
  }

 private:
  // Where a launcher wants a number.
  void ForgetPlaceholders() {
    for (launch::Job& job : file_.jobs) {
      for (launch::Layer& layer : job.layers) {
        for (launch::Option& option : layer.options) {
          const launch::OptionEntry* entry = launch::FindOption(*layer.launcher, option.name);
          const bool is_placeholder = entry != nullptr && entry->is_count && IsForReaders(option.value.text());
          if (is_placeholder) option.value = Unknown(option.value.span());
        }
      }
    }
  }
  static Word Unknown(source::Span span) { return Word(Piece{.text = std::string(1, launch::kUnknownPart), .origin = span, .sureness = launch::Sureness::Unknown}); }

  Word Text(size_t begin, size_t end) const {
    const auto from = static_cast<uint32_t>(begin);
    const auto to = static_cast<uint32_t>(end);
    return Word(Piece{.text = in_.text.text.substr(begin, end - begin), .origin = {in_.id, from, to}});
  }
  static void AddExtent(size_t begin, size_t end, std::vector<findings::Extent>& extents) {
    extents.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(end), static_cast<uint32_t>(end)});
  }
  size_t EndOfLine(size_t at) const { return std::min(in_.text.text.find('\n', at), in_.text.text.size()); }

  // Recipes: the lines behind a tab. `$(X)` and `${X}` are Make's, `$$` is the shell's dollar.
  void ReadMakefile() {
    const std::string& text = in_.text.text;
    for (size_t at = 0; at < text.size(); at = EndOfLine(at) + 1) NoteMakeVariable(at, EndOfLine(at));
    Word recipe;
    for (size_t at = 0; at < text.size();) {
      const size_t end = EndOfLine(at);
      if (text[at] == '\t') {
        size_t begin = at + 1;
        while (begin < end && (text[begin] == '@' || text[begin] == '-' || text[begin] == '+')) ++begin;
        AddMakeText(begin, std::min(end + 1, text.size()), recipe);
      } else if (!recipe.empty()) {
        commands_.ReadScript(std::exchange(recipe, Word()), false, file_);
      }
      at = end + 1;
    }
    if (!recipe.empty()) commands_.ReadScript(recipe, false, file_);
  }
  // `N = 2`, `N ?= 2`: whoever calls Make may give another value. One that is assigned twice or is made of others is not known.
  void NoteMakeVariable(size_t begin, size_t end) {
    constexpr std::string_view kExport = "export ";
    const std::string& text = in_.text.text;
    if (text.compare(begin, kExport.size(), kExport) == 0) begin += kExport.size();
    size_t name_end = begin;
    while (name_end < end && (std::isalnum(static_cast<unsigned char>(text[name_end])) != 0 || text[name_end] == '_')) ++name_end;
    size_t equals = std::min(text.find_first_not_of(" \t", name_end), end);
    const bool is_plain = equals < end && text[equals] != '+';
    while (equals < end && (text[equals] == ':' || text[equals] == '?' || text[equals] == '+')) ++equals;
    if (name_end == begin || equals >= end || text[equals] != '=') return;
    const size_t first = std::min(text.find_first_not_of(" \t", equals + 1), end);
    size_t last = std::min(text.find('#', first), end);
    while (last > first && (text[last - 1] == ' ' || text[last - 1] == '\t' || text[last - 1] == '\r')) --last;
    Piece value{.text = text.substr(first, last - first), .origin = Text(first, last).span(), .sureness = launch::Sureness::Default};
    const bool is_known = is_plain && value.text.find_first_of("$\\") == std::string::npos;
    const auto [variable, is_new] = make_variables_.try_emplace(text.substr(begin, name_end - begin), is_known ? std::optional(value) : std::nullopt);
    if (!is_new) variable->second.reset();
  }
  Word MakeVariable(size_t begin, size_t end) const {
    const bool is_long = end - begin > 3;
    const auto known = make_variables_.find(is_long ? in_.text.text.substr(begin + 2, end - begin - 3) : in_.text.text.substr(begin + 1, 1));
    return known != make_variables_.end() && known->second ? Word(*known->second) : Unknown(Text(begin, end).span());
  }
  void AddMakeText(size_t begin, size_t end, Word& recipe) const {
    const std::string& text = in_.text.text;
    size_t from = begin;
    for (size_t at = begin; at + 1 < end; ++at) {
      if (text[at] != '$') continue;
      const char next = text[at + 1];
      if (at > from) recipe.Append(Text(from, at));
      if (next == '$') {
        from = at + 1;
      } else {
        const size_t close = next == '(' ? text.find(')', at) : next == '{' ? text.find('}', at) : at + 1;
        from = close == std::string::npos || close >= end ? end : close + 1;
        recipe.Append(MakeVariable(at, from));
      }
      at = from > at ? from - (next == '$' ? 0 : 1) : at;
    }
    if (end > from) recipe.Append(Text(from, end));
  }

  // A recipe of `just`: the lines below its name that stand further in. `{{ x }}` is just's.
  void ReadJustfile() {
    const std::string& text = in_.text.text;
    Word recipe;
    const auto read = [&] {
      const size_t first = recipe.text().find_first_not_of(" \t");
      const bool is_shell = first == std::string::npos || recipe.text().compare(first, 2, "#!") != 0 || IsShellScript(std::string_view(recipe.text()).substr(first));
      if (is_shell && !recipe.empty()) commands_.ReadScript(WithoutTemplates(recipe), false, file_);
      recipe = {};
    };
    for (size_t at = 0; at < text.size(); at = EndOfLine(at) + 1) {
      const size_t end = EndOfLine(at);
      const size_t first = text.find_first_not_of(" \t", at);
      if (first > at && first < end) recipe.Append(Text(AfterMarks(first, "@-"), std::min(end + 1, text.size())));
      else if (first < end) read();
    }
    read();
  }
  // `commands =` of tox, with the lines below that stand further in. `{posargs}` is tox's.
  void ReadTox() {
    const std::string& text = in_.text.text;
    bool is_inside = false;
    Word commands;
    for (size_t at = 0; at < text.size(); at = EndOfLine(at) + 1) {
      const size_t end = std::min(EndOfLine(at) + 1, text.size());
      const std::string_view line = std::string_view(text).substr(at, end - at);
      const bool is_key = line.find_first_not_of(" \t\r\n") == 0;
      if (is_key) is_inside = line.starts_with("commands") && line.find('=') != std::string_view::npos;
      const size_t first = std::min(text.find_first_not_of(" \t", is_key ? at + line.find('=') + 1 : at), end);
      if (is_inside) AddToxText(AfterMarks(first, "-!"), end, commands);
    }
    if (!commands.empty()) commands_.ReadScript(commands, false, file_);
  }
  void AddToxText(size_t begin, size_t end, Word& commands) const {
    const std::string& text = in_.text.text;
    size_t from = begin;
    for (size_t at = text.find('{', begin); at < end; at = text.find('{', from)) {
      const size_t close = std::min(text.find('}', at), end - 1);
      if (at > from) commands.Append(Text(from, at));
      commands.Append(Unknown(Text(at, close + 1).span()));
      from = close + 1;
    }
    if (end > from) commands.Append(Text(from, end));
  }
  // Signs before a command that are no part of it.
  size_t AfterMarks(size_t at, std::string_view marks) const {
    while (at < in_.text.text.size() && (marks.find(in_.text.text[at]) != std::string_view::npos || in_.text.text[at] == ' ')) ++at;
    return at;
  }

  // RUN, CMD and ENTRYPOINT; `ENV NAME=VALUE` holds for what comes behind it.
  void ReadDockerfile() {
    const std::string& text = in_.text.text;
    ShellInput input;
    for (size_t at = 0; at < text.size();) {
      size_t end = EndOfLine(at);
      while (text[at] != '#' && end < text.size() && end > at && text[end - 1] == '\\') end = EndOfLine(end + 1);
      const std::string_view line = std::string_view(text).substr(at, end - at);
      const size_t space = line.find_first_of(" \t");
      const std::string verb = base::Lowered(line.substr(0, space));
      if (line.starts_with('#')) AddExtent(at, EndOfLine(at), file_.syntax.comments);
      else if (!line.empty()) AddExtent(at, end, file_.syntax.statements);
      if (verb == "from") ReadEntrypoint();
      if (space != std::string_view::npos) ReadInstruction(verb, at + space + 1, end, input);
      at = end + 1;
    }
    ReadEntrypoint();
  }
  void ReadInstruction(std::string_view verb, size_t begin, size_t end, ShellInput& input) {
    if (verb == "env") return ReadEnvironment(Text(begin, end), input);
    if (verb != "run" && verb != "cmd" && verb != "entrypoint") return;
    const size_t bracket = in_.text.text.find_first_not_of(' ', begin);
    const size_t first = in_.text.text.find_first_not_of(" \t\\\r\n", std::min(bracket, in_.text.text.size() - 1) + 1);
    const bool is_list = bracket < end && first < end && in_.text.text[bracket] == '[' && (in_.text.text[first] == '"' || in_.text.text[first] == '\'');
    if (is_list && IsListOfTexts(WithoutContinuations(bracket, end))) return ReadExecForm(verb, bracket + 1, end, input);
    if (is_list) {
      file_.problems.push_back({"this list is no JSON: Docker hands the line to a shell as it stands", Text(bracket, bracket + 1).span()});
      return;
    }
    input.text = Text(begin, end);
    commands_.ReadScript(input, false, file_);
  }
  std::string WithoutContinuations(size_t begin, size_t end) const {
    std::string text = in_.text.text.substr(begin, end - begin);
    for (size_t at = text.find("\\\n"); at != std::string::npos; at = text.find("\\\n", at)) text.erase(at, 2);
    return text;
  }
  // `ENV NAME=VALUE OTHER=VALUE`, or `ENV NAME VALUE` of old.
  void ReadEnvironment(const Word& line, ShellInput& input) {
    const std::vector<Word> words = SplitWords(line);
    const bool is_old = words.size() > 1 && words[0].text().find('=') == std::string::npos;
    if (is_old) return SetEnvironment(words[0].text(), words.size() == 2 ? words[1] : Unknown(words[1].span()), line.span(), input);
    for (const Word& word : words) {
      const size_t equals = word.text().find('=');
      if (equals != std::string::npos) SetEnvironment(word.text().substr(0, equals), word.From(equals + 1), word.span(), input);
    }
  }
  void SetEnvironment(const std::string& name, const Word& value, source::Span span, ShellInput& input) {
    input.variables[name] = {.words = {value}, .is_exported = true, .span = span};
    file_.settings.push_back({name, value, span});
  }
  // `["torchrun", "train.py"]`; what CMD names are arguments of what ENTRYPOINT names.
  void ReadExecForm(std::string_view verb, size_t begin, size_t end, const ShellInput& input) {
    ShellCommand command{.words = {}, .environment = {}, .span = Text(begin - 1, end).span(), .input = {}, .arms = {}};
    for (const auto& [name, variable] : input.variables) command.environment.push_back({name, variable.words[0], variable.span});
    const std::string& text = in_.text.text;
    for (size_t at = text.find('"', begin); at < end; at = text.find('"', at)) {
      const size_t close = text.find('"', at + 1);
      if (close >= end) break;
      command.words.push_back(Text(at + 1, close));
      at = close + 1;
    }
    if (command.words.empty()) return;
    if (verb == "entrypoint") {
      ReadEntrypoint();
      entrypoint_ = std::move(command);
      return;
    }
    const size_t jobs = file_.jobs.size();
    if (verb == "cmd" && entrypoint_) {
      ShellCommand both = command;
      both.words.insert(both.words.begin(), entrypoint_->words.begin(), entrypoint_->words.end());
      commands_.ReadWords(std::move(both), file_);
    }
    // A script of the image that is the entry point may start what CMD names.
    if (file_.jobs.size() > jobs) entrypoint_.reset();
    else commands_.ReadWords(std::move(command), file_);
  }
  // One that has no arguments.
  void ReadEntrypoint() {
    if (entrypoint_) commands_.ReadWords(*std::exchange(entrypoint_, std::nullopt), file_);
  }

  void ReadPage() {
    for (const PageBlock& block : ShellBlocksOf(in_.path, in_.text.text)) {
      section_ = block.section;
      if (block.is_mention) ReadMention(block.begin, block.end);
      else ReadBlock(block.begin, block.end);
    }
  }
  void ReadMention(size_t begin, size_t end) {
    LaunchFile page = std::exchange(file_, {.file = in_.id, .path = in_.path, .kind = in_.kind});
    ReadBlock(begin, end);
    std::ranges::move(file_.jobs, std::back_inserter(page.mentioned));
    file_ = std::move(page);
  }
  void ReadBlock(size_t begin, size_t end) {
    const std::string_view block = std::string_view(in_.text.text).substr(begin, end - begin);
    if (!StartsAnything(block)) return;
    const size_t first = file_.jobs.size();
    const size_t calls = file_.called.size();
    commands_.ReadScript(WithoutTemplates(Prompted(begin, end)), false, file_);
    for (size_t i = first; i < file_.jobs.size(); ++i) NoteCloned(file_.jobs[i].span, file_.jobs[i].cloned);
    for (size_t i = calls; i < file_.called.size(); ++i) NoteCloned(file_.called[i].path.span(), file_.called[i].cloned);
  }
  // Whoever reads a section does first what stands further up in it, and a page need not say `cd`.
  void NoteCloned(source::Span span, std::string& cloned) {
    if (cloned.empty() && span.file == in_.id && span.begin > section_) cloned = clones_.Before(in_.text.text, section_, span.begin);
  }

  // Most blocks install packages or show what is printed.
  bool StartsAnything(std::string_view block) const {
    const auto has = [&](const std::string& word) { return block.find(word) != std::string_view::npos; };
    if (MentionsLauncher(block)) return true;
    return std::ranges::any_of(StartWords(), has) && (!in_.names_program || in_.names_program(block));
  }

  // `!accelerate launch train.py \` and the lines that it goes on in. The text of a notebook has them as comments.
  void ReadNotebook() {
    constexpr std::string_view kCommand = "# !";
    const std::string& text = in_.text.text;
    Word script;
    bool goes_on = false;
    for (size_t at = 0; at < text.size();) {
      const size_t end = EndOfLine(at);
      const std::string_view line = std::string_view(text).substr(at, end - at);
      const size_t command = goes_on ? (line.starts_with("# ") ? 2 : std::string_view::npos) : AfterCommandMark(line, kCommand);
      goes_on = command != std::string_view::npos && line.ends_with('\\');
      if (command != std::string_view::npos) script.Append(Text(at + command, std::min(end + 1, text.size())));
      at = end + 1;
    }
    commands_.ReadScript(WithoutTemplates(script), false, file_);
  }
  // Indented ones have a `pass` before the comment.
  static size_t AfterCommandMark(std::string_view line, std::string_view mark) {
    const size_t at = line.find(mark);
    if (at == std::string_view::npos) return at;
    const std::string_view before = line.substr(0, at);
    const bool is_alone = before.find_first_not_of(" \t") == std::string_view::npos || before.ends_with("pass  ");
    return is_alone ? at + mark.size() : std::string_view::npos;
  }
  Word WithoutPrompts(size_t begin, size_t end) const {
    const std::string& text = in_.text.text;
    Word out;
    size_t from = begin;
    for (size_t at = begin; at < end; at = EndOfLine(at) + 1) {
      const size_t first = text.find_first_not_of(" \t", at);
      const bool has_prompt = first < end && (text.compare(first, 2, "$ ") == 0 || text.compare(first, 2, "> ") == 0);
      if (!has_prompt || first > EndOfLine(at)) continue;
      if (at > from) out.Append(Text(from, at));
      from = first + 2;
    }
    if (end > from) out.Append(Text(from, end));
    return out;
  }
  // Where the first command has a prompt, so have the others; the lines between were printed.
  Word Prompted(size_t begin, size_t end) const {
    const std::string& text = in_.text.text;
    bool is_first = true;
    bool is_session = false;
    bool goes_on = false;
    Word out;
    for (size_t at = begin; at < end; at = EndOfLine(at) + 1) {
      const size_t line_end = std::min(EndOfLine(at) + 1, end);
      const size_t first = text.find_first_not_of(" \t", at);
      if (first + 1 >= line_end || text[first] == '#') continue;
      const bool has_prompt = text.compare(first, 2, "$ ") == 0 || text.compare(first, 2, "> ") == 0;
      if (is_first) is_session = text.compare(first, 2, "$ ") == 0;
      is_first = false;
      if (!is_session) return WithoutPrompts(begin, end);
      const bool is_command = has_prompt || goes_on;
      const std::string_view line = std::string_view(text).substr(at, line_end - at);
      const size_t last = line.find_last_not_of(" \t\r\n");
      goes_on = is_command && last != std::string_view::npos && line[last] == '\\';
      if (is_command) out.Append(Text(has_prompt ? first + 2 : at, line_end));
    }
    return out;
  }

  void ReadConfig(ConfigText config) {
    file_.tree = std::move(config.tree);
    file_.problems = std::move(config.problems);
    file_.syntax.comments = std::move(config.comments);
    const std::string& text = in_.text.text;
    const bool is_template = text.find("{{") != std::string::npos || text.find("{%") != std::string::npos || text.find("<%") != std::string::npos;
    if (is_template) file_.problems.clear();
    if (in_.kind == FileKind::Yaml) ReadCommandsInYaml();
    const std::vector<findings::Extent> statements = StatementsOf(file_.tree);
    file_.syntax.statements.insert(file_.syntax.statements.end(), statements.begin(), statements.end());
  }

  // Shell in values of `run`, `script`, `command` and the like (workflows, SkyPilot), words in lists (Kubernetes).
  void ReadCommandsInYaml() {
    for (uint32_t i = 0; i < file_.tree.size(); ++i) {
      const launch::ConfigNode& node = file_.tree[ConfigId{i}];
      if (std::ranges::count(kShellKeys, node.key) == 0) continue;
      if (node.kind == ConfigKind::Text) ReadYamlScript(ConfigId{i});
      else if (node.kind == ConfigKind::List && node.key == "script") ReadYamlLines(ConfigId{i});
      else if (node.kind == ConfigKind::List && node.key != "args") ReadYamlWords(ConfigId{i});
    }
  }
  ShellInput InputOf(ConfigId id) const {
    ShellInput input;
    for (ConfigId around = file_.tree[id].parent; around; around = file_.tree[around].parent) {
      for (const char* key : {"env", "envs", "environment", "variables"}) AddEnvironment(file_.tree.Member(around, key), input);
      const ConfigId nodes = file_.tree.Member(around, "num_nodes");
      if (file_.tree.Integer(nodes)) Set(input, "SKYPILOT_NUM_NODES", nodes, false);
    }
    for (auto& [name, variable] : Cluster(file_.tree, id).Variables()) input.variables.try_emplace(name, std::move(variable));
    return input;
  }
  Word ValueOf(ConfigId id) const {
    const launch::ConfigNode& node = file_.tree[id];
    return WithoutTemplates(Word(Piece{.text = node.text, .origin = node.span}));
  }
  void Set(ShellInput& input, const std::string& name, ConfigId value, bool is_exported) const {
    input.variables.try_emplace(name, ShellVariable{.words = {ValueOf(value)}, .is_exported = is_exported, .span = file_.tree[value].span});
  }
  // `{NAME: value}`, `[{name: NAME, value: value}]` or `["NAME=value"]`
  void AddEnvironment(ConfigId env, ShellInput& input) const {
    if (!env) return;
    for (const ConfigId child : file_.tree[env].children) {
      if (file_.tree[env].kind == ConfigKind::Map) {
        // `{NAME: {value: 4, description: ...}}`
        const ConfigId value = file_.tree.Member(child, "value");
        if (value || file_.tree[child].kind != ConfigKind::Map) Set(input, file_.tree[child].key, value ? value : child, true);
      } else if (const Word text = ValueOf(child); text.text().find('=') != std::string::npos) {
        const size_t equals = text.text().find('=');
        input.variables.try_emplace(text.text().substr(0, equals), ShellVariable{.words = {text.From(equals + 1)}, .is_exported = true, .span = text.span()});
      } else if (const ConfigId value = file_.tree.Member(child, "value")) {
        Set(input, std::string(file_.tree.Text(file_.tree.Member(child, "name"))), value, true);
      }
    }
  }
  void ReadYamlScript(ConfigId id) {
    ShellInput input = InputOf(id);
    input.text = ShellText(id);
    ReadWithOperator(std::move(input), id);
  }
  // A pipeline of GitLab: the lines of a list are run one after another, those of `before_script` first.
  void ReadYamlLines(ConfigId script) {
    ShellInput input = InputOf(script);
    const ConfigId job = file_.tree[script].parent;
    ConfigId before = file_.tree.Member(job, "before_script");
    for (const ConfigId shared : {file_.tree.Member(file_.tree.root(), "default"), file_.tree.root()}) {
      if (!before && shared) before = file_.tree.Member(shared, "before_script");
    }
    if (before) AddLines(before, 0, input.text);
    AddLines(script, 0, input.text);
    ReadWithOperator(std::move(input), script);
  }
  void AddLines(ConfigId id, int depth, Word& text) const {
    // As deep as GitLab lets lists nest.
    constexpr int kDeepestList = 10;
    const launch::ConfigNode& node = file_.tree[id];
    if (node.kind == ConfigKind::Map || depth > kDeepestList) return;
    if (node.kind == ConfigKind::List) {
      for (const ConfigId child : node.children) AddLines(child, depth + 1, text);
      return;
    }
    text.Append(ShellText(id));
    text.Add({.text = "\n", .origin = node.span});
  }
  Word ShellText(ConfigId id) const {
    const source::Span span = file_.tree[id].span;
    const std::string& text = in_.text.text;
    const bool has_quotes = span.end > span.begin + 1 && (text[span.begin] == '"' || text[span.begin] == '\'') && file_.tree[id].is_quoted;
    if (has_quotes && text.compare(span.begin + 1, span.end - span.begin - 2, file_.tree[id].text) == 0) return WithoutTemplates(Text(span.begin + 1, span.end - 1));
    if (has_quotes) return WithoutTemplates(Word(Piece{.text = file_.tree[id].text, .origin = span}));
    // Folded texts are not in the file as the shell sees them.
    const bool is_as_written = text.find('>', span.begin) != span.begin && text.substr(span.begin, span.end - span.begin).find(file_.tree[id].text.substr(0, 8)) != std::string::npos;
    const bool is_folded = span.begin >= 2 && IsFolded(span.begin);
    return WithoutTemplates(is_as_written && !is_folded ? Text(span.begin, span.end) : Word(Piece{.text = file_.tree[id].text, .origin = span}));
  }
  // Whether the line before a block begins it with `>`.
  bool IsFolded(size_t begin) const {
    const std::string& text = in_.text.text;
    const size_t line = text.rfind('\n', begin - 2);
    const std::string_view head = std::string_view(text).substr(line == std::string::npos ? 0 : line + 1, begin - (line == std::string::npos ? 0 : line + 1));
    return text[begin - 1] == '\n' && head.find(": >") != std::string_view::npos;
  }
  void ReadWithOperator(ShellInput input, ConfigId id) {
    const size_t first = file_.jobs.size();
    commands_.ReadScript(std::move(input), false, file_);
    MarkCluster(first, id);
  }
  void MarkCluster(size_t first, ConfigId id) {
    const Cluster cluster(file_.tree, id);
    for (size_t i = first; i < file_.jobs.size(); ++i) {
      file_.jobs[i].has_cluster = cluster.IsThere();
      file_.jobs[i].devices = cluster.Devices();
      file_.jobs[i].replicas = cluster.Replicas();
      for (launch::Layer& layer : file_.jobs[i].layers) {
        if (layer.launcher->name == "mpirun") layer.hosts = cluster.Workers(file_.path);
      }
    }
  }
  void ReadYamlWords(ConfigId id) {
    ShellCommand command{.words = {}, .environment = {}, .span = file_.tree[id].span, .input = {}, .arms = {}};
    const auto add = [&](ConfigId list) {
      if (!list || file_.tree[list].kind != ConfigKind::List) return;
      for (const ConfigId child : file_.tree[list].children) {
        if (file_.tree[child].kind == ConfigKind::Map || file_.tree[child].kind == ConfigKind::List) continue;
        Word word(Piece{.text = file_.tree[child].text, .origin = file_.tree[child].span});
        command.words.push_back(WithoutTemplates(word));
      }
    };
    add(id);
    add(file_.tree.Member(file_.tree[id].parent, "args"));
    for (const auto& [name, variable] : InputOf(id).variables) command.environment.push_back({name, variable.words[0], variable.span});
    const size_t first = file_.jobs.size();
    if (!command.words.empty()) commands_.ReadWords(std::move(command), file_);
    MarkCluster(first, id);
  }

  const ReadInput& in_;
  CommandReader commands_;
  size_t section_ = 0;  // of a page: where the part begins that is being read
  PageClones clones_;
  std::map<std::string, std::optional<Piece>> make_variables_;  // nothing: not known
  std::optional<ShellCommand> entrypoint_;  // in exec form, of the stage of a Dockerfile that is being read
  LaunchFile file_;
};

}  // namespace

std::optional<FileKind> KindOfName(std::string_view path) {
  const std::string_view name = NameOf(path);
  const size_t dot = name.rfind('.');
  // `README.MD`, written on a machine that does not tell the two apart.
  const std::string ending = base::Lowered(dot == std::string_view::npos ? std::string_view() : name.substr(dot));
  constexpr std::array<std::string_view, 11> kShell = {".sh", ".bash", ".slurm", ".sbatch", ".job", ".slrm", ".zsh", ".ksh", ".qsub", ".pbs", ".lsf"};
  if (std::ranges::count(kShell, ending) > 0) return FileKind::Shell;
  if (ending == ".yaml" || ending == ".yml") return FileKind::Yaml;
  if (ending == ".json") return FileKind::Json;
  if (ending == ".md" || ending == ".rst") return FileKind::Markdown;
  if (ending == ".ipynb") return FileKind::Notebook;
  if (IsJustfile(path) || IsTox(path)) return FileKind::Make;
  if (name == "Makefile" || name == "makefile" || name == "GNUmakefile" || ending == ".mk") return FileKind::Make;
  const bool is_docker = name.starts_with("Dockerfile") || name.ends_with("Dockerfile") || name == "dockerfile" || ending == ".dockerfile";
  if (is_docker || name.starts_with("Containerfile")) return FileKind::Docker;
  return std::nullopt;
}

bool MayBeScript(std::string_view path) {
  const std::string_view name = NameOf(path);
  return !name.empty() && name.find('.') == std::string_view::npos && !KindOfName(path);
}

bool IsShellScript(std::string_view text) {
  const std::string_view line = text.substr(0, text.find_first_of("\r\n"));
  constexpr std::array<std::string_view, 6> kShells = {"/sh", "/bash", " bash", "/zsh", "/ksh", " ksh"};
  return line.starts_with("#!") && std::ranges::any_of(kShells, [&](std::string_view shell) {
    const size_t at = line.find(shell);
    return at != std::string_view::npos && (at + shell.size() == line.size() || line[at + shell.size()] == ' ');
  });
}

std::span<const std::string> CommandWords() {
  static const std::vector<std::string> words = {
      "torchrun", "torch.distributed.run", "torch.distributed.launch", "accelerate", "deepspeed", "mpirun", "mpiexec",
      "horovodrun", "srun", "colossalai", "lightning run", "fabric run", "ray start"};
  return words;
}

bool MentionsLauncher(std::string_view text) {
  const auto goes_on = [&](size_t at) { return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '='); };
  return std::ranges::any_of(CommandWords(), [&](const std::string& word) {
    size_t at = text.find(word);
    while (at != std::string_view::npos && goes_on(at + word.size())) at = text.find(word, at + 1);
    return at != std::string_view::npos;
  });
}

std::span<const std::string> StartWords() {
  static const std::vector<std::string> words = {"python ", "python3 ", "python\",", "python3\",", ".sh ", ".sh\n", ".sh\r", "sbatch "};
  return words;
}

std::span<const std::string> ConfigWords() {
  static const std::vector<std::string> words = {"zero_optimization", "train_micro_batch_size_per_gpu", "distributed_type",
                                                 "compute_environment", "use_distributed_sampler", "replace_sampler_ddp",
                                                 "\"train_batch_size\"", "transformer_layer_cls_to_wrap", "backward_prefetch", "min_num_params"};
  return words;
}

bool NotebookStartsAnything(std::string_view json) {
  // As much of a line, and of those that it goes on in, as holds the launcher. Most such lines install packages.
  constexpr size_t kReach = 600;
  constexpr std::string_view kGoesOn = "\\\\\\n";
  constexpr std::array<std::string_view, 3> kInstallers = {"pip", "conda", "apt"};
  const auto names = [](std::string_view text, const std::string& word) { return text.find(word) != std::string_view::npos; };
  for (size_t mark = json.find('!'); mark != std::string_view::npos; mark = json.find('!', mark + 1)) {
    const size_t before = json.find_last_not_of(' ', mark - (mark > 0 ? 1 : 0));
    if (mark == 0 || before == std::string_view::npos || json[before] != '"') continue;
    std::string_view line = json.substr(mark + 1, kReach);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (std::ranges::any_of(kInstallers, [&](std::string_view installer) { return line.starts_with(installer); })) continue;
    const std::string_view first = line.substr(0, line.find('"'));
    if (!first.ends_with(kGoesOn)) line = first;
    if (std::ranges::any_of(CommandWords(), [&](const std::string& word) { return names(line, word); }) ||
        std::ranges::any_of(StartWords(), [&](const std::string& word) { return names(line, word); })) return true;
  }
  return false;
}

bool MayHoldCommands(std::string_view yaml) {
  for (size_t colon = yaml.find(':'); colon != std::string_view::npos; colon = yaml.find(':', colon + 1)) {
    std::string_view before = yaml.substr(0, colon);
    while (!before.empty() && (before.back() == ' ' || before.back() == '"' || before.back() == '\'')) before.remove_suffix(1);
    if (std::ranges::any_of(kShellKeys, [&](std::string_view key) { return before.ends_with(key); })) return true;
  }
  return false;
}

LaunchFile ReadLaunchFile(const ReadInput& input) { return FileReader(input).Run(); }

}  // namespace allranks::launch_files
