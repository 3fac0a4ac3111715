// What the rules about differences between ranks share: a traces::Difference, told to a person.
#pragma once

#include <string>
#include <string_view>

#include "rules/rule.h"

namespace allranks::rules {

// "`torch.distributed.barrier`": the operation as it is called.
std::string OpNameOf(const Context& context, const traces::OpPlace& op);

// "`torch.distributed.barrier`", with its group unless that is the default one or the text too long for a headline, and its
// line unless the finding stands on that line.
std::string OpText(const Context& context, const traces::Difference& difference, const traces::OpPlace& op);

// " (line 41)", " (line 41 of `data.py`)"; empty where the finding stands on that line.
std::string PlaceText(const Context& context, const traces::Difference& difference, const traces::OpPlace& op);

// The condition as people know it, in backticks; "this condition" where the source gives no text.
std::string ConditionText(const Context& context, const traces::Difference& difference);

// "return", "goto", "os._exit": what skips the operation, as the source says it.
std::string ExitText(const Context& context, const traces::Difference& difference);

// The ranks that issue the culprit, and those that do not: "rank 0", "all other ranks", "some ranks".
std::string ReachingRanks(const traces::Difference& difference);
std::string MissingRanks(const traces::Difference& difference);

// "depends on each rank's own data".
std::string VariesText(knowledge::Axes axes);

// "is reached by rank 0 only".
std::string ReachText(const traces::Difference& difference);

// "rank 0 will wait there forever, while all other ranks will wait in `x` (line 41)".
std::string WaitText(const Context& context, const traces::Difference& difference);

// ", while all other ranks will wait in `x` (line 41)"; empty where nothing is known of the victim.
std::string VictimText(const Context& context, const traces::Difference& difference);

// What the knowledge base says of an operation.
const knowledge::Operation& OperationAt(const Context& context, const traces::OpPlace& op);

// True for calls that communicate without saying so: forward, save_state, init_process_group.
bool IsImplied(knowledge::OpClass op_class);

// The function whose finding a difference is: the decorated one, for what a decorator of the project does to it.
variation::FuncId FunctionOf(const Context& context, const traces::Difference& difference);

// Where an expression begins to differ; none: that is not known.
std::optional<source::Span> OriginOf(const Context& context, const objects::Site& tested);

// The finding of a difference: place, labels, witness, Flight Recorder category. `code` and the two texts are
// what the rule adds.
findings::Finding FindingOf(const Context& context, const traces::Difference& difference,
                            std::string_view code, findings::Text message, findings::Text help);

// Whether an uncertain finding in Python, of ranks that are kept away from an operation, is one for previews: where it takes more for granted
// than names, settings and callers, or the operation, one that the program issues itself, stands in another function, where what is taken for a
// setting may be a state of the program (of such findings 6 of 13 were right, of the others 23 of 25).
bool KeepsAwayInPreview(const Context& context, const traces::Difference& difference, const findings::Finding& finding);

}  // namespace allranks::rules
