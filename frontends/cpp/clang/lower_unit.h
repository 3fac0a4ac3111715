#pragma once

#include "frontends/cpp/clang/unit.h"

namespace allranks::cpp {

// Lowers every function that the project defines: as written, and, of templates, as instantiated.
void LowerUnit(Unit& unit);

}  // namespace allranks::cpp
