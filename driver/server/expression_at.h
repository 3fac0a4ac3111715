#pragma once

#include "driver/server/target.h"

namespace allranks::server {

// The smallest expression around a byte of which the analysis knows a value; of a callee its call.
ir::ExprId ExpressionAt(const Target& target, uint32_t offset);

}  // namespace allranks::server
