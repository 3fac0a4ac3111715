// Where the result of an expression goes in its function, from there on: names, fields of objects and containers that
// take it in.
//
// Read in the order of the text, so that a name that is set anew no longer holds it; a loop around the beginning is read
// as if it were left after the first round. A method that is given it (`losses.append(loss)`) puts it into its object, and
// what is read of that object afterwards (`losses.average`) is made of it.
//
// Not sound: aliases of objects are not seen, and what a function of the project keeps of its arguments is not known.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/objects/program_index.h"

namespace allranks::objects {

class FlowFrom {
 public:
  using Question = std::function<bool(ir::ExprId)>;
  // The results of `seeds`, which stand in the function; statements that begin before `begin` are not read. It goes into no
  // expression of which `ends` is true. `counts`: whether an argument counts as given to an object. `fills`: whether a call puts what
  // it is given into its other arguments (`dist.all_gather(everything, mine)`).
  FlowFrom(const binding::Program& program, const ProgramIndex& index, FuncId function, std::vector<ir::ExprId> seeds,
           uint32_t begin, Question ends = {}, Question counts = {}, Question fills = {});

  // Whether an expression of the function, behind the beginning, is made of them.
  bool Holds(ir::ExprId expr) const { return expr && found_.contains(expr.index); }
  // Whether it is made of an object to which something that counts was given.
  bool IsOfGiven(ir::ExprId expr) const { return expr && of_given_.contains(expr.index); }
  // Whether something is filed under it: `results[image_id] = boxes`, where two of one key are one.
  bool is_filed() const { return is_filed_; }

 private:
  // A variable, or a field of one: its name, and that of the field or none.
  using Place = std::pair<uint32_t, uint32_t>;
  static constexpr uint32_t kWhole = UINT32_MAX;

  void Read(const ir::Stmt& stmt);
  void ReadAssign(const ir::Stmt& stmt);
  bool Take(ir::ExprId expr);
  void Set(ir::ExprId target, bool holds, bool is_of_given);
  void ReadCall(ir::ExprId call);
  bool IsImported(ir::ExprId object) const;
  bool FilesUnder(ir::ExprId arg) const;
  bool FilesUnder(const ir::Expr& comprehension) const;
  Place PlaceOf(ir::ExprId target) const;
  void TakeComprehension(const ir::Expr& comprehension, const Question& take);
  bool IsListOfEnds(ir::ExprId expr) const;
  bool IsIn(const std::set<Place>& places, ir::ExprId expr) const;

  const ir::Module& module_;
  Question ends_, counts_, fills_;
  bool is_filed_ = false;
  std::set<Place> held_, given_;
  std::unordered_set<uint32_t> seeds_, found_, of_given_;  // by ExprId
};

}  // namespace allranks::objects
