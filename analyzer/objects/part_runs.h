// Whether a place that reads a part of a module runs all of it: one element of a list, some of its elements, a method of it, or an output
// that nothing is computed from are less.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/objects/program_index.h"
#include "analyzer/objects/guards.h"
#include "analyzer/objects/values.h"

namespace allranks::objects {

enum class PartRun : uint8_t {
  Partly,   // or not at all, as far as can be seen
  Beside,   // all of it, for an output that goes nowhere but beside others out of the function
  Whole,
};

class PartRuns {
 public:
  PartRuns(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index, const Guards& guards, const Values& values)
      : program_(program), facts_(facts), index_(index), guards_(guards), values_(values) {}

  PartRun Of(const Site& read) const { return Run(read, {}, 0); }
  // The same of a module of a library, which may compute more than what is read of it; none where it runs nothing.
  std::optional<PartRun> OfLibrary(const Site& read) const;
  // What a place that reads a list of modules does with the items.
  struct Elements {
    bool are_run = false;         // a loop goes over them and runs them
    std::optional<Guard> choice;  // a test in the loop, on the way to each place that runs one
  };
  Elements ElementsOf(const Site& read) const;
  // Whether a place is asked for only after a test of this field of the object: `if self.part is not None: x = self.part(x)`.
  bool AsksForField(const Guard& guard, base::NameId field) const;

 private:
  using Path = std::vector<uint32_t>;  // which element of what an iteration deals out, innermost first
  PartRun Run(const Site& part, Path path, int depth) const;
  PartRun RunOfArgument(const Site& part, ir::ExprId call, Path path, int depth) const;
  PartRun RunInStatement(const Site& part, const Path& path, int depth) const;
  PartRun RunOfElements(const Site& at, ir::ExprId target, const Path& path, uint32_t begin, uint32_t end, int depth) const;
  bool IsRun(const Site& element) const;
  std::optional<Guard> ChoiceInside(const Site& element, uint32_t begin) const;
  PartRun RunByName(FuncId function, base::NameId name, uint32_t begin, uint32_t end, int depth) const;
  PartRun Result(const Site& call) const;
  std::vector<ir::ExprId> ReadsOf(FuncId function, base::NameId name, uint32_t begin, uint32_t end) const;
  bool IsAlwaysReached(const Site& call) const;
  bool GoesRound(const Site& at, ir::ExprId iterable) const;
  bool CountsUp(const Site& index) const;
  bool IsMethodCall(const Site& object, std::string_view method) const;

  const binding::Program& program_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  const Guards& guards_;
  const Values& values_;
};

}  // namespace allranks::objects
