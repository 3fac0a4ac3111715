// The program by call: who calls whom, which library calls there are, and what each node stands in.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/base/innermost.h"
#include "analyzer/base/watch.h"
#include "analyzer/ir/tree.h"
#include "analyzer/variation/facts.h"

namespace allranks::objects {

using binding::FuncId;
using variation::ValueId;

// A place in a function.
struct Site {
  FuncId function;
  ir::ExprId expr;
  friend bool operator==(const Site&, const Site&) = default;
};

// A call, `with` item or iteration that the knowledge base describes.
struct KnownCall {
  FuncId function;
  ir::ExprId expr;
  const knowledge::Entry* entry = nullptr;
  ValueId receiver;
  std::span<const ValueId> args;  // by the entry's `params`; none where not passed
};

class ProgramIndex {
 public:
  ProgramIndex(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts);

  // From here on questions throw base::Cut once it is over: whoever works with the index asks it again and again, from any thread.
  void EndWhen(std::function<bool()> is_over) { is_over_ = std::move(is_over); }

  std::span<const KnownCall> known_calls() const {
    Step();
    return known_calls_;
  }
  // Those of one function.
  std::span<const KnownCall> KnownCallsIn(FuncId function) const;
  // Calls of a function of the project, in order of the callers; also those that call it or another one, an override of a method.
  std::span<const Site> CallersOf(FuncId function) const {
    Step();
    return callers_[function];
  }
  // Calls that are given a function as a value, and have it run: `Thread(target=self.work)`, `mp.spawn(worker)`.
  std::span<const Site> GivenTo(FuncId function) const { return given_to_[function]; }
  // Of the calls in a function that call one of several others, those that they may call, each with its call.
  std::span<const std::pair<ir::ExprId, FuncId>> ChoicesIn(FuncId function) const { return choices_[function]; }
  // What a caller hands over for a parameter of a function; none, if that is not seen.
  ValueId PassedBy(const Site& caller, FuncId function, uint32_t param) const;
  // The same as written; none: not written, or behind `*` and `**`.
  ir::ExprId PassedFor(const Site& call, FuncId function, uint32_t param) const;
  // Whether it is a plain function of a file, without decorators that may enter it into a table.
  bool IsPlainFunction(FuncId function) const;
  // The same, and nothing calls it.
  bool IsCalledByNobody(FuncId function) const;
  // What objects of a class of the project are made with, anywhere.
  std::span<const ValueId> MadeWith(binding::ClassId class_id) const { return made_with_[class_id]; }
  // The site, the calls of its function, the calls of the functions that these stand in, and so on.
  // At most about `kMostWays` of them.
  std::vector<Site> WaysTo(const Site& site) const;
  static constexpr size_t kMostWays = 200;
  // These functions, those that they call, enter or iterate over, those that these do, and so on, in order.
  std::vector<FuncId> RunBy(std::vector<FuncId> run) const;
  const ir::Tree& tree(ir::ModuleId module) const { return trees_[module.index]; }
  // The expressions of one kind in a module, in order.
  std::span<const ir::ExprId> ExprsOf(ir::ModuleId module, ir::ExprKind kind) const;

  // The known call that stands there; none: nullptr.
  const KnownCall* KnownCallAt(const Site& site) const;

  // Those of any kind that begin at these positions of a module, the last one included, in order of where they begin.
  std::span<const ir::ExprId> ExprsBeginningIn(ir::ModuleId module, uint32_t begin, uint32_t end) const;

  // The argument of a call for a parameter of its entry, as value and as written; none if not passed.
  ValueId Arg(const KnownCall& call, std::string_view param) const;
  ir::ExprId ArgExpr(const KnownCall& call, std::string_view param) const;
  // The statement around a place, and the loops around that in its function, innermost first.
  ir::StmtId StatementOf(const Site& site) const;
  // The innermost statement that holds a position of a file; none between statements.
  ir::StmtId StatementAt(ir::ModuleId module, uint32_t position) const;
  std::vector<ir::StmtId> LoopsAround(const Site& site) const;
  // Those in whose body a statement stands.
  std::vector<ir::StmtId> LoopsAround(ir::ModuleId module_id, ir::StmtId stmt) const;
  // Whether a place, or a call of its function or of one that calls this one, stands in a loop: it is come to more than once in a job, as far
  // as can be seen.
  bool IsRepeated(const Site& site) const;
  // The function in whose body a statement stands.
  FuncId FunctionOf(ir::ModuleId module, ir::StmtId stmt) const;

 private:
  // Of one module: its expressions by kind, and where each kind begins.
  struct ByKind {
    explicit ByKind(const ir::Module& module);
    std::array<uint32_t, ir::kExprKindCount + 1> begin = {};
    std::vector<ir::ExprId> exprs;
  };

  void Step() const {
    if (is_over_ && is_over_()) throw base::Cut{base::CutKind::Stopped};
  }

  // What stands where, of one module: made when the first place in it is asked for, by whichever rule.
  struct Places {
    std::once_flag has_statements, has_exprs;
    std::optional<base::Innermost> statements;
    std::vector<ir::ExprId> exprs;  // in order of where they begin
  };

  void NoteGiven(ir::ModuleId module);
  void AddCalls(FuncId function, const std::vector<std::pair<ir::ExprId, variation::CallFact>>& calls);
  // One of several functions is called: an overridden method, a callback out of a list.
  void AddChoice(const Site& site, ValueId callee);
  ValueId PassedToOneOf(const Site& caller, std::span<const ValueId> args, FuncId function, uint32_t param) const;

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const variation::Facts& facts_;
  std::vector<ir::Tree> trees_;
  std::vector<ByKind> by_kind_;
  mutable std::deque<Places> places_;
  base::IdVector<FuncId, std::vector<Site>> callers_, given_to_;
  base::IdVector<FuncId, std::vector<std::pair<ir::ExprId, FuncId>>> choices_;
  std::unordered_set<uint32_t> bound_;  // functions, by FuncId, that stand in a choice as methods of an object
  base::IdVector<binding::ClassId, std::vector<ValueId>> made_with_;
  std::vector<KnownCall> known_calls_;
  std::function<bool()> is_over_;
};

}  // namespace allranks::objects
