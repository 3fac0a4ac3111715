// The collectives of one communicator as the simulator's rings run them: what has come so far is simulated anew with each
// operation, so that the double and the model of NCCL are one.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "runtime-verify/simulator/ring.h"

namespace allranks::tests {

class Rings {
 public:
  void Add(uint32_t size, uint32_t rank, const witness::ScheduledOp& op) {
    if (schedule_.world == 0) {
      schedule_.world = size;
      schedule_.comms = {std::vector<uint32_t>(size)};
      std::iota(schedule_.comms[0].begin(), schedule_.comms[0].end(), 0u);
      schedule_.class_of = schedule_.comms[0];
      schedule_.ops.resize(size);
    }
    schedule_.ops[rank].push_back(op);
    outcome_ = verify::SimulateRing(schedule_, protocol_, false);
  }

  bool IsDone(uint32_t rank, uint32_t op) const {
    const auto stuck = std::ranges::find(outcome_.stuck, rank, &witness::StuckOp::rank);
    return stuck == outcome_.stuck.end() || op < stuck->op;
  }
  bool IsWrong(uint32_t rank, uint32_t op) const {
    return std::ranges::find(outcome_.wrong, witness::RankOp{rank, op}) != outcome_.wrong.end();
  }

 private:
  static verify::Protocol Told() {
    const char* name = std::getenv("NCCL_PROTO");
    return name != nullptr && std::strcmp(name, "LL") == 0 ? verify::Protocol::LowLatency : verify::Protocol::Simple;
  }

  verify::Protocol protocol_ = Told();
  witness::Schedule schedule_;
  witness::Outcome outcome_;
};

}  // namespace allranks::tests
