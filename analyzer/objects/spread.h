// Where the result of a call goes, beyond its function: what a function returns goes to those that call it, what it stores in a field of
// `self` to where the methods of the class read that, and what it hands over to the parameter.
//
// What counts it (`len(rows)`) or compares it holds it no more.
//
// Not sound: as flow_from.h says, and beyond a bounded number of functions nothing is seen. Objects of one class are one.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "analyzer/objects/flow_from.h"

namespace allranks::objects {

class Spread {
 public:
  Spread(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index, const Site& from);
  // The same of several expressions of a function: of what a call puts into a variable, where that is read afterwards.
  Spread(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index, FuncId function,
         std::vector<ir::ExprId> seeds);

  bool Holds(const Site& place) const;
  // Whether something in a function reads it: a parameter that it is handed, or a field.
  bool IsReadIn(FuncId function) const { return flows_.contains(function.index); }

 private:
  void Follow(FuncId function, std::vector<ir::ExprId> seeds);
  void FollowReturned(FuncId function, const FlowFrom& flow);
  void FollowFields(FuncId function, const FlowFrom& flow);
  void FollowField(binding::ClassId owner, base::NameId field);
  void FollowArguments(FuncId function, const FlowFrom& flow);
  void FollowParam(FuncId function, base::NameId param);
  bool Ends(FuncId function, ir::ExprId expr) const;

  const binding::Program& program_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  std::map<uint32_t, std::vector<FlowFrom>> flows_;       // by FuncId
  std::set<std::pair<uint32_t, uint32_t>> seen_calls_;    // FuncId and ExprId
  std::set<std::pair<uint32_t, uint32_t>> seen_params_;   // FuncId and NameId
  std::set<std::pair<uint32_t, uint32_t>> seen_fields_;   // ClassId and NameId
  std::vector<std::pair<FuncId, std::vector<ir::ExprId>>> open_;
};

}  // namespace allranks::objects
