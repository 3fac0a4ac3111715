// One run of a schedule on real ranks, from their start to their end.
#pragma once

#include "runtime-verify/coordinator/launcher.h"
#include "witness/outcome.h"

namespace allranks::verify {

struct RunLimits {
  milliseconds connect{30000};
  // Nothing heard from any rank for so long: whatever is not done by then never will be. Zero: see QuietTime.
  milliseconds quiet{0};
  milliseconds total{60000};
};

// Long enough that a rank which is merely slow is heard of: 50 times the slowest operation of the control
// run.
milliseconds QuietTime(const RunLimits& limits, milliseconds slowest_op, milliseconds least);

// Since the schedule began; negative: has not happened.
struct OpTimes {
  int64_t issued_ms = -1, returned_ms = -1, done_ms = -1;
  std::optional<Event> wrong;  // a Data event
};

struct RankLog {
  std::vector<OpTimes> ops;  // the rank's schedule, then two for each communicator if there was a fence
  bool is_idle = false;
  std::optional<uint32_t> failed_op;
  int64_t failed_ms = -1;
  std::string words;  // the library's, or how the process ended
  bool is_dead = false;
};

struct AttemptLog {
  enum class End {
    Finished,   // all ranks went through, or failed in their own way
    Quiet,      // some operations never complete
    NoConnect,  // the ranks did not come together; reason
    Killed,     // somebody else ended a rank, so what the others do shows nothing; reason
    OutOfTime,
    Interrupted,
  };
  End end = End::Finished;
  std::string reason;
  std::string description;  // what the ranks ran on
  std::vector<int32_t> devices;  // of a survey
  std::vector<RankLog> ranks;
  bool has_fence = false;
  bool on_streams = false;
  milliseconds slowest_op{0}, connect_time{0}, duration{0}, reap_time{0};
  bool reaped = true;
  std::string ras;  // what NCCL's own monitor said while the ranks hung
  // The release test: after these ranks were told to issue what was waited for, the waiting ended.
  std::vector<uint32_t> released_by;
};

struct AttemptOptions {
  bool fence = true;
  bool release = true;
  bool at_first_use = false;  // communicators are made by the first operation on each
  bool on_streams = false;    // as RankBackend::is_on_streams
  RunLimits limits;
};

AttemptLog RunAttempt(const witness::Schedule& schedule, const AttemptOptions& options, Launcher& launcher,
                      InterruptGuard& interrupt);

// What the log shows, in the terms of the models.
witness::Outcome OutcomeOf(const witness::Schedule& schedule, const AttemptLog& log);

// For each operation of a rank its turn among those of its communicator (collectives), or of its pair and
// direction.
std::vector<uint32_t> TurnsOf(const witness::Schedule& schedule, uint32_t rank);

}  // namespace allranks::verify
