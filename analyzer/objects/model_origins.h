// What a model at a place is: which object, told by the call that made it, and whether it is in a wrapper there. A value says of
// what class a model is; it does not tell two models of one class apart, nor the model from itself inside a wrapper.
//
// A wrapper is what a framework puts around a model and returns: DDP, what `prepare` of Accelerate and `setup` of Fabric return.
// A variable is what was assigned to it last before, on each way to the place; a field what the methods of its class store;
// a parameter what the callers pass, or the one caller on a way that is asked about. Helpers are followed into what they return,
// calls that return their argument (`model.cuda()`, `torch.compile(model)`) to that argument. A copy is an object of its own, and
// is in a wrapper if what was copied is.
//
// Where one of these is not seen the answer is empty: not known.
//
// Not sound: objects of one class of the project are one, and a call in a loop makes one object.
#pragma once

#include <span>
#include <vector>

#include "analyzer/objects/definitions.h"
#include "analyzer/objects/guards.h"
#include "analyzer/objects/values.h"

namespace allranks::objects {

enum class Shell : uint8_t {
  Bare,      // as it was made
  Wrapped,
  TakenOut,  // of a wrapper: `ddp.module`
};

struct ModelAt {
  Site made;           // the call that made it; no expression: the parameter of a function that nothing calls
  uint32_t param = 0;  // which one
  Shell shell = Shell::Bare;
  friend bool operator==(const ModelAt&, const ModelAt&) = default;
  bool IsSameModel(const ModelAt& other) const { return made == other.made && param == other.param; }
};

// A call that puts a model into a wrapper, and the argument that it puts there.
struct Wrapping {
  Site call;
  ir::ExprId model;
};

class ModelOrigins {
 public:
  ModelOrigins(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts, const ProgramIndex& index,
               const Guards& guards);

  // Calls that end in the function of the place, outermost first: each calls the function in which the next one stands.
  using Way = std::span<const Site>;
  // What the model at a place may be, one entry for each object and shell; empty: not known.
  std::vector<ModelAt> Of(const Site& place, Way way = {}) const;

  const std::vector<Wrapping>& wrappings() const { return wrappings_; }
  // Whether a model is put into a wrapper on every way to a place, before that is reached. Way: the calls to the place.
  bool IsWrappedBefore(const ModelAt& model, const Site& place, Way way) const;

 private:
  struct Search;
  bool Add(const Site& place, Way way, Search& search) const;
  bool AddVariable(const Site& place, Way way, Search& search) const;
  bool AddParam(FuncId function, uint32_t param, Way way, Search& search) const;
  bool AddField(const Site& place, Way way, Search& search) const;
  bool AddCall(const Site& call, Way way, Search& search) const;
  bool AddIfMade(const Site& call, Way way, Search& search) const;
  bool AddKnown(const Site& call, const knowledge::Entry& entry, Way way, Search& search) const;
  bool AddReturned(const Site& call, FuncId function, Way way, Search& search) const;
  bool AddAssigned(FuncId function, const Definition& assigned, Way way, Search& search) const;
  bool AddWrapped(const Site& model, Shell shell, Way way, Search& search) const;
  bool AddTakenOut(const Site& wrapper, Way way, Search& search) const;
  bool TakesOutIfWrapped(const Site& conditional) const;
  bool AddBare(const Site& model, Way way, Search& search) const;
  bool AddCopy(const Site& call, const Site& copied, Way way, Search& search) const;
  void AddMade(const Site& call, Search& search) const;
  bool WrapsFirst(const Wrapping& wrapping, const Site& place, Way way) const;
  bool IsFirstCall(const Site& first, const Site& then) const;
  bool AreGuardsMet(const std::vector<Site>& first, const std::vector<Site>& then) const;

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  const Guards& guards_;
  Values values_;
  Definitions definitions_;
  std::vector<Wrapping> wrappings_;
};

}  // namespace allranks::objects
