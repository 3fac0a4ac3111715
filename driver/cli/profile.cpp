#include "driver/cli/profile.h"

#include <sys/resource.h>

#include <array>
#include <cstdio>

namespace allranks::cli {
namespace {

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// "  parse    12.3 ms    45.6 MB    11.9 ms of cpu"
std::string LineOf(const std::string& name, double seconds, uint64_t bytes = 0, double cpu_seconds = 0) {
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "  %-12s %10.1f ms", name.c_str(), seconds * 1000);
  std::string line = text.data();
  if (bytes > 0) {
    std::snprintf(text.data(), text.size(), " %8.1f MB %10.1f ms of cpu", static_cast<double>(bytes) / 1e6, cpu_seconds * 1000);
    line += text.data();
  }
  return line + "\n";
}

std::string FilesAndBytes(const char* what, uint64_t bytes, uint64_t files) {
  return std::string(what) + ": " + std::to_string(bytes) + " bytes in " + std::to_string(files) + " files\n";
}

}  // namespace

std::string ProfileText(const pipeline::Output& out) {
  std::string text = "phases: time, peak memory so far, time of all threads\n";
  double total = 0;
  for (const pipeline::Timing& timing : out.timings) {
    text += LineOf(timing.phase, timing.seconds, timing.peak_bytes, timing.cpu_seconds);
    total += timing.seconds;
  }
  text += LineOf("all", total);
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  text += LineOf("cpu", Seconds(usage.ru_utime) + Seconds(usage.ru_stime));
  text += "steps of the analysis: " + std::to_string(out.steps) + "\n";
  text += FilesAndBytes("sources scanned", out.bytes_scanned, out.files_scanned);
  text += FilesAndBytes("sources parsed", out.bytes_parsed, out.files_parsed);
  const uint64_t peak = out.timings.empty() ? 0 : out.timings.back().peak_bytes;
  return text + "peak memory: " + std::to_string(peak) + " bytes\n";
}

}  // namespace allranks::cli
