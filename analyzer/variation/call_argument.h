// An argument of a call, as it is written and as it is evaluated.
#pragma once

#include "analyzer/ir/program.h"
#include "analyzer/variation/value.h"

namespace allranks::variation {

struct CallArgument {
  ir::ArgKind kind = ir::ArgKind::Positional;
  NameId keyword;
  ir::ExprId expr;  // none: it is not written at this call (`functools.partial`)
  ValueId value;
};

}  // namespace allranks::variation
