// Methods and fields of a model that is inside a DDP wrapper, which hands none of them through: `model.freeze()` of `model = DDP(net)`.
#pragma once

#include <string_view>

#include "analyzer/objects/values.h"

namespace allranks::objects {

class WrappedMembers {
 public:
  WrappedMembers(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts)
      : program_(program), knowledge_(knowledge), values_(program, knowledge, facts) {}

  // Whether an object is a wrapper, whichever way it came about.
  bool IsWrapped(ValueId object) const;
  // Whether a wrapper lacks a name that the class of the model inside has, or one of its bases in the project.
  // `inner`: what the wrapper was made of; none: not known.
  bool AreLacking(ValueId wrapper, ValueId inner, base::NameId name) const;
  // The model inside a wrapper, where it is one.
  ValueId InnerOf(ValueId wrapper) const;
  // A model of a library whose members are described has the name.
  bool IsOfLibrary(ValueId inner, base::NameId name) const;
  // `self.name = ...` in a method of the class, or of a base.
  bool IsSetBy(binding::ClassId class_id, base::NameId name) const;
  // What every module has, beside what the knowledge base says of them.
  static bool IsOfEveryModule(std::string_view name);

 private:
  ValueId OnlyModel(ValueId inner) const;

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const Values values_;
};

// Whether an expression is `self`.
bool IsSelf(const binding::Program& program, const ir::Module& module, ir::ExprId expr);

}  // namespace allranks::objects
