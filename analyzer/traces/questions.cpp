#include "analyzer/traces/questions.h"

#include <algorithm>

#include "analyzer/traces/conditions.h"
#include "analyzer/traces/sequence.h"
#include "analyzer/variation/comparison.h"

namespace allranks::traces {
namespace {

constexpr uint64_t BitOf(uint64_t number) {
  constexpr uint64_t kGoldenRatio = 0x9e3779b97f4a7c15ull;
  return uint64_t{1} << (number * kGoldenRatio >> 58);
}

}  // namespace

Question Asked(const variation::ValueStore& values, ValueId condition) {
  using ir::CompareOp;
  constexpr CompareOp kPositive[] = {CompareOp::Eq, CompareOp::Is, CompareOp::In, CompareOp::Less, CompareOp::LessEq};
  Question question{.key = 0, .truth = true};
  while (values[condition].is_not()) {
    condition = values.OperandOf(condition);
    question.truth = !question.truth;
  }
  question.key = condition.index;
  if (values[condition].kind != variation::ValueKind::Compare) return question;
  auto op = values[condition].compare_op();
  if (std::ranges::find(kPositive, op) == std::end(kPositive)) {
    op = variation::Negated(op);
    question.truth = !question.truth;
  }
  const auto kids = values.Kids(condition);
  question.key = Token(uint64_t{1} + static_cast<uint64_t>(op), kids[0].index, kids[1].index);
  const bool is_equality = op == CompareOp::Eq || op == CompareOp::Is;
  if (is_equality && variation::IsConstant(values[kids[1]])) {
    question.subject = kids[0];
    question.constant = kids[1];
  }
  return question;
}

bool Excludes(const variation::ValueStore& values, const Question& a, const Question& b) {
  return a.subject && a.subject == b.subject && AreUnequal(values, a.constant, b.constant);
}

void QuestionSet::Add(const Question& question) {
  bits_ |= BitOf(question.key);
  if (question.subject) bits_ |= BitOf(question.subject.index);
}

bool QuestionSet::MayAsk(const Question& question) const {
  return (bits_ & BitOf(question.key)) != 0 || (question.subject && (bits_ & BitOf(question.subject.index)) != 0);
}

}  // namespace allranks::traces
