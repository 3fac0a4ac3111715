#include "analyzer/traces/condition_memo.h"

#include <algorithm>

#include "analyzer/traces/conditions.h"
#include "analyzer/traces/made_once.h"

namespace allranks::traces {

using variation::Value;
using variation::ValueKind;

ConditionMemo::Answer& ConditionMemo::At(Answers& answers, ValueId id) {
  if (id.index >= answers.size()) answers.resize(std::max<size_t>(id.index + 1, answers.size() * 2), Answer::NotAsked);
  return answers[id.index];
}

std::optional<bool> ConditionMemo::KnownTruth(ValueId condition) {
  const Answer known = At(truths_, condition);
  if (known == Answer::Unknown) return std::nullopt;
  if (known != Answer::NotAsked) return known == Answer::Yes;
  const std::optional<bool> truth = FindTruth(condition);
  At(truths_, condition) = !truth ? Answer::Unknown : *truth ? Answer::Yes : Answer::No;
  return truth;
}

std::optional<bool> ConditionMemo::FindTruth(ValueId condition) {
  const Value& value = (*values_)[condition];
  switch (value.kind) {
    case ValueKind::None:
      return false;
    case ValueKind::Bool:
    case ValueKind::Int:
      return *value.integer() != 0;
    case ValueKind::Unary: {
      if (value.unary_op() != ir::UnaryOp::Not) return std::nullopt;
      const std::optional<bool> inner = KnownTruth(values_->OperandOf(condition));
      return inner ? std::optional(!*inner) : std::nullopt;
    }
    case ValueKind::And:
    case ValueKind::Or: {
      const bool is_and = value.kind == ValueKind::And;
      bool all_known = true;
      for (const ValueId kid : values_->Kids(condition)) {
        const std::optional<bool> known = KnownTruth(kid);
        if (known && *known != is_and) return !is_and;
        all_known = all_known && known;
      }
      return all_known ? std::optional(is_and) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

bool ConditionMemo::IsMade(ValueId value) const { return traces::IsMade(*values_, value); }

bool ConditionMemo::Asks(ValueId condition, Answers& answers, bool (ConditionMemo::*is)(ValueId) const) {
  const Answer known = At(answers, condition);
  if (known != Answer::NotAsked) return known == Answer::Yes;
  const ValueKind kind = (*values_)[condition].kind;
  const bool joins = kind == ValueKind::Unary || kind == ValueKind::And || kind == ValueKind::Or;
  const bool asks = (this->*is)(condition) ||
                    (joins && std::ranges::any_of(values_->Kids(condition), [&](ValueId kid) { return Asks(kid, answers, is); }));
  At(answers, condition) = asks ? Answer::Yes : Answer::No;
  return asks;
}

bool ConditionMemo::AsksForSize(ValueId condition) {
  if (!condition) return false;
  const Answer known = At(asks_for_size_, condition);
  if (known != Answer::NotAsked) return known == Answer::Yes;
  const bool asks = variation::IsCoordinate((*values_)[condition], knowledge::Coordinate::WorldSize) ||
                    std::ranges::any_of(values_->Kids(condition), [&](ValueId kid) { return AsksForSize(kid); });
  At(asks_for_size_, condition) = asks ? Answer::Yes : Answer::No;
  return asks;
}

}  // namespace allranks::traces
