// What values the arguments of a script take: by the `type` and `choices` of `add_argument`, and by the fields of the dataclasses that
// `HfArgumentParser` of transformers makes arguments of.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "analyzer/base/interner.h"
#include "analyzer/ir/program.h"

namespace allranks::objects {

enum class ArgumentType : uint8_t { Any, Whole, Number };

struct ArgumentForm {
  ArgumentType type = ArgumentType::Any;
  std::set<std::string> choices;  // empty: any value
  bool may_repeat = false;        // each time it is given counts
  bool needs_value = false;       // and is refused without one

  // Whether its parser takes a value.
  bool Takes(std::string_view value) const;
  bool operator==(const ArgumentForm&) const = default;
};

// By name, "--lr". Of two parsers that have the same name with different forms, nothing is known.
using ArgumentForms = std::map<std::string, ArgumentForm, std::less<>>;
void AddForm(const std::string& name, const ArgumentForm& form, ArgumentForms& forms);

// Of the `add_argument` calls of a module.
ArgumentForms FormsOfParsers(const ir::Module& module, const base::Interner& names);
// Of the fields of each class of a module.
std::map<std::string, ArgumentForms> FormsOfFields(const ir::Module& module, const base::Interner& names);
// The classes that a module hands to `HfArgumentParser`.
std::set<std::string> ClassesOfParsers(const ir::Module& module, const base::Interner& names);

}  // namespace allranks::objects
