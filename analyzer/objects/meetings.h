// Where ranks meet again after a place that only some of them come to.
//
// The ways of the ranks part in the innermost function on the way to the place that all of them run: behind the call there
// the others go straight on. They wait in the first statement behind it, or behind a call of that function, at which all
// ranks communicate; where the call stands in a loop of all ranks, that may be in the next round.
//
// Who takes the way is decided by a test whose outcome is known on every rank.
//
// Unsound: what communicates under one strategy of parallelism only does not count, and groups are not told apart.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "analyzer/objects/launch.h"
#include "analyzer/objects/program_index.h"
#include "analyzer/objects/ranks_at.h"

namespace allranks::objects {

struct Meeting {
  Site parted;         // in a function that all ranks run: the place itself, or the call on the way to it
  traces::RankSet on_way;  // those that take it
  FuncId function;     // in which the others wait
  ir::StmtId stmt;
};

class Meetings {
 public:
  Meetings(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
           const ProgramIndex& index, const Guards& guards, const RanksAt& ranks, const Launch& launch, const traces::World& world);

  // None: all ranks come to the place or none does, or nothing is seen to follow.
  std::optional<Meeting> After(const Site& site) const;
  // The same of a place that all ranks come to, and behind which one of them goes no further.
  std::optional<Meeting> AfterLeaving(const Site& site) const;

 private:
  using OnWay = std::set<uint32_t>;
  std::optional<Meeting> Parted(const Site& site, OnWay& on_way) const;
  std::optional<Meeting> Behind(const Site& site, OnWay& on_way) const;
  std::optional<ir::StmtId> BehindIn(const Site& site) const;
  std::optional<ir::StmtId> First(const Site& site, uint32_t from, uint32_t to) const;
  bool IsDecided(const Site& site) const;
  bool IsForAll(const Site& site) const { return ranks_.At(site, world_) == traces::RankSet::All(world_.size()); }
  bool IsMeeting(FuncId function, ir::StmtId stmt) const;
  bool MakesJob(FuncId function, ir::StmtId stmt) const;
  bool GoesOn(ir::ModuleId module, ir::StmtId from, ir::StmtId to) const;
  template <class Test>
  bool AnyCall(FuncId function, ir::StmtId stmt, Test test) const;

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  const Guards& guards_;
  const RanksAt& ranks_;
  const Launch& launch_;
  const traces::World world_;
  Values values_;
  std::vector<std::vector<ir::ExprId>> operations_;  // by FuncId
  std::vector<std::vector<ir::ExprId>> joins_;       // by FuncId: of the job
  std::vector<bool> communicates_;                   // by FuncId, callees included
};

}  // namespace allranks::objects
