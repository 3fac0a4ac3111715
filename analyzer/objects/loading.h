// Data on its way to the ranks: datasets in samplers in loaders in loops.
#pragma once

#include <span>
#include <vector>

#include "analyzer/objects/program_index.h"
#include "analyzer/objects/values.h"

namespace allranks::objects {

// A loop that draws the batches of a loader: a `for` over it, whatever stands around the loader (`enumerate`, a progress
// bar), a loop that makes a new iterator of it inside (`except StopIteration: batches = iter(loader)`) or calls a function that does, or one
// that asks an iterator that it was given for the next batch.
struct LoaderLoop {
  Site iterable;
  ir::StmtId loop;
  ValueId loader;
  bool is_choice = false; // it is one of several that a key picks (`loaders[phase]`), or that objects of one class have
  bool hands_on = false;  // of a generator that yields the batches to a loop elsewhere
  bool by_next = false;   // it asks for as many batches as it has rounds, however many the loader has
  bool is_made_elsewhere = false;  // of these: the iterator was not made in the function of the loop
  bool begins_anew = false; // of these: a function that it calls makes a new iterator where the last one is used up
  bool is_endless = false;  // `itertools.cycle`, which begins anew within the loop
  Site caller = {};       // where a caller of that generator draws from its own loader, if others hand it other ones
  std::vector<Site> way = {};  // of a function that others hand other loaders: the calls that hand it this one, the nearest first

  // Where the loader is gone over, as far as it is a matter of this loader.
  const Site& place() const { return caller.function ? caller : iterable; }
};

class Loading {
 public:
  Loading(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
          const ProgramIndex& index);

  const std::vector<LoaderLoop>& loops() const { return loops_; }
  // The calls that make a loader, and those that make a sampler that deals data out to ranks.
  const std::vector<KnownCall>& made_loaders() const { return made_loaders_; }
  const std::vector<KnownCall>& made_samplers() const { return made_samplers_; }
  // Where an object may have been made: calls that yield just this value.
  std::vector<Site> MadeAt(ValueId object) const;
  ValueId ValueOf(const KnownCall& call) const;

  bool IsLoader(ValueId value) const { return values_.IsA(value, "torch.utils.data.DataLoader"); }
  bool IsDistributedSampler(ValueId value) const {
    return values_.IsA(value, "torch.utils.data.distributed.DistributedSampler");
  }
  // The samplers among `sampler`, `batch_sampler` and what these wrap that deal data out to ranks.
  std::vector<ValueId> DistributedSamplersOf(ValueId loader) const;
  // Whether some such sampler deals out what a loader draws: also one that an object of the project was made with, which
  // goes over it, or a class of the project that takes the share of its rank out of an order.
  bool IsDealtOut(ValueId loader) const;
  // The loaders that callers hand a loop, where they hand it several: of a loop over a parameter. Those that are dealt out come first.
  std::vector<ValueId> HandedTo(const Site& iterable) const;
  // What a value may be, through `enumerate`, progress bars, `iter` and the like.
  std::vector<ValueId> LoadersIn(ValueId value) const;
  // The sampler arguments of a loader that are there in a job of several processes; empty if none was given.
  std::vector<ValueId> SamplersOf(ValueId loader) const;

 private:
  bool DealsOut(ValueId sampler) const;
  void FindOwnSamplers();
  bool CutsByRank(FuncId function) const;
  bool IsYielded(ValueId value) const;
  std::vector<ValueId> OneOfItems(ValueId value) const;
  std::vector<ValueId> GoneThrough(ValueId value) const;
  bool IsView(const ir::Module& module, ir::ExprId iterable) const;
  bool TakesApart(ir::ModuleId module, ir::ExprId iterable) const;
  bool AreOfSeveral(FuncId function, ValueId iterable, std::span<const ValueId> loaders) const;
  void AddLoopsByCaller(const LoaderLoop& loop, ValueId param);
  void AddLoopsByWay(const LoaderLoop& loop, ValueId iterable);
  void AddForLoops(ir::ModuleId module);
  void AddDrawingLoops(ir::ModuleId module);
  void AddYieldingLoops(ir::ModuleId module);
  void AddLoopsByNext(ir::ModuleId module);
  void AddDraws(const Site& draw, ir::ExprId iterator, const std::vector<ValueId>& loaders, bool is_endless, int depth = 0);
  ir::ExprId GivenToIter(FuncId function, ValueId iterator) const;
  bool IsEndless(ValueId iterator) const;
  bool YieldsIn(ir::ModuleId module, ir::StmtId loop) const;
  bool IsRefilledBy(FuncId function, ir::StmtId assignment) const;
  bool IsAssignedIn(FuncId function, ir::ExprId loader) const;
  void AddRefills(const Site& refill, const std::vector<ValueId>& loaders, int depth);
  bool IsDrawnFrom(ir::ModuleId module, uint32_t begin, uint32_t end, ir::ExprId iterator) const;

  const binding::Program& program_;
  const variation::Facts& facts_;
  Values values_;
  const ProgramIndex& index_;
  std::vector<LoaderLoop> loops_;
  std::vector<KnownCall> made_loaders_, made_samplers_;
  std::vector<bool> own_samplers_;  // by ClassId: of the project, and they deal out by rank
};

}  // namespace allranks::objects
