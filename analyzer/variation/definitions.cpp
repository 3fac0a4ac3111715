#include "analyzer/variation/definitions.h"

#include "analyzer/binding/receiver.h"

namespace allranks::variation {

ValueId Definitions::Of(const binding::Target& target) const {
  switch (target.kind) {
    case binding::TargetKind::Module:
      return store_.Make(Value::Module(target.module), {});
    case binding::TargetKind::Function: {
      const ValueId decorated = tables_.Decorated(target.function);
      if (decorated && !tables_.known_functions[target.function.index]) return decorated;
      return Function(target.function, {});
    }
    case binding::TargetKind::Class:
      return Class(target.class_id);
    case binding::TargetKind::External:
      return External(target.name);
    case binding::TargetKind::Variable: {
      if (const ValueId value = tables_.Read(TableId::Globals, target.module.index, target.name.index)) {
        if (!IsConstant(store_[value])) return value;
        return tables_.IsJoined(TableId::Globals, target.module.index, target.name.index) ? store_.Symbol(
            tables_.NameSymbol(target.name), {}) : value;
      }
      return store_.Symbol(tables_.NameSymbol(target.name), {});
    }
    case binding::TargetKind::None:
      break;
  }
  return ValueId::None();
}

ValueId Definitions::Function(FuncId function, ValueId receiver) const {
  if (const knowledge::EntryId entry = tables_.known_functions[function.index]) {
    if (!tables_.program.funcs[function].owner) return External(tables_.knowledge[entry].name);
    if (receiver) return store_.Make(Value::BoundExternal(entry), {&receiver, 1});
  }
  std::vector<ValueId> kids = {receiver};
  for (FuncId around = tables_.program.funcs[function].parent; around; around = tables_.program.funcs[around].parent) {
    for (uint32_t i = 0; i < tables_.program.function(around).params.size(); ++i) kids.push_back(Param(around, i));
  }
  return store_.Make(Value::Function(function), kids);
}

ValueId Definitions::Class(binding::ClassId class_id) const {
  if (const knowledge::ClassId known = tables_.known_classes[class_id.index]) return External(tables_.knowledge[known].name);
  return store_.Make(Value::Class(class_id), {});
}

ValueId Definitions::Param(FuncId function, uint32_t index) const {
  const binding::Func& func = tables_.program.funcs[function];
  if (index == 0 && func.owner) {
    using binding::ReceiverKind;
    const ReceiverKind kind = binding::ReceiverOf(tables_.program, function);
    if (kind == ReceiverKind::Instance && !tables_.HasOwnFields(func.owner)) return Instance(func.owner);
    if (kind == ReceiverKind::Instance) return store_.SameObject(Value::Instance(func.owner), store_.Param(function, index));
    if (kind == ReceiverKind::Class) return store_.Make(Value::Class(func.owner), {});
  }
  return store_.Param(function, index);
}

ValueId Definitions::Method(FuncId method, ValueId receiver, bool on_class) const {
  using binding::ReceiverKind;
  const ReceiverKind kind = binding::ReceiverOf(tables_.program, method);
  ValueId bound = receiver;
  if (kind == ReceiverKind::None || (on_class && kind == ReceiverKind::Instance)) bound = {};
  const ValueId decorated = tables_.Decorated(method);
  if (decorated && store_[decorated].kind == ValueKind::Function && store_[decorated].function() != method) {
    std::vector<ValueId> kids(store_.Kids(decorated).begin(), store_.Kids(decorated).end());
    kids[0] = bound;
    return store_.Make(Value::Function(store_[decorated].function()), kids);
  }
  return Function(method, bound);
}

}  // namespace allranks::variation
