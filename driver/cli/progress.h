#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include "driver/pipeline/pipeline.h"

namespace allranks::cli {

// A line on stderr that says what is being done, for runs that take long; nothing unless stderr is a terminal.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { Clear(); }
  pipeline::Progress Callback();
  void Clear();

 private:
  void Show(std::string_view phase, size_t done, size_t total);

  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
  std::mutex mutex_;
  bool enabled_ = false;
  bool shown_ = false;
};

}  // namespace allranks::cli
