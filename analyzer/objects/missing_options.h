// Options that a program reads and no parser takes: `args.seed` of argparse, where nothing adds `--seed`.
//
// An option is missing where all that the object may be was parsed by argparse, and nothing in the files of the program could name the
// option: no text (`add_argument("--seed")`, `dest="seed"`, `hasattr(args, "seed")`), no argument of `set_defaults` and no assignment
// to an attribute of that name, of whatever object but one of a class of the project.
// Nothing is missing in programs that make options from what is no text of them: by parsers that others fill, by parents of parsers, by `setattr`, by
// the dictionary of the object (`vars(args).update(settings)`), by settings that are spread into a call, or in functions that are not read, those of
// libraries included.
//
// Not sound where the dictionary of the object (`vars(args)`) is handed to a function that writes into it.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzer/binding/neighbourhood.h"
#include "analyzer/objects/program_index.h"
#include "analyzer/objects/values.h"

namespace allranks::objects {

class MissingOptions {
 public:
  MissingOptions(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts, const ProgramIndex& index)
      : program_(program), facts_(facts), index_(index), values_(program, knowledge, facts), neighbourhood_(program) {}

  // Whether an expression reads one.
  bool IsReadBy(ir::ModuleId module, ir::ExprId expr) const;

 private:
  // What a file says of options.
  struct Options {
    bool is_open = false;  // it may make some that no text of it names
    std::unordered_set<std::string> names;
  };
  bool IsParsed(ir::ModuleId module, ir::ExprId object) const;
  bool IsParsed(ValueId value) const;
  bool IsOfParser(ir::ModuleId module, ir::ExprId object) const;
  std::string_view MadeBy(ValueId value) const;
  bool MayBeMade(ir::ModuleId module, std::string_view name) const;
  const Options& Of(ir::ModuleId module) const;
  Options Read(ir::ModuleId module) const;
  void AddCall(ir::ModuleId module, ir::ExprId call, Options& options) const;
  void AddTargets(ir::ModuleId module, const ir::Stmt& stmt, Options& options) const;
  void AddTarget(ir::ModuleId module, ir::ExprId target, Options& options) const;
  std::string_view LastPart(ir::ModuleId module, ir::ExprId expr) const;
  bool IsWrittenBy(ir::ModuleId module, ir::ExprId call) const;
  bool IsChanged(ir::ModuleId module, ir::ExprId dictionary) const;
  bool IsUnseen(ir::ModuleId module, ir::ExprId callee) const;
  const std::vector<ir::ModuleId>& NeighboursOf(ir::ModuleId module) const;

  const binding::Program& program_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  const Values values_;
  const binding::Neighbourhood neighbourhood_;
  mutable std::unordered_map<uint32_t, Options> options_;                           // by ModuleId
  mutable std::unordered_map<uint32_t, std::vector<ir::ModuleId>> neighbours_;  // by ModuleId
};

}  // namespace allranks::objects
