// Where the result of an expression goes in its function, from there on: names, fields of objects and containers that
// take it in.
//
// Read in the order of the text, so that a name that is set anew no longer holds it; a loop around the beginning is read
// as if it were left after the first round. A method that is given it (`losses.append(loss)`) puts it into its object, and
// what is read of that object afterwards (`losses.average`) is made of it. The keys of a dictionary (`for name in sums: ... sums[name]`) are not made of what it holds, and what
// a method hands to its own object is not followed.
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
  // it is given into its other arguments (`dist.all_gather(everything, mine)`). `items`: which ones of a seed count where it is taken
  // apart (`steps, loss = train()`); none: all do. `uses_up`: whether a method leaves nothing of what it is given in its object
  // (`engine.backward(loss)`).
  FlowFrom(const binding::Program& program, const ProgramIndex& index, FuncId function, std::vector<ir::ExprId> seeds,
           uint32_t begin, Question ends = {}, Question counts = {}, Question fills = {}, std::vector<bool> items = {},
           Question uses_up = {});

  // Whether an expression of the function, behind the beginning, is made of them.
  bool Holds(ir::ExprId expr) const { return expr && found_.contains(expr.index); }
  // Whether it is made of an object to which something that counts was given.
  bool IsOfGiven(ir::ExprId expr) const { return expr && of_given_.contains(expr.index); }
  // Whether it is made of what rounds of a loop add to: `total += loss`, `losses.append(loss)`. What each round begins anew is none, and
  // what is begun under a condition is one.
  bool IsOfTotal(ir::ExprId expr) const { return expr && of_totals_.contains(expr.index); }
  // Whether something is filed under it: `results[image_id] = boxes`, where two of one key are one.
  bool is_filed() const { return is_filed_; }
  // Whether a variable, or a field of its object, held it at some place.
  bool IsEverIn(base::NameId variable) const;
  // Whether a field of its object did.
  bool IsEverInFieldOf(base::NameId variable) const;

 private:
  // A variable, or a field of one: its name, and that of the field or none.
  using Place = std::pair<uint32_t, uint32_t>;
  static constexpr uint32_t kWhole = UINT32_MAX;
  // What is known of an expression or a place.
  struct Held {
    bool holds = false;
    bool is_of_given = false;
    bool is_of_total = false;
  };

  void Read(ir::StmtId id);
  void ReadAssign(ir::StmtId id);
  std::vector<ir::ExprId> TargetsOf(ir::StmtId id) const;
  bool Take(ir::ExprId expr);
  void Set(ir::ExprId target, Held what);
  Held HeldBy(ir::ExprId expr) const { return {Holds(expr), IsOfGiven(expr), IsOfTotal(expr)}; }
  bool AddsToRounds(ir::StmtId id, ir::ExprId target) const;
  bool IsBegunBefore(ir::StmtId id, Place place) const;
  bool HoldsExpr(ir::StmtId stmt, ir::ExprId expr) const;
  bool BindsAtHead(ir::StmtId id, Place place) const;
  bool Begins(ir::StmtId id, Place place) const;
  bool Binds(ir::ExprId target, Place place) const;
  bool Mentions(ir::ExprId expr, Place place) const;
  void SetRound(ir::ExprId target, ir::ExprId iter, Held what);
  bool IsKeyOf(ir::ExprId target, ir::ExprId iter, ir::StmtId loop) const;
  bool HasOnePlaced(const ir::Expr& call) const;
  bool IsCallOf(ir::ExprId expr, std::string_view method) const;
  bool IsTakenApart(ir::ExprId value, ir::ExprId target) const;
  void ReadCall(ir::StmtId id, ir::ExprId call);
  bool IsImported(ir::ExprId object) const;
  bool FilesUnder(ir::ExprId arg) const;
  bool FilesUnder(const ir::Expr& comprehension) const;
  Place PlaceOf(ir::ExprId target) const;
  void TakeComprehension(const ir::Expr& comprehension, const Question& take);
  bool IsListOfEnds(ir::ExprId expr) const;
  bool IsIn(const std::set<Place>& places, ir::ExprId expr) const;

  const binding::Program& program_;
  const ProgramIndex& index_;
  const ir::ModuleId module_id_;
  const ir::Module& module_;
  const ir::Tree& tree_;
  Question ends_, counts_, fills_, uses_up_;
  std::vector<bool> items_;
  base::NameId self_;  // of a method: its own object
  bool is_filed_ = false;
  std::set<Place> held_, given_, totals_;
  std::set<Place> ever_;  // held it at some place
  std::unordered_set<uint32_t> seeds_, found_, of_given_, of_totals_;  // by ExprId
};

}  // namespace allranks::objects
