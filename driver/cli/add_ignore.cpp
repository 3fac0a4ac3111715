#include "driver/cli/add_ignore.h"

#include <algorithm>
#include <unordered_map>

#include "analyzer/findings/ignore_comment.h"
#include "driver/reports/place.h"

namespace allranks::cli {
namespace {

using findings::Finding;

// A comment about a comment would not help: what AR002 reports is fixed with --fix.
constexpr std::string_view kAboutComments = "AR002";

using FindingsByFile = std::unordered_map<source::FileId, std::vector<const Finding*>>;

FindingsByFile ByFile(const std::vector<Finding>& findings) {
  FindingsByFile by_file;
  for (const Finding& finding : findings) {
    if (finding.code != kAboutComments) by_file[finding.span.file].push_back(&finding);
  }
  return by_file;
}

// The comments of one file as a fix of its first finding.
void Collect(const pipeline::Output& out, const findings::FileSyntax& syntax, const std::vector<const Finding*>& in, const std::string& reason,
             std::vector<Finding>& carriers) {
  for (findings::Edit& edit : findings::IgnoreAll(out.files[syntax.file], syntax, in, reason).edits) {
    Finding carrier{.code = in[0]->code, .span = in[0]->span, .message = in[0]->message};
    carrier.fixes = {{.title = "accept", .applicability = findings::Applicability::Safe, .edits = {std::move(edit)}}};
    carriers.push_back(std::move(carrier));
  }
}

// `#12` is the number of an issue; any other `#` would end the reason.
bool StartsAComment(const std::string& reason) {
  for (size_t at = reason.find('#'); at != std::string::npos; at = reason.find('#', at + 1)) {
    if (at + 1 >= reason.size() || reason[at + 1] < '0' || reason[at + 1] > '9') return true;
  }
  return false;
}

std::string WhyNot(const pipeline::Output& out, const Finding& finding) {
  const auto syntax = std::ranges::find(out.syntax, finding.span.file, &findings::FileSyntax::file);
  const bool has_no_comments = syntax != out.syntax.end() && syntax->comment_mark.empty();
  if (has_no_comments) return " cannot be accepted by a comment: the format has none; use a baseline or ignore the rule in the configuration";
  return " cannot be accepted by a comment here; add `ignore-file[" + std::string(finding.code) + "]` or ignore the rule in the configuration";
}

}  // namespace

base::Result<Fixed> AddIgnores(const std::string& reason, pipeline::Options options, const source::FileSystem& files,
                               pipeline::Output& out, const std::function<void(pipeline::Output&)>& keep) {
  if (reason.find_first_of("\r\n[]") != std::string::npos || reason.find("*/") != std::string::npos || StartsAComment(reason)) {
    return base::Fail("--add-ignore: a reason is one line without `[`, `]`, or `#` before anything but a number");
  }
  std::vector<Finding> carriers;
  const FindingsByFile by_file = ByFile(out.findings);
  for (const findings::FileSyntax& syntax : out.syntax) {
    if (const auto in = by_file.find(syntax.file); in != by_file.end()) Collect(out, syntax, in->second, reason, carriers);
  }
  base::Result<Fixed> fixed = FixRound(carriers, options, files, out, keep);
  if (!fixed) return fixed;
  fixed->done = "Added";
  fixed->what = "ignore comment";
  for (const Finding& finding : out.findings) {
    if (finding.code == kAboutComments) continue;
    const std::string not_fixed = out.files[finding.span.file].path + ": not fixed";
    if (std::ranges::any_of(fixed->errors, [&](const std::string& error) { return error.starts_with(not_fixed); })) continue;
    const std::string place = reports::ToString(reports::PlaceAt(out.files, finding.span.file, finding.span.begin));
    fixed->errors.push_back(place + ": " + std::string(finding.code) + WhyNot(out, finding));
  }
  return fixed;
}

}  // namespace allranks::cli
