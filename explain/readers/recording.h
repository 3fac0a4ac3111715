// What a job left behind when it hung: for each rank which operations it issued, where it stands, and what ended it.
// Flight Recorder dumps, logs, stacks and monitors all fill in one recording; any of its parts may be missing.
//
// Names and stacks are kept once, however many of 512 ranks have them: an operation is 64 bytes.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace allranks::explain {

using NameIndex = uint32_t;
using StackIndex = uint32_t;
constexpr NameIndex kNoName = 0;  // the empty text
constexpr StackIndex kNoStack = 0;  // the empty stack

struct Frame {
  NameIndex file = kNoName;
  NameIndex function = kNoName;
  uint32_t line = 0;
  friend bool operator==(const Frame&, const Frame&) = default;
};

class Names {
 public:
  Names() { Add({}); }
  NameIndex Add(std::string_view text);
  std::string_view operator[](NameIndex index) const { return texts_[index]; }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, NameIndex> index_;
};

// Innermost frame first, as recorders write them.
class Stacks {
 public:
  Stacks() { stacks_.emplace_back(); }
  StackIndex Add(const std::vector<Frame>& frames);
  const std::vector<Frame>& operator[](StackIndex index) const { return stacks_[index]; }

 private:
  std::deque<std::vector<Frame>> stacks_;
  std::unordered_map<uint64_t, std::vector<StackIndex>> index_;
};

enum class OpState : uint8_t {
  Scheduled,
  Started,
  Ended,      // completed or failed: the recorder of Gloo does not tell which
  Completed,
};

// One operation that a rank issued, as its recorder or its watchdog tells.
struct Operation {
  uint64_t order = 0;   // among all operations of the rank
  uint64_t turn = 0;    // the number of the collective on its group; of a point-to-point operation that among those
  uint64_t time_ns = 0; // 0: not known
  uint32_t group = 0;   // index into Recording::groups
  NameIndex kind = kNoName;    // "all_reduce": our names, or the recorder's own where we have none
  NameIndex shapes = kNoName;  // "[[1024]] Float"
  StackIndex stack = kNoStack;
  int32_t peer = -1;    // of send and recv: the other rank of the job
  OpState state = OpState::Scheduled;
  bool is_send = false;
  bool is_recv = false;
  bool group_is_assumed = false;  // a log's line without a group: the default one is taken
};

struct Group {
  std::string name;
  std::string description;
  std::vector<uint32_t> ranks;  // of the job, sorted; empty: not told
};

// What a rank's watchdog says of one group.
struct Progress {
  int64_t last_enqueued = -1;
  int64_t last_completed = -1;
};

// Why a rank is no longer there, as far as something says so.
struct Ending {
  std::string what;  // "killed by signal 9", "ValueError: ..."
  StackIndex stack = kNoStack;
};

struct Rank {
  bool has_operations = false;  // a dump of it was read: what is not in it was not issued
  bool is_heard_of = false;     // something at all is known
  std::vector<Operation> operations;
  std::map<uint32_t, Progress> progress;  // by group
  StackIndex stack = kNoStack;            // where its main thread stands
  std::optional<Ending> ending;
  std::vector<std::string> hardware;      // lines that speak of devices or the network
};

// What two ranks were seen to issue at once, or that some never came, in an error of PyTorch's own checks.
struct Mismatch {
  struct Side {
    uint32_t rank = 0;
    std::string kind;
    std::string shapes;
  };
  std::vector<Side> sides;
};
struct NotArrived {
  uint32_t group = 0;
  std::vector<uint32_t> ranks;
  std::string operation;  // "monitored_barrier"
};

// Of a monitor that counts: how many operations of a kind each rank has launched.
struct LaunchCounts {
  std::string group;
  std::string kind;
  std::map<uint32_t, uint64_t> by_rank;
};

struct Recording {
  Names names;
  Stacks stacks;
  std::vector<Group> groups;
  std::map<uint32_t, Rank> ranks;
  std::vector<Mismatch> mismatches;
  std::vector<NotArrived> not_arrived;
  std::vector<LaunchCounts> counts;
  std::vector<std::string> notes;   // what could not be read or is doubtful, one line each
  uint32_t files = 0;

  // The group that a log or an entry calls so, made if it is new. Its members are not told.
  uint32_t GroupNamed(std::string_view name);
  // The group of this name and these members: groups that were split off one may share its name.
  uint32_t GroupOf(std::string_view name, std::vector<uint32_t> members);
  Rank& RankOf(uint32_t rank);
  void Note(const std::string& text);
};

// As witnesses name operations: "nccl:_all_gather_base", "ALLGATHER", "_ALLGATHER_BASE" -> "all_gather". What has no
// name among ours keeps its own.
std::string KindOf(std::string_view recorded);

// What bounds memory and time on files that nobody vouches for.
constexpr uint32_t kMostRank = 1u << 20;
constexpr size_t kMostFrames = 128;
constexpr size_t kMostOperations = 1u << 20;  // a rank
constexpr size_t kMostNotes = 100;

}  // namespace allranks::explain
