// Tests that nobody can decide, but that speak of ranks by their names: `if self.is_master`, `if args.save_logs` after
// `args.save_logs = args.logs and is_master(args)`.
//
// Only for silence: a test that speaks of ranks is taken to let one rank through. A name speaks of them if a word for a
// role among ranks is part of it, if it was given such a test, or if it is emptied on some ranks only
// (`if rank != 0: self.folder = None`). What was given a rank (`args.gpu = index`) speaks of ranks where it is compared. What
// a value is made of else does not count: a loss of a model on `cuda:{rank}` decides nothing about ranks.
//
// Unsound: attributes and arguments are told by name alone, so that a program beside another one can silence it.
#pragma once

#include <set>
#include <string_view>
#include <utility>

#include "analyzer/binding/program.h"
#include "analyzer/objects/program_index.h"

namespace allranks::objects {

class RankWords {
 public:
  RankWords(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index);

  static bool IsWord(std::string_view name);
  bool Speaks(FuncId function, ir::ExprId test) const { return Speaks(function, test, 0); }

 private:
  bool Speaks(FuncId function, ir::ExprId test, int depth) const;
  bool IsWordAsKey(const ir::Module& module, ir::ExprId id) const;
  void NoteStores(ir::ModuleId module);
  void NoteArguments(ir::ModuleId module);
  void NoteRankOfJob(const KnownCall& call);
  void Note(FuncId function, ir::ExprId target);
  bool IsTest(FuncId function, ir::ExprId value) const;
  void NoteIndex(const KnownCall& call);
  bool IsRank(ir::ModuleId module, ir::ExprId value) const;
  bool MayBeRank(ValueId value, int depth) const;
  bool MayBePassedRank(FuncId function, uint32_t param, int depth) const;
  bool IsEmptiedOnSomeRanks(FuncId function, ir::StmtId stmt) const;
  bool ComparesRank(FuncId function, const ir::Expr& comparison) const;

  const binding::Program& program_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  std::set<std::pair<uint32_t, base::NameId>> variables_;  // of a function
  std::set<base::NameId> attributes_;                      // of whatever object
  std::set<base::NameId> numbers_;                         // attributes that are given a rank
  std::set<std::pair<uint32_t, uint32_t>> indices_;        // parameters, by function, that are the index of a started process
};

}  // namespace allranks::objects
