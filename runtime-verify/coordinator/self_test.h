#pragma once

#include "runtime-verify/coordinator/machine.h"
#include "runtime-verify/coordinator/verdict_text.h"

namespace allranks::verify {

// What a backend does with matched operations and with a known deadlock, for each of these numbers of ranks.
struct SelfTestLine {
  uint32_t world = 0;
  Verdict matched, deadlock;
};
std::vector<SelfTestLine> RunSelfTest(Verifier& verifier, const std::vector<uint32_t>& worlds);
bool IsGood(const SelfTestLine& line);
std::string SelfTestText(const SelfTestLine& line);

// Operations that do not match, each with what the model of NCCL's ring foretells.
struct Mismatch {
  std::string name;
  witness::Witness witness;
};
std::vector<Mismatch> Mismatches(const std::vector<uint32_t>& worlds);

}  // namespace allranks::verify
