// Whether a model has buffers: the running means of batch norm, or what it registered itself. DDP broadcasts them in each
// forward, and a model without any communicates nothing there
// (https://docs.pytorch.org/docs/stable/notes/ddp.html, `broadcast_buffers`).
//
// A model of the project is told by its class: by what its constructors make and call, over all of its parts. A module of a
// library is what the knowledge base says of its class (`buffers = true`), and what the layers are that it was handed. Where a
// constructor makes something that nobody knows, and nothing else has buffers, the answer is Unknown.
//
// Unsound: a buffer that is registered after the model was made, from outside, is not seen.
#pragma once

#include <unordered_set>

#include "analyzer/objects/program_index.h"
#include "analyzer/objects/values.h"

namespace allranks::objects {

enum class HasBuffers : uint8_t { No, Unknown, Yes };  // in order: what one part has, the whole has

class ModuleBuffers {
 public:
  ModuleBuffers(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts)
      : program_(program), knowledge_(knowledge), facts_(facts), values_(program, knowledge, facts) {}

  // Of a model, whichever of several it may be.
  HasBuffers Of(ValueId model) const;

 private:
  struct Visit;   // what was read before on the way
  HasBuffers OfOne(ValueId model, Visit& visit) const;
  HasBuffers OfPart(ValueId part, Visit& visit) const;
  HasBuffers OfClass(binding::ClassId class_id, Visit& visit) const;
  HasBuffers OfBases(binding::ClassId class_id) const;
  HasBuffers OfFunction(FuncId function, Visit& visit) const;
  bool IsHandedLayerWithBuffers(FuncId function) const;
  bool MakesLayerWithBuffers(FuncId function) const;
  HasBuffers OfCall(FuncId caller, ir::ExprId expr, const variation::CallFact& call, Visit& visit) const;
  bool IsConstructorOfBase(const variation::Value& callee) const;
  HasBuffers OfLibraryClass(knowledge::ClassId known) const;
  HasBuffers OfLibraryName(base::NameId name) const;

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const variation::Facts& facts_;
  Values values_;
};

}  // namespace allranks::objects
