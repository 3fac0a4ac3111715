// Which argument of a call a parameter gets.
//
// The idea: as Python binds them, by place, by keyword and by default; `*args` and `**options` are taken apart where it is known what
// they hold. Options that the calling function itself got as `**options` are handed on under their names.
//
// Invariant: what nobody can bind, as after `*args` of unknown length, stays unbound (none): the parameter may be anything.
//
// Unsound: where a call passes two values for one parameter, which Python refuses, the last one is taken.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analyzer/variation/call_argument.h"
#include "analyzer/variation/containers.h"
#include "analyzer/variation/definitions.h"

namespace allranks::variation {

// The argument of a call as it is written that a parameter gets; none if it is not written there.
ir::ExprId ArgumentExpr(const ir::Function& definition, uint32_t index, bool has_receiver, std::span<const CallArgument> args);

class ArgumentBinding {
 public:
  // `caller`: the function in which the calls stand.
  ArgumentBinding(Tables& tables, const Containers& containers, const Definitions& definitions, FuncId caller)
      : tables_(tables), store_(tables.store), containers_(containers), definitions_(definitions), caller_(caller) {}

  struct Bound {
    std::vector<ValueId> values;           // by parameter; none: it may be anything
    const CallArgument* fields = nullptr;  // `**vars(options)`: a parameter without a value gets the field of its name
  };
  Bound ToFunction(FuncId function, ValueId receiver, std::span<const CallArgument> args) const;
  std::vector<ValueId> ToEntry(const knowledge::Entry& entry, std::span<const CallArgument> args) const;

  // Whether a parameter is one that takes a single value.
  static bool IsPlain(ir::ParamKind kind) { return kind != ir::ParamKind::Star && kind != ir::ParamKind::DoubleStar; }
  // Of several functions those that a call with these arguments can mean; none if it can mean none of them.
  ValueId ThoseThatTake(ValueId callee, std::span<const CallArgument> args) const;
  // `options["lr"]` in `def train(**options)`, where there is but one call of this function; none if it does not pass that.
  ValueId KeywordPassed(const CallArgument& options, ValueId key) const;
  // `vars(options)`, `options.__dict__`: the object whose fields are meant; none of anything else.
  ValueId OwnerOfFields(ValueId mapping) const;

 private:
  class Filling;
  std::optional<std::vector<Item>> HandedOn(const CallArgument& arg) const;
  ValueId OwnKeywords() const;
  void FillHandedOn(FuncId function, ValueId keywords, bool by_name_only, std::vector<ValueId>& bound) const;
  void FillDefaults(FuncId function, std::vector<ValueId>& bound) const;
  void FillItems(const knowledge::Entry& entry, const CallArgument& options, std::vector<ValueId>& bound) const;
  bool Takes(FuncId function, bool has_receiver, std::span<const CallArgument> args) const;

  Tables& tables_;
  ValueStore& store_;
  const Containers& containers_;
  const Definitions& definitions_;
  FuncId caller_;
};

}  // namespace allranks::variation
