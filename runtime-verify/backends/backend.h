// What one rank's process needs of a communication library. A worker process holds one Backend; the ranks
// meet through the store, which the coordinator keeps.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "witness/schedule.h"

namespace allranks::verify {

// An error in the library's own words.
struct Failure {
  int code = 0;
  std::string text;
};

// Texts that all ranks of a run see.
class Store {
 public:
  virtual ~Store() = default;
  virtual void Set(const std::string& key, const std::string& value) = 0;
  // Waits until some rank has set it; nothing if the coordinator is gone.
  virtual std::optional<std::string> Get(const std::string& key) = 0;
};

// What only the machine of a rank knows stands in the environment of its process, set by whoever starts it there: nodes
// may differ.
constexpr const char* kLibraryVariable = "ALLRANKS_NCCL_LIB";  // absolute path
constexpr const char* kInterfaceVariable = "ALLRANKS_INTERFACE";  // name of the network interface to bind

struct RankSetup {
  uint32_t rank = 0;
  int32_t device = -1;  // on its node; -1: there is none, or the backend chooses
  std::string address;  // of the interface to bind: "127.0.0.1"
  bool force = false;   // also on a device that others use
  bool first_on_device = true;  // asks whether others use it: the ranks behind it would be taken for such
  bool at_first_use = false;  // a communicator is made by the first operation on it, as PyTorch does it
  bool survey = false;  // looks at every device of the machine before it takes one
  std::vector<std::vector<uint32_t>> comms;
  // The library's own patience, which must be longer than the coordinator's.
  std::chrono::milliseconds timeout{180000};
};

// What a rank runs on.
struct Facilities {
  std::string description;       // "NCCL 2.28.9, NVIDIA H200"
  std::vector<int32_t> devices;  // of a survey: those that may be used, idle ones only
};

struct OpBuffers {
  std::vector<std::byte> input, output;
};

enum class OpState { Pending, Done, Failed };

class Backend {
 public:
  virtual ~Backend() = default;

  // Makes all communicators that the rank is in.
  virtual std::optional<Failure> Connect(const RankSetup& setup, Store& store, Facilities* facilities) = 0;

  // Whether an operation can be waited for on the device alone, so that the program goes on issuing.
  virtual bool RunsAhead() const = 0;

  // Makes room for so many bytes of input and output. While an operation hangs, asking the device for memory
  // may hang too.
  virtual std::optional<Failure> Reserve(size_t input_bytes, size_t output_bytes) = 0;

  // `id` is new in each call, `tag` equal on all ranks for operations that belong together; the buffers live
  // until the operation is done. A `wait` or a `sync` operation holds up those behind it, on the host or on
  // the device.
  virtual std::optional<Failure> Issue(uint32_t id, const witness::ScheduledOp& op, uint32_t tag,
                                       OpBuffers& buffers) = 0;
  // Behind the last of operations that go together (`batch`): what was handed over goes to the library's call.
  virtual std::optional<Failure> EndBatch() { return std::nullopt; }
  // False while the call of the last issued operation is still in the library: the program cannot go on, and `Poll` of
  // that operation is what brings it back.
  virtual bool HasReturned() const { return true; }
  virtual OpState Poll(uint32_t id, Failure* failure) = 0;

  // Whether the library has such an operation at all; if not, in one sentence.
  virtual std::string Unsupported(const witness::ScheduledOp& op) const = 0;
};

}  // namespace allranks::verify
