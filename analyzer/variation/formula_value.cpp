#include <algorithm>

#include "analyzer/variation/group_behind.h"
#include "analyzer/variation/tables.h"

namespace allranks::variation {
namespace {

class FormulaReader {
 public:
  FormulaReader(Tables& tables, const knowledge::Entry* entry, std::span<const ValueId> arguments, ValueId receiver)
      : tables_(tables), store_(tables.store), entry_(entry), arguments_(arguments), receiver_(receiver) {}

  ValueId Read(knowledge::FormulaId id) {
    const knowledge::Formula& formula = tables_.knowledge[id];
    switch (formula.kind) {
      case knowledge::FormulaKind::Int:
        return store_.Int(formula.number);
      case knowledge::FormulaKind::Bool:
        return store_.Bool(formula.number != 0);
      case knowledge::FormulaKind::Param: {
        const ValueId argument = Argument(formula.param);
        return argument ? argument : store_.NoneValue();
      }
      case knowledge::FormulaKind::Coordinate:
        return Coordinate(formula);
      case knowledge::FormulaKind::Not:
        return store_.Not(Read(formula.left));
      case knowledge::FormulaKind::Negate:
        return store_.Unary(ir::UnaryOp::Minus, Read(formula.left));
      case knowledge::FormulaKind::Binary: {
        const ValueId left = Read(formula.left);
        return store_.Binary(static_cast<ir::BinaryOp>(formula.op), left, Read(formula.right));
      }
      case knowledge::FormulaKind::Compare: {
        const ValueId left = Read(formula.left);
        return store_.Compare(static_cast<ir::CompareOp>(formula.op), left, Read(formula.right));
      }
      case knowledge::FormulaKind::And:
      case knowledge::FormulaKind::Or: {
        const ValueId kids[] = {Read(formula.left), Read(formula.right)};
        return formula.kind == knowledge::FormulaKind::And ? store_.And(kids) : store_.Or(kids);
      }
    }
    return ValueId::None();
  }

 private:
  ValueId Argument(NameId name) const {
    if (!name || entry_ == nullptr) return ValueId::None();
    if (tables_.program.text(name) == "self") return receiver_;
    const auto param = std::ranges::find(entry_->params, name);
    const auto index = static_cast<size_t>(param - entry_->params.begin());
    return index < arguments_.size() ? arguments_[index] : ValueId::None();
  }

  ValueId Coordinate(const knowledge::Formula& formula) {
    using knowledge::Coordinate;
    const bool of_group = formula.coordinate == Coordinate::GroupRank || formula.coordinate == Coordinate::GroupSize;
    if (!of_group) return store_.Coordinate(formula.coordinate, formula.axis);
    // What callers mostly pass is no more than that: each has its own.
    const ValueId group = Argument(formula.param);
    return store_.Coordinate(formula.coordinate, {}, group ? GroupBehind(tables_.knowledge, store_, group) : store_.World());
  }

  Tables& tables_;
  ValueStore& store_;
  const knowledge::Entry* entry_;
  std::span<const ValueId> arguments_;
  ValueId receiver_;
};

}  // namespace

ValueId GroupBehind(const knowledge::Knowledge& knowledge, ValueStore& store, ValueId value) {
  if (store[value].kind != ValueKind::Object) return value;
  const knowledge::ClassId known = knowledge.FindClass(store[value].name());
  return known && knowledge[known].has_axis ? store.AxisGroup(knowledge[known].axis) : value;
}

ValueId FormulaValue(Tables& tables, knowledge::FormulaId formula, const knowledge::Entry* entry,
                     std::span<const ValueId> arguments, ValueId receiver) {
  return FormulaReader(tables, entry, arguments, receiver).Read(formula);
}

}  // namespace allranks::variation
