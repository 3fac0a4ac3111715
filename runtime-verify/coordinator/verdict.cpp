#include "runtime-verify/coordinator/verdict.h"

namespace allranks::verify {

std::string_view NameOf(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::Reproduced:
      return "reproduced";
    case VerdictKind::NotReproduced:
      return "not_reproduced";
    case VerdictKind::Inconclusive:
      return "inconclusive";
    case VerdictKind::Unavailable:
      return "unavailable";
  }
  return "inconclusive";
}

namespace {

std::string WhereOf(const Verdict& verdict) {
  if (verdict.backend == "gloo") return " on Gloo";
  if (verdict.backend == "nccl") return " on NCCL";
  return verdict.version == kComputed ? ", as computed" : " in the simulator";
}

std::string_view WhatHappens(witness::Effect effect) {
  switch (effect) {
    case witness::Effect::Deadlock:
      return "hangs";
    case witness::Effect::Corruption:
      return "gets wrong data";
    case witness::Effect::Error:
      return "fails";
    case witness::Effect::Semantic:
      return "goes through and trains on something else";
    case witness::Effect::Clean:
      return "goes through";
  }
  return "goes through";
}

}  // namespace

std::string HeadlineOf(const Verdict& verdict) {
  if (verdict.kind == VerdictKind::Reproduced) return std::string(WhatHappens(verdict.effect)) + WhereOf(verdict);
  if (verdict.kind == VerdictKind::NotReproduced) return "not reproduced" + WhereOf(verdict);
  return std::string(NameOf(verdict.kind));
}

bool IsSeen(const Verdict& verdict) { return !verdict.trials.empty() && verdict.trials[0].log.has_value(); }

}  // namespace allranks::verify
