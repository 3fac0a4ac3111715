#include <algorithm>
#include <cctype>

#include "analyzer/findings/ignore_comment.h"
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

// The comment that silences a finding, as `--add-ignore` writes it; nothing where no comment can stand.
std::vector<Edit> IgnoreEdits(const Target& target, const Finding& finding) {
  const auto& syntax = target.snapshot.output.syntax;
  const auto of_file = std::ranges::find(syntax, target.file, &findings::FileSyntax::file);
  // A comment about a comment would not help.
  if (of_file == syntax.end() || finding.code == "AR002") return {};
  return findings::IgnoreAll(target.snapshot.analysed.files[target.file], *of_file, {{&finding}}, "reason").edits;
}

std::string Capitalized(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

void AddFixes(const Target& target, const Finding& finding, const Json& diagnostic, Json& actions) {
  for (const findings::Fix& fix : finding.fixes) {
    if (fix.applicability == Applicability::DisplayOnly || fix.edits.empty()) continue;
    const bool is_safe = fix.applicability == Applicability::Safe;
    actions.push_back({{"title", Capitalized(fix.title) + (is_safe ? "" : " (to be reviewed)")}, {"kind", kQuickFix},
                       {"diagnostics", Json::array({diagnostic})}, {"isPreferred", is_safe},
                       {"edit", WorkspaceEdit(target, fix.edits)}});
  }
}

void AddActions(const Target& target, const Finding& finding, Json& actions) {
  const Json diagnostic = WriteDiagnostic(target.snapshot, finding, target.client);
  const std::string code(finding.code);
  AddFixes(target, finding, diagnostic, actions);
  if (const std::vector<Edit> ignore = IgnoreEdits(target, finding); !ignore.empty()) {
    actions.push_back({{"title", "Ignore " + code + " here, with a reason"}, {"kind", kQuickFix},
                       {"diagnostics", Json::array({diagnostic})}, {"edit", WorkspaceEdit(target, ignore)}});
  }
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
