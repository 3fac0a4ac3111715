// What a difference rests on that stands in a function no program here calls.
#pragma once

#include "analyzer/traces/check.h"

namespace allranks::traces {

// Whether a function is where a program begins: the statements of a script, or the `main` of C and C++.
bool IsProgram(const State& state, FuncId func);

// Adds to the differences of functions that no program here runs that somebody calls them on every rank; and, where another such
// method of the same class issues the same on just the other ranks, that it is not called for that: hooks of a framework, and
// `begin()` with `end()`, are made to be called in pairs.
void AssumeCallers(const State& state, CheckResult* result);

}  // namespace allranks::traces
