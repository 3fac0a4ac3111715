// Traces of a program that is being edited: only those of functions are made and checked again that are others than before,
// or are built of others.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/traces/analyze.h"
#include "analyzer/variation/session.h"

namespace allranks::traces {

class Session {
 public:
  // What Analyze finds. The objects must be those of the update before, and `facts` brought up to date by `variation`.
  Analysis Update(const binding::Program& program, const knowledge::Knowledge& knowledge, variation::Facts& facts,
                  const source::SourceFiles& files, const variation::Session& variation,
                  Watched& watched);

 private:
  // What was made of one function, and of what.
  struct Made {
    std::vector<std::pair<FuncId, TraceId>> uses;
    std::vector<ValueId> params;   // what is assumed of its own and of those of the function around it
    TraceId trace;
    std::vector<OperationSite> sites;
    std::vector<LimitHit> limits;
    std::vector<TraceId> own_depth;
    CheckResult result;
    bool sets_up_own_job = false;
    uint64_t steps = 0;            // State::projection_steps
    size_t traces = 0;             // nodes
    uint32_t depth_in_cycle = 0;
    bool is_heavy = false;         // near a bound: whether it is reached depends on what is there already
    bool asks_for_others = false;  // State::asks_for_others: it is made anew each time
  };

  Analysis Begin(State& state, const CallGraph& graph, Watched& watched);
  std::optional<Analysis> Follow(const CallGraph& graph, const variation::Session& variation, Watched& watched);
  const Made& Make(State& state, FuncId func);
  void TakeOver(State& state, FuncId func) const;
  bool IsSame(const State& state, FuncId func, const std::vector<bool>& touched) const;

  std::unique_ptr<State> base_;  // with all functions as they were at `base_update_`
  std::vector<Made> made_;       // by FuncId
  uint32_t base_update_ = 0;
};

}  // namespace allranks::traces
