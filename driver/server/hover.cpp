#include <algorithm>
#include <cctype>

#include "analyzer/knowledge/words.h"
#include "analyzer/traces/difference.h"
#include "analyzer/variation/axes_text.h"
#include "driver/reports/place.h"
#include "driver/server/expression_at.h"
#include "driver/server/requests.h"
#include "rules/rule.h"

namespace allranks::server {
namespace {

using knowledge::Axes;
using objects::KnownCall;
using variation::ValueId;

std::string Backticked(std::string_view text) { return "`" + reports::OneLine(text) + "`"; }

Json WriteHover(const Target& target, const std::string& text, std::optional<source::Span> span) {
  Json hover = {{"contents", {{"kind", target.client.hovers_markdown ? "markdown" : "plaintext"}, {"value", text}}}};
  if (span) hover["range"] = WriteRange(target.places().RangeOf(*span));
  return hover;
}

bool IsWordPart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// A stretch of the source as one line, cut where it would fill the hover.
std::string Quoted(const Target& target, source::Span span) {
  constexpr size_t kMostBytes = 80;
  const std::string& text = target.snapshot.analysed.files[span.file].text;
  std::string out;
  for (const char c : std::string_view(text).substr(span.begin, span.end - span.begin)) {
    const bool is_blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    const bool is_continuation = (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
    if (out.size() >= kMostBytes && !is_continuation) return Backticked(out + "...");
    if (!is_blank) out += c;
    else if (!out.empty() && out.back() != ' ') out += ' ';
  }
  return Backticked(out);
}

class HoverText {
 public:
  HoverText(const Target& target, ir::ExprId expr)
      : target_(target), analysed_(target.snapshot.analysed), indices_(target.workspace.indices()), expr_(expr) {
    const ir::StmtId stmt = indices_.index.tree(target.module).StatementOf(expr);
    if (stmt) function_ = indices_.index.FunctionOf(target.module, stmt);
  }

  std::string Run() {
    const std::string collective = function_ ? Collective() : std::string();
    AddValue(!collective.empty());
    return text_ + collective;
  }

 private:
  // What a collective returns is of interest only where it differs.
  void AddValue(bool is_collective) {
    const ValueId value = analysed_.facts.value(target_.module, expr_);
    if (!value) return;
    const Axes axes = analysed_.facts.values_store.axes(value);
    if (axes.empty() && is_collective) return;
    text_ = Quoted(target_, target_.ir().span(expr_)) + " " + variation::VariesText(axes) + "\n";
    if (axes.empty()) return;
    if (!function_) return;
    for (const variation::WhyStep& step : variation::ExplainVariation(analysed_.program, *analysed_.knowledge,
                                                                      analysed_.facts, function_, expr_)) {
      const std::string place = reports::ToString(reports::PlaceAt(analysed_.files, step.span.file, step.span.begin));
      text_ += "\n- " + reports::OneLine(place) + ": " + step.text;
    }
    text_ += "\n";
  }

  // Empty: it is none.
  std::string Collective() {
    const auto calls = indices_.index.known_calls();
    const auto call = std::ranges::find_if(calls, [&](const KnownCall& each) {
      return each.function == function_ && each.expr == expr_ && each.entry->operation.kind;
    });
    if (call == calls.end()) return {};
    const traces::World world = objects::SmallJob(analysed_.facts.job);
    const knowledge::Operation& operation = call->entry->operation;
    const std::string_view kind = analysed_.program.text(operation.kind);
    const std::string words = knowledge::WordsOfCall(analysed_.program.text(call->entry->name), kind, operation.op_class);
    return "\n" + knowledge::AsCode(reports::OneLine(words)) + ": " + knowledge::WordsOfKind(kind, operation.op_class) + " on " +
           GroupText(*call) + "\n" +
           "\n- reached by " + traces::NameOfRanks(world, indices_.ranks.At({function_, expr_}, world)) + "\n" + Verdict();
  }

  std::string GroupText(const KnownCall& call) const {
    const knowledge::Operation& operation = call.entry->operation;
    if (operation.has_fixed_axis) return "the " + std::string(knowledge::AxisName(operation.axis)) + " group";
    if (!operation.group_param) return "the default group";
    const std::string_view param = analysed_.program.text(operation.group_param);
    const ValueId group = indices_.index.Arg(call, param);
    if (!group || group == analysed_.facts.values_store.NoneValue()) return "the default group";
    ir::ExprId written = indices_.index.ArgExpr(call, param);
    if (!written) written = Receiver();
    return written ? "the group " + Quoted(target_, target_.ir().span(written)) : "another group";
  }

  // `pg` of `pg->allreduce(x)`; none: nothing is written before the name.
  ir::ExprId Receiver() const {
    const ir::Module& module = target_.ir();
    if (module[expr_].kind != ir::ExprKind::Call) return {};
    const ir::Expr& callee = module[ir::CalleeOf(module[expr_])];
    return callee.kind == ir::ExprKind::Attribute ? ir::ObjectOf(callee) : ir::ExprId();
  }

  std::string Verdict() const {
    const source::Span span = target_.ir().span(expr_);
    const auto& ledger = target_.snapshot.output.ledger;
    const auto entry = std::ranges::find(ledger, span, &traces::LedgerEntry::span);
    if (entry == ledger.end()) return {};
    switch (entry->verdict) {
      case traces::SiteVerdict::Proven: return "- all ranks of its group agree on it\n";
      case traces::SiteVerdict::Aligned:
        return "- all ranks of its group agree on it as far as read, assuming that " + findings::Clauses(entry->assumptions) + "\n";
      case traces::SiteVerdict::Differs: return "- ranks of its group do not agree on it\n";
      case traces::SiteVerdict::Unknown: return "- not decided: " + entry->reason + "\n";
    }
    return {};
  }

  const Target& target_;
  const pipeline::Analysed& analysed_;
  const Indices& indices_;
  ir::ExprId expr_;
  variation::FuncId function_;
  std::string text_;
};

// What was found at a place, how to fix it, and what it rests on.
std::string HelpAt(const Target& target, uint32_t offset) {
  std::string text;
  for (const findings::Finding& finding : target.snapshot.output.findings) {
    if (finding.span.file != target.file || offset < finding.span.begin || offset > finding.span.end) continue;
    text += "**" + std::string(finding.code) + "** " + findings::Render(finding.message) + "\n\n";
    if (!finding.help.format.empty()) text += "help: " + findings::Render(finding.help) + "\n\n";
    if (finding.assumptions.empty()) continue;
    text += std::string(findings::ToString(finding.confidence)) + ", assumed: " + findings::Clauses(finding.assumptions) + "\n\n";
  }
  return text;
}

}  // namespace

const rules::Rule* RuleAt(std::string_view text, uint32_t offset) {
  size_t begin = std::min<size_t>(offset, text.size());
  size_t end = begin;
  while (begin > 0 && IsWordPart(text[begin - 1])) --begin;
  while (end < text.size() && IsWordPart(text[end])) ++end;
  const std::string_view word = text.substr(begin, end - begin);
  return word.starts_with("AR") ? rules::FindRule(word) : nullptr;
}

Json Hover(const Target& target, source::LineColumn place) {
  const uint32_t offset = target.OffsetAt(place);
  if (const rules::Rule* rule = RuleAt(target.snapshot.analysed.files[target.file].text, offset)) {
    return WriteHover(target, rules::RulePage(*rule), std::nullopt);
  }
  if (!target.module) return JobHover(target, offset);
  const std::string help = HelpAt(target, offset);
  const ir::ExprId expr = ExpressionAt(target, offset);
  if (!expr) return help.empty() ? Json(nullptr) : WriteHover(target, help, std::nullopt);
  return WriteHover(target, help + HoverText(target, expr).Run(), target.ir().span(expr));
}

}  // namespace allranks::server
