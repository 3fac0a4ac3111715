// Fields and methods of an object that nothing gives it: `self.width` of a class that sets `self.size` alone.
//
// The class of the object is one of the project, with all of its bases, and neither it, nor one that derives from it, has the name as a method,
// a name of its body or a field that is set anywhere.
//
// Nothing is said where fields may come in another way: where a class has a decorator, a metaclass, `__getattr__` or `__slots__`; where a file of these
// classes sets fields by names that are made while the program runs (`setattr`, `__dict__`); where any file sets such a field of an object of unknown class,
// or has the name as a text (`hasattr(self, "width")`).
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "analyzer/objects/program_index.h"

namespace allranks::objects {

class MissingFields {
 public:
  MissingFields(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index) : program_(program), facts_(facts), index_(index) {}

  // Whether an expression reads one.
  bool IsReadBy(ir::ModuleId module, ir::ExprId expr) const;
  // `setattr(self, name, value)`, `self.__dict__.update(options)` in a file.
  bool SetsFieldsByName(ir::ModuleId module) const;
  // Whether some file sets a field of this name of an object of the class, or of one of unknown class: `trainer.step = patched`.
  bool MayBeSet(binding::ClassId class_id, base::NameId name) const;
  // Whether some file sets such a field of an object of unknown class, or has the name as a text.
  bool IsSpokenOf(base::NameId name) const { return stored().of_any.contains(name) || stored().texts.contains(name); }

 private:
  bool IsClosed(binding::ClassId class_id) const;
  bool IsClosedByItself(binding::ClassId class_id) const;
  bool AreBasesKnown(binding::ClassId class_id) const;
  bool Has(binding::ClassId class_id, base::NameId name) const;
  bool BindsInBody(binding::ClassId class_id, base::NameId name) const;
  // What all files together set: `config.width = 1`.
  struct Stored {
    std::unordered_set<uint64_t> of_class;   // by class and name
    std::unordered_set<base::NameId> of_any;  // of objects of unknown class
    std::unordered_set<base::NameId> texts;
  };
  const Stored& stored() const;
  void AddStores(ir::ModuleId module, Stored& stored) const;
  void AddTarget(ir::ModuleId module, ir::ExprId target, Stored& stored) const;

  const binding::Program& program_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  mutable std::optional<Stored> stored_;
  mutable std::unordered_map<uint32_t, bool> sets_by_name_;  // by ModuleId
  mutable std::unordered_map<uint32_t, bool> closed_;        // by ClassId
  mutable std::unordered_map<uint32_t, bool> closed_by_itself_;
};

}  // namespace allranks::objects
