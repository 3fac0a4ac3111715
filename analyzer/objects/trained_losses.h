// Whether what an evaluation computes is nothing but the loss that training lowers, and no metric beside it.
//
// A loss is what the program differentiates: the call that made it (`criterion(output, y)`, the first of what `model(x, y)`
// yields, the field `loss` of its output) is looked for behind each `backward`. An evaluation that keeps results of the same
// calls only, and numbers that do not differ with the data, keeps losses. Sums, means, lists and calls of a library that are
// handed nothing else change nothing about that.
//
// Not sound: names are followed within a function, in no order, and calls are told apart by what they call and how many arguments
// they have.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "analyzer/binding/neighbourhood.h"
#include "analyzer/objects/program_index.h"
#include "analyzer/objects/training.h"
#include "analyzer/objects/values.h"

namespace allranks::objects {

class TrainedLosses {
 public:
  TrainedLosses(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                const ProgramIndex& index, const Training& training);

  // Whether a call is handed losses, and nothing else that differs between ranks.
  bool AreHandedTo(const Site& call) const;

 private:
  // Where values come from: the calls, by what they call; whether there is anything else.
  using Names = std::vector<std::string>;  // of one call: what it may call
  struct Origins {
    std::set<Names> calls;
    bool has_other = false;
  };
  class Reader;

  std::vector<ir::ExprId> PayloadsOf(const Site& call) const;

  const binding::Program& program_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  Values values_;
  binding::Neighbourhood neighbourhood_;
  std::map<ir::ModuleId, std::set<std::string>> lowered_;  // by file: the calls behind each `backward`, by all their names
};

}  // namespace allranks::objects
