// What a number counts: samples, batches or steps, of one rank or of all. A number is told by what it is a product of: the samples
// of a data set, the batch of a loader, the number of ranks, the micro-steps of a step; each once for a factor, and less by
// one for a divisor. `len(dataset) // batch_size` is the batches of all ranks together, `len(loader)` those of one rank where a
// sampler deals out, and that divided by the accumulated batches its steps.
//
// Other factors (epochs, constants) do not count. Of a sum the terms must agree.
//
// Seeds: `len` of data sets, loaders and samplers; what is given to loaders as the size of a batch; the number of ranks; how many
// batches a window of accumulation holds. Variables are followed where one assignment reaches, in their function.
#pragma once

#include <optional>

#include "analyzer/objects/accumulation.h"
#include "analyzer/objects/definitions.h"
#include "analyzer/objects/loading.h"

namespace allranks::objects {

struct Unit {
  int samples = 0;      // of a data set
  int batch = 0;        // of one rank
  int ranks = 0;
  int micro_steps = 0;  // of one step of the optimizer
  ValueId dataset;      // whose samples; none: not known
  ValueId loader;       // whose batches, where those of a loader were counted
  friend bool operator==(const Unit&, const Unit&) = default;
  bool IsPlain() const { return samples == 0 && batch == 0 && ranks == 0 && micro_steps == 0; }
  // What people would call it: a count of batches or samples that one rank alone goes over, or that all do.
  bool CountsData() const { return samples == 1; }
  bool IsOfAllRanks() const { return samples == 1 && ranks == 0; }
  bool IsOfOneRank() const { return samples == 1 && ranks == -1; }
};

class Units {
 public:
  Units(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index, const Values& values,
        const Loading& loading, const Accumulation& accumulation);

  // None: not known, as where terms disagree.
  std::optional<Unit> Of(const Site& number) const { return Of(number, 0); }

 private:
  std::optional<Unit> Of(const Site& number, int depth) const;
  std::optional<Unit> OfVariable(const Site& number, int depth) const;
  std::optional<Unit> OfCaptured(const Site& number, int depth) const;
  std::optional<Unit> OfCall(const Site& number, int depth) const;
  std::optional<Unit> OfLength(const Site& counted) const;
  std::optional<Unit> OfLoader(ValueId loader) const;
  // A number that is given to loaders as the size of a batch, or that says how many batches are accumulated.
  std::optional<Unit> OfGiven(ValueId value) const;
  bool IsRanks(ValueId value) const;

  const binding::Program& program_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  const Values& values_;
  const Loading& loading_;
  const Accumulation& accumulation_;
  Definitions definitions_;
};

}  // namespace allranks::objects
