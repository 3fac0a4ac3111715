#include "rules/collectives/difference_finding.h"

#include <algorithm>

#include <fmt/format.h>

#include "analyzer/knowledge/words.h"
#include "analyzer/source/one_line.h"
#include "analyzer/variation/axes_text.h"
#include "rules/collectives/beside_operation.h"
#include "rules/finding_parts.h"
#include "rules/seed_places.h"

namespace allranks::rules {
namespace {

using findings::Finding;
using findings::FlightRecord;
using findings::LabelRole;
using traces::Difference;
using traces::DifferenceKind;
using traces::OpPlace;

std::string Code(std::string_view text) {
  // "backward of `model`" has its own backticks.
  if (text.find('`') != std::string_view::npos) return std::string(text);
  return fmt::format("`{}`", text);
}

// What stands at a place, on one line and not too long for a message.
std::string Snippet(const Context& context, source::Span span) {
  // A headline that begins with it has to fit on the line of a terminal.
  constexpr size_t kLongest = 55;
  return source::OnOneLine(std::string_view(context.files[span.file].text).substr(span.begin, span.end - span.begin), kLongest);
}

// Of a long name the class and the method, or the module and the function, which tell it from others.
std::string_view Shortened(std::string_view name) {
  constexpr size_t kLongest = 50;
  const size_t last = name.rfind('.');
  const size_t before = last == std::string_view::npos || last == 0 ? last : name.rfind('.', last - 1);
  return name.size() <= kLongest || before == std::string_view::npos ? name : name.substr(before + 1);
}

// Operators and methods of any object have no name that a reader knows; their place in the source says more.
std::string OpName(const Context& context, const OpPlace& op) {
  const knowledge::Entry& entry = context.knowledge[op.entry];
  const std::string_view name = context.program.text(entry.name);
  if (knowledge::IsOwnName(name)) return Code(Shortened(name));
  if (op.span.file) return Code(Snippet(context, op.span));
  return knowledge::AsCode(knowledge::WordsOfCall(name, context.program.text(entry.operation.kind), entry.operation.op_class));
}

bool InFunction(const Context& context, const Difference& difference, source::Span span) {
  const ir::Module& module = context.program.module_of(difference.function);
  const ir::Function& function = context.program.function(difference.function);
  const bool top_level = context.program.funcs[difference.function].function == ir::kTopLevel;
  return span.file == module.file &&
         (top_level || (span.begin >= function.begin && span.end <= function.end));
}

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

uint32_t LineOf(const Context& context, source::Span span) { return source::Locate(context.files[span.file], span.begin).line + 1; }

std::string LineText(const Context& context, source::Span from, source::Span to) {
  const source::SourceFile& file = context.files[to.file];
  const uint32_t line = LineOf(context, to);
  if (from.file == to.file) return fmt::format("line {}", line);
  // A label has the whole path.
  const bool is_told_apart = FileName(context.files[from.file].path) != FileName(file.path);
  return fmt::format("line {} of `{}`", line, is_told_apart ? FileName(file.path) : std::string_view(file.path));
}

bool SameLine(const Context& context, source::Span a, source::Span b) {
  return a.file == b.file && LineOf(context, a) == LineOf(context, b);
}

bool Holds(source::Span outer, source::Span inner) { return outer.file == inner.file && outer.begin <= inner.begin && inner.end <= outer.end; }

bool IsExit(const Difference& difference) { return difference.exit.span.file.has_value(); }

// Where each rank decides for itself, nobody can say which ranks do what: those that leave a function, or get
// to an operation, are "some ranks".
bool RanksAreKnown(const Difference& difference) { return !difference.is_own; }

bool IsNextOfOthers(const Context& context, const Difference& difference, const witness::Op& op) {
  if (!difference.has_victim || !difference.victim.span.file) return false;
  return LineOf(context, difference.victim.span) == op.at.line;
}

// Operations pair by order. Where a later one of the others fits the one that they lack, the ranks that issue it go on, and wait further
// down; null: they wait there, or nobody has tried.
const witness::Op* WhereReachingRanksWait(const Context& context, const Difference& difference) {
  const witness::Witness& witness = difference.witness;
  if (!RanksAreKnown(difference) || !difference.culprit.span.file || witness.effect != witness::Effect::Deadlock) return nullptr;
  const uint32_t line = LineOf(context, difference.culprit.span);
  const witness::Op* found = nullptr;
  for (const witness::Stuck& stuck : witness.stuck) {
    if (!difference.reached.has(stuck.rank)) continue;
    for (const std::vector<witness::Op>& ops : witness.ops) {
      const auto op = std::ranges::find(ops, stuck.op, &witness::Op::id);
      if (op == ops.end()) continue;
      if (op->at.line == line || IsNextOfOthers(context, difference, *op)) return nullptr;
      found = &*op;
    }
  }
  return found;
}

// What ranks do at an operation: where all go through, with wrong data, none of them waits.
findings::Text DoneHere(const Difference& difference, const std::string& ranks) {
  if (difference.witness.world > 0 && difference.witness.effect == witness::Effect::Corruption) return {"issued by {}", {ranks}};
  return {"{} will wait here", {ranks}};
}

// `main`, `args.main`, `is_main()` or `not is_main()`: the code has a name for what it tests.
bool IsNamedTest(const Context& context, const Difference& difference) {
  if (!difference.condition_expr || !difference.condition_function || !difference.condition.file) return false;
  const ir::Module& module = context.program.module_of(difference.condition_function);
  ir::ExprId test = difference.condition_expr;
  while (module[test].kind == ir::ExprKind::Unary) test = ir::OperandOf(module[test]);
  const ir::ExprKind kind = module[test].kind;
  return kind == ir::ExprKind::Name || kind == ir::ExprKind::Attribute || kind == ir::ExprKind::Subscript || kind == ir::ExprKind::Call;
}

std::string PredicateText(const Context& context, const Difference& difference) {
  return Code(context.facts.values_store.Print(difference.condition_value, context.program, context.knowledge));
}

// Each rank decides for itself, by something of its data or surroundings that nobody can be shown.
bool HasNoSource(const Context& context, const Difference& difference) {
  const bool is_soft = (difference.axes & knowledge::kSoftAxes) == difference.axes;
  if (!difference.is_own || !is_soft || !difference.condition_expr || !difference.condition_function) return false;
  return variation::ExplainVariation(context.program, context.knowledge, context.facts, difference.condition_function, difference.condition_expr).empty();
}

// `if size > 1: dist.all_reduce(loss)` of a size that is not known: where it is not done there may be one rank, of which none differs.
bool IsReducedUnderSetting(const Context& context, const Difference& difference) {
  if (!difference.condition_expr || !difference.condition_function) return false;
  const variation::ValueId test = context.facts.value(context.program.funcs[difference.condition_function].module, difference.condition_expr);
  return test && context.values.AnyPart(test, [&](variation::ValueId part) {
    if (context.values[part].kind != variation::ValueKind::Select) return false;
    const auto kids = context.facts.values_store.Kids(part);
    const auto differs = [&](variation::ValueId value) { return !context.facts.values_store.axes(value).empty(); };
    const auto is_reduced = [&](variation::ValueId value) { return !differs(value) && context.values.HasFlag(value, variation::kReduced); };
    return !differs(kids[0]) && ((is_reduced(kids[1]) && differs(kids[2])) || (is_reduced(kids[2]) && differs(kids[1])));
  });
}

// The recorder keeps neither roots nor reduce operations: at run time nothing names a difference in these.
FlightRecord RecordOfMismatch(traces::Detail detail) {
  switch (detail) {
    case traces::Detail::Dtype:
    case traces::Detail::OtherDtype:
      return FlightRecord::DtypeMismatch;
    case traces::Detail::ElementCount:
      return FlightRecord::SizeMismatch;
    case traces::Detail::Root:
    case traces::Detail::ReduceOperation:
      return FlightRecord::None;
    case traces::Detail::Group:
    case traces::Detail::Count:
      return FlightRecord::MissingRanks;
    default:
      return FlightRecord::TypeMismatch;
  }
}

FlightRecord RecordOf(const Context& context, const Difference& difference) {
  if (context.knowledge[difference.culprit.entry].bypasses_torch) return FlightRecord::None;
  switch (difference.kind) {
    case DifferenceKind::Shape:
      return FlightRecord::SizeMismatch;
    case DifferenceKind::Mismatch:
      return RecordOfMismatch(difference.detail);
    case DifferenceKind::GroupCreation:
    case DifferenceKind::NotMember:
      return FlightRecord::MissingRanks;
    default:
      // Operations pair by order: the next one of another kind meets the culprit.
      return difference.has_victim && !traces::AreOfOneKind(context.knowledge, difference.culprit, difference.victim) ? FlightRecord::TypeMismatch
                                                                                                                      : FlightRecord::MissingRanks;
  }
}

class LabelWriter {
 public:
  LabelWriter(const Context& context, const Difference& difference, Finding& finding)
      : context_(context), difference_(difference), finding_(finding) {}

  void Write() {
    AddCondition();
    AddSettings();
    AddPrimary();
    AddCalls();
    if (difference_.has_victim) AddVictim();
    AddBeside();
  }

 private:
  void Add(source::Span span, LabelRole role, findings::Text text) {
    if (span.file) finding_.labels.push_back({span, role, std::move(text)});
  }

  void AddCondition() {
    const Difference& d = difference_;
    if (!d.condition.file || d.condition == finding_.span) return;
    if (d.kind == DifferenceKind::TripCount) {
      Add(d.condition, LabelRole::Condition, {"the number of rounds {}", {VariesText(d.axes)}});
    } else if (RanksAreKnown(d)) {
      AddPredicate();
    } else {
      Add(d.condition, LabelRole::Condition, {"{} {}", {ConditionText(context_, d), VariesText(d.axes)}});
    }
    if (!d.condition_expr || !d.condition_function) return;
    for (variation::WhyStep& step : variation::ExplainVariation(
             context_.program, context_.knowledge, context_.facts, d.condition_function, d.condition_expr)) {
      // "This" may be a part of it: the label of the whole says it better.
      const bool is_said = Holds(d.condition, step.span) && !step.is_named;
      if (!is_said) Add(step.span, LabelRole::Why, {"{}", {std::move(step.text)}});
    }
  }

  // What "settings that lead here" are.
  void AddSettings() {
    constexpr size_t kMostNamed = 3;
    size_t named = 0;
    for (const source::Span& setting : difference_.settings) {
      if (!setting.file || setting == difference_.condition || setting == finding_.span || named == kMostNamed) continue;
      ++named;
      Add(setting, LabelRole::Note, {"depends on a setting", {}});
    }
  }

  // A test with a name of its own, and what it asks.
  void AddPredicate() {
    const Difference& d = difference_;
    const std::string text = ConditionText(context_, d);
    const std::string predicate = d.condition_value ? PredicateText(context_, d) : text;
    if (text == predicate) return Add(d.condition, LabelRole::Condition, {"{} differs between ranks", {text}});
    Add(d.condition, LabelRole::Condition, {"{} is {}, which differs between ranks", {text, predicate}});
  }

  void AddPrimary() {
    const Difference& d = difference_;
    const bool goes_on = WhereReachingRanksWait(context_, d) != nullptr;
    findings::Text text = goes_on ? findings::Text{"issued by {}", {ReachingRanks(d)}} : DoneHere(d, ReachingRanks(d));
    if (IsExit(d)) text = {"taken by {}", {MissingRanks(d)}};
    if (d.kind == DifferenceKind::Handler) text = {"a rank that fails continues here", {}};
    if (d.kind == DifferenceKind::NotMember) {
      text = {d.detail == traces::Detail::Root ? "the root is not in the group" : "called by {}", {ReachingRanks(d)}};
    }
    if (d.kind == DifferenceKind::Shape) text = {"its size differs between ranks", {}};
    if (d.kind == DifferenceKind::Mismatch && !d.has_victim) text = {"the ranks disagree here", {}};
    Add(finding_.span, LabelRole::Primary, std::move(text));
  }

  void AddCalls() {
    const OpPlace& culprit = difference_.culprit;
    for (const source::Span& call : culprit.call_chain) {
      if (call != finding_.span)
        Add(call, LabelRole::Call, {"leads to {}", {OpName(context_, culprit)}});
    }
    if (!culprit.span.file || culprit.span == finding_.span) return;
    if (IsExit(difference_) || difference_.kind == DifferenceKind::Handler) {
      Add(culprit.span, LabelRole::Victim, DoneHere(difference_, ReachingRanks(difference_)));
    } else {
      Add(culprit.span, LabelRole::Call, {"communicates here", {}});
    }
  }

  void AddVictim() {
    const OpPlace& victim = difference_.victim;
    const std::string ranks = MissingRanks(difference_);
    for (const source::Span& call : victim.call_chain) {
      Add(call, LabelRole::Call, {"next for {}: leads to {}", {ranks, OpName(context_, victim)}});
    }
    const bool exit = IsExit(difference_) || difference_.kind == DifferenceKind::Handler;
    Add(victim.span, exit ? LabelRole::Note : LabelRole::Victim, DoneHere(difference_, ranks));
  }

  // What goes wrong in the same way.
  void AddBeside() {
    constexpr size_t kMostNamed = 4;
    const std::vector<source::Span> beside = OperationsBeside(context_, difference_);
    for (size_t i = 0; i < beside.size() && i < kMostNamed; ++i) {
      Add(beside[i], LabelRole::Note, {IsExit(difference_) ? "skipped as well" : "under the same test", {}});
    }
    if (beside.size() <= kMostNamed) return;
    finding_.labels.back().text = {IsExit(difference_) ? "skipped as well, like {} more" : "under the same test, like {} more",
                                   {std::to_string(beside.size() - kMostNamed)}};
  }

  const Context& context_;
  const Difference& difference_;
  Finding& finding_;
};

void AddRepeats(const Context& context, const Difference& difference, Finding& finding) {
  constexpr size_t kMostNamed = 3;
  const auto found = context.differences.repeats.find(&difference);
  if (found == context.differences.repeats.end()) return;
  const std::vector<const Difference*>& repeats = found->second;
  for (size_t i = 0; i < repeats.size() && i < kMostNamed; ++i) {
    const bool is_again = repeats[i]->condition != difference.condition;
    findings::Text text = is_again ? findings::Text{"{} depends on it as well", {OpName(context, repeats[i]->culprit)}} : findings::Text{"the same from here", {}};
    finding.labels.push_back({repeats[i]->place, LabelRole::Note, std::move(text)});
  }
  if (repeats.size() > kMostNamed) {
    finding.labels.back().text = {"the same from here and from {} more places", {std::to_string(repeats.size() - kMostNamed)}};
  }
}

// `if np.random.rand() < 0.5` behind `np.random.seed(0)`: the numbers are the same on all ranks as long as these draw equally often.
bool IsDrawnAlike(const Context& context, const Difference& difference) {
  if (difference.axes != knowledge::Axes::Of(knowledge::Axis::Chance) || !difference.condition_expr) return false;
  const std::optional<source::Span> origin = OriginOf(context, {difference.condition_function, difference.condition_expr});
  const auto is_origin = [&](const objects::KnownCall& call) { return SpanOf(context, {call.function, call.expr}) == origin; };
  const auto draw = std::ranges::find_if(context.index.known_calls(), is_origin);
  return draw != context.index.known_calls().end() && IsSeededAlike(context, context.program.funcs[draw->function].module, context.program.text(draw->entry->name));
}

}  // namespace

variation::FuncId FunctionOf(const Context& context, const Difference& difference) {
  const bool inside = InFunction(context, difference, difference.place);
  return inside || !difference.culprit.function ? difference.function : difference.culprit.function;
}

std::string ReachingRanks(const Difference& difference) {
  if (RanksAreKnown(difference)) return traces::NameOfReached(difference);
  return IsExit(difference) ? "the other ranks" : "some ranks";
}
std::string MissingRanks(const Difference& difference) {
  if (RanksAreKnown(difference)) return traces::NameOfNotReached(difference);
  return IsExit(difference) ? "some ranks" : "the other ranks";
}

std::string OpNameOf(const Context& context, const OpPlace& op) { return OpName(context, op); }

std::string OpText(const Context& context, const Difference& difference, const OpPlace& op) {
  // More leaves no room in a headline for which ranks do what.
  constexpr size_t kLongest = 58;
  std::string text = OpName(context, op);
  const std::string group = op.group.is_default() ? "" : " on " + traces::NameOf(op.group);
  if (text.size() + group.size() <= kLongest) text += group;
  return text + PlaceText(context, difference, op);
}

std::string PlaceText(const Context& context, const Difference& difference, const OpPlace& op) {
  const source::Span place = difference.place;
  if (!op.span.file || SameLine(context, place, op.span)) return {};
  return fmt::format(" ({})", LineText(context, place, op.span));
}

std::string VariesText(knowledge::Axes axes) {
  return axes.empty() ? "differs between ranks" : variation::VariesText(axes);
}

std::string ConditionText(const Context& context, const Difference& difference) {
  // A predicate says more than a long source; what merely varies, and what has a name, is better quoted.
  if (RanksAreKnown(difference) && difference.condition_value && !IsNamedTest(context, difference)) return PredicateText(context, difference);
  return difference.condition.file ? Code(Snippet(context, difference.condition)) : "this condition";
}

std::string ExitText(const Context& context, const Difference& difference) {
  const traces::Exit& exit = difference.exit;
  return std::string(exit.call ? context.program.text(context.knowledge[exit.call].name) : ToString(exit.word));
}

std::string ReachText(const Difference& difference) {
  if (!RanksAreKnown(difference) || traces::OthersDoNotReach(difference)) {
    return fmt::format("is reached by {} only", ReachingRanks(difference));
  }
  return fmt::format("is not reached by {}", traces::NameOfNotReached(difference));
}

std::string WaitText(const Context& context, const Difference& difference) {
  if (const witness::Op* later = WhereReachingRanksWait(context, difference)) {
    const bool is_here = later->at.uri == context.files[difference.place.file].path;
    return fmt::format("{} will wait forever in `{}` (line {}{}){}", ReachingRanks(difference), Shortened(later->source), later->at.line,
                       is_here ? "" : fmt::format(" of `{}`", FileName(later->at.uri)), VictimText(context, difference));
  }
  return fmt::format("{} will wait there forever{}", ReachingRanks(difference), VictimText(context, difference));
}

std::string VictimText(const Context& context, const Difference& difference) {
  if (!difference.has_victim) return "";
  return fmt::format(", while {} will wait in {}", MissingRanks(difference),
                     OpText(context, difference, difference.victim));
}

const knowledge::Operation& OperationAt(const Context& context, const OpPlace& op) { return context.knowledge[op.entry].operation; }

bool IsImplied(knowledge::OpClass op_class) {
  return op_class == knowledge::OpClass::Implicit || op_class == knowledge::OpClass::Init ||
         op_class == knowledge::OpClass::Destroy;
}

std::optional<source::Span> OriginOf(const Context& context, const objects::Site& tested) {
  constexpr size_t kLongest = 64;
  const std::vector<variation::WhyStep> steps =
      variation::ExplainVariation(context.program, context.knowledge, context.facts, tested.function, tested.expr, kLongest);
  return steps.empty() ? std::nullopt : std::optional(steps.back().span);
}

Finding FindingOf(const Context& context, const Difference& difference, std::string_view code,
                  findings::Text message, findings::Text help) {
  findings::Assumptions assumptions = difference.assumptions | context.launch.AssumedOf(FunctionOf(context, difference));
  if (context.launch.IsPassedOver(context.program.funcs[FunctionOf(context, difference)].module)) assumptions.Add(findings::Assumption::ProgramUnlaunched);
  const ir::ModuleId module = context.program.funcs[difference.culprit.function ? difference.culprit.function : difference.function].module;
  if (difference.asks_for_job && context.launch.IsNeverInJob(module)) assumptions.Add(findings::Assumption::OwnJob);
  if (context.differences.made_up_for.contains(&difference)) assumptions.Add(findings::Assumption::LastStep);
  if (context.differences.of_unseen_strategies.contains(&difference)) assumptions.Add(findings::Assumption::StrategyUnseen);
  if (IsReducedUnderSetting(context, difference)) assumptions.Add(findings::Assumption::SettingAdmitsAll);
  if (HasNoSource(context, difference)) assumptions.Add(findings::Assumption::ValueNotTraced);
  if (IsDrawnAlike(context, difference)) assumptions.Add(findings::Assumption::DrawsDiffer);
  if (context.differences.beside_callbacks.contains(&difference)) assumptions.Add(findings::Assumption::BoundReached);
  const bool is_of_files = assumptions.has(findings::Assumption::FilesDiffer);
  if (is_of_files && !context.differences.of_changing_files.contains(&difference)) assumptions.Add(findings::Assumption::FilesUnwritten);
  Finding finding{.code = code,
                  .severity = Severity::Error,
                  .confidence = findings::ConfidenceOf(assumptions),
                  .assumptions = assumptions,
                  .span = difference.place,
                  .message = std::move(message),
                  .help = std::move(help),
                  .flight_record = RecordOf(context, difference),
                  .function = context.program.FunctionName(FunctionOf(context, difference))};
  if (difference.witness.world > 0) finding.witness = difference.witness;
  LabelWriter(context, difference, finding).Write();
  AddRepeats(context, difference, finding);
  return finding;
}

bool KeepsAwayInPreview(const Context& context, const Difference& difference, const Finding& finding) {
  using findings::Assumption;
  if (!IsUncertainInPython(context, FunctionOf(context, difference), finding)) return false;
  findings::Assumptions allowed;
  for (const Assumption each : {Assumption::ByNameOnly, Assumption::SettingUnknown, Assumption::ImpliedOperation, Assumption::CallerUnknown}) allowed.Add(each);
  const bool is_in_called = !difference.culprit.call_chain.empty() && !finding.assumptions.has(Assumption::ImpliedOperation);
  const bool asks_in_called = is_in_called && finding.assumptions.has(Assumption::SettingUnknown);
  return asks_in_called || (finding.assumptions | allowed) != allowed;
}

}  // namespace allranks::rules
