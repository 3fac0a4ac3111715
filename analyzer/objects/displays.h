// What a program shows to people: prints, log lines, points of curves, and the helpers of the project that hand one of
// their parameters, or what they take out of one in a loop, on to these.
//
// Lines that are written into a file are displays of another kind: they may as well be data, as predictions are.
//
// A call is a display if the knowledge base says so (role `show`), or if its object is not known and the method is one by
// which loggers and writers of curves are called. Not sound: an object of another kind may have a method of that name.
#pragma once

#include <span>
#include <vector>

#include "analyzer/objects/program_index.h"
#include "analyzer/objects/values.h"

namespace allranks::objects {

// A place that shows some of its arguments.
struct Display {
  Site call;
  std::vector<ir::ExprId> shown;
  bool is_file = false;  // a line of a file: `writer.writerow(row)`, `file.write(text)`
};

class Displays {
 public:
  Displays(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
           const ProgramIndex& index);

  // Those in the body of a function, in order.
  std::span<const Display> In(FuncId function) const { return displays_[function.index]; }

 private:
  bool Shows(FuncId function, ir::ExprId call) const;
  bool WritesLine(FuncId function, ir::ExprId call) const;
  void AddDisplay(FuncId function, ir::ExprId call, bool is_file);
  void AddHelpers();
  bool NoteParams(FuncId function);
  bool ShowsOne(const ir::Module& module, ir::ExprId expr, const std::vector<base::NameId>& names) const;
  bool IsComplaint(const Site& call, const std::vector<base::NameId>& names) const;
  ir::ExprId ItemOf(const ir::Module& module, const ir::Stmt& loop) const;
  std::vector<base::NameId> NamesOf(FuncId function, base::NameId param) const;
  bool AddCallOf(FuncId helper, const Site& call);

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  Values values_;
  std::vector<std::vector<Display>> displays_;   // by FuncId
  std::vector<std::vector<bool>> shown_params_;  // by FuncId
};

}  // namespace allranks::objects
