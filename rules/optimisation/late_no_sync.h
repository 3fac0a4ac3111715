// `with model.no_sync(): loss.backward()`: DDP has decided in the forward, outside of it.
#pragma once

#include "rules/rule.h"

namespace allranks::rules {

void VisitLateNoSync(const Context& context, std::string_view code, FindingSink& sink);

}  // namespace allranks::rules
