// How code at a place can say "the index of my process on this node".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/objects/process_starts.h"
#include "rules/rule.h"

namespace allranks::rules {

struct LocalRankText {
  std::string text;             // "local_rank", `int(os.environ["SLURM_LOCALID"])`, `hvd.local_rank()`; empty: nothing is known to hold it
  std::string variable;         // the variable of the environment that it reads: "SLURM_LOCALID"; empty: none
};

// What is known of the whole program is looked up once.
class LocalRankNames {
 public:
  explicit LocalRankNames(const Context& context);

  // A variable that holds it at the place; the index that a process of `mp.spawn` gets; what the library that tells the rank has beside it;
  // or the variable of the environment that comes from the launcher which tells the rank. In C and C++ a variable of the program alone, as
  // there is no expression that is right under every launcher. `rank`: the number that is used in its place.
  LocalRankText At(const objects::Site& rank);

 private:
  friend class LocalRank;

  const std::vector<ir::StmtId>& AssignedIn(ir::ModuleId module);
  bool IsStarted(variation::FuncId function);

  const Context& context_;
  std::vector<const objects::KnownCall*> with_index_;  // start processes that are told their index
  std::vector<const objects::KnownCall*> inits_;       // join the job
  std::map<uint32_t, std::vector<ir::StmtId>> assigned_;  // by module: what puts the local rank into a variable
  std::optional<objects::ProcessStarts> starts_;
};

}  // namespace allranks::rules
