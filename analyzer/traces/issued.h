// What a function certainly issues on the default group, whoever runs it.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/traces/analysis.h"
#include "analyzer/traces/build.h"

namespace allranks::traces {

class IssuedSearch {
 public:
  explicit IssuedSearch(const State& state) : state_(state), below_(state.traces.size()) {}

  // The first such operation of `func`; none as well where `func` sets up the job itself: it is a rank then.
  std::optional<Issued> In(FuncId func);

 private:
  struct Below {
    TraceId first;             // operation
    bool starts_group = false;
    bool known = false;
  };

  const Below& LookBelow(TraceId id);
  bool IsPlain(TraceId op) const;

  const State& state_;
  std::vector<Below> below_;  // by trace: functions share what they call
};

}  // namespace allranks::traces
