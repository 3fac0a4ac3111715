// What verifying one finding came to.
#pragma once

#include "runtime-verify/coordinator/attempt.h"
#include "runtime-verify/coordinator/expectation.h"
#include "runtime-verify/simulator/ring.h"

namespace allranks::verify {

// The version of what was not run but computed.
constexpr std::string_view kComputed = "computed";

enum class VerdictKind {
  Reproduced,     // the schedule does it; `effect` says what. That the program does is for a job to show (`allranks explain`)
  NotReproduced,  // on this backend, size and version everything was right
  Inconclusive,   // reason
  Unavailable,    // no backend that could run it; reason
};

std::string_view NameOf(VerdictKind kind);

// One way the schedule was run, or foretold.
struct Trial {
  std::string name;  // "gloo", "nccl LL", "model"
  witness::Outcome outcome;
  // Empty for a model.
  std::optional<AttemptLog> log;
  uint32_t runs = 1, agreeing = 1;
};

struct Verdict {
  VerdictKind kind = VerdictKind::Inconclusive;
  witness::Effect effect = witness::Effect::Clean;
  std::string reason;
  std::string backend;          // "sim", "gloo", "nccl"
  std::string version;          // what the ranks ran on
  std::vector<Trial> trials;    // the first is the one the verdict rests on
  std::string measured;         // of a scenario, in numbers
  Expectation expected;         // of NCCL, where that is not what was seen
  witness::Witness ran;         // what was run: the witness, scaled or expanded
  milliseconds duration{0};
};

// "hangs on Gloo", "gets wrong data in the simulator", "not reproduced on NCCL", "inconclusive".
std::string HeadlineOf(const Verdict& verdict);

// Whether the verdict rests on running ranks rather than on a model.
bool IsSeen(const Verdict& verdict);

}  // namespace allranks::verify
