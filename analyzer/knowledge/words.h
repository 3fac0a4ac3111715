// How messages name a call. The names of the knowledge base are meant for its files: no reader knows
// `@gradient_synced.backward`.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analyzer/knowledge/knowledge.h"

namespace allranks::knowledge {

// Whether a program says this name itself: no operator, and no method of whatever carries a mark or of any object.
bool IsOwnName(std::string_view name);
// "barrier"; of what a framework does in passing: "gradient reduction".
std::string WordsOfKind(std::string_view kind, OpClass op_class);
// "torch.distributed.barrier", "backward of a wrapped model"; `kind` and `op_class` of the operation that it issues.
std::string WordsOfCall(std::string_view name, std::string_view kind, OpClass op_class);
// "FSDP, DeepSpeed ZeRO-3 or DDP with buffers"
std::string WordsOfAlternatives(std::span<const NameId> names, const base::Interner& interner);
// A name in backticks; words, as they are.
std::string AsCode(std::string_view words);

}  // namespace allranks::knowledge
