#include "analyzer/variation/call_substitution.h"

#include "analyzer/variation/tables.h"

namespace allranks::variation {

size_t SubstitutionMemos::Hash::operator()(const Key& key) const {
  constexpr size_t kSpread = 0x9e3779b97f4a7c15u;
  size_t hash = key.callee.index * kSpread ^ key.function.index;
  for (const ValueId value : key.bound) hash = (hash << 7 ^ hash >> 57 ^ value.index) * kSpread;
  return hash;
}

std::shared_ptr<SubstitutionMemos::OfCall> SubstitutionMemos::Of(ValueId callee, FuncId function, std::span<const ValueId> bound) {
  // About as many as the calls of a large program.
  constexpr size_t kMost = 1 << 14;
  if (memos_.size() >= kMost) memos_.clear();
  std::shared_ptr<OfCall>& memo = memos_[{callee, function, {bound.begin(), bound.end()}}];
  if (!memo) memo = std::make_shared<OfCall>();
  return memo;
}

CallSubstitution::CallSubstitution(Tables& tables, ValueId callee, FuncId function, std::span<const ValueId> bound)
    : store_(tables.store), function_(function), bound_(bound), memos_(tables.substitutions.Of(callee, function, bound)) {
  if (!callee || store_[callee].kind != ValueKind::Function) return;
  const auto kids = store_.Kids(callee);
  size_t next = 1;
  for (FuncId around = tables.program.funcs[function].parent; around; around = tables.program.funcs[around].parent) {
    const size_t count = tables.program.function(around).params.size();
    if (next + count > kids.size()) break;
    if (count > 0) around_.push_back({around, {kids.begin() + next, kids.begin() + next + count}});
    next += count;
  }
  memos_->around.resize(around_.size());
}

ValueId CallSubstitution::operator()(ValueId value) {
  ValueId result = store_.Substitute(value, function_, bound_, memos_->own);
  for (size_t i = 0; i < around_.size(); ++i) result = store_.Substitute(result, around_[i].function, around_[i].captured, memos_->around[i]);
  return result;
}

}  // namespace allranks::variation
