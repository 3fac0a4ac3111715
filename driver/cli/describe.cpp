// The command line described for others: completions for shells, the manual page, docs/cli.md. All come from the same
// table that the command line is parsed by.
#include <fmt/format.h>

#include <algorithm>

#include "driver/cli/commands.h"
#include "driver/cli/exit_codes.h"
#include "driver/cli/terminal.h"
#include "runtime-verify/program/verify.h"

namespace allranks::cli {
namespace {

constexpr std::string_view kExitCodes =
    "0: no findings as severe as --fail-on, or --exit-zero. 1: there are such findings. 2: something could not be done. "
    "130, 143: ended early by SIGINT or SIGTERM; the report has what was found until then.";

template <class Range, class Text>
std::string Joined(const Range& range, std::string_view between, Text text) {
  std::string out;
  for (const auto& each : range) out += (out.empty() ? "" : std::string(between)) + std::string(text(each));
  return out;
}
std::string Joined(const std::vector<std::string>& texts, std::string_view between) {
  return Joined(texts, between, [](const std::string& text) { return text; });
}

bool TakesFile(const OptionText& option) {
  return option.is_positional || option.value.find("FILE") != std::string::npos || option.value.find("DIR") != std::string::npos;
}

// ---- Shells

// Of a list, what stands behind its last comma is completed.
std::string ChoiceInBash(const OptionText& option) {
  const std::string words = "compgen -W '" + Joined(option.choices, " ") + "' ";
  return option.is_list ? words + "-P \"${word%\"${word##*,}\"}\" -- \"${word##*,}\"" : words + "-- \"$word\"";
}

std::string Bash(const std::vector<CommandText>& commands) {
  std::string out =
      "# bash completion of allranks: eval \"$(allranks completions bash)\"\n_allranks() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=check\n"
      "  COMPREPLY=()\n  case ${COMP_WORDS[1]} in\n";
  out += "    " + Joined(commands, "|", [](const CommandText& c) { return c.name; }) + ") command=${COMP_WORDS[1]} ;;\n  esac\n";
  out += "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W '" +
         Joined(commands, " ", [](const CommandText& c) { return c.name; }) + "' -- \"$word\"))\n  fi\n  case $command:$before in\n";
  for (const CommandText& command : commands) {
    for (const OptionText& option : command.options) {
      if (option.choices.empty() || option.is_positional) continue;
      out += "    " + Joined(option.names, "|", [&](const std::string& name) { return command.name + ":" + name; }) +
             ") COMPREPLY=($(" + ChoiceInBash(option) + ")); return ;;\n";
    }
  }
  out += "  esac\n  case $command in\n";
  for (const CommandText& command : commands) {
    out += "    " + command.name + ") COMPREPLY+=($(compgen -W '" +
           Joined(command.options, " ", [](const OptionText& o) { return Joined(o.is_positional ? o.choices : o.names, " "); }) +
           "' -- \"$word\")) ;;\n";
  }
  return out + "  esac\n  [[ $word == -* ]] || COMPREPLY+=($(compgen -f -- \"$word\"))\n}\ncomplete -o filenames -F _allranks allranks\n";
}

// Within single quotes of zsh and fish.
std::string Quoted(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out;
}

// In a specification of _arguments brackets and colons mean something.
std::string ForZsh(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':') out += '\\';
    out += c;
  }
  return Quoted(out);
}

std::string ChoiceInZsh(const OptionText& option) {
  if (option.choices.empty()) return TakesFile(option) ? "_files" : " ";
  const std::string words = Joined(option.choices, " ");
  return option.is_list ? "_sequence compadd - " + words : "(" + words + ")";
}

std::string ZshOption(const OptionText& option) {
  std::string out;
  for (const std::string& name : option.names) {
    out += "      '*" + name + "[" + ForZsh(option.help) + "]";
    if (!option.value.empty()) {
      out += ":" + ForZsh(option.value) + ":" + ChoiceInZsh(option);
    }
    out += "' \\\n";
  }
  return out;
}

std::string Zsh(std::vector<CommandText> commands) {
  // What is no command is an argument of `check`: its branch is the one for all else, so it goes last.
  const auto check = std::ranges::find(commands, "check", &CommandText::name);
  std::rotate(check, check + 1, commands.end());
  std::string out = "#compdef allranks\n# zsh completion of allranks: a file `_allranks` in a folder of $fpath\n_allranks() {\n  local -a commands=(\n";
  for (const CommandText& command : commands) out += "    '" + command.name + ":" + Quoted(command.summary) + "'\n";
  out += "  )\n  if (( CURRENT == 2 )); then _describe command commands; _files; return; fi\n  case $words[2] in\n";
  for (const CommandText& command : commands) {
    out += "    " + (command.name == "check" ? std::string("*") : command.name) + ")\n      _arguments \\\n";
    std::string rest = "_files";
    for (const OptionText& option : command.options) {
      out += option.is_positional ? "" : ZshOption(option);
      if (option.is_positional && !option.choices.empty()) rest = ChoiceInZsh(option);
    }
    out += "      '*:argument:" + rest + "' ;;\n";
  }
  return out + "  esac\n}\n_allranks \"$@\"\n";
}

std::string Fish(const std::vector<CommandText>& commands) {
  std::string out = "# fish completion of allranks: allranks completions fish > ~/.config/fish/completions/allranks.fish\n";
  for (const CommandText& command : commands) {
    out += "complete -c allranks -n __fish_use_subcommand -a " + command.name + " -d '" + Quoted(command.summary) + "'\n";
    for (const OptionText& option : command.options) {
      if (option.is_positional && option.choices.empty()) continue;
      out += "complete -c allranks -n '__fish_seen_subcommand_from " + command.name + "'";
      if (option.is_positional) {
        out += " -a '" + Joined(option.choices, " ") + "' -d '" + Quoted(option.help) + "'\n";
        continue;
      }
      for (const std::string& name : option.names) out += (name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1));
      if (!option.value.empty()) out += option.choices.empty() ? " -r" : " -x -a '" + Joined(option.choices, " ") + "'";
      out += " -d '" + Quoted(option.help) + "'\n";
    }
  }
  return out;
}

// ---- Pages

std::vector<std::string> GroupsOf(const CommandText& command) {
  std::vector<std::string> groups;
  for (const OptionText& option : command.options) {
    if (!option.is_positional && !option.group.empty() && std::ranges::find(groups, option.group) == groups.end()) groups.push_back(option.group);
  }
  return groups;
}

// Help first, under a heading of its own, would be the first thing that one reads.
constexpr std::string_view kGeneral = "Options";

std::string Markdown(const std::vector<CommandText>& commands) {
  std::string out =
      "# Command line\n\nMade by `allranks man --markdown`. `allranks PATH` is `allranks check PATH`. Exit codes: " + std::string(kExitCodes) + "\n";
  for (const CommandText& command : commands) {
    out += "\n## allranks " + command.name + "\n\n" + command.summary + "\n";
    if (command.name == "verify") {
      const std::string_view help = verify::VerifyHelp();
      out += "\n```text\n" + std::string(help.substr(help.find("Usage:"))) + "```\n";
      continue;
    }
    for (const OptionText& option : command.options) {
      if (option.is_positional) out += "\n`" + option.names[0] + "`: " + option.help + "\n";
    }
    for (const std::string& group : GroupsOf(command)) {
      out += (group == kGeneral ? "\n" : "\n### " + group + "\n\n") + std::string("| option | |\n|---|---|\n");
      for (const OptionText& option : command.options) {
        if (option.is_positional || option.group != group) continue;
        out += "| `" + Joined(option.names, ", ") + (option.value.empty() ? "" : " " + option.value) + "` | " + option.help + " |\n";
      }
    }
  }
  // A bar would end the cell.
  for (size_t at = out.find("FILE|SETTING"); at != std::string::npos; at = out.find("FILE|SETTING", at + 14)) out.insert(at + 4, "\\");
  return out;
}

std::string ForRoff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '-') out += '\\';
    out += c;
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string Man(const std::vector<CommandText>& commands) {
  std::string out = ".TH ALLRANKS 1 \"\" \"allranks " + std::string(Version()) + "\"\n.SH NAME\nallranks \\- find where ranks of a distributed\\-training job wait forever\n";
  out += ".SH SYNOPSIS\n.B allranks\n[\\fICOMMAND\\fR] [\\fIOPTION\\fR...] [\\fIPATH\\fR...]\n.SH COMMANDS\n";
  for (const CommandText& command : commands) out += ".TP\n.B " + ForRoff(command.name) + "\n" + ForRoff(command.summary) + "\n";
  for (const CommandText& command : commands) {
    out += ".SH OPTIONS OF " + ForRoff(command.name) + "\n";
    if (command.name == "verify") {
      const std::string_view help = verify::VerifyHelp();
      out += ".nf\n" + ForRoff(help.substr(help.find("Usage:"))) + ".fi\n";
      continue;
    }
    for (const OptionText& option : command.options) {
      out += ".TP\n.B " + ForRoff(Joined(option.names, ", ") + (option.value.empty() ? "" : " " + option.value)) + "\n" + ForRoff(option.help) + "\n";
    }
  }
  return out + ".SH EXIT STATUS\n" + ForRoff(kExitCodes) + "\n";
}

}  // namespace

int RunDescribe(const DescribeArguments& arguments) {
  const std::vector<CommandText>& commands = arguments.commands;
  const std::string text = arguments.as == "bash" ? Bash(commands)
                           : arguments.as == "zsh" ? Zsh(commands)
                           : arguments.as == "fish" ? Fish(commands)
                           : arguments.as == "man" ? Man(commands)
                                                   : Markdown(commands);
  return WriteOut(text) ? kExitClean : kExitError;
}

}  // namespace allranks::cli
