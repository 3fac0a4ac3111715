// What a function does instead of coming to a place: the other arm of a test around it, and the arm of a test before it that returns.
//
//   if distributed:
//     all_reduce(total)              # the place
//     score = total / world_size
//   else:
//     score = total                  # instead of it
//
// Where results are put together on one way, another one is there for a job of one process, as a rule.
//
// Not sound where the test asks for something else: `if epoch % 5 == 0: all_reduce(total)`.
#pragma once

#include <vector>

#include "analyzer/ir/tree.h"

namespace allranks::objects {

// A part of the text of a module.
struct TextRange {
  uint32_t begin = 0, end = 0;
};

// Those of the function of the place; of tests before it only those that begin at `begin` or later.
std::vector<TextRange> WaysBeside(const ir::Module& module, const ir::Tree& tree, ir::StmtId place, uint32_t begin);

}  // namespace allranks::objects
