// What a class says of the members of its objects: fields that are assigned anywhere, methods, what the knowledge base has for the
// libraries' classes that it derives from.
//
// The idea: an object of unknown make is any object of its class. What one assignment or another may have left in a field is joined (tables.h),
// and of a method that classes below replace it is one of those, the same on all ranks.
//
// Invariant: a constant in a class above is a default that a class below replaces, and says nothing where there are others.
//
// Unsound: ranks are taken to hold objects of one class where a program makes objects of several by configuration; fields and
// methods that are added by name at run time are not seen.
#pragma once

#include <functional>

#include "analyzer/variation/tables.h"

namespace allranks::variation {

// Of a method, by subclasses: more are not followed.
constexpr size_t kMostOverrides = 6;

// Whether an object at hand may be of a class below.
using MayBeOf = std::function<bool(binding::ClassId subclass)>;

class ClassMembers {
 public:
  explicit ClassMembers(Tables& tables) : tables_(tables), store_(tables.store) {}

  // Values assigned to an attribute anywhere in the classes of the mro, or, failing these, in subclasses. `skip_first`: not in
  // the class itself (`super()`).
  ValueId Field(binding::ClassId class_id, NameId attr, bool skip_first) const;
  // `distributed = True` of a class, where one below says `distributed = False`: the one of whatever class the object is.
  ValueId ConstantOfSome(binding::ClassId class_id, NameId attr, ValueId own, const MayBeOf& may_be_of) const;
  // What a field is by its name, unless somebody stores a number there that says otherwise, or its class declares it with one.
  ValueId ByName(ValueId object, NameId attr, ValueId assigned) const;

  // The method that is called on an object; none if its class has none of that name.
  FuncId Method(ValueId object, NameId attr) const;
  // What a method may be replaced by, as the value of a call on `object`: `Net.forward = fast_forward`; `method` itself where nothing is
  // stored in its place.
  ValueId OrReplaced(ValueId object, NameId attr, ValueId method) const;
  bool IsProperty(FuncId method) const;
  // A method that only subclasses have: code elsewhere makes them, or there are too many to follow each.
  bool IsOverriddenUnseen(binding::ClassId class_id, FuncId method, NameId name) const;
  // Those that stand in for a method in classes below.
  std::vector<Override> Overrides(binding::ClassId class_id, NameId name, const MayBeOf& may_be_of) const;

  // The entry of the knowledge base for a member of an object, through its class or its known bases.
  knowledge::EntryId Known(ValueId object, NameId attr) const;
  // The object of a mixin is one of its subclasses, which have bases that it lacks.
  knowledge::EntryId Inferred(binding::ClassId class_id, NameId attr) const;

  // An enumeration whose members are equal to themselves alone, and not to the number or text that they were given.
  bool IsPlainEnum(binding::ClassId class_id) const;
  // A constant like no other: it stands as its qualified name.
  ValueId EnumMember(binding::ClassId class_id, NameId attr) const;
  // One of the texts that the members were given, the same on all ranks; none if there are too many or others among them.
  ValueId TextOfEnum(binding::ClassId class_id) const;

 private:
  knowledge::EntryId KnownOfBases(binding::ClassId class_id, NameId attr) const;
  std::string_view Text(NameId name) const { return tables_.program.text(name); }

  Tables& tables_;
  ValueStore& store_;
};

}  // namespace allranks::variation
