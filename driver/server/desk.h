// Where the thread that reads and the thread that analyses meet: open documents, settings, work to do.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "driver/server/client.h"
#include "driver/server/documents.h"

namespace allranks::server {

using Clock = std::chrono::steady_clock;

// A request that needs the analysis.
struct Task {
  Json id;
  std::string method;
  Json params;
};

// What changed since the last analysis.
struct Changes {
  std::set<std::string> edited;   // absolute paths of open files
  bool disk = false;              // files, configuration or the set of open files may be others
  bool any() const { return disk || !edited.empty(); }
};

// Of the state below everything but `mutex` and `wake` is guarded by `mutex`.
struct Desk {
  std::mutex mutex;
  std::condition_variable wake;
  bool is_over = false;

  Client client;
  Settings settings;
  std::vector<std::string> folders;      // of the workspace, absolute paths
  Documents documents;

  std::deque<Task> tasks;
  std::string active;                    // id of the request at hand, as text; empty: none
  bool is_active_cancelled = false;      // and answered

  Changes changes;
  bool is_paused = false;                // the user cancelled: until something changes or is asked for
  Clock::time_point not_before;          // the analysis waits until then for more changes
  Clock::time_point first_change;
  std::stop_source stop;                 // of the analysis that runs now
  Clock::time_point begun;               // when the analysis that runs now began, or the last one did
  Clock::duration last_duration{};       // of an analysis

  // An edit stops the analysis that runs, unless results are overdue: then somebody who types without a pause would
  // never see any. One that goes on and on is stopped all the same.
  void NoteEdit(const std::string& path);
  void NoteDisk();

  // The worker stops, and begins nothing more. Takes the mutex.
  void End();

 private:
  void NoteChange();
};

}  // namespace allranks::server
