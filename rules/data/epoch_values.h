// What is another value in each round of a loop, such as the one over the epochs: by the names that its rounds bind, through the calls that hand
// a value over.
//
// Not sound where a value changes with the rounds in a way that no name of the loop goes into: a field of an object that counts by itself.
#pragma once

#include "rules/finding_parts.h"

namespace allranks::rules {

// What a `for` goes over and a `while` asks.
ir::ExprId HeadOfLoop(const Context& context, FuncId function, ir::StmtId loop);

class EpochValues {
 public:
  explicit EpochValues(const Context& context) : context_(context) {}

  // Whether an expression reads what a loop around it, or around a call that hands it over, binds in each round.
  bool ChangesByRound(const objects::Site& site, int depth = 0) const;
  // Whether what counts the rounds of the loop with the head `epochs` goes into an expression.
  bool AreMadeOfRound(const objects::Site& site, const objects::Site& epochs, int depth = 0) const;

 private:
  bool GoesInto(const objects::Site& site, base::NameId variable) const;
  bool FlowsIntoFromHead(const objects::Site& site, const objects::Site& epochs) const;

  const Context& context_;
};

}  // namespace allranks::rules
