// What a call of a library yields, as its entry of the knowledge base says.
//
// The idea: an entry says what kind of thing comes out (a formula over coordinates, an object, a group, one of the arguments, a new
// tensor, something that varies) and here it becomes a value of this call. Where an entry says nothing, the result is something
// deterministic of what goes in.
//
// Invariant: what comes out varies along all axes that what goes in varies along, unless the entry says otherwise.
//
// Unsound: an entry describes a version of its library; another one may do something else.
#pragma once

#include "analyzer/variation/containers.h"
#include "analyzer/variation/library_call.h"

namespace allranks::variation {

class LibraryResults {
 public:
  LibraryResults(Tables& tables, const Containers& containers) : tables_(tables), store_(tables.store), containers_(containers) {}

  // `yield`: of the call's entry, for its result, an item of that or what it stores.
  ValueId Of(const LibraryCall& call, const knowledge::Yield& yield) const;
  // An object of a class of the knowledge base that is made with such arguments.
  ValueId Object(NameId type, std::span<const ValueId> by_param, std::span<const CallArgument> args) const;
  // The same object of a library, told from others that are made alike elsewhere.
  ValueId MadeHere(ValueId object, uint32_t site) const;

 private:
  ValueId Known(const LibraryCall& call, const knowledge::Yield& yield) const;
  ValueId OfFormula(const LibraryCall& call, const knowledge::Yield& yield) const;
  ValueId Prepared(const LibraryCall& call, const knowledge::Yield& yield) const;
  ValueId Varying(const LibraryCall& call, const knowledge::Yield& yield) const;
  ValueId NewTensor(const LibraryCall& call, const knowledge::Yield& yield) const;
  bool IsShared(ValueId value, int depth) const;
  bool HasOneElement(std::span<const CallArgument> args) const;

  Tables& tables_;
  ValueStore& store_;
  const Containers& containers_;
};

}  // namespace allranks::variation
