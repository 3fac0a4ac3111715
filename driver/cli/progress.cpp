#include "driver/cli/progress.h"

#include <unistd.h>

#include "driver/cli/terminal.h"

namespace allranks::cli {
namespace {

// Shorter runs need no comfort, and faster changes cannot be read.
constexpr std::chrono::milliseconds kSilence{2000};
constexpr std::chrono::milliseconds kBetween{100};
constexpr std::string_view kClearLine = "\r\x1b[K";

}  // namespace

ProgressLine::ProgressLine() : start_(std::chrono::steady_clock::now()), enabled_(IsTerminal(STDERR_FILENO)) {}

pipeline::Progress ProgressLine::Callback() {
  if (!enabled_) return {};
  return [this](std::string_view phase, size_t done, size_t total) { Show(phase, done, total); };
}

void ProgressLine::Show(std::string_view phase, size_t done, size_t total) {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (now - start_ < kSilence || (shown_ && now - last_ < kBetween)) return;
  std::string text(kClearLine);
  text += "allranks: " + std::string(phase);
  if (total > 0) text += " " + std::to_string(done) + "/" + std::to_string(total);
  WriteErr(text);
  last_ = now;
  shown_ = true;
}

void ProgressLine::Clear() {
  const std::lock_guard lock(mutex_);
  if (shown_) WriteErr(kClearLine);
  shown_ = false;
}

}  // namespace allranks::cli
