// What the coordinator and the process of one rank say to each other: JSON objects, one a line, commands on
// file descriptor 3 and events on 4 of the worker.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "runtime-verify/backends/backend.h"

namespace allranks::verify {

constexpr int kCommandDescriptor = 3;
constexpr int kEventDescriptor = 4;
// Room for what Gloo tells of 128 ranks' addresses, in hexadecimal.
constexpr size_t kLongestLine = 262144;

struct Command {
  enum class Kind {
    Init,   // what the rank is; the communicators have come before it
    Comm,   // one more communicator
    Op,     // one more operation of the schedule, with its tag
    Run,    // issue the operations first .. first+count-1, then say idle
    Value,  // the answer to a Get
    Quit,
  };
  Kind kind = Kind::Quit;
  RankSetup setup;                // Init, but for the communicators
  std::vector<uint32_t> ranks;    // Comm
  witness::ScheduledOp op;        // Op
  uint32_t tag = 0;               // Op
  uint32_t first = 0, count = 0;  // Run
  std::string key, value;         // Value
};

struct Event {
  enum class Kind {
    Ready,     // all communicators are made; text: what the rank runs on
    Set,       // for the store
    Get,       // wants to know; a Value answers
    Issued,    // the operation is handed to the library now
    Returned,  // the library's call came back
    Done,      // the operation is complete
    Data,      // its data is wrong
    Failed,    // the library reported an error; the rank does nothing more, but lives
    Idle,      // all operations of the last Run are over
  };
  Kind kind = Kind::Idle;
  bool in_op = false;  // Failed: in an operation, not while connecting
  uint32_t op = 0;
  int code = 0;
  std::string text;
  std::vector<int32_t> devices;  // Ready
  std::string key, value;
  // Data.
  uint64_t bad = 0, first = 0;
  double expected = 0, got = 0;
};

// One line each, ended.
std::string Encode(const Command& command);
std::string Encode(const Event& event);
// Nothing, if the line is none of ours.
std::optional<Command> DecodeCommand(std::string_view line);
std::optional<Event> DecodeEvent(std::string_view line);

// Cuts what arrives into lines; what is longer than a line may be ends the conversation.
class LineBuffer {
 public:
  // False if a line is too long.
  bool Add(std::string_view bytes);
  std::optional<std::string> Take();

 private:
  std::string bytes_;
};

}  // namespace allranks::verify
