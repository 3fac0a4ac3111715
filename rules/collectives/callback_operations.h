// What a library may run on other ranks: `server.add_resource(Handler)`, `study.optimize(objective)`.
#pragma once

#include <map>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "rules/rule.h"

namespace allranks::rules {

class CallbackOperations {
 public:
  explicit CallbackOperations(const Context& context);

  // The same operation stands in a method, in the file, that nothing calls and whose class a library is handed. The ranks that seem
  // to lack it may run the library meanwhile. So for a function that nothing calls, and that is handed over in the function that tells the
  // ranks apart. Of a library that is known, as trainers are, it is known what it calls on which ranks.
  bool MayHold(const traces::Difference& difference);

 private:
  bool MayBeRun(binding::FuncId method);
  bool IsHandedOverIn(binding::FuncId function, binding::FuncId callback) const;

  const Context& context_;
  // The methods that issue an operation and that nothing calls: all of them, or those that a library may run.
  struct Methods {
    std::vector<binding::FuncId> each;
    bool are_of_handed_over = false;
  };

  std::map<std::pair<uint32_t, base::NameId>, Methods> methods_;  // by file and operation
  std::map<std::pair<uint32_t, base::NameId>, std::vector<binding::FuncId>> functions_;  // the same of functions that nothing calls and that are handed over
  std::optional<std::unordered_set<uint32_t>> handed_over_;  // classes; found when the first is asked for
};

}  // namespace allranks::rules
