#include "driver/pipeline/tool_findings.h"

#include <algorithm>

namespace allranks::pipeline {
namespace {

using findings::Confidence;
using findings::Finding;
using findings::Severity;

constexpr std::string_view kUnreadable = "AR001";
constexpr std::string_view kLimit = "AR003";

Finding Make(std::string_view code, source::Span span, findings::Text message) {
  const Severity severity = code == kLimit ? Severity::Info : Severity::Error;
  return {.code = code, .severity = severity, .confidence = Confidence::Certain, .span = span,
          .message = std::move(message)};
}

// The first byte that is not part of a well-formed UTF-8 sequence.
size_t FirstInvalidByte(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (length == 0 || i + length > text.size()) return i;
    for (size_t k = 1; k < length; ++k) {
      const auto byte = static_cast<unsigned char>(text[i + k]);
      const bool overlong = k == 1 && ((lead == 0xe0 && byte < 0xa0) || (lead == 0xf0 && byte < 0x90));
      const bool too_high = k == 1 && ((lead == 0xed && byte > 0x9f) || (lead == 0xf4 && byte > 0x8f));
      if ((byte & 0xc0) != 0x80 || overlong || too_high) return i;
    }
    i += length;
  }
  return text.size();
}

// A line such as `# -*- coding: latin-1 -*-` among the first two declares another encoding (PEP 263).
bool DeclaresEncoding(const source::SourceFile& file) {
  for (uint32_t line = 0; line < std::min<size_t>(2, file.line_starts.size()); ++line) {
    const std::string_view text = source::LineText(file, line);
    const size_t coding = text.find("coding");
    if (text.find('#') < coding && coding != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

Finding UnreadableFile(source::FileId file, std::string why) {
  return Make(kUnreadable, {file, 0, 0}, {"file was not analysed: {}", {std::move(why)}});
}

Finding LimitedFile(source::FileId file, std::string bound) {
  return Make(kLimit, {file, 0, 0}, {"this file was not analysed: {}", {std::move(bound)}});
}

Finding StoppedFile(source::FileId file) { return Make(kLimit, {file, 0, 0}, {"this file was not analysed to its end: the run was stopped", {}}); }

bool IsLimit(const Finding& finding) { return finding.code == kLimit; }

bool HasLineOfItsOwn(const Finding& finding) {
  return finding.confidence == Confidence::Possible && (finding.code == kLimit || finding.code == kUnreadable);
}

void AddReadingProblems(const ir::Module& module, const source::SourceFile& file, bool is_guessed, std::vector<Finding>& findings) {
  for (const ir::Problem& problem : module.problems) {
    const source::Span span = {module.file, problem.begin, problem.end};
    if (problem.kind == ir::ProblemKind::Limit) {
      findings.push_back(Make(kLimit, span, {"this part was not analysed: {}", {problem.text}}));
    } else {
      const bool is_python = module.language == ir::Language::Python;
      findings.push_back(Make(kUnreadable, span,
                              {is_python ? "syntax error: {}" : "not all of this could be read: {}", {problem.text}}));
      // Of a fresh checkout, which nothing has built yet, this says nothing about the code; the summary counts such files.
      if (is_guessed) findings.back().confidence = Confidence::Possible;
    }
  }
  // C++ takes bytes as they come.
  if (file.valid_utf8 || module.language != ir::Language::Python || DeclaresEncoding(file)) return;
  const auto at = static_cast<uint32_t>(FirstInvalidByte(file.text));
  findings.push_back(Make(kUnreadable, {module.file, at, at + 1},
                          {"byte that is not UTF-8 in a file without a coding line, which Python refuses", {}}));
}

void AddReadingProblems(const launch::LaunchFile& file, std::vector<Finding>& findings) {
  for (const launch::ReadProblem& problem : file.problems) {
    if (problem.is_limit) findings.push_back(Make(kLimit, problem.span, {"this file was not analysed to its end: {}", {problem.text}}));
    else findings.push_back(Make(kUnreadable, problem.span, {"not all of this could be read: {}", {problem.text}}));
  }
}

void AddLimits(const binding::Program& program, const traces::Analysis& analysis, std::vector<Finding>& findings) {
  for (const traces::LimitHit& limit : analysis.limits) {
    const ir::Module& module = program.module_of(limit.function);
    const ir::Function& function = program.function(limit.function);
    const source::Span name = {module.file, function.name_begin, function.name_end};
    Finding finding = Make(kLimit, name, {"`{}` was not analysed to its end: {}",
                                          {program.FunctionName(limit.function), limit.bound}});
    finding.function = program.FunctionName(limit.function);
    // A long test or example may come to a bound without any defect: the summary counts such functions.
    if (!limit.is_given) finding.confidence = Confidence::Possible;
    findings.push_back(std::move(finding));
  }
}

}  // namespace allranks::pipeline
