#include "frontends/launch/pages.h"

#include <algorithm>
#include <array>

#include "analyzer/base/lowered.h"

namespace allranks::launch_files {
namespace {

size_t EndOfLine(std::string_view text, size_t at) { return std::min(text.find('\n', at), text.size()); }

bool IsShellLanguage(std::string_view language) {
  constexpr std::array<std::string_view, 9> kShell = {"", "bash", "sh", "shell", "console", "zsh", "shell-session", "Bash", "Shell"};
  return std::ranges::count(kShell, language) > 0;
}

bool IsAssignment(std::string_view word) {
  return word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == word.find('=') && word.find('=') != std::string_view::npos;
}

// Whether the first line of a block that is said to be of another language runs a program: `torchrun train.py` below "```python" is no Python.
bool StartsWithCommand(std::string_view body) {
  constexpr std::array<std::string_view, 12> kPrograms = {"torchrun", "python", "python3", "accelerate", "deepspeed", "srun", "sbatch",
                                                          "mpirun", "mpiexec", "horovodrun", "bash", "sh"};
  for (size_t at = 0; at < body.size(); at = EndOfLine(body, at) + 1) {
    std::string_view line = body.substr(at, EndOfLine(body, at) - at);
    line.remove_prefix(std::min(line.find_first_not_of(" >$\t"), line.size()));
    if (line.empty() || line.starts_with('#') || line.starts_with('\r')) continue;
    std::string_view word = line.substr(0, line.find(' '));
    while (IsAssignment(word) && word.size() < line.size()) {
      line.remove_prefix(std::min(line.find_first_not_of(' ', word.size()), line.size()));
      word = line.substr(0, line.find(' '));
    }
    if (std::ranges::count(kPrograms, word) == 0 || word.size() + 1 >= line.size()) return false;
    const char next = line[word.size() + 1];
    return std::string_view("=(),:[").find(next) == std::string_view::npos;
  }
  return false;
}

bool IsBlank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }
bool IsIndented(std::string_view line) { return line.starts_with("    ") || line.starts_with('\t'); }
bool IsFence(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" >"), line.size()));
  return line.starts_with("```") || line.starts_with("~~~");
}

// Where lines end that stand further in, as code does, from one of them on.
size_t EndOfIndented(std::string_view text, size_t at) {
  size_t last = at;
  while (at < text.size()) {
    const std::string_view line = text.substr(at, EndOfLine(text, at) - at);
    const bool is_inside = IsIndented(line) && !IsFence(line);
    if (!is_inside && !IsBlank(line)) break;
    at = std::min(EndOfLine(text, at) + 1, text.size());
    if (is_inside) last = at;
  }
  return last;
}

// `python train.py` within lines.
void AddMentions(std::string_view text, size_t at, size_t end, size_t section, std::vector<PageBlock>& blocks) {
  const std::string_view lines = text.substr(0, end);
  for (size_t tick = lines.find('`', at); tick != std::string_view::npos; tick = lines.find('`', at)) {
    const size_t body = std::min(lines.find_first_not_of('`', tick), end);
    const std::string_view ticks = lines.substr(tick, body - tick);
    const size_t close = lines.find(ticks, body);
    if (close == std::string_view::npos) return;
    if (StartsWithCommand(lines.substr(body, close - body))) blocks.push_back({.begin = body, .end = close, .section = section, .is_mention = true});
    at = close + ticks.size();
  }
}

// From a fence on; the place behind the one that closes it.
size_t AddFenced(std::string_view text, size_t at, size_t section, std::vector<PageBlock>& blocks) {
  const size_t end = EndOfLine(text, at);
  std::string_view line = text.substr(at, end - at);
  line.remove_prefix(line.find_first_not_of(" >"));
  // It ends with as many ticks as it begins with, or more: a block of four may show one of three.
  const std::string_view fence = line.substr(0, line.find_first_not_of(line[0]));
  std::string_view language = line.substr(fence.size());
  language = language.substr(0, language.find_first_of(" \r{"));
  const size_t body = std::min(end + 1, text.size());
  size_t close = body;
  while (close < text.size()) {
    const size_t first = text.find_first_not_of(" >", close);
    if (first != std::string_view::npos && text.substr(first, fence.size()) == fence) break;
    close = EndOfLine(text, close) + 1;
  }
  close = std::min(close, text.size());
  if (IsShellLanguage(language) || StartsWithCommand(text.substr(body, close - body))) blocks.push_back({.begin = body, .end = close, .section = section});
  return EndOfLine(text, close) + 1;
}

std::vector<PageBlock> BlocksOfMarkdown(std::string_view text) {
  std::vector<PageBlock> blocks;
  size_t section = 0;
  bool is_behind_blank = true;
  for (size_t at = 0; at < text.size();) {
    const size_t end = EndOfLine(text, at);
    const std::string_view whole = text.substr(at, end - at);
    std::string_view line = whole;
    line.remove_prefix(std::min(line.find_first_not_of(" >"), line.size()));
    // What is in a comment no reader sees.
    if (line.starts_with("<!--")) {
      const size_t close = text.find("-->", at);
      if (close == std::string_view::npos) break;
      at = EndOfLine(text, close) + 1;
      continue;
    }
    if (IsFence(whole)) {
      at = AddFenced(text, at, section, blocks);
      continue;
    }
    // What stands further in behind an empty line is code, or goes on with an item of a list.
    const size_t inner_end = is_behind_blank && IsIndented(whole) ? EndOfIndented(text, at) : at;
    const size_t next = inner_end > at ? inner_end : std::min(end + 1, text.size());
    if (line.starts_with('#') && inner_end == at) section = at;
    if (inner_end > at && StartsWithCommand(text.substr(at, inner_end - at))) blocks.push_back({.begin = at, .end = inner_end, .section = section});
    else AddMentions(text, at, next, section, blocks);
    is_behind_blank = IsBlank(whole);
    at = next;
  }
  return blocks;
}

// Below a heading of reStructuredText.
bool IsUnderline(std::string_view line) {
  constexpr std::string_view kSigns = "=-~^\"'`*+#";
  while (line.ends_with('\r')) line.remove_suffix(1);
  return line.size() > 2 && kSigns.find(line[0]) != std::string_view::npos && line.find_first_not_of(line[0]) == std::string_view::npos;
}

bool IsShellDirective(std::string_view directive) {
  constexpr std::array<std::string_view, 4> kNames = {".. code-block::", ".. code::", ".. sourcecode::", ".. prompt::"};
  const auto name = std::ranges::find_if(kNames, [&](std::string_view each) { return directive.starts_with(each); });
  if (name == kNames.end()) return false;
  std::string_view language = directive.substr(name->size());
  language.remove_prefix(std::min(language.find_first_not_of(' '), language.size()));
  language = language.substr(0, language.find_first_of(" \r"));
  return !language.empty() && IsShellLanguage(language);
}

// Blank lines belong to a block as well.
bool IsInside(std::string_view line, size_t indent) {
  const size_t first = line.find_first_not_of(" \t\r");
  return first == std::string_view::npos || first > indent;
}

// `Start it so::`, above a block of any language.
bool IsBeforeLiteral(std::string_view line) {
  while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
  return line.ends_with("::") && !line.starts_with("..");
}

// `.. code-block:: bash`, or a line that announces a literal block, and the lines below that stand further in than it.
std::vector<PageBlock> BlocksOfRestructured(std::string_view text) {
  std::vector<PageBlock> blocks;
  size_t section = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = EndOfLine(text, at);
    const std::string_view line = text.substr(at, end - at);
    at = std::min(end + 1, text.size());
    const size_t indent = line.find_first_not_of(" \t");
    if (IsUnderline(line)) section = at;
    if (indent == std::string_view::npos) continue;
    const bool is_literal = IsBeforeLiteral(line.substr(indent));
    if (!is_literal && !IsShellDirective(line.substr(indent))) continue;
    const size_t body = at;
    while (at < text.size() && IsInside(text.substr(at, EndOfLine(text, at) - at), indent)) at = std::min(EndOfLine(text, at) + 1, text.size());
    if (is_literal && !StartsWithCommand(text.substr(body, at - body))) continue;
    blocks.push_back({.begin = body, .end = at, .section = section});
  }
  return blocks;
}

}  // namespace

std::vector<PageBlock> ShellBlocksOf(std::string_view path, std::string_view page) {
  return base::Lowered(path).ends_with(".rst") ? BlocksOfRestructured(page) : BlocksOfMarkdown(page);
}

std::string ShellOnPage(std::string_view path, std::string_view page) {
  std::string shell;
  for (const PageBlock& block : ShellBlocksOf(path, page)) {
    shell += page.substr(block.begin, block.end - block.begin);
    if (block.is_mention) shell += '\n';
  }
  return shell;
}

}  // namespace allranks::launch_files
