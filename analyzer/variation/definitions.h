// What the program defines, as values: functions, classes, parameters, variables of modules.
//
// The idea: a definition stands for itself wherever its name is read. A function that stands in another one carries what the
// parameters of those around it are, so that a call of it puts them in (value.h, Function). What the knowledge base describes stands for
// its entry or class there, whoever defines it.
//
// Invariant: the same definition gives the same value from wherever it is asked, but for what others recorded of it (Tables).
//
// Unsound: a definition that is replaced at run time stands for what it was.
#pragma once

#include "analyzer/variation/tables.h"

namespace allranks::variation {

class Definitions {
 public:
  explicit Definitions(Tables& tables) : tables_(tables), store_(tables.store) {}

  // None of nothing.
  ValueId Of(const binding::Target& target) const;
  ValueId Function(FuncId function, ValueId receiver) const;
  ValueId Class(binding::ClassId class_id) const;
  // Some object of a class.
  ValueId Instance(binding::ClassId class_id) const { return store_.Make(Value::Instance(class_id), {}); }
  // `self` is an object of the class; any other parameter stands for what callers pass.
  ValueId Param(FuncId function, uint32_t index) const;
  ValueId External(NameId qualified) const { return store_.Make(Value::External(qualified), {}); }
  // A method looked up on an object or class: decorated ones stand for what the decorator made of them.
  ValueId Method(FuncId method, ValueId receiver, bool on_class) const;
  // The object that a module's or a function's variables are attributes of.
  ValueId VariablesOf(ir::ModuleId module) const { return store_.Make(Value::Module(module), {}); }
  ValueId VariablesOf(FuncId function) const { return store_.Make(Value::Function(function), {}); }

 private:
  Tables& tables_;
  ValueStore& store_;
};

}  // namespace allranks::variation
