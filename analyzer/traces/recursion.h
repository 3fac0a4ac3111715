// A function that calls itself, followed as far as its arguments say how it goes on: `walk(n - 1)` of `walk(3)` is `walk(2)`.
//
// A recursive call keeps the arguments that decide something in the function and do not stay what they are. Where a caller passes
// constants or formulas over coordinates for these, the calls within stand in the caller's trace as any other call does, one within the
// other. A call that decides as one around it does is left as it is: equal to itself, as what it comes to was compared further out
// (coinduction). So is what a bound leaves, of which a projection notes that a rank got there.
#pragma once

#include "analyzer/traces/build.h"

namespace allranks::traces {

// `trace`, that of `func`, whose calls of `func` keep those arguments alone that decide something there, and none if all of
// these are handed on as they are.
TraceId WithDecidingArguments(State& state, FuncId func, TraceId trace);

// What a call with such arguments runs, `body`, in which recursive calls are followed.
TraceId WithRecursion(State& state, TraceId body, const Binding& binding);

// Whether each rank gets to a recursive call that a bound kept from being followed, whatever is asked on the way.
bool SurelyMeetsBound(const State& state, TraceId trace);

// Said of a function then.
constexpr const char* kRecursionBound = "recursion of more than 32 calls in one another";

}  // namespace allranks::traces
