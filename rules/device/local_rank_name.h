// How code at a place can say "the index of my process on this node".
#pragma once

#include <string>

#include "rules/rule.h"

namespace allranks::rules {

struct LocalRankText {
  std::string text;             // "local_rank", `int(os.environ["LOCAL_RANK"])`
  bool reads_environment = false;
};

// A variable that holds it at the place, or else the environment variable that launchers set.
LocalRankText LocalRankAt(const Context& context, const objects::Site& site);

}  // namespace allranks::rules
