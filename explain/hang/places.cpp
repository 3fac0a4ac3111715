#include "explain/hang/places.h"

#include <algorithm>
#include <array>

namespace allranks::explain {
namespace {

constexpr std::array<std::string_view, 11> kLibraryParts = {
    "site-packages/", "dist-packages/", "lib/python3", "lib64/python3", "python3.", "/torch/distributed/", "/torch/nn/",
    "/torch/csrc/", "torch/autograd/", "/torch/utils/", "/torch/multiprocessing/"};

// py-spy cuts off the interpreter's folder: modules of the standard library in which a rank waits, or through which a program
// is started.
constexpr std::array<std::string_view, 14> kStandardFiles = {
    "threading.py", "queue.py", "selectors.py", "socket.py", "ssl.py", "subprocess.py", "contextlib.py", "runpy.py",
    "multiprocessing/connection.py", "multiprocessing/popen_fork.py", "multiprocessing/process.py", "multiprocessing/queues.py", "multiprocessing/spawn.py",
    "concurrent/futures/thread.py"};

}  // namespace

bool IsLibraryFile(std::string_view file) {
  if (file.empty() || file.front() == '<' || file.starts_with("??")) return true;
  if (file.starts_with("torch/") || std::ranges::find(kStandardFiles, file) != kStandardFiles.end()) return true;
  for (const std::string_view ending : {".cpp", ".cc", ".cu", ".h", ".hpp", ".so", ".c"}) {
    // C++ programs of the user have frames as well, but not below PyTorch.
    if (file.ends_with(ending) && (file.find("torch") != std::string_view::npos || file.ends_with(".so"))) return true;
  }
  return std::ranges::any_of(kLibraryParts, [&](std::string_view part) { return file.find(part) != std::string_view::npos; });
}

std::vector<Frame> UserFrames(const Recording& recording, StackIndex stack) {
  std::vector<Frame> frames;
  for (const Frame& frame : recording.stacks[stack]) {
    if (!IsLibraryFile(recording.names[frame.file])) frames.push_back(frame);
  }
  std::ranges::reverse(frames);
  return frames;
}

std::string OperationOf(const Recording& recording, StackIndex stack) {
  constexpr std::array<std::string_view, 26> kFunctions = {
      "all_reduce", "broadcast", "reduce", "all_gather", "all_gather_into_tensor", "_all_gather_base", "reduce_scatter",
      "reduce_scatter_tensor", "_reduce_scatter_base", "all_to_all", "all_to_all_single", "gather", "scatter", "send", "recv",
      "barrier", "monitored_barrier", "all_gather_object", "broadcast_object_list", "gather_object", "scatter_object_list",
      "all_reduce_coalesced", "all_gather_coalesced", "isend", "irecv", "batch_isend_irecv"};
  std::string found;
  // The outermost of them is what the user calls.
  for (const Frame& frame : recording.stacks[stack]) {
    const std::string_view function = recording.names[frame.function];
    if (!IsLibraryFile(recording.names[frame.file]) && recording.names[frame.file] != "distributed_c10d.py") continue;
    if (std::ranges::find(kFunctions, function) == kFunctions.end()) continue;
    const std::string_view plain = function.substr(0, function.find("_object"));
    found = plain == "isend" ? "send" : plain == "irecv" ? "recv" : KindOf(plain);
  }
  return found;
}

}  // namespace allranks::explain
