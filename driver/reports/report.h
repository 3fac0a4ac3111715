// What is reported, whatever the format. A format is one function from `Report` to text, one file each.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/findings/finding.h"
#include "analyzer/findings/suppression.h"
#include "analyzer/source/source_file.h"

namespace allranks::reports {

// Proven: nothing was assumed. Aligned: as far as the program could be read.
enum class Verdict : uint8_t { Proven, Aligned, Flagged, Unknown };

// A collective call of the program and what was found out about it.
struct Site {
  source::Span span;
  std::string name;
  Verdict verdict = Verdict::Unknown;
  std::string reason;  // Unknown: why
  findings::Assumptions assumptions = {};  // Aligned
};

// Of the run itself, for SARIF.
struct RunInfo {
  std::vector<std::string> arguments = {};
  std::string start_time = {}, end_time = {};  // "2026-11-22T15:04:05Z"; empty: not known
  int exit_code = 0;
  std::string repository = {};  // "https://host/owner/name"; empty: none
  std::string commit = {};
  std::string branch = {};
};

// What `allranks verify` or `allranks explain` says of a finding.
struct Verification {
  std::string words;    // "hangs on NCCL (4 ranks)"; of a job: what it did
  bool in_job = false;  // it happened in a job, which no replay shows
  std::string Text() const { return in_job ? "seen in a job: " + words : words; }
};

struct Report {
  const source::SourceFiles& files;
  std::span<const findings::Finding> findings;
  std::vector<Site> ledger;            // by file and place
  std::vector<std::string> errors;     // what could not be done, one line each
  size_t files_checked = 0;
  std::span<const findings::Suppressed> suppressed;  // findings that comments accept
  std::span<const findings::Finding> known;          // findings that the baseline has
  bool has_baseline = false;
  std::map<std::string, Verification> verdicts;      // by the name of the witness, or by the fingerprint
  std::string_view version;
  bool sarif_suppressed = false;  // SARIF holds what comments accept; code scanning would open alerts for it
  bool sarif_known = false;       // and what the baseline has
  std::string category = "allranks/";  // of SARIF runs: tells several uploads of one commit apart
  // From a path as shown to one relative to the root of the repository; none: they are the same.
  std::function<std::string(std::string_view)> repository_path;
  // Of a notebook: for each line of its text, from zero, the line of its JSON, from one.
  std::map<source::FileId, std::vector<uint32_t>> notebook_lines = {};
  RunInfo run = {};
  std::vector<std::string> notes = {};  // what was found and not checked, one line each
  std::vector<std::string> limits = {};  // what a bound kept from being analysed, one line each
};

// What was seen of a finding; null: nothing.
const Verification* VerificationOf(const Report& report, const findings::Finding& finding);

// How text is drawn.
struct TextStyle {
  bool color = false;
  bool ascii = false;   // the terminal cannot show other signs
  uint32_t width = 120; // columns; longer source lines are cut
  bool quiet = false;   // no summary
};

std::string RenderFull(const Report& report, const TextStyle& style);
std::string RenderConcise(const Report& report, const TextStyle& style);
std::string RenderJson(const Report& report);
std::string RenderJsonLines(const Report& report);
std::string RenderSarif(const Report& report);
std::string RenderGithub(const Report& report);
std::string RenderGitlab(const Report& report);
std::string RenderJunit(const Report& report);
std::string RenderRdjson(const Report& report);
std::string RenderHtml(const Report& report);
std::string RenderMarkdown(const Report& report);
std::string RenderAzure(const Report& report);
// By the name of the format, as the option `output-format` has it; "full" for any other.
std::string Render(std::string_view format, const Report& report, const TextStyle& style);

// A path as shown, relative to the root of the repository.
std::string RepositoryPath(const Report& report, std::string_view shown);

// `--statistics`: how often each rule found something, most first.
std::string RenderStatistics(const Report& report, const TextStyle& style);
// `--coverage`: the shares of the ledger, why sites are unknown, and, if `sites`, each site.
std::string RenderCoverage(const Report& report, const TextStyle& style, bool sites);
// "2 errors and 1 warning in 3 files; ..."
std::string RenderSummary(const Report& report, const TextStyle& style);

}  // namespace allranks::reports
