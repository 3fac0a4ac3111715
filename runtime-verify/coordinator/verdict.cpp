#include "runtime-verify/coordinator/verdict.h"

namespace allranks::verify {

std::string_view NameOf(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::Confirmed:
      return "confirmed";
    case VerdictKind::NotReproduced:
      return "not_reproduced";
    case VerdictKind::Inconclusive:
      return "inconclusive";
    case VerdictKind::Unavailable:
      return "unavailable";
  }
  return "inconclusive";
}

bool IsSeen(const Verdict& verdict) { return !verdict.trials.empty() && verdict.trials[0].log.has_value(); }

}  // namespace allranks::verify
