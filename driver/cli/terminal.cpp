#include "driver/cli/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <vector>

#include "analyzer/files/write_file.h"
#include "driver/cli/memory_guard.h"
#include "driver/reports/place.h"

namespace allranks::cli {
namespace {

constexpr uint32_t kWidthWithoutTerminal = 120;
constexpr uint32_t kNarrowest = 60;

std::string ErrorText(int code) { return std::generic_category().message(code); }

bool IsSet(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool WantsColor(std::string_view when, bool to_file) {
  if (when != "auto") return when == "always";
  if (IsSet("NO_COLOR")) return false;
  if (IsSet("FORCE_COLOR") || IsSet("CLICOLOR_FORCE")) return !to_file;
  const char* term = std::getenv("TERM");
  return !to_file && IsTerminal(STDOUT_FILENO) && term != nullptr && std::strcmp(term, "dumb") != 0;
}

// Whether the locale can show more than ASCII; a file or a pipe gets UTF-8 in any case.
bool LocaleIsUtf8() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (!IsSet(variable)) continue;
    const std::string value = std::getenv(variable);
    return value.find("UTF-8") != std::string::npos || value.find("utf8") != std::string::npos ||
           value.find("UTF8") != std::string::npos || value.find("utf-8") != std::string::npos;
  }
  return false;
}

uint32_t TerminalWidth() {
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kWidthWithoutTerminal;
  return std::max<uint32_t>(size.ws_col, kNarrowest);
}

// "  3 | select = [", as below the message about a configuration file.
bool IsOfExcerpt(std::string_view line) {
  const size_t bar = line.find_first_not_of(" 0123456789");
  return line.starts_with("  ") && bar != std::string_view::npos && line.substr(bar).starts_with("| ");
}

// An end of a line that no excerpt follows came with a name or a text that is not ours: behind it could stand a message of
// its own, or a command to whoever reads the log.
std::string Printable(std::string_view message) {
  std::string out;
  for (size_t end = message.find('\n'); end != std::string_view::npos; end = message.find('\n', end + 1)) {
    if (!IsOfExcerpt(message.substr(end + 1))) continue;
    out += reports::OneLine(message.substr(0, end)) + "\n";
    message.remove_prefix(end + 1);
    end = 0;
  }
  return out + reports::OneLine(message);
}

}  // namespace

void PrepareStreams() {
  std::signal(SIGPIPE, SIG_IGN);
  for (int descriptor = 0; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDWR) < 0) std::abort();
  }
}

bool WriteOut(std::string_view text) {
  const MemoryGuard::Writing writing;
  const int error = files::WriteAll(STDOUT_FILENO, text);
  if (error == 0 || error == EPIPE) return true;
  PrintError("cannot write to the standard output: " + ErrorText(error));
  return false;
}

void WriteErr(std::string_view text) { (void)files::WriteAll(STDERR_FILENO, text); }

bool WriteNames(std::string_view text) { return WriteOut(IsTerminal(STDOUT_FILENO) ? reports::CleanLines(text) : std::string(text)); }

void PrintError(std::string_view message) { WriteErr("allranks: error: " + Printable(message) + "\n"); }

void PrintWarning(std::string_view message) { WriteErr("allranks: warning: " + Printable(message) + "\n"); }

bool IsTerminal(int descriptor) { return isatty(descriptor) == 1; }

reports::TextStyle StyleFor(std::string_view color, bool to_file) {
  const bool terminal = !to_file && IsTerminal(STDOUT_FILENO);
  reports::TextStyle style;
  style.color = WantsColor(color, to_file);
  style.ascii = terminal && !LocaleIsUtf8();
  style.width = terminal ? TerminalWidth() : kWidthWithoutTerminal;
  return style;
}

std::string ReadStandardInput() {
  std::string text;
  std::vector<char> buffer(64 * 1024);
  for (;;) {
    const ssize_t got = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer.data(), static_cast<size_t>(got));
  }
}

bool WriteFile(const std::string& path, std::string_view text, const std::string& project) {
  int error = 0;
  {
    const MemoryGuard::Writing writing;
    error = files::WriteTo(path, text, project);
  }
  if (error == 0) return true;
  const std::string why = error == ENXIO ? "nobody reads this pipe" : error == EXDEV ? "a link leads out of the project " + project : ErrorText(error);
  PrintError("cannot write " + path + ": " + why);
  return false;
}

std::string WorkingDirectory() {
  std::vector<char> buffer(PATH_MAX);
  return getcwd(buffer.data(), buffer.size()) == nullptr ? std::string() : std::string(buffer.data());
}

}  // namespace allranks::cli
