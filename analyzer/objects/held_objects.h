// Objects under another name: in a container that was made of them before.
//
//   meters = [hits, losses]
//   by_name = {each.name: each for each in meters}
//   hits.update(found)                # `by_name` holds it
//
// Not sound: what stands in a container under conditions, or was added to it later, is not followed.
#pragma once

#include <set>

#include "analyzer/objects/flow_from.h"

namespace allranks::objects {

// The variables of a container's objects to which something of a flow is given. What is bound again is no longer what stands in there.
std::set<base::NameId> ObjectsHeld(const binding::Program& program, const ProgramIndex& index, FuncId function, ir::ExprId container,
                                   const FlowFrom& flow);

}  // namespace allranks::objects
