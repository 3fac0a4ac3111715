#include "driver/cli/arguments.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "driver/cli/exit_codes.h"
#include "driver/config/option_table.h"
#include "driver/config/spelling.h"
#include "driver/reports/place.h"
#include "rules/rule.h"
#include "runtime-verify/program/verify.h"

namespace allranks::cli {
namespace {

constexpr std::array<std::string_view, 12> kCommands = {"check", "clean", "completions", "config", "explain", "ir",
                                                       "man", "rule", "server", "trace", "verify", "version"};

// Options that may be given more than once or with commas, and never swallow the path behind them.
CLI::Option* List(CLI::Option* option) { return option->delimiter(',')->allow_extra_args(false); }

// As the option table has the choices of that setting.
CLI::Option* OneOf(CLI::Option* option, std::string_view key) {
  const auto choices = config::FindOption(key)->choices;
  const auto problem = [choices](const std::string& given) {
    if (std::ranges::find(choices, given) != choices.end()) return std::string();
    std::string all;
    for (const std::string_view choice : choices) all += (all.empty() ? "" : ", ") + std::string(choice);
    return "`" + given + "` is none of " + all + config::DidYouMean(given, choices);
  };
  // The help has the choices in its words.
  return option->check(problem, "");
}

constexpr std::string_view kSelector = "RULE,...";

// `--severity AR4=info`.
std::string SeverityProblem(const std::string& given) {
  const size_t equals = given.find('=');
  if (equals == std::string::npos) return "`" + given + "` must be RULE=LEVEL, such as AR401=info";
  const std::string rule = given.substr(0, equals), level = given.substr(equals + 1);
  if (!config::IsSelector(rule)) return config::UnknownRule(rule);
  const auto levels = config::SeverityLevels();
  if (std::ranges::find(levels, level) != levels.end()) return {};
  return "`" + level + "` is none of error, warning, info, off" + config::DidYouMean(level, levels);
}

// `--per-file-ignores 'tests/:AR3'`. A pattern may hold a colon, a rule never does.
std::string PerFileIgnoreProblem(const std::string& given) {
  const size_t colon = given.rfind(':');
  if (colon == std::string::npos || colon == 0) return "`" + given + "` must be PATTERN:RULE, such as tests/:AR3";
  const std::string rule = given.substr(colon + 1);
  return config::IsSelector(rule) ? std::string() : config::UnknownRule(rule);
}

void AddRuleChoice(CLI::App& c, CheckArguments& a, std::vector<std::string>& select) {
  constexpr const char* kGroup = "Which rules";
  const std::string selector(kSelector);
  List(c.add_option("--select", select, "rules to run: AR101, AR1, a name, ALL"))->type_name(selector)->group(kGroup);
  List(c.add_option("--extend-select", a.extend_select, "rules to run as well"))->type_name(selector)->group(kGroup);
  List(c.add_option("--ignore", a.ignore, "rules not to run"))->type_name(selector)->group(kGroup);
  List(c.add_option("--per-file-ignores", a.per_file_ignores, "rules to leave out of the files of a pattern"))
      ->check(PerFileIgnoreProblem, "")->type_name("PATTERN:RULE,...")->group(kGroup);
  List(c.add_option("--severity", a.severity, "another severity for a rule: error, warning, info, off"))
      ->check(SeverityProblem, "")->type_name("RULE=LEVEL,...")->group(kGroup);
  OneOf(c.add_option("--min-confidence", a.min_confidence, "how sure findings must be: possible, likely or certain (default: likely)"),
        "min-confidence")->type_name("LEVEL")->group(kGroup);
  c.add_flag("--preview", a.preview, "run rules in preview as well")->group(kGroup);
}

void AddFileChoice(CLI::App& c, CheckArguments& a) {
  constexpr const char* kGroup = "Which files";
  List(c.add_option("--exclude", a.exclude, "files not to read: .gitignore patterns"))->type_name("PATTERN,...")->group(kGroup);
  c.add_flag("--force-exclude", a.force_exclude, "leave out excluded files even if they are named")->group(kGroup);
  c.add_flag("--no-respect-gitignore", a.no_respect_gitignore, "check files that git ignores, too")->group(kGroup);
  c.add_option("--stdin-filename", a.stdin_filename, "the name of the file on standard input")->type_name("FILE")->group(kGroup);
  c.add_option("--root", a.root, "where the project begins (default: found by .git or pyproject.toml)")->type_name("DIR")->group(kGroup);
  c.add_flag("--show-files", a.show_files, "list the files that would be checked (-v: on stderr what is left out, and why)")->group(kGroup);
}

void AddReading(CLI::App& c, CheckArguments& a) {
  constexpr const char* kGroup = "How code is read";
  List(c.add_option("--knowledge", a.knowledge, "what your own wrappers mean for ranks"))->type_name("FILE")->group(kGroup);
  c.add_option("-p,--compile-commands", a.compile_commands, "the folder of compile_commands.json (default: searched for)")
      ->type_name("DIR")->group(kGroup);
  c.add_option("--extra-arg", a.extra_args, "one more argument of the compiler for C, C++ and CUDA; may be repeated")
      ->allow_extra_args(false)->type_name("ARG")->group(kGroup);
}

void AddFixing(CLI::App& c, CheckArguments& a) {
  constexpr const char* kGroup = "Fixes";
  c.add_flag("--fix", a.fix, "apply safe fixes; with `-`, write the fixed text to standard output")->group(kGroup);
  c.add_flag("--unsafe-fixes", a.unsafe_fixes, "apply, or show with --diff, also fixes that need a review")->group(kGroup);
  c.add_flag("--diff", a.diff, "print what fixes would change, and change nothing")->group(kGroup);
  c.add_flag("--show-fixes", a.show_fixes, "list what was fixed")->group(kGroup);
  c.add_flag("--fix-only", a.fix_only, "apply safe fixes and do not report what remains")->group(kGroup);
  c.add_flag("--exit-non-zero-on-fix", a.exit_non_zero_on_fix, "exit with 1 if something was fixed")->group(kGroup);
}

void AddAccepting(CLI::App& c, CheckArguments& a) {
  constexpr const char* kGroup = "Old findings";
  c.add_option("--add-ignore", a.add_ignore, "accept all findings: write an ignore comment at each")->type_name("REASON")->group(kGroup);
  c.add_option("--baseline", a.baseline, "do not report the findings in this file")->type_name("FILE")->group(kGroup);
  c.add_flag("--update-baseline", a.update_baseline, "write all findings into the baseline")->group(kGroup);
  c.add_option("--diff-base", a.diff_base, "report only what is new since this commit or branch")->type_name("REV")->group(kGroup);
}

void AddReporting(CLI::App& c, CheckArguments& a) {
  constexpr const char* kGroup = "Reports";
  OneOf(c.add_option("--output-format", a.output_format, "full, concise, json, json-lines, sarif, github, gitlab, junit, rdjson, html, markdown or azure"),
        "output-format")->type_name("FORMAT")->group(kGroup);
  c.add_option("-o,--output-file", a.output_file, "write the report to this file")->type_name("FILE")->group(kGroup);
  c.add_option("--output", a.outputs, "one more report, such as sarif=FILE; may be repeated")
      ->allow_extra_args(false)->type_name("FORMAT[=FILE]")->group(kGroup);
  c.add_option("--sarif-include", a.sarif_include, "accepted findings to keep in SARIF: suppressed, known")
      ->delimiter(',')->check(CLI::IsMember({"suppressed", "known"}), "")->type_name("WHAT")->group(kGroup);
  c.add_option("--sarif-category", a.sarif_category, "tells several SARIF uploads of one commit apart")->type_name("NAME")->group(kGroup);
  c.add_flag("--verify", a.verify, "replay the findings with `allranks verify` and report what happens")->group(kGroup);
  c.add_option("--verdicts", a.verdicts, "show in the report what `allranks verify -o FILE` or `allranks explain --format json` saw")->type_name("FILE")->group(kGroup);
  c.add_flag("--statistics", a.statistics, "count findings by rule")->group(kGroup);
  c.add_flag("--coverage", a.coverage, "count the collective calls proven aligned, and say what the rest depends on (-v: each)")->group(kGroup);
  c.add_option("--color", a.color, "auto, always or never")->check(CLI::IsMember({"auto", "always", "never"}), "")->type_name("WHEN")->group(kGroup);
  c.add_flag("-q,--quiet", a.quiet, "print findings only")->group(kGroup);
  c.add_flag("-v,--verbose", a.verbose, "print more details: what is left out and why, each call of --coverage")->group(kGroup);
}

void AddRunning(CLI::App& c, CheckArguments& a) {
  constexpr const char* kGroup = "Running";
  OneOf(c.add_option("--fail-on", a.fail_on, "what makes the exit code 1: error, warning, info or never (default: info)"), "fail-on")
      ->type_name("LEVEL")->group(kGroup);
  c.add_flag("-e,--exit-zero", a.exit_zero, "exit with 0 even if there are findings")->group(kGroup);
  c.add_flag("-w,--watch", a.watch, "check again whenever a file changes")->group(kGroup);
  c.add_option("--config", a.config, "use this configuration file, or one setting: 'fail-on = \"error\"'")
      ->allow_extra_args(false)->type_name("FILE|SETTING")->group(kGroup);
  c.add_flag("--isolated", a.isolated, "use no configuration file")->group(kGroup);
  c.add_flag("--show-settings", a.show_settings, "print every setting and where it comes from")->group(kGroup);
  c.add_option("-j,--jobs", a.jobs, "threads (default: one for each core)")->type_name("N")->group(kGroup);
  c.add_option("--timeout", a.timeout, "end the run after so many seconds, with what it has found (exit code 2)")
      ->check(CLI::Range(0.0, 1e6).description(""), "")->type_name("SECONDS")->group(kGroup);
  c.add_option("--timeout-per-file", a.timeout_per_file, "give a file up after so many seconds, and go on with the others")
      ->check(CLI::Range(0.0, 1e6).description(""), "")->type_name("SECONDS")->group(kGroup);
  c.add_option("--max-memory", a.max_memory, "stop analysing whatever needs more memory than this (MiB), and report the rest")
      ->type_name("MIB")->group(kGroup);
  c.add_option("--max-memory-per-file", a.max_memory_per_file, "give a file up that needs more memory than this (MiB), and go on with the others")
      ->type_name("MIB")->group(kGroup);
  c.add_flag("-n,--no-cache", a.no_cache, "neither read nor write the cache")->group(kGroup);
  c.add_option("--cache-dir", a.cache_dir, "where the cache is (default: .allranks_cache in the root)")
      ->envname("ALLRANKS_CACHE_DIR")->type_name("DIR")->group(kGroup);
  c.add_flag("--profile", a.profile, "print on stderr where the time went")->group(kGroup);
  // Not for users: two runs show what launch files and settings change.
  c.add_flag("--no-launch-files", a.no_launch_files, "analyse code as if nothing were known of how it is started")->group("");
}

void AddCheck(CLI::App& app, CheckArguments& a, std::vector<std::string>& select) {
  CLI::App* c = app.add_subcommand("check", "find collectives that only some ranks reach (the default command)");
  c->add_option("path", a.paths, "files and folders; `-` reads standard input (default: .)");
  AddRuleChoice(*c, a, select);
  AddFileChoice(*c, a);
  AddReading(*c, a);
  AddFixing(*c, a);
  AddAccepting(*c, a);
  AddReporting(*c, a);
  AddRunning(*c, a);
}

void AddConfig(CLI::App& app, ConfigArguments& a) {
  CLI::App* c = app.add_subcommand("config", "explain the settings");
  c->add_option("key", a.key, "the setting to explain; without it, a list");
  c->add_flag("--all", a.all, "explain them all");
  c->add_flag("--schema", a.schema, "print a JSON schema of allranks.toml");
}

// `allranks completions SHELL`, `allranks man`.
void AddDescriptions(CLI::App& app, std::string& shell, bool& markdown) {
  CLI::App* c = app.add_subcommand("completions", "print a shell completion script");
  c->add_option("shell", shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}), "");
  CLI::App* m = app.add_subcommand("man", "print the manual page");
  m->add_flag("--markdown", markdown, "as Markdown: docs/cli.md");
}

void AddOthers(CLI::App& app, RuleArguments& rule, IrArguments& ir, TraceArguments& trace, ServerArguments& server) {
  CLI::App* r = app.add_subcommand("rule", "explain a rule");
  r->add_option("rule", rule.rule, "code or name");
  r->add_flag("--all", rule.all, "list all rules");
  r->add_option("--output-format", rule.output_format, "text or json")->check(CLI::IsMember({"text", "json"}), "")->type_name("FORMAT");
  CLI::App* i = app.add_subcommand("ir", "print how allranks reads a file");
  i->add_option("target", ir.target, "FILE or FILE:FUNCTION")->required();
  CLI::App* t = app.add_subcommand("trace", "print which collectives each function issues");
  t->add_option("target", trace.target, "FILE or FILE:FUNCTION")->required();
  t->add_option("--root", trace.root, "where the project begins")->type_name("DIR");
  t->add_option("-p,--compile-commands", trace.compile_commands, "the folder of compile_commands.json")->type_name("DIR");
  List(t->add_option("--knowledge", trace.knowledge, "what your own wrappers mean for ranks"))->type_name("FILE");
  CLI::App* s = app.add_subcommand("server", "run the language server on standard input and output");
  s->add_flag("--stdio", server.stdio, "the default; accepted because some editors pass it");
  // For the list of commands: it is run before arguments are parsed here.
  app.add_subcommand("verify", std::string(verify::kVerifySummary));
}

void AddSmall(CLI::App& app, CleanArguments& clean, VersionArguments& version) {
  CLI::App* c = app.add_subcommand("clean", "delete the cache");
  c->add_option("path", clean.paths, "files and folders of the project (default: .)");
  CLI::App* v = app.add_subcommand("version", "print the version, and what this binary can read and verify");
  v->add_flag("--licenses", version.licenses, "print the licences of allranks and of the code in it");
}

std::vector<std::string> NamesOf(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  if (names.empty()) names.push_back(option.get_single_name());
  return names;
}

// The choices as the help says them: "error, warning, info or never (default: info)".
std::vector<std::string> ChoicesOf(const std::string& help, const std::string& key) {
  const config::Option* option = config::FindOption(key);
  if (option != nullptr) return {option->choices.begin(), option->choices.end()};
  if (key == "color") return {"auto", "always", "never"};
  if (key == "sarif-include") return {"suppressed", "known"};
  return help == "text or json" ? std::vector<std::string>{"text", "json"} : std::vector<std::string>();
}

std::vector<std::string> RuleCodes() {
  std::vector<std::string> codes;
  for (const rules::Rule* rule : rules::AllRules()) codes.emplace_back(rule->code);
  return codes;
}

std::vector<CommandText> Describe(const CLI::App& app) {
  std::vector<CommandText> commands;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    CommandText command{.name = sub->get_name(), .summary = sub->get_description(), .options = {}};
    for (const CLI::Option* option : sub->get_options()) {
      const bool is_positional = option->get_snames().empty() && option->get_lnames().empty();
      const bool is_flag = option->get_items_expected_max() == 0;
      const std::string key = option->get_lnames().empty() ? "" : option->get_lnames()[0];
      const bool names_rules = option->get_type_name() == kSelector || (is_positional && option->get_single_name() == "rule");
      command.options.push_back({.names = NamesOf(*option), .value = is_flag ? "" : option->get_type_name(), .help = option->get_description(),
                                 .group = option->get_group(), .choices = is_flag ? std::vector<std::string>() : names_rules ? RuleCodes() : ChoicesOf(option->get_description(), key),
                                 .is_positional = is_positional, .is_list = option->get_delimiter() == ','});
    }
    commands.push_back(std::move(command));
  }
  return commands;
}

void AddExplain(CLI::App& app, ExplainArguments& a) {
  CLI::App* c = app.add_subcommand("explain", "say why a job hung: from Flight Recorder dumps, logs and stacks to the line where the ranks diverged");
  c->add_option("input", a.inputs, "dumps, logs, stacks, folders of them, and a report of `allranks check` (JSON or SARIF)")->required();
  c->add_option("--path-map", a.path_maps, "a folder of the job and the one here; may be given several times")
      ->allow_extra_args(false)->type_name("FROM=TO");
  c->add_option("--format", a.format, "text, json, sarif, html or markdown")
      ->check(CLI::IsMember({"text", "json", "sarif", "html", "markdown"}))->type_name("FORMAT");
  c->add_option("-o,--output-file", a.output_file, "write the answer there")->type_name("FILE");
  c->add_option("--root", a.root, "where the sources are (default: the working directory)")->type_name("DIR");
  List(c->add_option("--knowledge", a.knowledge, "what your own wrappers mean for ranks"))->type_name("FILE");
}

// `allranks src --select AR1` means `allranks check src --select AR1`.
bool NeedsCheck(const std::vector<std::string>& args) {
  if (args.empty()) return true;
  if (std::find(kCommands.begin(), kCommands.end(), args[0]) != kCommands.end()) return false;
  return args[0] != "-h" && args[0] != "--help";
}

// `allranks chekc`: neither a command nor a file. What is there is checked, whatever its name.
std::string MisspeltCommand(const std::vector<std::string>& args) {
  if (args.empty() || args[0].starts_with('-') || args[0].find_first_of("./") != std::string::npos) return {};
  if (std::filesystem::exists(args[0])) return {};
  const std::string_view near = config::Nearest(args[0], kCommands);
  return "neither a command nor a file: `" + args[0] + "`; " +
         (near.empty() ? "`allranks --help` lists the commands" : "did you mean `allranks " + std::string(near) + "`?");
}

// `allranks help check` is `allranks check --help`.
void HelpAsOption(std::vector<std::string>& args) {
  if (args.empty() || args[0] != "help" || std::filesystem::exists(args[0])) return;
  args.erase(args.begin());
  args.push_back("--help");
}

std::string UnknownOption(const CLI::App& app, const std::string& option) {
  std::vector<std::string> names;
  for (const CLI::Option* known : app.get_options()) {
    for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string given = option.substr(0, option.find('='));
  const std::string near = config::DidYouMean(given, views);
  const std::string what = given.starts_with("-") ? "unknown option `" : "unexpected argument `";
  return what + given + "`" + (near.empty() ? "; see `allranks " + app.get_name() + " --help`" : near);
}

Message Mistake(const std::string& text) { return {"allranks: error: " + reports::OneLine(text) + "\n", kExitError}; }

// The library's messages end in a full stop or span lines; ours are one line.
std::string FirstLine(std::string text) {
  text = text.substr(0, text.find('\n'));
  while (text.ends_with('.') || text.ends_with(' ')) text.pop_back();
  return text;
}

}  // namespace

Command ParseArguments(int argc, const char* const* argv) {
  std::vector<std::string> args(argv + std::min(argc, 1), argv + argc);
  if (!args.empty() && (args[0] == "--version" || args[0] == "-V")) return VersionArguments{};
  HelpAsOption(args);
  if (const std::string misspelt = NeedsCheck(args) ? MisspeltCommand(args) : ""; !misspelt.empty()) return Mistake(misspelt);
  if (NeedsCheck(args)) args.insert(args.begin(), "check");
  const std::vector<std::string> words = args;
  CheckArguments check;
  ConfigArguments config;
  RuleArguments rule;
  IrArguments ir;
  TraceArguments trace;
  ServerArguments server;
  ExplainArguments explain;
  CleanArguments clean;
  VersionArguments version;
  std::string shell;
  bool markdown = false;
  std::vector<std::string> select;
  CLI::App app("Finds, before you book a GPU, where the ranks of a distributed-training job will wait for each other forever.",
               "allranks");
  app.require_subcommand(1);
  AddCheck(app, check, select);
  AddConfig(app, config);
  AddExplain(app, explain);
  AddOthers(app, rule, ir, trace, server);
  AddSmall(app, clean, version);
  AddDescriptions(app, shell, markdown);
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; })) sub->allow_extras();
  try {
    std::reverse(args.begin(), args.end());
    app.parse(args);
  } catch (const CLI::CallForHelp&) {
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    return Message{chosen.empty() ? app.help() : chosen[0]->help(app.get_name()), kExitClean};
  } catch (const CLI::Error& error) {
    const std::string problem = FirstLine(error.what());
    return Mistake(problem + (problem.ends_with('?') ? "" : "; see `allranks --help`"));
  }
  const CLI::App* chosen = app.get_subcommands()[0];
  // `--` ends the options, and is left over as well.
  const std::vector<std::string> left = chosen->remaining();
  const auto unknown = std::ranges::find_if(left, [](const std::string& word) { return word != "--"; });
  if (unknown != left.end()) return Mistake(UnknownOption(*chosen, *unknown));
  if (chosen->get_name() == "config") return config;
  if (chosen->get_name() == "explain") return explain;
  if (chosen->get_name() == "rule") return rule;
  if (chosen->get_name() == "ir") return ir;
  if (chosen->get_name() == "trace") return trace;
  if (chosen->get_name() == "server") return server;
  if (chosen->get_name() == "clean") return clean;
  if (chosen->get_name() == "version") return version;
  if (chosen->get_name() == "completions") return DescribeArguments{.as = shell, .commands = Describe(app)};
  if (chosen->get_name() == "man") return DescribeArguments{.as = markdown ? "markdown" : "man", .commands = Describe(app)};
  if (chosen->count("--select") > 0) check.select = std::move(select);
  check.words = words;
  return check;
}

}  // namespace allranks::cli
