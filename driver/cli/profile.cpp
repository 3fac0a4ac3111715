#include "driver/cli/profile.h"

#include <sys/resource.h>

#include <array>
#include <cstdio>

namespace allranks::cli {
namespace {

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

std::string Line(const std::string& name, double seconds) {
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "  %-12s %10.1f ms\n", name.c_str(), seconds * 1000);
  return text.data();
}

std::string FilesAndBytes(const char* what, uint64_t bytes, uint64_t files) {
  return std::string(what) + ": " + std::to_string(bytes) + " bytes in " + std::to_string(files) + " files\n";
}

}  // namespace

std::string ProfileText(const pipeline::Output& out) {
  std::string text = "phases:\n";
  double total = 0;
  for (const pipeline::Timing& timing : out.timings) {
    text += Line(timing.phase, timing.seconds);
    total += timing.seconds;
  }
  text += Line("all", total);
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  text += Line("cpu", Seconds(usage.ru_utime) + Seconds(usage.ru_stime));
  text += FilesAndBytes("sources scanned", out.bytes_scanned, out.files_scanned);
  text += FilesAndBytes("sources parsed", out.bytes_parsed, out.files_parsed);
  // Linux counts ru_maxrss in units of 1024 bytes.
  return text + "peak memory: " + std::to_string(uint64_t{1024} * static_cast<uint64_t>(usage.ru_maxrss)) + " bytes\n";
}

}  // namespace allranks::cli
