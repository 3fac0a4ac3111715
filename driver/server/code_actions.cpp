#include <algorithm>

#include "driver/fixes/apply.h"
#include "driver/server/diagnostics.h"
#include "driver/server/requests.h"
#include "rules/rule.h"

namespace allranks::server {
namespace {

using findings::Applicability;
using findings::Edit;
using findings::Finding;

constexpr std::string_view kQuickFix = "quickfix";
constexpr std::string_view kFixAll = "source.fixAll.allranks";

// A client that wants `source` wants `source.fixAll.allranks` as well.
bool IsWanted(const Json& only, std::string_view kind) {
  if (!only.is_array()) return true;
  return std::ranges::any_of(only, [&](const Json& each) {
    if (!each.is_string()) return false;
    const std::string wanted = each.get<std::string>();
    return wanted.empty() || kind == wanted || kind.starts_with(wanted + ".");
  });
}

Json WorkspaceEdit(const Target& target, std::span<const Edit> edits) {
  Json changes = Json::object();
  for (const Edit& edit : edits) {
    const DocumentRange place = target.places().Of(edit.span);
    changes[place.uri].push_back({{"range", WriteRange(place.range)}, {"newText", edit.replacement}});
  }
  return {{"changes", std::move(changes)}};
}

// Where a comment that silences a finding goes, and what it says.
Edit IgnoreEdit(const Target& target, const Finding& finding) {
  const source::SourceFile& file = target.snapshot.analysed.files[target.file];
  const uint32_t line = source::Locate(file, finding.span.begin).line;
  const std::string_view text = source::LineText(file, line);
  const uint32_t begin = file.line_starts[line];
  const std::string code(finding.code);
  const size_t bracket = text.find("allranks: ignore[");
  const size_t closing = bracket == std::string_view::npos ? bracket : text.find(']', bracket);
  if (closing != std::string_view::npos) {
    const uint32_t at = begin + static_cast<uint32_t>(closing);
    return {{target.file, at, at}, ", " + code};
  }
  const bool is_python = !target.module || target.ir().language == ir::Language::Python;
  const std::string comment = std::string(is_python ? "# " : "// ") + "allranks: ignore[" + code + "] reason";
  const auto end = begin + static_cast<uint32_t>(text.size());
  const bool in_string = target.module && std::ranges::any_of(target.ir().exprs, [&](const ir::Expr& expr) {
    return (expr.kind == ir::ExprKind::Constant || expr.kind == ir::ExprKind::FString) && expr.begin < end && end < expr.end;
  });
  if (!in_string && !text.ends_with('\\')) return {{target.file, end, end}, "  " + comment};
  const std::string indent(text.substr(0, std::min(text.find_first_not_of(" \t"), text.size())));
  return {{target.file, begin, begin}, indent + comment + "\n"};
}

void AddFixes(const Target& target, const Finding& finding, const Json& diagnostic, Json& actions) {
  for (const findings::Fix& fix : finding.fixes) {
    if (fix.applicability == Applicability::DisplayOnly || fix.edits.empty()) continue;
    const bool is_safe = fix.applicability == Applicability::Safe;
    actions.push_back({{"title", fix.title + (is_safe ? "" : " (to be reviewed)")}, {"kind", kQuickFix},
                       {"diagnostics", Json::array({diagnostic})}, {"isPreferred", is_safe},
                       {"edit", WorkspaceEdit(target, fix.edits)}});
  }
}

void AddActions(const Target& target, const Finding& finding, Json& actions) {
  const Json diagnostic = WriteDiagnostic(target.snapshot, finding, target.client);
  const std::string code(finding.code);
  AddFixes(target, finding, diagnostic, actions);
  const Edit ignore = IgnoreEdit(target, finding);
  actions.push_back({{"title", "Ignore " + code + " here, with a reason"}, {"kind", kQuickFix},
                     {"diagnostics", Json::array({diagnostic})}, {"edit", WorkspaceEdit(target, std::span(&ignore, 1))}});
  actions.push_back({{"title", "Explain " + code}, {"kind", kQuickFix}, {"diagnostics", Json::array({diagnostic})},
                     {"command", {{"title", "Explain " + code}, {"command", "allranks.explain"}, {"arguments", Json::array({code})}}}});
}

// All safe fixes of the document, as `--fix` would apply them.
void AddFixAll(const Target& target, Json& actions) {
  std::vector<Finding> findings;
  std::ranges::copy_if(target.snapshot.output.findings, std::back_inserter(findings),
                       [&](const Finding& finding) { return finding.span.file == target.file; });
  const fixes::Application application = fixes::ApplyFixes(target.snapshot.analysed.files, findings, Applicability::Safe);
  std::vector<Edit> edits;
  for (const auto& [path, of_file] : application.edits) edits.insert(edits.end(), of_file.begin(), of_file.end());
  if (edits.empty()) return;
  actions.push_back({{"title", "Fix all that allranks can fix safely"}, {"kind", kFixAll},
                     {"edit", WorkspaceEdit(target, edits)}});
}

}  // namespace

Json CodeActions(const Target& target, const Range& range, const Json& only) {
  Json actions = Json::array();
  const Places places = target.places();
  for (const Finding& finding : target.snapshot.output.findings) {
    if (finding.span.file != target.file || !IsWanted(only, kQuickFix)) continue;
    const DocumentRange place = places.Of(finding.span);
    if (place.uri == target.uri && Touches(place.range, range)) AddActions(target, finding, actions);
  }
  if (IsWanted(only, kFixAll)) AddFixAll(target, actions);
  return actions;
}

}  // namespace allranks::server
