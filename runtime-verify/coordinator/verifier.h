#pragma once

#include <functional>
#include <map>

#include "runtime-verify/coordinator/verdict.h"

namespace allranks::verify {

// A backend with real ranks: one launcher for each way to run, "LL" and "Simple" for NCCL.
struct RankBackend {
  struct Variant {
    std::string name;
    std::optional<Protocol> protocol;
    std::unique_ptr<Launcher> launcher;
  };
  std::string name;
  std::vector<Variant> variants;
  uint32_t most_ranks = 16;
  bool is_on_streams = false;  // a rank's operations on one communicator run in the order in which they were issued
  bool is_launched = false;  // ranks are processes of a job, which do not start anew
  // Asked after ranks were killed: whether the machine still works. Empty: nothing to ask.
  std::function<std::string()> probe;
};

struct VerifierOptions {
  RunLimits limits;
  milliseconds budget{600000};
  uint32_t ranks = 0;  // 0: as many as the witness has
  bool model_instead = false;  // where no ranks can be run, the simulator answers, with the reason
};

class Verifier {
 public:
  // Without a backend: the simulator alone.
  Verifier(const VerifierOptions& options, RankBackend* backend, InterruptGuard& interrupt)
      : options_(options), backend_(backend), interrupt_(interrupt), start_(Clock::now()) {}

  Verdict Verify(const witness::Witness& witness);
  bool WasInterrupted() { return interrupt_.HasCome(); }

 private:
  Verdict Foretell(const witness::Witness& witness) const;
  Verdict Answer(const witness::Witness& witness);
  Verdict Run(const witness::Witness& witness);
  bool RunVariant(const RankBackend::Variant& variant, const witness::Schedule& schedule, const witness::Witness& witness,
                  bool at_first_use, Verdict* verdict);
  std::string Control(const RankBackend::Variant& variant, const witness::Schedule& schedule, milliseconds least,
                      bool at_first_use, milliseconds* slowest);
  milliseconds Left() const;

  VerifierOptions options_;
  RankBackend* backend_;
  InterruptGuard& interrupt_;
  Clock::time_point start_;
  // By variant and kinds of operations: the slowest operation of a good control run.
  std::map<std::string, milliseconds> controls_;
  // Schedules that were run before, as text.
  std::map<std::string, Verdict> known_;
  std::string wedged_;
};

// Matched operations of every kind that the schedule has, on its communicators.
witness::Schedule ControlOf(const witness::Schedule& schedule);

}  // namespace allranks::verify
