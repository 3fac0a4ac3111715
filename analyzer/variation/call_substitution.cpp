#include "analyzer/variation/call_substitution.h"

namespace allranks::variation {

CallSubstitution::CallSubstitution(Tables& tables, ValueId callee, FuncId function, std::span<const ValueId> bound)
    : store_(tables.store), function_(function), bound_(bound) {
  if (!callee || store_[callee].kind != ValueKind::Function) return;
  const auto kids = store_.Kids(callee);
  size_t next = 1;
  for (FuncId around = tables.program.funcs[function].parent; around; around = tables.program.funcs[around].parent) {
    const size_t count = tables.program.function(around).params.size();
    if (next + count > kids.size()) return;
    if (count > 0) around_.push_back({around, {kids.begin() + next, kids.begin() + next + count}, {}});
    next += count;
  }
}

ValueId CallSubstitution::operator()(ValueId value) {
  ValueId result = store_.Substitute(value, function_, bound_, memo_);
  for (Around& around : around_) result = store_.Substitute(result, around.function, around.captured, around.memo);
  return result;
}

}  // namespace allranks::variation
