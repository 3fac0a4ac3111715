// What DDP is wrapped around, and where.
#pragma once

#include <vector>

#include "rules/rule.h"

namespace allranks::rules {

// Calls that wrap a model in DDP.
std::vector<objects::KnownCall> Wrappings(const Context& context);
// Whether those who come to a wrapping put the model into evaluation mode and compute no gradients anywhere.
bool IsEvaluatedOnly(const Context& context, const objects::Site& wrapping);
// Whether a value is a model in a DDP wrapper, whichever way it came about.
bool IsWrapped(const Context& context, variation::ValueId value);
// Whether it is on some way.
bool MayBeWrapped(const Context& context, variation::ValueId value);
// Whether a wrapper takes the graph of the first step for that of all others: `static_graph=True`, `model._set_static_graph()`.
bool HasStaticGraph(const Context& context, const objects::KnownCall& wrapping);
// Whether a value that a function has may be what a wrapping makes: programs beside one another have wrappers of their own.
bool MayBeMadeBy(const Context& context, const objects::KnownCall& wrapping, variation::FuncId function, variation::ValueId value);
// Whether a value is what Accelerate made of one object.
bool IsPrepared(const Context& context, variation::ValueId value);
// The model inside a wrapper.
variation::ValueId InnerOf(const Context& context, variation::ValueId wrapper);
// What the result of a call is assigned to, if that is one name or field: `model` of `model = DDP(net)`; else none.
ir::ExprId AssignedTo(const Context& context, const objects::Site& call);

}  // namespace allranks::rules
