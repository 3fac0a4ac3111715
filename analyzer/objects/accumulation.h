// The accumulation windows of a program: loops that add gradients in every round (a micro-step) and step an optimizer
// only after several of them.
//
// Four forms are known. The step stands under a test of a remainder (`i % n == 0`), of a counter that the loop raises
// and the branch resets (`k += 1; if k == n: ...; k = 0`), or of the last round (`i == len(parts) - 1`); or the rounds
// are those of an inner loop over micro-batches, behind which the optimizer steps. What functions of the project do is
// seen at their calls, with the tests on the way inside, so a scaler class that steps under `if update:` is a step
// under what its caller passes for `update`.
//
// Invariant: an optimizer that also steps in every round has no window in that loop.
//
// Not sound: a test whose value is not known is taken to hold every time; a step handed on through more than
// `kDeepestCall` functions is not seen.
#pragma once

#include <vector>

#include "analyzer/objects/gradient_calls.h"
#include "analyzer/objects/program_index.h"
#include "analyzer/objects/guards.h"
#include "analyzer/objects/values.h"

namespace allranks::objects {

// A test on the way to a place, with the value that it has for those who come that way.
struct Condition {
  Guard guard;
  ValueId value;
};

// A call that works on gradients, as a function sees it that makes it or calls who makes it.
struct GradientEvent {
  GradientCall call;
  Site here;                          // in the function that sees it
  std::vector<Condition> conditions;  // on the way, those in callees included
};

enum class PeriodForm : uint8_t { Remainder, Counter, LastRound, InnerLoop };

struct Period {
  PeriodForm form{};
  std::optional<Guard> guard;  // none: an inner loop
  ValueId length;              // how many micro-steps; none: not known
};

struct AccumulationWindow {
  FuncId function;
  ir::StmtId loop;  // whose rounds are the micro-steps; none: the function runs once for each
  Period period;
  GradientEvent step;
  std::vector<GradientEvent> adds;     // at least one
  // What is done in each micro-step: clearing what `step` steps by, clipping.
  std::vector<GradientEvent> clears;
  std::vector<GradientEvent> clips;
  bool has_other_optimizers = false;   // some step in the same rounds by other rules: whose gradients are added is open
};

class Accumulation {
 public:
  Accumulation(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
               const ProgramIndex& index, const Guards& guards);

  const GradientCalls& calls() const { return calls_; }
  const std::vector<AccumulationWindow>& windows() const { return windows_; }
  // The events of a function, those of the functions that it calls included.
  const std::vector<GradientEvent>& EventsOf(FuncId function) const { return events_[function.index]; }
  // Which of the rounds around it make an event happen; none: all, as far as can be seen.
  std::optional<Period> PeriodOf(FuncId function, const GradientEvent& event) const;

 private:
  void CollectEvents();
  void HandToCallers(FuncId function, size_t first_new, std::vector<std::pair<FuncId, GradientEvent>>& lifted) const;
  std::vector<Condition> ConditionsAt(const Site& site) const;
  void FindWindows(FuncId function);
  void AddGuardedWindow(FuncId function, const GradientEvent& step, const Period& period);
  void AddInnerWindow(FuncId function, const GradientEvent& step);
  void AddEachRound(AccumulationWindow& window) const;
  std::optional<Period> PeriodOf(FuncId function, ir::StmtId loop, const Condition& condition) const;
  std::optional<Period> CounterPeriod(ir::StmtId loop, const Guard& guard, ir::ExprId test) const;
  std::optional<Period> LastRoundPeriod(ir::StmtId loop, const Guard& guard, ir::ExprId test) const;
  ValueId LengthOf(ValueId remainder) const;
  bool StepsEachTimeToo(FuncId function, const GradientEvent& step) const;
  bool HasGradientsOfItsOwn(FuncId function, const GradientEvent& step, const Period& period) const;
  ValueId RemainderIn(ValueId value, bool holds, int depth) const;
  ir::ExprId AssignedInLoop(ir::StmtId loop, const Guard& guard) const;
  bool IsMicroLoop(FuncId function, ir::StmtId loop) const;
  bool IsOfParts(ir::ModuleId module, ir::ExprId iterable) const;
  bool IsCallOf(const ir::Module& module, ir::ExprId expr, std::string_view function) const;
  bool StepsInside(FuncId function, ir::StmtId loop) const;
  ir::StmtId LoopOf(const GradientEvent& event) const;

  const binding::Program& program_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  const Guards& guards_;
  Values values_;
  GradientCalls calls_;
  std::vector<std::vector<GradientEvent>> events_;  // by FuncId
  std::vector<AccumulationWindow> windows_;
};

// Whether no test is asked to come out both ways on the way to the two.
bool MeetOnOneWay(const GradientEvent& a, const GradientEvent& b);

}  // namespace allranks::objects
