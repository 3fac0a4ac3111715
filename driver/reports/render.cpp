// All formats by name.
#include "driver/reports/report.h"

namespace allranks::reports {

std::string RepositoryPath(const Report& report, std::string_view shown) {
  return report.repository_path ? report.repository_path(shown) : std::string(shown);
}

const Verification* VerificationOf(const Report& report, const findings::Finding& finding) {
  auto found = finding.witness ? report.verdicts.find(finding.witness->finding) : report.verdicts.end();
  // Another run may have named the file from another folder.
  if (found == report.verdicts.end()) found = report.verdicts.find(finding.fingerprint);
  return found == report.verdicts.end() ? nullptr : &found->second;
}

std::string Render(std::string_view format, const Report& report, const TextStyle& style) {
  if (format == "concise") return RenderConcise(report, style);
  if (format == "json") return RenderJson(report);
  if (format == "json-lines") return RenderJsonLines(report);
  if (format == "sarif") return RenderSarif(report);
  if (format == "github") return RenderGithub(report);
  if (format == "gitlab") return RenderGitlab(report);
  if (format == "junit") return RenderJunit(report);
  if (format == "rdjson") return RenderRdjson(report);
  if (format == "html") return RenderHtml(report);
  if (format == "markdown") return RenderMarkdown(report);
  if (format == "azure") return RenderAzure(report);
  return RenderFull(report, style);
}

}  // namespace allranks::reports
