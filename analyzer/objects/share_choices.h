// Where a result decides what is written: `if accuracy > best: torch.save(...)`, also by a flag (`is_best = accuracy > best`) or a function that
// compares (`is_better(accuracy, best)`), or in a function of the project that is handed the result or the flag (`save_checkpoint(state, is_best)`,
// `stopper(loss, model)`).
//
// Not sound: what becomes of a flag that is kept in a field is not known, and neither is what a function does with the result through another.
#pragma once

#include <set>
#include <vector>

#include "analyzer/objects/flow_from.h"

namespace allranks::objects {

struct ShareChoice {
  Site place;        // the test of the branch that writes, or the call
  ir::ExprId value;  // the test, or what the call is handed
};

class ShareChoices {
 public:
  ShareChoices(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts, const ProgramIndex& index);

  // Those between two positions of a function. `seed`: what a test that begins before may hold (`if evaluate(model) > best:`).
  std::vector<ShareChoice> In(FuncId function, const FlowFrom& flow, uint32_t begin, uint32_t end, ir::ExprId seed) const;

 private:
  using Names = std::set<base::NameId>;

  Names FlagsIn(FuncId function, const FlowFrom& flow) const;
  static void AddFlagsOf(const ir::Module& module, ir::BlockId branch, Names& flags);
  bool Compares(FuncId function, ir::ExprId expr, const FlowFrom& flow) const;
  static bool ComparesResult(const ir::Module& module, ir::ExprId compare, const FlowFrom& flow);
  static bool ComparesWithKept(const ir::Module& module, ir::ExprId test, const FlowFrom& flow);
  bool ReturnsComparison(const Site& call, const FlowFrom& flow) const;
  bool Decides(FuncId function, ir::ExprId expr, const FlowFrom& flow, const Names& flags) const;
  ir::ExprId HandedToChoice(const Site& call, const FlowFrom& flow, const Names& flags) const;
  bool ChoosesBy(FuncId function, base::NameId param, bool is_flag) const;
  bool Writes(FuncId function, ir::StmtId branch) const;

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  std::vector<bool> writes_;  // by FuncId: it writes something itself
};

}  // namespace allranks::objects
