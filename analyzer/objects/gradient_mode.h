// Where gradients are switched off: in `with torch.no_grad():` or `torch.inference_mode()`, and in functions that one of them decorates.
//
// Not sound: a mode that a caller sets is its own; ask for its call.
#pragma once

#include "analyzer/objects/program_index.h"
#include "analyzer/objects/values.h"

namespace allranks::objects {

// Whether it is `no_grad`, or a call of it: a context, or a decorator, that switches gradients off.
bool SwitchesGradientsOff(const binding::Program& program, const Values& values, const variation::Facts& facts, ir::ModuleId module_id, ir::ExprId expr);

// Whether a function is called as it is written: its decorators, if it has any, only switch gradients off.
bool IsCalledAsWritten(const binding::Program& program, const Values& values, const variation::Facts& facts, FuncId function);

bool AreGradientsOff(const binding::Program& program, const Values& values, const variation::Facts& facts, const ProgramIndex& index,
                     const Site& site);

}  // namespace allranks::objects
