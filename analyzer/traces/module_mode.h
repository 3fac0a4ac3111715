// Modules in training and in evaluation mode.
//
//   model.eval()                     puts the module and its parts into evaluation,
//   if self.training:                so that this runs nowhere
//       dist.all_reduce(statistics)  until somebody calls `train()`
//
// A walk in running order (history.h) carries a ModeMemory, and each condition on a mode gets what is known of it there.
// What is not known stays the question itself, which all ranks answer alike.
//
// A module is told by its class. Its parts are the classes of which its constructor makes objects, or is handed some.
// Unsound: of two objects of one class that are made outside of what is seen, one may train while the other is evaluated.
// Where the walk sees two made, their mode is not known.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "analyzer/variation/facts.h"

namespace allranks::traces {

using binding::ClassId;
using variation::ValueId;

// A module that is put into another mode.
struct ModeChange {
  ValueId module;
  ValueId trains;
};

class ModuleModes {
 public:
  ModuleModes(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts)
      : program_(&program), knowledge_(&knowledge), facts_(&facts) {}

  // Looks for modules whose mode is asked for in files with functions that are `relevant` (by FuncId).
  void Find(const std::vector<bool>& relevant);
  // The modules whose mode a call sets; several where it is not known which of them it is called on.
  std::vector<ModeChange> SetBy(const variation::CallFact& call) const;
  // Whether the call makes such a module.
  bool IsMadeBy(const variation::CallFact& call) const;

  // The classes that a module may be of: through choices, wrappers and lists.
  std::set<ClassId> ClassesOf(ValueId module) const;
  // Those of a module of this class and of all its parts.
  const std::set<ClassId>& PartsOf(ClassId class_id) const;
  bool IsBaseOf(ClassId base, ClassId derived) const;

  bool Same(const ModuleModes& other) const;

 private:
  bool IsAsked(ClassId class_id) const;
  void AddChanges(ValueId callee, std::span<const ValueId> args, std::vector<ModeChange>* changes) const;
  void AddChange(knowledge::EntryId entry, ValueId module, std::span<const ValueId> args,
                 std::vector<ModeChange>* changes) const;
  void AddClasses(ValueId value, int depth, std::set<ClassId>* classes) const;
  void AddParts(ClassId class_id, std::set<ClassId>* parts, std::set<variation::FuncId>* seen) const;
  void AddMade(variation::FuncId function, std::set<ClassId>* parts, std::set<variation::FuncId>* seen) const;

  const binding::Program* program_;
  const knowledge::Knowledge* knowledge_;
  const variation::Facts* facts_;
  std::set<ClassId> asked_;
  std::map<ClassId, std::set<ClassId>> made_with_;   // classes of modules that constructors are handed
  mutable std::map<ClassId, std::set<ClassId>> parts_;
};

// What is known of modes at one place. A class that is not in it: nothing.
struct ModeMemory {
  std::map<ClassId, ValueId> trains;
  std::map<ClassId, uint32_t> made;   // how many objects of a class were seen to be made
  friend bool operator==(const ModeMemory&, const ModeMemory&) = default;

  void Make(const ModuleModes& modes, ValueId module);
  void Set(const ModuleModes& modes, ValueId module, ValueId whether);
  // `module` may be put into the mode `whether` in another round of a loop.
  void Forget(const ModuleModes& modes, ValueId module, ValueId whether);
  // What a question for a mode is known to be; the question itself if it is not.
  ValueId Known(const ModuleModes& modes, const variation::ValueStore& values, ValueId mode) const;

 private:
  bool IsOneOfSeveral(const ModuleModes& modes, ClassId part, const std::set<ClassId>& of) const;
  std::vector<ClassId> Affected(const ModuleModes& modes, ValueId module) const;
};

}  // namespace allranks::traces
