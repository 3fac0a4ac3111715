#include "driver/explain/partings.h"

#include <algorithm>
#include <set>

#include "analyzer/ir/bindings.h"
#include "analyzer/variation/axes_text.h"
#include "analyzer/variation/passed_axes.h"
#include "driver/pipeline/paths.h"

namespace allranks::explain {
namespace {

using ir::BlockId;
using ir::ExprId;
using ir::StmtId;
using ir::StmtKind;

constexpr size_t kMostPartings = 8;
constexpr size_t kMostWhy = 4;

// A place in the program: the function of a frame and the byte where its line begins.
struct Located {
  ir::ModuleId module;
  ir::FunctionId function;
  uint32_t offset = 0;
};

// One statement on the way down to a line, and through which of its blocks.
struct Step {
  StmtId stmt;
  BlockId block;
  friend bool operator==(const Step&, const Step&) = default;
};

ir::ModuleId ModuleOf(const pipeline::Analysed& analysed, const std::string& path) {
  for (uint32_t i = 0; i < analysed.program.modules.size(); ++i) {
    const ir::Module& module = analysed.program.modules[ir::ModuleId{i}];
    if (module.file && analysed.files[module.file].path == path) return ir::ModuleId{i};
  }
  return {};
}

// The innermost function around the first code of a line.
std::optional<Located> Locate(const pipeline::Analysed& analysed, const Call& call) {
  const ir::ModuleId id = ModuleOf(analysed, call.path);
  if (!id) return std::nullopt;
  const ir::Module& module = analysed.program.modules[id];
  const source::SourceFile& file = analysed.files[module.file];
  if (call.line == 0 || call.line > file.line_starts.size()) return std::nullopt;
  const std::string_view text = source::LineText(file, call.line - 1);
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return std::nullopt;
  Located located{id, ir::kTopLevel, file.line_starts[call.line - 1] + static_cast<uint32_t>(first)};
  uint32_t smallest = ~0u;
  for (uint32_t i = 1; i < module.functions.size(); ++i) {
    const ir::Function& function = module.functions[ir::FunctionId{i}];
    const bool holds = function.begin <= located.offset && located.offset < function.end;
    // A lambda is no frame that begins a line.
    if (!holds || !function.name || function.end - function.begin >= smallest) continue;
    smallest = function.end - function.begin;
    located.function = ir::FunctionId{i};
  }
  return located;
}

class Search {
 public:
  explicit Search(const pipeline::Analysed& analysed) : analysed_(analysed) {}

  std::vector<Parting> Take() {
    std::ranges::stable_sort(found_, [](const Parting& a, const Parting& b) { return Weight(a) > Weight(b); });
    if (found_.size() > kMostPartings) found_.resize(kMostPartings);
    return std::move(found_);
  }

  // The decisions over `waiting` in its function; `other` is where a missing rank is in the same call, if it is in it.
  // `after`: the line in the function at which all were together.
  void Function(const Call& waiting, const std::optional<Call>& other, uint32_t after) {
    const std::optional<Located> at = Locate(analysed_, waiting);
    if (!at) return;
    at_ = *at;
    const std::vector<Step> way = WayTo(at->offset);
    std::vector<Step> other_way;
    const std::optional<uint32_t> beside = other ? OffsetInSameFunction(*other) : std::nullopt;
    const bool same_function = beside.has_value();
    if (same_function) other_way = WayTo(*beside);
    const uint32_t after_offset = OffsetOf(after);
    for (size_t i = 0; i < way.size(); ++i) {
      const bool shared = i < other_way.size() && other_way[i] == way[i];
      // A rank that stands before the decision has not taken it yet, or is in another turn of a loop.
      const bool seen = same_function && beside.value_or(0) > module()[way[i].stmt].begin;
      if (!shared && way[i].block) Decision(way[i], seen);
      Exits(i == 0 ? Body() : way[i - 1].block, way[i].stmt, same_function, after_offset);
      if (!shared) Around(way[i], same_function);
    }
    // What only the missing rank went into: `if rank == 0: save()`.
    for (size_t i = 0; i < other_way.size(); ++i) {
      const bool shared = i < way.size() && way[i] == other_way[i];
      if (!shared && other_way[i].block) Decision(other_way[i], true);
    }
  }

  // Where the operands of the statement at the line come from: names, and the names that they are computed from.
  void Operands(const Call& waiting) {
    const std::optional<Located> at = Locate(analysed_, waiting);
    if (!at) return;
    at_ = *at;
    const std::vector<Step> way = WayTo(at->offset);
    if (way.empty()) return;
    std::set<uint32_t> names;
    NamesIn(module()[way.back().stmt], names);
    for (size_t before = 0; before != names.size();) {
      before = names.size();
      Computed(Body(), {}, names);
    }
  }

 private:
  void NamesIn(ExprId id, std::set<uint32_t>& names, uint32_t depth) const {
    if (depth > ir::kMaxDepth) return;
    if (module()[id].kind == ir::ExprKind::Name) names.insert(ir::NameOf(module()[id]).index);
    ir::ForEachPart(module(), id, [&](ExprId part) { NamesIn(part, names, depth + 1); });
  }

  void NamesIn(const ir::Stmt& stmt, std::set<uint32_t>& names) const {
    ir::ForEachExpr(module(), stmt, [&](ExprId part) { NamesIn(part, names, 0); });
  }

  bool Assigns(StmtId id, const std::set<uint32_t>& names) const {
    bool does = false;
    ir::ForEachBinding(module(), module()[id], [&](const ir::Binding& bound) { does = does || names.contains(bound.name.index); });
    return does;
  }

  // Assignments to the names above the line; `under`: the statements that decide whether they happen.
  void Computed(BlockId block, const std::vector<StmtId>& under, std::set<uint32_t>& names) {
    for (const StmtId id : module().statements(block)) {
      const ir::Stmt& stmt = module()[id];
      if (stmt.begin >= at_.offset || under.size() > ir::kMaxDepth) return;
      const bool is_assignment = stmt.kind == StmtKind::Assign || stmt.kind == StmtKind::AugAssign || stmt.kind == StmtKind::AnnAssign;
      if (is_assignment && Assigns(id, names)) {
        NamesIn(stmt, names);
        for (const StmtId decider : under) Add(decider, ConditionOf(decider), "size", 0, false);
      }
      std::vector<StmtId> inner = under;
      if (ConditionOf(id)) inner.push_back(id);
      ir::ForEachBlock(module(), stmt, [&](BlockId part) { Computed(part, inner, names); });
    }
  }

  const ir::Module& module() const { return analysed_.program.modules[at_.module]; }
  BlockId Body() const { return module().functions[at_.function].body; }

  std::optional<uint32_t> OffsetInSameFunction(const Call& call) const {
    const std::optional<Located> located = Locate(analysed_, call);
    if (!located || located->module != at_.module || located->function != at_.function) return std::nullopt;
    return located->offset;
  }

  static int Weight(const Parting& parting) {
    return (parting.is_observed ? 4 : 0) + (parting.is_by_rank ? 3 : parting.varies.empty() ? 0 : 2);
  }

  uint32_t OffsetOf(uint32_t line) const {
    const source::SourceFile& file = analysed_.files[module().file];
    return line == 0 || line > file.line_starts.size() ? 0 : file.line_starts[line - 1];
  }

  std::vector<Step> WayTo(uint32_t offset) const {
    std::vector<Step> way;
    BlockId block = Body();
    while (block && way.size() < ir::kMaxDepth) {
      BlockId inner;
      StmtId holder;
      for (const StmtId stmt : module().statements(block)) {
        if (module()[stmt].begin <= offset && offset < module()[stmt].end) holder = stmt;
      }
      if (!holder) break;
      ir::ForEachBlock(module(), module()[holder], [&](BlockId candidate) {
        for (const StmtId stmt : module().statements(candidate)) {
          if (module()[stmt].begin <= offset && offset < module()[stmt].end) inner = candidate;
        }
      });
      way.push_back({holder, inner});
      block = inner;
    }
    return way;
  }

  // The expression that decides whether the block is entered; none: nothing of the program's own does.
  ExprId ConditionOf(StmtId id) const {
    const ir::Stmt& stmt = module()[id];
    switch (stmt.kind) {
      case StmtKind::If:
      case StmtKind::While:
      case StmtKind::Match: return ir::ValueOf(stmt);
      case StmtKind::For: return ir::AssignedOf(stmt);
      default: return {};
    }
  }

  void Decision(const Step& step, bool observed) {
    const ir::Stmt& stmt = module()[step.stmt];
    if (stmt.kind == StmtKind::Try) return Handler(step, observed);
    const ExprId condition = ConditionOf(step.stmt);
    if (!condition) return;
    const bool loop = stmt.kind == StmtKind::For || stmt.kind == StmtKind::While;
    Add(step.stmt, condition, loop ? "loop" : "branch", 0, observed);
  }

  void Handler(const Step& step, bool observed) {
    for (const ir::Handler& handler : ir::HandlersOf(module(), module()[step.stmt])) {
      if (handler.body != step.block) continue;
      Parting parting;
      parting.kind = "handler";
      parting.is_observed = observed;
      parting.varies = "depends on errors of one rank";
      parting.is_by_rank = true;
      parting.place = SpotAt(handler.begin, handler.end);
      Keep(std::move(parting));
    }
  }

  // What ends a loop or a `try` around the line early on a rank, wherever in it that stands.
  void Around(const Step& step, bool same_function) {
    const ir::Stmt& stmt = module()[step.stmt];
    if (stmt.kind == StmtKind::For || stmt.kind == StmtKind::While) {
      for (const StmtId part : module().statements(ir::BodyOf(stmt))) {
        if (module()[part].begin > at_.offset) ExitsOf(part, {}, same_function, false, 0);
      }
    }
    if (stmt.kind != StmtKind::Try || ir::TriedOf(stmt) != step.block) return;
    for (const ir::Handler& handler : ir::HandlersOf(module(), stmt)) Handler({step.stmt, handler.body}, false);
  }

  // Statements before `until` in its block that may leave.
  void Exits(BlockId block, StmtId until, bool same_function, uint32_t after) {
    for (const StmtId id : module().statements(block)) {
      if (id == until) return;
      const ir::Stmt& stmt = module()[id];
      if (stmt.end <= after) continue;
      if (stmt.kind != StmtKind::If && stmt.kind != StmtKind::For && stmt.kind != StmtKind::While && stmt.kind != StmtKind::Try &&
          stmt.kind != StmtKind::With && stmt.kind != StmtKind::Match) {
        continue;
      }
      ExitsOf(id, {}, same_function, false, 0);
    }
  }

  // `decider`: the innermost statement that decides whether this one is reached.
  void ExitsOf(StmtId id, StmtId decider, bool same_function, bool in_loop, uint32_t depth) {
    if (depth > ir::kMaxDepth) return;
    const ir::Stmt& stmt = module()[id];
    // A rank that still is in the function did not return from it.
    const bool returns = (stmt.kind == StmtKind::Return || stmt.kind == StmtKind::Raise) && !same_function;
    const bool leaves_turn = (stmt.kind == StmtKind::Break || stmt.kind == StmtKind::Continue) && !in_loop;
    if ((returns || leaves_turn) && decider) {
      if (const ExprId condition = ConditionOf(decider)) Add(decider, condition, "exit", LineOf(stmt.begin), false);
      return;
    }
    const bool loop = stmt.kind == StmtKind::For || stmt.kind == StmtKind::While;
    const StmtId inner = ConditionOf(id) ? id : decider;
    ir::ForEachBlock(module(), stmt, [&](BlockId block) {
      for (const StmtId part : module().statements(block)) ExitsOf(part, inner, same_function, in_loop || loop, depth + 1);
    });
  }

  uint32_t LineOf(uint32_t offset) const { return source::Locate(analysed_.files[module().file], offset).line + 1; }

  Spot SpotAt(uint32_t begin, uint32_t end) const {
    const source::SourceFile& file = analysed_.files[module().file];
    std::string text = file.text.substr(begin, std::min(end, begin + 120) - begin);
    std::ranges::replace(text, '\n', ' ');
    return {.path = file.path, .line = LineOf(begin), .text = std::move(text)};
  }

  void Add(StmtId stmt, ExprId condition, const char* kind, uint32_t exit_line, bool observed) {
    Parting parting;
    parting.kind = kind;
    parting.exit_line = exit_line;
    parting.is_observed = observed;
    parting.place = SpotAt(module()[condition].begin, module()[condition].end);
    const binding::FuncId func = analysed_.program.func(at_.module, at_.function);
    variation::ValueId value = analysed_.facts.value(at_.module, condition);
    const StmtKind form = module()[stmt].kind;
    if (form == StmtKind::For || form == StmtKind::While) {
      if (const variation::ValueId trips = analysed_.facts.trip_count(func, condition)) value = trips;
    }
    const knowledge::Axes axes = variation::PassedAxes(analysed_.facts, value);
    if (!axes.empty()) {
      parting.varies = variation::VariesText(axes);
      parting.is_by_rank = axes.has(knowledge::Axis::Global) || axes.has(knowledge::Axis::Local);
      AddWhy(func, condition, parting);
    }
    if (!axes.empty() || observed) Keep(std::move(parting));
  }

  void AddWhy(binding::FuncId func, ExprId condition, Parting& parting) const {
    for (const variation::WhyStep& step : variation::ExplainVariation(analysed_.program, *analysed_.knowledge, analysed_.facts, func, condition, kMostWhy)) {
      if (!step.span.file) continue;
      const source::SourceFile& file = analysed_.files[step.span.file];
      parting.why.push_back({.path = file.path, .line = source::Locate(file, step.span.begin).line + 1, .text = step.text});
    }
  }

  void Keep(Parting parting) {
    const auto same = std::ranges::find_if(found_, [&](const Parting& old) { return old.place.path == parting.place.path && old.place.line == parting.place.line; });
    if (same == found_.end()) return found_.push_back(std::move(parting));
    if (Weight(parting) > Weight(*same)) *same = std::move(parting);
  }

  const pipeline::Analysed& analysed_;
  Located at_;
  std::vector<Parting> found_;
};

// How many calls, from the outermost on, both are in: same function, and for all but the last also the same line.
size_t SharedCalls(const std::vector<Call>& a, const std::vector<Call>& b) {
  size_t shared = 0;
  while (shared < a.size() && shared < b.size() && a[shared].path == b[shared].path && a[shared].function == b[shared].function) {
    ++shared;
    if (a[shared - 1].line != b[shared - 1].line) break;
  }
  return shared;
}

}  // namespace

std::vector<Parting> FindPartings(const pipeline::Analysed& analysed, const std::vector<Call>& waiting,
                                  const std::vector<Call>& elsewhere, const std::vector<Call>& last_common) {
  Search search(analysed);
  const size_t shared = SharedCalls(waiting, elsewhere);
  const size_t together = SharedCalls(waiting, last_common);
  // From the innermost call that is known to be shared downwards; without any, all of them.
  const size_t first = shared > 0 ? shared - 1 : together > 0 ? together - 1 : 0;
  for (size_t i = first; i < waiting.size(); ++i) {
    std::optional<Call> other;
    if (i < shared) other = elsewhere[i];
    // Behind the last operation that all issued, if that was in this call.
    const bool knows_after = i + 1 == together && last_common[i].line < waiting[i].line;
    search.Function(waiting[i], other, knows_after ? last_common[i].line : 0);
  }
  return search.Take();
}

std::vector<Parting> FindSizePartings(const pipeline::Analysed& analysed, const Call& waiting) {
  Search search(analysed);
  search.Operands(waiting);
  return search.Take();
}

std::string DriftOf(const pipeline::Analysed& analysed, const Call& call) {
  const ir::ModuleId id = ModuleOf(analysed, call.path);
  if (!id) return {};
  const std::string where = call.path + ":" + std::to_string(call.line);
  const source::SourceFile& file = analysed.files[analysed.program.modules[id].file];
  if (call.line > file.line_starts.size()) return where + " does not exist here: the file has " + std::to_string(file.line_starts.size()) + " lines";
  const std::optional<Located> located = Locate(analysed, call);
  if (!located) return where + " is an empty line here; the job ran `" + call.function + "` there";
  // Comprehensions and lambdas have frames of their own, under names that no definition has.
  if (call.function.starts_with("<") && call.function != "<module>") return {};
  const ir::Function& function = analysed.program.modules[id].functions[located->function];
  const std::string_view here = located->function == ir::kTopLevel ? "<module>" : analysed.program.text(function.name);
  std::string_view ran = call.function;
  if (const size_t dot = ran.rfind('.'); dot != std::string_view::npos) ran.remove_prefix(dot + 1);
  if (ran.empty() || here == ran) return {};
  return where + " is in `" + std::string(here) + "` here, but the job ran `" + call.function + "` there";
}

}  // namespace allranks::explain
