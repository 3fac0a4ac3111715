// Whether something is so on every way to a place: at the place itself, or else at every call of the function around it, and so on.
//
// A function that is handed over is run in ways that are not seen. Bounded: beyond eight calls, two thousand places, and where a function calls
// itself, it is not.
#pragma once

#include <algorithm>
#include <vector>

#include "analyzer/objects/program_index.h"

namespace allranks::objects {

// `on_way`: the functions that the search has come through; `asked`: at how many places it was.
template <class IsSo>
bool IsOnEveryWay(const ProgramIndex& index, FuncId function, ir::StmtId stmt, const IsSo& is_so, std::vector<FuncId>& on_way, size_t& asked) {
  constexpr size_t kLongestWay = 8;
  constexpr size_t kMostAsked = 2000;
  if (++asked > kMostAsked) return false;
  if (is_so(function, stmt)) return true;
  const std::span<const Site> callers = index.CallersOf(function);
  if (callers.empty() || !index.GivenTo(function).empty() || on_way.size() == kLongestWay || std::ranges::count(on_way, function) > 0) return false;
  on_way.push_back(function);
  const bool is_on_all = std::ranges::all_of(callers, [&](const Site& caller) {
    const ir::StmtId call = index.StatementOf(caller);
    return call && IsOnEveryWay(index, caller.function, call, is_so, on_way, asked);
  });
  on_way.pop_back();
  return is_on_all;
}

// `is_so`: of a function and a statement of it.
template <class IsSo>
bool IsOnEveryWay(const ProgramIndex& index, FuncId function, ir::StmtId stmt, const IsSo& is_so) {
  std::vector<FuncId> on_way;
  size_t asked = 0;
  return IsOnEveryWay(index, function, stmt, is_so, on_way, asked);
}

// Of the innermost statement that holds a position of a module.
template <class IsSo>
bool IsOnEveryWay(const ProgramIndex& index, ir::ModuleId module, uint32_t position, const IsSo& is_so) {
  const ir::StmtId stmt = index.StatementAt(module, position);
  const FuncId function = stmt ? index.FunctionOf(module, stmt) : FuncId::None();
  return function && IsOnEveryWay(index, function, stmt, is_so);
}

}  // namespace allranks::objects
