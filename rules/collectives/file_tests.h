// Collectives that depend on what a rank finds on its disk: does the checkpoint exist, which step is the newest?
//
// On a disk that all ranks share, and while nobody writes, all of them find the same. So one note at the place that looks
// says it, whatever number of collectives depends on it, and it is a possible one. An error it stays where the program
// itself makes or removes the file in the meantime (the arm where it is missing writes it, or hands its path on; the arm where it is there
// removes it), or where nobody but an operator can make it: a file that is looked for again and again, and never opened.
//
// That a condition hangs on files alone is said by its axes. Which call looked is followed through values; where these
// were joined, through the chain that explains why it varies.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "rules/rule.h"

namespace allranks::rules {

class FileTests {
 public:
  explicit FileTests(const Context& context);

  // The call that looks at the disk, or where it is not seen the condition, if nothing but the disk makes the ranks
  // differ here; none: it is no file test.
  std::optional<objects::Site> Of(const traces::Difference& difference) const;
  // Whether something here makes or removes such a file meanwhile, so that ranks come upon different answers.
  bool AnswersChange(const traces::Difference& difference) const;

 private:
  // A place that asks whether a file is there: the call that looks, or one of a function that hands on its answer.
  struct Asked {
    objects::Site site;
    variation::ValueId path;
  };
  std::vector<Asked> PlacesThatAsk(const objects::KnownCall& look) const;
  variation::ValueId Handed(variation::ValueId path, const objects::Site& call) const;
  variation::ValueId AnswerAt(const objects::Site& site) const;
  bool Decides(const objects::KnownCall& look, const traces::Difference& difference) const;
  bool HoldsAnswer(variation::ValueId test, variation::ValueId answer, int depth = 0) const;
  bool AnyChanges(const std::vector<const objects::KnownCall*>& looks, variation::FuncId tested_in) const;
  std::vector<const objects::KnownCall*> LooksOf(const traces::Difference& difference) const;
  const objects::KnownCall* EndOfChain(const traces::Difference& difference) const;
  variation::ValueId ConditionOf(const traces::Difference& difference) const;
  bool IsChangedMeanwhile(const objects::KnownCall& look, variation::FuncId tested_in) const;
  bool IsMadeMeanwhile(const Asked& asked) const;
  bool IsRemovedMeanwhile(const Asked& asked) const;
  bool IsOnSomeRanksBefore(objects::FileAct act, const objects::Site& site, const objects::Site& asked) const;
  bool IsFetchedByOne(const Asked& asked) const;
  bool IsSaid(const objects::Site& site) const;
  bool IsOnSomeRanks(const objects::Site& site) const;
  bool IsAskedOnce(const objects::Site& site) const;
  bool IsSignal(const objects::KnownCall& look) const;
  variation::ValueId NameLookedFor(const objects::KnownCall& look) const;
  variation::ValueId PathOf(const objects::KnownCall& look) const;
  // What calls get that do more than look whether a file is there.
  struct Uses {
    std::unordered_set<uint32_t> parts;       // of the values of their arguments and objects
    std::unordered_set<uint32_t> attributes;  // names of those that are handed over
  };
  const Uses& AllUses() const;
  void AddUses(ir::ModuleId module, ir::ExprId call, Uses& uses, std::unordered_set<uint32_t>& known) const;
  bool IsUsed(variation::ValueId path) const;
  bool IsUsedByName(const objects::KnownCall& look) const;
  bool LooksAt(ir::ModuleId module, ir::ExprId call) const;
  bool LeadsToLook(ir::ModuleId module, ir::ExprId call) const;
  bool Looks(variation::FuncId function) const;
  void FindLooks() const;
  bool MayMake(const variation::CallFact& call, variation::ValueId path) const;
  bool LeadsToWrite(const objects::Site& call) const;
  bool Makes(const objects::FileUse& use, variation::ValueId path) const;
  bool IsKeptByFolder(const objects::KnownCall& look, const Asked& asked) const;
  bool Concerns(const objects::FileUse& use, variation::ValueId path) const;
  bool IsOfRound(const Asked& asked, ir::StmtId loop) const;
  bool MeetBetween(const objects::Site& site, uint32_t position) const;
  bool IsAfterMeeting(const objects::Site& use, const Asked& asked) const;
  bool IsWhere(bool is_there, const objects::Site& use, const objects::Site& asked) const;

  const Context& context_;
  mutable std::vector<bool> looks_;  // by FuncId; empty: not found yet
  mutable std::optional<Uses> uses_;  // made when the first path is asked for
  std::unordered_map<uint32_t, const objects::KnownCall*> varying_;  // by the value that a call yields
};

}  // namespace allranks::rules
