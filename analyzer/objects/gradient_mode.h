// Where gradients are switched off: in `with torch.no_grad():` or `torch.inference_mode()`, and in functions that one of them decorates.
//
// Not sound: a mode that a caller sets is its own; ask for its call.
#pragma once

#include "analyzer/objects/program_index.h"
#include "analyzer/objects/values.h"

namespace allranks::objects {

// Whether a call of it makes a context, or a decorator, that switches gradients off.
bool SwitchesGradientsOff(const Values& values, const variation::Facts& facts, ir::ModuleId module, ir::ExprId callee);

bool AreGradientsOff(const binding::Program& program, const Values& values, const variation::Facts& facts, const ProgramIndex& index,
                     const Site& site);

}  // namespace allranks::objects
