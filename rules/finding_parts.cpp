#include "rules/finding_parts.h"

#include <algorithm>

#include "analyzer/source/one_line.h"
#include "rules/source_edits.h"

namespace allranks::rules {

source::Span SpanOf(const Context& context, const objects::Site& site) {
  return context.program.module_of(site.function).span(site.expr);
}

Finding FindingAt(const Context& context, std::string_view code, Severity severity, Confidence confidence,
                  const objects::Site& site, findings::Text message) {
  Finding finding = FindingOfAnyProcess(context, code, severity, confidence, site, std::move(message));
  findings::Assume(finding, context.launch.AssumedForRanks(site.function));
  return finding;
}

Finding FindingOfAnyProcess(const Context& context, std::string_view code, Severity severity, Confidence confidence,
                            const objects::Site& site, findings::Text message) {
  const source::Span span = SpanOf(context, site);
  Finding finding{.code = code,
                  .severity = severity,
                  .confidence = confidence,
                  .span = span,
                  .message = std::move(message),
                  .labels = {},
                  .help = {},
                  .function = context.program.FunctionName(site.function),
                  .witness = {},
                  .fixes = {}};
  findings::Assume(finding, context.launch.AssumedOf(site.function));
  return finding;
}

Finding FindingAt(const Context& context, std::string_view code, Severity severity, Confidence confidence,
                  FuncId function, ir::StmtId stmt, findings::Text message) {
  Finding finding = FindingAt(context, code, severity, confidence, objects::Site{function, ir::ExprId{0}}, std::move(message));
  finding.span = HeadOf(context, context.program.funcs[function].module, stmt);
  return finding;
}

bool IsInPython(const Context& context, FuncId function) { return context.program.module_of(function).language == ir::Language::Python; }

bool IsUncertainInPython(const Context& context, FuncId function, const Finding& finding) {
  return IsInPython(context, function) && finding.confidence != Confidence::Certain;
}

bool BelongsInPreview(const Context& context, FuncId function, const Finding& finding, findings::Assumptions allowed) {
  const ir::ModuleId module = context.program.funcs[function].module;
  if (!IsUncertainInPython(context, function, finding)) return false;
  return (finding.assumptions | allowed) != allowed || !context.launch.IsSeenOnRanks(module);
}

bool IsWithoutCommand(const Context& context, FuncId function, const Finding& finding) {
  return IsUncertainInPython(context, function, finding) && context.launch.LinesFor(context.program.funcs[function].module).empty();
}

void AddLabel(Finding& finding, source::Span span, LabelRole role, findings::Text text) {
  finding.labels.push_back({span, role, std::move(text)});
}

void AddReasons(const Context& context, const objects::Site& site, Finding& finding) {
  for (variation::WhyStep& step :
       variation::ExplainVariation(context.program, context.knowledge, context.facts, site.function, site.expr)) {
    AddLabel(finding, step.span, LabelRole::Why, {"{}", {std::move(step.text)}});
  }
}

source::Span HeadOf(const Context& context, ir::ModuleId module_id, ir::StmtId stmt) {
  const ir::Module& module = context.program.modules[module_id];
  source::Span span = module.span(stmt);
  const std::string_view text = TextOf(context, span);
  const size_t end = text.find_first_of("\r\n");
  if (end != std::string_view::npos) span.end = span.begin + static_cast<uint32_t>(end);
  return span;
}

std::string Quoted(const Context& context, const objects::Site& site) {
  constexpr size_t kLongest = 60;
  return source::OnOneLine(TextOf(context, SpanOf(context, site)), kLongest);
}

FuncId FunctionAround(const Context& context, ir::ModuleId module, ir::ExprId expr) {
  const ir::StmtId stmt = context.index.tree(module).StatementOf(expr);
  return stmt ? context.index.FunctionOf(module, stmt) : FuncId::None();
}

bool IsInHandler(const Context& context, const objects::Site& site) {
  const ir::ModuleId module_id = context.program.funcs[site.function].module;
  const ir::Module& module = context.program.modules[module_id];
  const ir::Tree& tree = context.index.tree(module_id);
  for (ir::StmtId at = context.index.StatementOf(site); at && tree.Parent(at); at = tree.Parent(at)) {
    const ir::StmtId around = tree.Parent(at);
    if (module[around].kind != ir::StmtKind::Try) continue;
    const auto handlers = ir::HandlersOf(module, module[around]);
    if (std::ranges::find(handlers, tree.BlockOf(at), &ir::Handler::body) != handlers.end()) return true;
  }
  return false;
}

FuncId CalledFunction(const Context& context, ir::ModuleId module, ir::ExprId call) {
  const FuncId caller = FunctionAround(context, module, call);
  const variation::CallFact* fact = caller ? context.facts.call(caller, call) : nullptr;
  return fact != nullptr ? fact->function : FuncId::None();
}

bool AreAllRanksAt(const Context& context, const objects::Site& site) {
  const traces::World world = objects::SmallJob(context.facts.job);
  return context.ranks.At(site, world) == traces::RankSet::All(world.size());
}

namespace {

// `isinstance(model, DDP)`, `type(model) in (...)`.
bool AsksForKind(const Context& context, ir::ModuleId module_id, ir::ExprId call) {
  const ir::Module& module = context.program.modules[module_id];
  const ir::Expr& callee = module[ir::CalleeOf(module[call])];
  const std::string_view name = callee.kind == ir::ExprKind::Name ? context.program.text(ir::NameOf(callee)) : std::string_view();
  return name == "hasattr" || name == "isinstance" || name == "type";
}

// A helper of the project that asks it: `is_parallel(model)`.
bool CallsOneThatAsks(const Context& context, ir::ModuleId module_id, ir::ExprId call) {
  const FuncId called = CalledFunction(context, module_id, call);
  if (!called) return false;
  const ir::ModuleId other = context.program.funcs[called].module;
  const ir::Function& helper = context.program.function(called);
  return std::ranges::any_of(context.index.ExprsOf(other, ir::ExprKind::Call), [&](ir::ExprId id) {
    const ir::Expr& expr = context.program.modules[other][id];
    return expr.begin >= helper.begin && expr.end <= helper.end && AsksForKind(context, other, id);
  });
}

}  // namespace

bool AsksForAttribute(const Context& context, const objects::Guard& guard, variation::ValueId object) {
  const ir::ModuleId module_id = context.program.funcs[guard.function].module;
  const ir::Module& module = context.program.modules[module_id];
  return std::ranges::any_of(context.index.ExprsOf(module_id, ir::ExprKind::Call), [&](ir::ExprId id) {
    if (module[id].begin < module[guard.test].begin || module[id].end > module[guard.test].end) return false;
    if (!AsksForKind(context, module_id, id) && !CallsOneThatAsks(context, module_id, id)) return false;
    if (!object || ir::ArgCount(module, module[id]) == 0) return true;
    return context.facts.value(module_id, ir::ArgAt(module, module[id], 0).value) == object;
  });
}

bool AsksForAttributeBefore(const Context& context, const objects::Site& site, variation::ValueId object) {
  return std::ranges::any_of(context.guards.Of(site), [&](const objects::Guard& guard) { return AsksForAttribute(context, guard, object); });
}

}  // namespace allranks::rules
