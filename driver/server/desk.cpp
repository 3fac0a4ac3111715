#include "driver/server/desk.h"

#include <algorithm>

namespace allranks::server {
namespace {

using std::chrono::milliseconds;

// Results are this late at most, however fast somebody types.
constexpr milliseconds kOverdue{1000};
// So long an analysis of half-written code may take before an edit ends it in any case.
constexpr milliseconds kLongestAnalysis{5000};
// Nobody notices less; more would be felt.
constexpr milliseconds kLongestPause{200};

}  // namespace

void Desk::NoteEdit(const std::string& path) {
  NoteChange();
  changes.edited.insert(path);
}

void Desk::NoteDisk() {
  NoteChange();
  changes.disk = true;
}

void Desk::End() {
  const std::lock_guard lock(mutex);
  is_over = true;
  tasks.clear();
  stop.request_stop();
  wake.notify_all();
}

void Desk::NoteChange() {
  const Clock::time_point now = Clock::now();
  if (!changes.any()) first_change = now;
  is_paused = false;
  // What takes long is not begun at every key.
  const Clock::duration pause = std::min<Clock::duration>(last_duration / 2, kLongestPause);
  not_before = last_duration < milliseconds(20) ? now : now + pause;
  if (now - first_change < kOverdue || now - begun > kLongestAnalysis) stop.request_stop();
  wake.notify_all();
}

}  // namespace allranks::server
