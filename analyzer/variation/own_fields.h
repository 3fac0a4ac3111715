// What objects of one class have of their own.
//
// The idea: what a constructor leaves in the fields of an object, and nobody replaces later, stands in the value of the object where
// objects of the class differ in it: an Instance with kids (value.h). A method looks at its object as a parameter like any: its
// fields are told by the object that a call is made on, and are what all objects have together (TableId::Fields) where that is
// not known.
//
// Invariant: a field that is kept is one that no code that is seen stores in an object that is made already.
//
// Unsound where a field is replaced by code that is not seen, or by a name that is not.
#pragma once

#include <utility>
#include <vector>

#include "analyzer/variation/tables.h"

namespace allranks::variation {

using Fields = std::vector<std::pair<NameId, ValueId>>;

// Those that are there already stay what they are.
void AddField(Fields& fields, NameId name, ValueId value);

class OwnFields {
 public:
  explicit OwnFields(Tables& tables) : tables_(tables), store_(tables.store) {}

  // Whether something stores there in objects that are made already.
  bool IsReplaced(binding::ClassId class_id, NameId attr) const;
  // What the constructor leaves in a field that nobody replaces, where that differs between ranks and is one thing for all objects; else none.
  ValueId LeftByConstructor(binding::ClassId class_id, NameId attr) const;
  // Whether objects of the class differ in a field, and each keeps what it was made with.
  bool IsOwnToObjects(binding::ClassId class_id, NameId attr) const;
  // `known`: what `object` is seen to be. A parameter, or a field, is the one that callers hand in.
  ValueId ObjectMeant(ValueId object, ValueId known) const;
  // A method, or one of several, called on this object.
  ValueId OnObject(ValueId method, ValueId object) const;
  // `usual`: what objects of the class have there. None: nothing is known that this one has of its own.
  ValueId Field(ValueId object, NameId attr, ValueId usual) const;
  // Whether an object of unknown class may be of one of the project; what a library yields (`parser.parse_args()`) is not.
  bool MayBeOfProject(ValueId object) const;

  // What fields of a record are that nothing is passed for.
  void AddDefaults(binding::ClassId class_id, Fields& fields) const;
  // `distributed = False` in the body of a class.
  void AddConstants(binding::ClassId class_id, Fields& fields) const;
  // An object that `by` makes; of what it is made with that is kept in which objects of the class differ.
  ValueId MadeObject(binding::ClassId class_id, const Fields& fields, bool is_record, FuncId by);

 private:
  void NoteMade(binding::ClassId class_id, NameId name, ValueId value, FuncId by);
  std::string_view Text(NameId name) const { return tables_.program.text(name); }
  NameId AnyField() const { return tables_.program.names->Intern(kFieldTable); }

  Tables& tables_;
  ValueStore& store_;
};

}  // namespace allranks::variation
