// Loops that train on nothing, and what they go over; and beside them those that train.
//
// A loop trains if gradients are made in it, or all methods of a name that it calls make some. The rest go over data, epochs, files or
// numbers: `loader` says of those that draw batches which loader stands behind `enumerate`, a progress bar or a generator of the project
// that hands each item on; `ModeOf` says what the program told the model before, in the function of the loop or in all that call it.
//
// Loops of tests, of what one process alone runs, and of generators that hand batches to others are left out.
//
// Not sound: a loader that is kept in a container, or handed on by a generator through another one, is not found.
#pragma once

#include <vector>

#include "analyzer/objects/launch.h"
#include "analyzer/objects/loading.h"
#include "analyzer/objects/training.h"

namespace allranks::objects {

// The last thing that was said of gradients: `eval` or `train` of a model, or a context without gradients.
enum class ModelMode : uint8_t { Unknown, Training, Evaluation };

struct EvaluationLoop {
  Site iterable;
  ir::StmtId loop;
  ValueId loader;            // none: it goes over something else
  bool is_prepared = false;  // the loader, by a framework that deals it out
  ValueId handed = {};       // the parameter over which it goes, where callers pass several loaders for it
};

class EvaluationLoops {
 public:
  EvaluationLoops(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                  const ProgramIndex& index, const Loading& loading, const Training& training, const Launch& launch);

  const std::vector<EvaluationLoop>& loops() const { return loops_; }
  // Those in which gradients are made, of the same shape.
  const std::vector<EvaluationLoop>& training_loops() const { return training_loops_; }
  // Loops within an expression that draw batches and train on nothing; `loop` is the statement.
  const std::vector<EvaluationLoop>& comprehensions() const { return comprehensions_; }
  ModelMode ModeOf(const EvaluationLoop& loop) const;
  // What was told before a statement of a function.
  ModelMode ModeAt(FuncId function, ir::StmtId stmt) const { return ModeOf(function, program_.module_of(function)[stmt].begin, 0); }

 private:
  void AddComprehensions(ir::ModuleId module_id, const Training& training, const Launch& launch);
  bool TrainsByName(const Training& training, ir::ModuleId module_id, ir::StmtId loop) const;
  bool HandsOn(ir::ModuleId module_id, ir::StmtId loop) const;
  ValueId LoaderBehind(ir::ModuleId module, ir::ExprId iterable) const;
  ValueId HandedParam(const Site& iterable) const;
  bool MayBePrepared(ir::ModuleId module, ir::ExprId iterable) const;
  bool IsCount(ValueId value) const;
  bool IsPrepared(ValueId value) const;
  ir::ExprId HandedToGenerator(ir::ModuleId module_id, ir::ExprId iterable) const;
  ir::ExprId AssignedTo(FuncId function, ir::ExprId name) const;
  base::NameId HandedOnBy(FuncId generator) const;
  ValueId WrappedLoader(ValueId value) const;
  bool WasRead(ValueId prepared) const;
  ModelMode ModeOf(FuncId function, uint32_t end, int depth) const;
  ModelMode ModeBefore(FuncId function, uint32_t end) const;

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  const Loading& loading_;
  Values values_;
  std::vector<EvaluationLoop> loops_, training_loops_, comprehensions_;
};

}  // namespace allranks::objects
