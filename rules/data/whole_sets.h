// Loaders that give every rank the whole data set.
//
// A data set knows the rank if something that it was made with differs between ranks, if a class of the project whose object it is gets
// such a value or asks for the rank, or if it is a stream, which may deal itself out by workers and ranks.
#pragma once

#include "rules/program_calls.h"

namespace allranks::rules {

class WholeSets {
 public:
  explicit WholeSets(const Context& context) : context_(context), calls_(context) {}

  // Whether a loader takes the samples in the order of the set or in one that it draws of all of them: it has no sampler, or one of torch that
  // does no more.
  bool IsOfPlainOrder(variation::ValueId loader) const;
  // Whether the data set of a loader does not know the rank; not so where it was made is not known.
  bool IsWhole(variation::ValueId loader) const;
  // The same, and each rank draws the samples in one order: the program of `user` seeds nothing by the rank.
  bool IsInOneOrder(variation::ValueId loader, binding::FuncId user);

 private:
  bool KnowsRank(variation::ValueId loader, std::string_view param) const;
  bool IsOfRank(variation::ValueId part) const;
  bool IsOwn(variation::ValueId value) const;
  bool ReadsRank(binding::ClassId class_id) const;
  bool IsSeededByRank(variation::ValueId loader, binding::FuncId user);

  const Context& context_;
  ProgramCalls calls_;
};

}  // namespace allranks::rules
