// What a program does with the error of a rank that fails in training, where it keeps the launcher from learning of it.
//
//   try:                              try:
//       train(model, loader)              train(model, loader)
//   except Exception as error:        finally:
//       print(error)                      dist.barrier()
//
// On the left the process ends with status 0, and the launcher takes that for a success; on the right it does not end, and waits for the
// others in another operation than they do for it. Either way they stay where they are until their timeout.
//
// A handler counts if it catches any error, around training that is run once: not in a loop of a function on the way, where the next round
// may be another run. It is left alone if what it does, or what stands behind it, may end the process or tell the caller.
#pragma once

#include "rules/rule.h"

namespace allranks::rules {

// Findings of AR107. Returns the handlers that it reports.
std::vector<source::Span> ReportFailedRanks(const Context& context, std::string_view code, FindingSink& sink);

}  // namespace allranks::rules
