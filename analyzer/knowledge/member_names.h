// The names of knowledge entries for methods.
#pragma once

#include <string>

#include "analyzer/knowledge/knowledge.h"

namespace allranks::knowledge {

// The name of an entry with `method` in the place of its own, where the entry describes that one as well: `torch.nn.Module.cuda` of one that
// describes `to`.
std::string NameWithMethod(const Knowledge& knowledge, const Entry& entry, NameId method);

}  // namespace allranks::knowledge
