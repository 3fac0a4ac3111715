// Methods that are told by their name: `manager.save_and_prune_all()` of an object of which nothing is known, where one class of the program
// has a method of that name and no library that the knowledge base describes does.
//
// Unsound, and so an assumption of whatever is found by it: the object may be of a class that nobody sees.
#pragma once

#include <unordered_map>

#include "analyzer/variation/facts.h"

namespace allranks::traces {

class OnlyMethods {
 public:
  OnlyMethods(const binding::Program& program, const knowledge::Knowledge& knowledge);

  // The method that a call of an unknown object may mean; none if there is none or several, or the call is another one.
  variation::FuncId MeantBy(const variation::ValueStore& values, const variation::CallFact& call) const;

 private:
  std::unordered_map<base::NameId, variation::FuncId> by_name_;  // none: several
};

// What calls of them are traced with.
class GuessedClasses {
 public:
  explicit GuessedClasses(variation::ValueStore& values) : values_(&values), symbol_(values.NewSymbol()) { values.SetUniform(symbol_); }

  // Whether `object` is of that class: the same on all ranks, and wherever it is asked of the object.
  variation::ValueId IsOf(variation::ValueId object, binding::ClassId class_id) const;
  bool IsGuess(variation::ValueId condition) const { return condition && (*values_)[condition].is_derived(symbol_); }

 private:
  variation::ValueStore* values_;
  uint32_t symbol_;
};

}  // namespace allranks::traces
