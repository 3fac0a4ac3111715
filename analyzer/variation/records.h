// Records: classes whose constructor the language writes, `@dataclass` or `NamedTuple`. What it is called with are the
// fields of the object. As a value it is an Instance with kids: the name of a field (Str), what it holds, and so on.
//
// Not sound: a field that a library sets anew keeps what the constructor was given.
#pragma once

#include <vector>

#include "analyzer/binding/program.h"

namespace allranks::variation {

using base::NameId;

// The fields in the order in which the constructor takes them; none if the class is no record.
std::vector<NameId> RecordFields(const binding::Program& program, binding::ClassId class_id);

// The class, this one or one of its bases, that declares a field: `rank: int = 8`; none if none does.
binding::ClassId DeclaringClass(const binding::Program& program, binding::ClassId class_id, NameId field);

}  // namespace allranks::variation
