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
#include "runtime-verify/program/verify.h"

namespace allranks::cli {
namespace {

constexpr std::array<std::string_view, 9> kCommands = {"check", "config", "explain", "ir", "rule", "server", "trace", "verify", "version"};

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

void AddCheck(CLI::App& app, CheckArguments& a, std::vector<std::string>& select) {
  CLI::App* c = app.add_subcommand("check", "find collectives that only some ranks reach (the default command)");
  c->add_option("path", a.paths, "files and folders; `-` reads the standard input (default: .)");
  OneOf(c->add_option("--output-format", a.output_format, "full, concise, json, json-lines, sarif, github, gitlab, junit, rdjson, html, markdown or azure"),
        "output-format")->type_name("FORMAT");
  c->add_option("--output", a.outputs, "one more report: sarif=FILE; may be given several times")
      ->allow_extra_args(false)->type_name("FORMAT[=FILE]");
  c->add_option("--sarif-include", a.sarif_include, "accepted findings that SARIF is to hold as well: suppressed, known")
      ->delimiter(',')->check(CLI::IsMember({"suppressed", "known"}))->type_name("WHAT");
  c->add_option("--sarif-category", a.sarif_category, "tells several SARIF uploads of one commit apart")->type_name("NAME");
  c->add_option("-o,--output-file", a.output_file, "write the report there")->type_name("FILE");
  c->add_option("--verdicts", a.verdicts, "show in the HTML report what `allranks verify -o FILE` saw")->type_name("FILE");
  List(c->add_option("--select", select, "rules to run: AR101, AR1, a name, ALL"))->type_name("RULE,...");
  List(c->add_option("--extend-select", a.extend_select, "rules to run besides"))->type_name("RULE,...");
  List(c->add_option("--ignore", a.ignore, "rules not to run"))->type_name("RULE,...");
  List(c->add_option("--exclude", a.exclude, "more .gitignore patterns"))->type_name("PATTERN,...");
  OneOf(c->add_option("--min-confidence", a.min_confidence, "possible, likely or certain (default: likely)"), "min-confidence")
      ->type_name("LEVEL");
  OneOf(c->add_option("--fail-on", a.fail_on, "error, warning, info or never: what makes the exit code 1"), "fail-on")
      ->type_name("LEVEL");
  List(c->add_option("--knowledge", a.knowledge, "what your own wrappers mean for ranks"))->type_name("FILE");
  c->add_option("--config", a.config, "this configuration file, or one setting: 'fail-on = \"error\"'")
      ->allow_extra_args(false)->type_name("FILE|SETTING");
  c->add_flag("--isolated", a.isolated, "no configuration file");
  c->add_option("--root", a.root, "where the project begins (default: found by .git or pyproject.toml)")->type_name("DIR");
  c->add_option("-p,--compile-commands", a.compile_commands, "the folder of compile_commands.json (default: looked for)")->type_name("DIR");
  c->add_option("--stdin-filename", a.stdin_filename, "the name of the file on the standard input")->type_name("FILE");
  c->add_flag("--no-respect-gitignore", a.no_respect_gitignore, "check ignored files, too");
  c->add_flag("--fix", a.fix, "apply safe fixes");
  c->add_flag("--unsafe-fixes", a.unsafe_fixes, "apply, or show with --diff, also fixes that are to be reviewed");
  c->add_flag("--diff", a.diff, "print what fixes would change, and change nothing");
  c->add_flag("--show-fixes", a.show_fixes, "list what was fixed");
  c->add_option("--add-ignore", a.add_ignore, "accept what is found: write an ignore comment at each place")->type_name("REASON");
  c->add_option("--baseline", a.baseline, "do not report the findings of this file")->type_name("FILE");
  c->add_flag("--update-baseline", a.update_baseline, "write all findings into the baseline");
  c->add_option("--diff-base", a.diff_base, "report only what changed since this commit or branch")->type_name("REV");
  c->add_flag("--statistics", a.statistics, "count findings by rule");
  c->add_flag("--coverage", a.coverage, "say how many collective calls were proven aligned, and what the rest rests on (with -v: each)");
  c->add_flag("--force-exclude", a.force_exclude, "leave out excluded files even if they are named");
  c->add_flag("--show-settings", a.show_settings, "print every setting and where it comes from");
  c->add_flag("--show-files", a.show_files, "list the files that would be checked");
  c->add_flag("--profile", a.profile, "say on stderr where the time went");
  c->add_option("-j,--jobs", a.jobs, "threads (default: one a core)")->type_name("N");
  c->add_flag("-n,--no-cache", a.no_cache, "neither read nor write the cache");
  c->add_option("--cache-dir", a.cache_dir, "where what was read is kept (default: .allranks_cache in the root)")
      ->envname("ALLRANKS_CACHE_DIR")->type_name("DIR");
  c->add_flag("-e,--exit-zero", a.exit_zero, "exit with 0 even if there are findings");
  c->add_option("--color", a.color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))->type_name("WHEN");
  c->add_flag("-q,--quiet", a.quiet, "findings only");
  c->add_flag("-v,--verbose", a.verbose, "more details");
}

void AddConfig(CLI::App& app, ConfigArguments& a) {
  CLI::App* c = app.add_subcommand("config", "explain the settings");
  c->add_option("key", a.key, "the setting to explain; without it, a list");
  c->add_flag("--all", a.all, "explain them all");
  c->add_flag("--schema", a.schema, "print a JSON schema of allranks.toml");
}

void AddOthers(CLI::App& app, RuleArguments& rule, IrArguments& ir, TraceArguments& trace, ServerArguments& server) {
  CLI::App* r = app.add_subcommand("rule", "explain a rule");
  r->add_option("rule", rule.rule, "code or name");
  r->add_flag("--all", rule.all, "list all rules");
  CLI::App* i = app.add_subcommand("ir", "print how allranks reads a file");
  i->add_option("target", ir.target, "FILE or FILE:FUNCTION")->required();
  CLI::App* t = app.add_subcommand("trace", "print which collectives each function issues");
  t->add_option("target", trace.target, "FILE or FILE:FUNCTION")->required();
  t->add_option("--root", trace.root, "where the project begins")->type_name("DIR");
  t->add_option("-p,--compile-commands", trace.compile_commands, "the folder of compile_commands.json")->type_name("DIR");
  List(t->add_option("--knowledge", trace.knowledge, "what your own wrappers mean for ranks"))->type_name("FILE");
  CLI::App* s = app.add_subcommand("server", "serve an editor: the language server, on the standard input and output");
  s->add_flag("--stdio", server.stdio, "what it does anyway; some editors say it");
  // For the list of commands: it is run before arguments are parsed here.
  app.add_subcommand("verify", std::string(verify::kVerifySummary));
  app.add_subcommand("version", "print the version");
}

void AddExplain(CLI::App& app, ExplainArguments& a) {
  CLI::App* c = app.add_subcommand("explain", "say why a job hung: from Flight Recorder dumps, logs and stacks to the line that parted the ranks");
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
  const std::string_view near = config::Nearest(args[0], kCommands);
  if (near.empty() || std::filesystem::exists(args[0])) return {};
  return "neither a command nor a file `" + args[0] + "`; did you mean `allranks " + std::string(near) + "`?";
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

Message Mistake(const std::string& text) { return {"allranks: error: " + text + "\n", kExitError}; }

// The library's messages end in a full stop or span lines; ours are one line.
std::string FirstLine(std::string text) {
  text = text.substr(0, text.find('\n'));
  while (text.ends_with('.') || text.ends_with(' ')) text.pop_back();
  return text;
}

}  // namespace

Command ParseArguments(int argc, const char* const* argv) {
  std::vector<std::string> args(argv + std::min(argc, 1), argv + argc);
  if (!args.empty() && (args[0] == "--version" || args[0] == "-V" || args[0] == "version")) return VersionArguments{};
  if (const std::string misspelt = NeedsCheck(args) ? MisspeltCommand(args) : ""; !misspelt.empty()) return Mistake(misspelt);
  if (NeedsCheck(args)) args.insert(args.begin(), "check");
  CheckArguments check;
  ConfigArguments config;
  RuleArguments rule;
  IrArguments ir;
  TraceArguments trace;
  ServerArguments server;
  ExplainArguments explain;
  std::vector<std::string> select;
  CLI::App app("Finds, before a GPU is booked, where ranks of a distributed-training job will wait for each other forever.",
               "allranks");
  app.require_subcommand(1);
  AddCheck(app, check, select);
  AddConfig(app, config);
  AddExplain(app, explain);
  AddOthers(app, rule, ir, trace, server);
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
  if (!chosen->remaining().empty()) return Mistake(UnknownOption(*chosen, chosen->remaining()[0]));
  if (chosen->get_name() == "config") return config;
  if (chosen->get_name() == "explain") return explain;
  if (chosen->get_name() == "rule") return rule;
  if (chosen->get_name() == "ir") return ir;
  if (chosen->get_name() == "trace") return trace;
  if (chosen->get_name() == "server") return server;
  if (chosen->count("--select") > 0) check.select = std::move(select);
  return check;
}

}  // namespace allranks::cli
