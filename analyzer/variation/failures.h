// Which errors strike one rank and not the others.
//
// The idea: what fails for a reason in the program fails on every rank; what a rank does with its own data, memory or files may
// fail on it alone. Which types of errors are of which sort is knowledge (exceptions of the TOML files), and so is what reads a file.
//
// Invariant: a type that nobody knows is neither: it is not said that it strikes all, nor one.
//
// Unsound: helpers are followed two calls deep; a file that is read further down is not seen.
#pragma once

#include <span>
#include <utility>

#include "analyzer/variation/tables.h"

namespace allranks::variation {

// Calls of a function, by the expression.
using Calls = std::span<const std::pair<ir::ExprId, CallFact>>;

// Whether errors of the type that a handler names strike all ranks. A tuple of types is as wide as any in it.
bool StrikesAll(const knowledge::Knowledge& knowledge, const ir::Module& module, ir::ExprId type);

// An error of a rank's own memory, files or data; without a type it may be any.
bool StrikesOne(const knowledge::Knowledge& knowledge, const ir::Module& module, ir::ExprId type);

// Whether something in a block of a function reads a file or the like, itself or in a helper. `calls`: those of the block, and maybe others.
bool MayFailAlone(const Tables& tables, FuncId function, ir::BlockId block, Calls calls);

// Tables::calls_to_file of a function of these calls: those on the shortest way, kNoFile if there is none of so few that it is followed.
uint8_t CallsToFile(const Tables& tables, FuncId function, Calls calls);

}  // namespace allranks::variation
