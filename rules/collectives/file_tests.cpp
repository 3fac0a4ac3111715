#include "rules/collectives/file_tests.h"

#include <algorithm>
#include <optional>

#include "analyzer/ir/walk.h"
#include "analyzer/objects/displays.h"
#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;
using variation::ValueId;

constexpr knowledge::Axes kFiles = knowledge::Axes::Of(knowledge::Axis::Files);

// Whether it is there, or which files are.
bool IsOfLook(knowledge::Role role) { return role == knowledge::Role::LooksAtDisk || role == knowledge::Role::ListFiles; }

// Whether it leaves something where nothing was.
bool ChangesDisk(objects::FileAct act) {
  switch (act) {
    case objects::FileAct::Write:
    case objects::FileAct::WriteLog:
    case objects::FileAct::MoveTo:
    case objects::FileAct::MakeFolder:
      return true;
    default:
      return false;
  }
}

bool IsRemoval(objects::FileAct act) { return act == objects::FileAct::Remove || act == objects::FileAct::MoveFrom; }

// Whether a test holds where a part of it does: not if it is negated on the way; none if there is no such part.
template <typename IsPart>
std::optional<bool> Agrees(const ir::Module& module, ir::ExprId test, const IsPart& is_part, int depth = 0) {
  constexpr int kDeepest = 16;
  if (is_part(test)) return true;
  if (depth > kDeepest) return std::nullopt;
  const bool negates = module[test].kind == ir::ExprKind::Unary && static_cast<ir::UnaryOp>(module[test].op) == ir::UnaryOp::Not;
  std::optional<bool> found;
  ir::ForEachPart(module, test, [&](ir::ExprId each) {
    const std::optional<bool> inner = Agrees(module, each, is_part, depth + 1);
    if (inner && !found) found = negates ? !*inner : *inner;
  });
  return found;
}

}  // namespace

FileTests::FileTests(const Context& context) : context_(context) {
  for (const KnownCall& call : context.index.known_calls()) {
    if (!call.entry->yield.axes.has(knowledge::Axis::Files)) continue;
    const ValueId value = context.facts.value(context.program.funcs[call.function].module, call.expr);
    if (value && context.facts.values_store.axes(value).has(knowledge::Axis::Files)) varying_.emplace(value.index, &call);
  }
}

std::optional<Site> FileTests::Of(const traces::Difference& difference) const {
  if (difference.axes != kFiles || !difference.condition_expr) return std::nullopt;
  const std::vector<const KnownCall*> looks = LooksOf(difference);
  if (looks.empty()) return Site{difference.condition_function, difference.condition_expr};
  if (AnyChanges(looks, difference.condition_function)) return std::nullopt;
  return Site{looks.front()->function, looks.front()->expr};
}

// What is read out of names and files that are there (the newest step) has been written before.
bool FileTests::AnswersChange(const traces::Difference& difference) const {
  std::vector<const KnownCall*> looks = LooksOf(difference);
  std::erase_if(looks, [&](const KnownCall* look) { return !Decides(*look, difference); });
  return AnyChanges(looks, difference.condition_function);
}

bool FileTests::Decides(const KnownCall& look, const traces::Difference& difference) const {
  if (difference.kind != traces::DifferenceKind::DataBranch || !difference.condition_expr) return false;
  const ir::ModuleId module_id = context_.program.funcs[difference.condition_function].module;
  return std::ranges::any_of(PlacesThatAsk(look), [&](const Asked& asked) {
    const ValueId answer = AnswerAt(asked.site);
    const auto is_answer = [&](ir::ExprId part) { return answer && context_.facts.value(module_id, part) == answer; };
    return Agrees(context_.program.modules[module_id], difference.condition_expr, is_answer).has_value() || HoldsAnswer(ConditionOf(difference), answer);
  });
}

ValueId FileTests::AnswerAt(const Site& site) const { return context_.facts.value(context_.program.funcs[site.function].module, site.expr); }

// The look itself first, and then the calls of the function around it, and of those around these, that yield what it found.
std::vector<FileTests::Asked> FileTests::PlacesThatAsk(const KnownCall& look) const {
  constexpr size_t kMostPlaces = 16;
  std::vector<Asked> places = {{{look.function, look.expr}, PathOf(look)}};
  for (size_t i = 0; i < places.size() && places.size() < kMostPlaces; ++i) {
    const Asked inner = places[i];
    for (const Site& call : context_.index.CallersOf(inner.site.function)) {
      const ValueId answer = AnswerAt(call);
      const bool is_handed_on = answer && context_.facts.values_store.axes(answer).has(knowledge::Axis::Files);
      const bool is_known = std::ranges::find(places, call, &Asked::site) != places.end();
      if (is_handed_on && !is_known) places.push_back({call, Handed(inner.path, call)});
    }
  }
  return places;
}

// What a call passes for a path that the function which it calls gets.
ValueId FileTests::Handed(ValueId path, const Site& call) const {
  const variation::CallFact* fact = context_.facts.call(call.function, call.expr);
  if (!path || fact == nullptr || context_.facts.values_store[path].kind != variation::ValueKind::Param) return path;
  const variation::Value& param = context_.facts.values_store[path];
  const auto args = context_.facts.args(*fact);
  return param.function() == fact->function && param.param_index() < args.size() ? args[param.param_index()] : ValueId::None();
}

// The answer of a helper, which asks for more: `path is not None and os.path.exists(path)`.
bool FileTests::HoldsAnswer(ValueId test, ValueId answer, int depth) const {
  constexpr int kDeepest = 8;
  if (!test || !answer || depth > kDeepest) return false;
  if (test == answer) return true;
  const variation::Value& value = context_.facts.values_store[test];
  const bool is_test = value.is_not() || value.kind == variation::ValueKind::And || value.kind == variation::ValueKind::Or ||
                       value.kind == variation::ValueKind::Select;
  return is_test && std::ranges::any_of(context_.facts.values_store.Kids(test), [&](ValueId kid) { return HoldsAnswer(kid, answer, depth + 1); });
}

bool FileTests::AnyChanges(const std::vector<const KnownCall*>& looks, FuncId tested_in) const {
  return std::ranges::any_of(looks, [&](const KnownCall* look) { return IsChangedMeanwhile(*look, tested_in) || IsSignal(*look); });
}

ValueId FileTests::ConditionOf(const traces::Difference& difference) const {
  if (!difference.condition_function || !difference.condition_expr) return {};
  if (difference.kind == traces::DifferenceKind::TripCount) {
    if (const ValueId trips = context_.facts.trip_count(difference.condition_function, difference.condition_expr)) return trips;
  }
  return context_.facts.value(context_.program.funcs[difference.condition_function].module, difference.condition_expr);
}

std::vector<const KnownCall*> FileTests::LooksOf(const traces::Difference& difference) const {
  std::vector<const KnownCall*> looks;
  if (const ValueId condition = ConditionOf(difference)) {
    context_.values.AnyPart(condition, [&](ValueId part) {
      if (const auto found = varying_.find(part.index); found != varying_.end()) looks.push_back(found->second);
      return false;
    });
  }
  if (!looks.empty()) return looks;
  if (const KnownCall* look = EndOfChain(difference)) looks.push_back(look);
  return looks;
}

const KnownCall* FileTests::EndOfChain(const traces::Difference& difference) const {
  constexpr size_t kLongest = 64;
  const std::vector<variation::WhyStep> steps =
      variation::ExplainVariation(context_.program, context_.knowledge, context_.facts, difference.condition_function,
                                  difference.condition_expr, kLongest);
  if (steps.empty()) return nullptr;
  for (const auto& [value, call] : varying_) {
    if (SpanOf(context_, {call->function, call->expr}) == steps.back().span) return call;
  }
  return nullptr;
}

ValueId FileTests::PathOf(const KnownCall& look) const {
  for (const knowledge::RoleOf& role : look.entry->roles) {
    if (IsOfLook(role.role) && role.param) return context_.index.Arg(look, context_.program.text(role.param));
  }
  return look.receiver;
}

const FileTests::Uses& FileTests::AllUses() const {
  if (uses_) return *uses_;
  uses_.emplace();
  std::unordered_set<uint32_t> known;
  for (uint32_t m = 0; m < context_.program.modules.size(); ++m) {
    const ir::ModuleId module{m};
    for (const ir::ExprId call : context_.index.ExprsOf(module, ir::ExprKind::Call)) {
      if (!LooksAt(module, call)) AddUses(module, call, *uses_, known);
    }
  }
  return *uses_;
}

// `known`: values whose parts are there already. A text that names a path is for people.
void FileTests::AddUses(ir::ModuleId module_id, ir::ExprId call, Uses& uses, std::unordered_set<uint32_t>& known) const {
  const ir::Module& module = context_.program.modules[module_id];
  const auto add = [&](ir::ExprId expr) {
    const ValueId value = context_.facts.value(module_id, expr);
    if (!value || module[expr].kind == ir::ExprKind::FString || !known.insert(value.index).second) return;
    context_.values.AnyPart(value, [&](ValueId part) {
      uses.parts.insert(part.index);
      return false;
    });
  };
  const ir::Expr& callee = module[ir::CalleeOf(module[call])];
  if (callee.kind == ir::ExprKind::Attribute) add(ir::ObjectOf(callee));
  // What a function that looks gets is used there, if at all.
  if (LeadsToLook(module_id, call)) return;
  for (uint32_t i = 0; i < ir::ArgCount(module, module[call]); ++i) {
    const ir::ExprId arg = ir::ArgAt(module, module[call], i).value;
    add(arg);
    if (arg && module[arg].kind == ir::ExprKind::Attribute) uses.attributes.insert(ir::AttrOf(module[arg]).index);
  }
}

// Whether anything gets the path, or something made of it, and does more than look whether it is there.
bool FileTests::IsUsed(ValueId path) const { return AllUses().parts.contains(path.index); }

// The attribute that holds the path is an argument of something else: of another function's options, which are the same.
bool FileTests::IsUsedByName(const KnownCall& look) const {
  ir::ExprId path;
  for (const knowledge::RoleOf& role : look.entry->roles) {
    if (IsOfLook(role.role) && role.param) path = context_.index.ArgExpr(look, context_.program.text(role.param));
  }
  const ir::Module& module = context_.program.module_of(look.function);
  return path && module[path].kind == ir::ExprKind::Attribute && AllUses().attributes.contains(ir::AttrOf(module[path]).index);
}

bool FileTests::LooksAt(ir::ModuleId module, ir::ExprId call) const {
  const FuncId function = FunctionAround(context_, module, call);
  const variation::CallFact* fact = function ? context_.facts.call(function, call) : nullptr;
  return fact != nullptr && fact->kind == variation::CallKind::Known && context_.knowledge[fact->entry].Has(knowledge::Role::LooksAtDisk);
}

// A call of a function that looks at the disk itself, or of a class with such a method.
bool FileTests::LeadsToLook(ir::ModuleId module, ir::ExprId call) const {
  const FuncId function = FunctionAround(context_, module, call);
  const variation::CallFact* fact = function ? context_.facts.call(function, call) : nullptr;
  if (fact == nullptr || !fact->function) return false;
  if (fact->kind == variation::CallKind::Function) return Looks(fact->function);
  const binding::ClassId made = fact->kind == variation::CallKind::Construct ? context_.program.funcs[fact->function].owner : binding::ClassId::None();
  return made && std::ranges::any_of(context_.program.classes[made].methods, [&](const auto& method) { return Looks(method.second); });
}

bool FileTests::Looks(FuncId function) const {
  if (looks_.empty()) FindLooks();
  return looks_[function.index];
}

// Functions that look themselves, and those that call such ones over a few steps.
void FileTests::FindLooks() const {
  constexpr int kLongestWay = 4;
  const uint32_t count = static_cast<uint32_t>(context_.program.funcs.size());
  looks_.resize(count);
  for (int step = 0; step <= kLongestWay; ++step) {
    std::vector<bool> next = looks_;
    for (uint32_t f = 0; f < count; ++f) {
      next[f] = looks_[f] || std::ranges::any_of(context_.facts.functions[FuncId{f}].calls, [&](const auto& each) {
        const variation::CallFact& call = each.second;
        if (call.kind == variation::CallKind::Known) return context_.knowledge[call.entry].Has(knowledge::Role::LooksAtDisk);
        return call.kind == variation::CallKind::Function && call.function && looks_[call.function.index];
      });
    }
    looks_ = std::move(next);
  }
}

// A function of the project gets the path itself; a message would get a text. A library that saves may get the folder
// that the path begins with.
bool FileTests::MayMake(const variation::CallFact& call, ValueId path) const {
  const bool is_saved = call.kind == variation::CallKind::Known && context_.knowledge[call.entry].has_operation;
  const bool is_own = call.kind == variation::CallKind::Function || call.kind == variation::CallKind::Construct;
  if (!is_saved && !is_own) return false;
  return std::ranges::any_of(context_.facts.args(call), [&](ValueId arg) {
    return arg == path || (is_saved && arg && context_.values.AnyPart(path, [&](ValueId part) { return part == arg; }));
  });
}

// Somewhere below this call a file is written whose path the caller has a say in.
bool FileTests::LeadsToWrite(const Site& call) const {
  return std::ranges::any_of(context_.file_uses.uses(), [&](const objects::FileUse& use) {
    return ChangesDisk(use.act) && std::ranges::find(use.way, call) != use.way.end();
  });
}

// A call that is known to write files writes this one, or moves another here.
bool FileTests::Makes(const objects::FileUse& use, ValueId path) const { return ChangesDisk(use.act) && Concerns(use, path); }

// A folder of that name is made here: `if os.path.isfile(folder): return` refuses a wrong argument, and stays as it is.
bool FileTests::IsKeptByFolder(const KnownCall& look, const Asked& asked) const {
  return look.entry->Has(knowledge::Role::AsksForFile) && std::ranges::any_of(context_.file_uses.uses(), [&](const objects::FileUse& use) {
    return use.act == objects::FileAct::MakeFolder && use.site().function == asked.site.function && Concerns(use, asked.path);
  });
}

bool FileTests::Concerns(const objects::FileUse& use, ValueId path) const {
  const objects::PathReader& reader = context_.file_uses.paths();
  const std::vector<objects::FilePath> looked_at = reader.PathsOf(path, nullptr);
  const auto is_looked_at = [&](const objects::FilePath& made) {
    return std::ranges::find(looked_at, made.Spelled(), &objects::FilePath::Spelled) != looked_at.end();
  };
  // Of a helper, what this way passes.
  return use.way.size() > 1 ? is_looked_at(use.path) : std::ranges::any_of(reader.PathsOf(use.value, nullptr), is_looked_at);
}

// Whether a place is reached only where the answer was that the file is there, or that it is not.
bool FileTests::IsWhere(bool is_there, const Site& use, const Site& asked) const {
  const ir::ModuleId module_id = context_.program.funcs[use.function].module;
  const ir::Module& module = context_.program.modules[module_id];
  const ValueId answer = context_.facts.value(module_id, asked.expr);
  // The call itself, or a variable that holds its answer.
  const auto is_answer = [&](ir::ExprId part) {
    return part == asked.expr || (answer && context_.facts.value(module_id, part) == answer);
  };
  return std::ranges::any_of(context_.guards.Of(use), [&](const objects::Guard& guard) {
    const std::optional<bool> agrees = Agrees(module, guard.test, is_answer);
    return agrees && (*agrees == guard.holds) == is_there;
  });
}

// The ranks meet after the look and before the file is made: all of them have looked by then. In a loop the next look
// may come late, unless it is for another file.
bool FileTests::IsAfterMeeting(const Site& use, const Asked& asked) const {
  const ir::ModuleId module_id = context_.program.funcs[asked.site.function].module;
  const ir::Module& module = context_.program.modules[module_id];
  const std::vector<ir::StmtId> loops = context_.index.LoopsAround(asked.site);
  if (!std::ranges::all_of(loops, [&](ir::StmtId loop) { return IsOfRound(asked, loop); })) return false;
  return MeetBetween(asked.site, module[use.expr].begin);
}

// Whether a statement that follows a place, in its block or one around it, and ends before a position, communicates.
bool FileTests::MeetBetween(const Site& site, uint32_t position) const {
  const ir::ModuleId module_id = context_.program.funcs[site.function].module;
  const ir::Module& module = context_.program.modules[module_id];
  const ir::Tree& tree = context_.index.tree(module_id);
  for (ir::StmtId at = tree.StatementOf(site.expr); at; at = tree.Parent(at)) {
    for (const ir::StmtId later : module.statements(tree.BlockOf(at))) {
      const bool is_between = module[later].begin >= module[at].end && module[later].end <= position;
      if (is_between && context_.training.Communicates(module_id, later)) return true;
    }
  }
  return false;
}

// Each round of the loop looks for a file of its own: the path is made of what the loop is at.
bool FileTests::IsOfRound(const Asked& asked, ir::StmtId loop) const {
  const ir::ModuleId module_id = context_.program.funcs[asked.site.function].module;
  const ir::Stmt& stmt = context_.program.modules[module_id][loop];
  if (stmt.kind != ir::StmtKind::For || !asked.path) return false;
  const ValueId item = context_.facts.value(module_id, ir::ValueOf(stmt));
  return item && context_.values.AnyPart(asked.path, [&](ValueId part) { return part == item; });
}

// Where it is looked for, or in the function that tests the answer.
bool FileTests::IsChangedMeanwhile(const KnownCall& look, FuncId tested_in) const {
  return std::ranges::any_of(PlacesThatAsk(look), [&](const Asked& asked) {
    const bool is_here = asked.site.function == look.function || asked.site.function == tested_in;
    return is_here && asked.path && !IsKeptByFolder(look, asked) && (IsMadeMeanwhile(asked) || IsRemovedMeanwhile(asked));
  });
}

bool FileTests::IsMadeMeanwhile(const Asked& asked) const {
  const FuncId function = asked.site.function;
  const auto is_open = [&](const Site& use) { return IsWhere(false, use, asked.site) && !IsAfterMeeting(use, asked); };
  const bool is_handed_on = std::ranges::any_of(context_.facts.functions[function].calls, [&](const auto& call) {
    const Site site{function, call.first};
    return MayMake(call.second, asked.path) && (call.second.kind == variation::CallKind::Known || LeadsToWrite(site)) && is_open(site);
  });
  return is_handed_on || std::ranges::any_of(context_.file_uses.uses(), [&](const objects::FileUse& use) {
    return use.site().function == function && Makes(use, asked.path) && is_open(use.site());
  }) || IsFetchedByOne(asked);
}

// `if os.path.exists(path): os.remove(path)`: whoever looks next finds it gone. Or one rank makes or removes it before.
bool FileTests::IsRemovedMeanwhile(const Asked& asked) const {
  return std::ranges::any_of(context_.file_uses.uses(), [&](const objects::FileUse& use) {
    const auto here = std::ranges::find(use.way, asked.site.function, &Site::function);
    if (here == use.way.end() || !Concerns(use, asked.path)) return false;
    return (IsRemoval(use.act) && IsWhere(true, *here, asked.site) && !IsAfterMeeting(*here, asked)) || IsOnSomeRanksBefore(use.act, *here, asked.site);
  });
}

// `if rank == 0: os.remove(path)`, and the ranks do not meet before they look.
bool FileTests::IsOnSomeRanksBefore(objects::FileAct act, const Site& site, const Site& asked) const {
  const ir::Module& module = context_.program.module_of(asked.function);
  const bool is_before = module[site.expr].end <= module[asked.expr].begin;
  return (ChangesDisk(act) || IsRemoval(act)) && is_before && IsOnSomeRanks(site) && !MeetBetween(site, module[asked.expr].begin);
}

// Where it is missing, one rank alone hands a part of the path to something of a library: to fetch the file, most likely.
bool FileTests::IsFetchedByOne(const Asked& asked) const {
  const auto is_part = [&](ValueId arg) {
    return arg && !variation::IsConstant(context_.facts.values_store[arg]) && context_.values.AnyPart(asked.path, [&](ValueId part) { return part == arg; });
  };
  const FuncId function = asked.site.function;
  return std::ranges::any_of(context_.facts.functions[function].calls, [&](const auto& call) {
    const Site site{function, call.first};
    const bool is_of_library = call.second.kind == variation::CallKind::External || call.second.kind == variation::CallKind::Unresolved;
    if (!is_of_library || !IsWhere(false, site, asked.site) || IsAfterMeeting(site, asked) || !IsOnSomeRanks(site)) return false;
    const ir::Module& module = context_.program.module_of(function);
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    bool has_part = false;
    for (uint32_t i = 0; i < ir::ArgCount(module, module[call.first]); ++i) {
      has_part = has_part || is_part(context_.facts.value(module_id, ir::ArgAt(module, module[call.first], i).value));
    }
    return has_part && !IsSaid(site);
  });
}

// It is shown to people, or raised.
bool FileTests::IsSaid(const Site& site) const {
  const ir::StmtId stmt = context_.index.StatementOf(site);
  if (stmt && context_.program.module_of(site.function)[stmt].kind == ir::StmtKind::Raise) return true;
  const objects::Displays displays(context_.program, context_.knowledge, context_.facts, context_.index);
  return std::ranges::any_of(displays.In(site.function), [&](const objects::Display& display) { return display.call == site && !display.is_file; });
}

bool FileTests::IsOnSomeRanks(const Site& site) const {
  const traces::World world = objects::SmallJob(context_.facts.job);
  const traces::RankSet ranks = context_.ranks.At(site, world);
  return !ranks.empty() && ranks != traces::RankSet::All(world.size());
}

// At the top of a program or on the way from there, in no loop.
bool FileTests::IsAskedOnce(const Site& site) const {
  const std::vector<Site> ways = context_.index.WaysTo(site);
  return !context_.index.IsRepeated(site) && std::ranges::all_of(ways, [&](const Site& way) {
    return context_.program.funcs[way.function].function == ir::kTopLevel || !context_.index.CallersOf(way.function).empty();
  });
}

bool FileTests::IsSignal(const KnownCall& look) const {
  // Of a listing, what it finds is used, unless all that is asked is whether there is something.
  const bool lists = look.entry->Has(knowledge::Role::ListFiles);
  const ValueId path = !lists ? PathOf(look) : NameLookedFor(look);
  // Nobody puts a file there between two looks at the start of a job. What a caller passes is for the caller to use, unless it is a
  // written name that nothing else gets.
  if (!path || IsAskedOnce({look.function, look.expr}) || IsUsed(path) || (!lists && IsUsedByName(look))) return false;
  if (context_.facts.values_store[path].kind != variation::ValueKind::Param) return true;
  return std::ranges::all_of(context_.values.Leaves(path), [&](ValueId passed) { return !context_.values.Str(passed).empty() && !IsUsed(passed); });
}

// What a test asks a listing for: the pattern of `if glob("STOP*")`, the name of `if "STOP" in listdir(folder)`; none of a listing that is
// used in any other way.
ValueId FileTests::NameLookedFor(const KnownCall& look) const {
  const ir::ModuleId module_id = context_.program.funcs[look.function].module;
  const ir::Module& module = context_.program.modules[module_id];
  const ir::Stmt& stmt = module[context_.index.StatementOf({look.function, look.expr})];
  if (stmt.kind != ir::StmtKind::If && stmt.kind != ir::StmtKind::While) return {};
  ValueId name = look.entry->Has(knowledge::Role::LooksAtDisk) ? PathOf(look) : ValueId();
  for (ir::ExprId at = ir::ValueOf(stmt); at != look.expr;) {
    const ir::Expr& expr = module[at];
    ir::ExprId next;
    ir::ForEachPart(module, at, [&](ir::ExprId part) {
      if (module[part].begin <= module[look.expr].begin && module[look.expr].end <= module[part].end) next = part;
    });
    const bool is_membership = expr.kind == ir::ExprKind::Compare && ir::ComparisonCount(module, expr) == 1 && next == ir::ComparisonAt(module, expr, 0).operand &&
                               (ir::ComparisonAt(module, expr, 0).op == ir::CompareOp::In || ir::ComparisonAt(module, expr, 0).op == ir::CompareOp::NotIn);
    if (is_membership) name = context_.facts.value(module_id, ir::LeftOf(expr));
    const bool is_truth = expr.kind == ir::ExprKind::Unary || expr.kind == ir::ExprKind::Bool;
    if (!next || (!is_membership && !is_truth)) return {};
    at = next;
  }
  return name;
}

}  // namespace allranks::rules
