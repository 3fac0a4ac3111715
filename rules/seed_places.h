// Where a program says which number a generator begins with: calls that seed, or calls of helpers that hand their argument
// on to one.
#pragma once

#include <vector>

#include "rules/program_calls.h"
#include "rules/rule.h"

namespace allranks::rules {

struct SeedPlace {
  objects::Site site;
  variation::ValueId seed;
  objects::Site helper;  // the call that seeds in the end; the site itself if no helper stands between
};

// Of the generator that training draws noise from: torch's, or that of all libraries at once.
std::vector<SeedPlace> SeedPlaces(const Context& context);
// Whether the program of a file seeds the generator that a call of a library draws from, by `random.seed`, `np.random.seed`, `set_seed` and the
// like, and with the same number on all ranks wherever it does. `draw`: the name of what is called.
bool IsSeededAlike(const Context& context, ir::ModuleId module, std::string_view draw);
// Whether ranks seed differently by the number of a rank, whichever it is.
bool CountsRanks(const Context& context, variation::ValueId seed);
// Fields of options (`args.seed`) into which a program stores what differs between ranks: `args.seed += rank`, or a number that each draws.
class StoredSeeds {
 public:
  explicit StoredSeeds(const Context& context);
  // Whether a seed, used in `module`, is one number on all ranks, as far as can be seen: callers' arguments included.
  bool IsAlike(ir::ModuleId module, variation::ValueId seed);

 private:
  // Whether it is such a field, or made of one.
  bool IsStored(ir::ModuleId module, variation::ValueId seed);

  struct Store {
    ir::ModuleId module;
    base::NameId field;
  };
  const Context& context_;
  ProgramCalls calls_;
  std::vector<Store> stores_;
};

}  // namespace allranks::rules
