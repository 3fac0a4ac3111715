// What functions and methods of the language make of values that are known: `any([a, b])` is `a or b`, `url.startswith("env://")` is
// true of a text that begins so, `Point(x, y)` of a named tuple is an object with these two attributes.
//
// The idea: where all items or the beginning of a text are seen, the result is a formula over them, which is evaluated on
// each rank later. Each function gives none where it cannot say more than that something is computed.
//
// Invariant: a result is what Python computes on each rank, but for what is said below.
//
// Unsound: ranks hold objects of the same classes, so that a test for a type has one answer; a display stands for the builtin's
// argument even if a class has a protocol of its own for it (`__len__`, `__iter__`).
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "analyzer/variation/call_argument.h"
#include "analyzer/variation/tables.h"

namespace allranks::variation {

class BuiltInResults {
 public:
  BuiltInResults(Tables& tables, ir::Language language)
      : tables_(tables), store_(tables.store), is_python_(language == ir::Language::Python) {}

  // What a function makes of a display all of whose items are seen, or of one number.
  std::optional<ValueId> OfDisplay(std::string_view builtin, ValueId items) const;
  // `all(batch.get(k) is not None for k in keys)` asks each rank's data what it asks of one of the items, or says what holds
  // of none. Of the ranks themselves it is another question for each item. `site`: symbol of the place.
  std::optional<ValueId> Quantified(uint32_t site, ValueId items, bool of_all) const;
  // `namedtuple("Point", ["x", "y"])`, `namedtuple("Point", "x y")`: the class, by the names of its fields.
  std::optional<ValueId> NamedTupleClass(ValueId fields) const;
  // `Point(x, y)`, `Point(x=x, y=y)` of such a class; none if not all fields are given.
  ValueId NamedTuple(uint32_t site, ValueId of_class, std::span<const CallArgument> args) const;
  // `url.startswith("env://")`: of a text whose beginning is known, whatever follows (`f"file:///tmp/{time()}"`).
  ValueId StartsWith(ValueId text, ValueId prefix) const;
  // `f"on_{event}"`, where each part is a text, or a parameter for which one text is passed.
  ValueId SpelledOut(ValueId text) const;
  // `isinstance(object, type)`: yes for a wrapper that is known.
  ValueId TypeTest(ValueId object, ValueId type) const;
  // `x.shape`, `x.size()`: how long it is, the number of dimensions, is decided by code.
  bool IsShape(ValueId value) const;

 private:
  std::string_view Text(ValueId text) const { return tables_.program.text(store_[text].name()); }

  Tables& tables_;
  ValueStore& store_;
  bool is_python_;
};

}  // namespace allranks::variation
