#include "driver/cli/known.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "analyzer/files/write_file.h"
#include "driver/baseline/revision.h"
#include "driver/cli/memory_guard.h"
#include "driver/cli/terminal.h"
#include "driver/config/project.h"
#include "driver/pipeline/paths.h"
#include "driver/pipeline/policy.h"
#include "driver/pipeline/selection.h"
#include "driver/pipeline/tool_findings.h"
#include "driver/reports/place.h"

namespace allranks::cli {
namespace {

using findings::Finding;

bool IsOver(const pipeline::Options& options) { return options.is_stopped && options.is_stopped(); }

// The fingerprints of what the same run finds in the code of the commit; what did not exist then brought nothing. Of a run that is
// to end they are some.
base::Result<std::set<std::string>> FindingsThen(const std::string& revision, const config::Resolved& resolved,
                                                 pipeline::Options options, const source::FileSystem& files) {
  const std::string repository = config::FindRepository(resolved.root, options.working_directory, files);
  const baseline::RevisionBounds bounds{options.is_stopped, options.bounds.memory_bytes, pipeline::kLargestSource};
  const base::Result<std::string> commit = baseline::BaseCommit(repository, revision, bounds);
  if (!commit) return base::Fail(commit.error().message);
  const base::Result<baseline::RevisionFiles> then =
      baseline::RevisionFiles::At(*commit, repository, options.working_directory, bounds);
  if (!then) return base::Fail(then.error().message);
  options.overlays.clear();
  // What is kept there is of the files as they are now.
  options.cache_folder.clear();
  options.progress = {};
  std::erase_if(options.paths, [&](const std::string& path) { return !then->Kind(path).has_value(); });
  std::set<std::string> fingerprints;
  if (options.paths.empty()) return fingerprints;
  const base::Result<pipeline::Output> out = pipeline::Run(options, *then);
  if (!out) return base::Fail("--diff-base: " + out.error().message);
  for (const Finding& finding : out->findings) fingerprints.insert(finding.fingerprint);
  for (const findings::Suppressed& one : out->suppressed) fingerprints.insert(one.finding.fingerprint);
  return fingerprints;
}

bool HasVariable(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' && std::string_view(value) != "false" && std::string_view(value) != "0";
}

// Of the memory of a run: as it is read, a baseline takes six times as much as its text.
constexpr uint64_t kShareOfBaseline = 8;

bool IsTooLarge(const std::string& baseline, const pipeline::Options& options, const source::FileSystem& files) {
  const base::Result<uint64_t> size = files.Size(baseline);
  return options.bounds.memory_bytes > 0 && size && *size > options.bounds.memory_bytes / kShareOfBaseline;
}

std::string CountedFindings(size_t count) { return std::to_string(count) + (count == 1 ? " finding" : " findings"); }

}  // namespace

base::Result<Known> Known::Load(const CheckArguments& arguments, const config::Resolved& resolved,
                                const pipeline::Options& options, const source::FileSystem& files) {
  Known known;
  known.policies_ = options.policies;
  known.file_ = resolved.settings.baseline;
  known.root_ = resolved.root;
  known.working_directory_ = options.working_directory;
  if (resolved.brings_baseline) known.project_ = config::FindRepository(resolved.root, options.working_directory, files);
  if (arguments.update_baseline && known.file_.empty()) {
    return base::Fail("--update-baseline: which file? Name it with --baseline FILE or `baseline` in the configuration");
  }
  if (!known.file_.empty()) {
    if (IsTooLarge(known.file_, options, files)) return base::Fail(known.file_ + ": cannot read: larger than an eighth of --max-memory");
    const base::Result<std::string> text = files.Read(known.file_);
    const bool is_new = arguments.update_baseline && !files.Kind(known.file_);
    if (!text && !is_new) return base::Fail(text.error().message + "; --update-baseline writes a baseline");
    base::Result<baseline::Baseline> read = is_new ? baseline::Baseline() : baseline::Parse(known.file_, *text);
    if (!read) return base::Fail(read.error().message);
    known.baseline_ = std::move(*read);
  }
  if (!arguments.diff_base.empty()) {
    base::Result<std::set<std::string>> old = FindingsThen(arguments.diff_base, resolved, options, files);
    known.was_stopped_ = IsOver(options);
    if (!old && !known.was_stopped_) return base::Fail(old.error().message);
    known.old_ = std::move(old).value_or(std::set<std::string>());
  }
  return known;
}

void Known::Keep(pipeline::Output& out) {
  kept_.found.clear();
  for (const Finding& finding : out.findings) kept_.found.insert(finding.fingerprint);
  for (const findings::Suppressed& one : out.suppressed) kept_.found.insert(one.finding.fingerprint);
  kept_.hidden = {};
  CountHidden(out);
  std::erase_if(out.findings, [&](const Finding& finding) { return !IsShown(out, finding); });
  std::erase_if(out.suppressed, [&](const findings::Suppressed& one) { return !IsShown(out, one.finding); });
  kept_.known.clear();
  if (baseline_) kept_.known = baseline::TakeKnown(*baseline_, out.findings);
  if (!old_) return;
  for (Finding& finding : out.findings) {
    if (old_->contains(finding.fingerprint)) kept_.known.push_back(finding);
  }
  std::erase_if(out.findings, [&](const Finding& finding) { return old_->contains(finding.fingerprint); });
}

void Known::CountHidden(const pipeline::Output& out) {
  for (const Finding& finding : out.findings) {
    if (IsShown(out, finding) || pipeline::HasLineOfItsOwn(finding)) continue;
    if (finding.confidence >= PolicyOf(out, finding).least) {
      ++kept_.hidden.in_preview;
      kept_.hidden.files_with_previews.insert(finding.span.file.index);
    } else {
      ++(finding.confidence == findings::Confidence::Likely ? kept_.hidden.likely : kept_.hidden.possible);
    }
  }
}

const pipeline::Policy& Known::PolicyOf(const pipeline::Output& out, const Finding& finding) const {
  return policies_.Of(pipeline::PathMap(root_, working_directory_).Relative(out.files[finding.span.file].path));
}

bool Known::IsShown(const pipeline::Output& out, const Finding& finding) const {
  return pipeline::IsShown(PolicyOf(out, finding), finding);
}

bool Known::WasChecked(const baseline::Entry& entry, const pipeline::Output& out) const {
  if (!pipeline::Runs(policies_.Of(entry.path), entry.code)) return false;
  if (std::ranges::binary_search(out.requested, entry.path)) return true;
  const pipeline::PathMap paths(root_, working_directory_);
  return !source::RealFileSystem().Kind(paths.Absolute(entry.path)).has_value();
}

baseline::Entry Known::EntryOf(const pipeline::Output& out, const Finding& finding) const {
  const pipeline::PathMap paths(root_, working_directory_);
  return {finding.fingerprint, std::string(finding.code), paths.Relative(out.files[finding.span.file].path), finding.function,
          findings::Render(finding.message)};
}

void Known::AddSeen(Verdicts& verdicts) const {
  if (!baseline_) return;
  for (const baseline::Entry& entry : baseline_->entries) {
    if (!entry.seen.empty()) verdicts.try_emplace(entry.fingerprint, entry.seen, true);
  }
}

base::Result<bool> Known::WriteBaseline(const baseline::Baseline& next) const {
  const std::string text = baseline::Write(next);
  if (project_.empty()) return WriteFile(file_, text, config::FindRepository(root_, working_directory_, source::RealFileSystem())) ? base::Result<bool>(true) : base::Fail("the baseline was not written");
  const MemoryGuard::Writing writing;
  const files::Place place = files::PlaceBelow(project_, file_);
  const int error = files::ReplaceIn(place.folder, place.name, text);
  if (error == 0) return true;
  return base::Fail("cannot write the baseline " + file_ + ": " + (error == EXDEV ? "it leads out of the project " + project_ : std::generic_category().message(error)));
}

base::Result<std::string> Known::Update(pipeline::Output& out, const Verdicts& verdicts) {
  const size_t before = baseline_->entries.size();
  baseline::Baseline next = baseline::WithoutGone(*baseline_, kept_.found, [&](const baseline::Entry& e) { return WasChecked(e, out); });
  const size_t kept = next.entries.size();
  for (const Finding& finding : out.findings) next.entries.push_back(EntryOf(out, finding));
  const size_t added = next.entries.size() - kept;
  for (baseline::Entry& entry : next.entries) {
    if (const auto verdict = verdicts.find(entry.fingerprint); verdict != verdicts.end() && verdict->second.in_job) entry.seen = verdict->second.words;
  }
  if (const base::Result<bool> written = WriteBaseline(next); !written) return base::Fail(written.error().message);
  const std::string text = "Baseline " + reports::OneLine(file_) + ": " + CountedFindings(next.entries.size()) + " (" + std::to_string(added) +
                           " added, " + std::to_string(before - kept) + " removed).\n";
  baseline_ = std::move(next);
  // What was known or hidden before is not among the findings any more.
  std::vector<Finding> known = std::move(kept_.known);
  const Hidden hidden = kept_.hidden;
  Keep(out);
  kept_.hidden = hidden;
  kept_.known.insert(kept_.known.begin(), known.begin(), known.end());
  return text;
}

base::Result<std::string> Known::Shrink(const pipeline::Output& out) const {
  if (!baseline_) return std::string();
  const baseline::Baseline next =
      baseline::WithoutGone(*baseline_, kept_.found, [&](const baseline::Entry& e) { return WasChecked(e, out); });
  const size_t gone = baseline_->entries.size() - next.entries.size();
  if (gone == 0) return std::string();
  if (HasVariable("CI") || HasVariable("PRE_COMMIT")) {
    return CountedFindings(gone) + " of the baseline " + reports::OneLine(file_) + (gone == 1 ? " is" : " are") + " fixed; a run outside CI and hooks removes " +
           (gone == 1 ? "it" : "them") + ".\n";
  }
  if (const base::Result<bool> written = WriteBaseline(next); !written) return base::Fail(written.error().message);
  return "Removed " + CountedFindings(gone) + " from the baseline " + reports::OneLine(file_) + ": fixed.\n";
}

}  // namespace allranks::cli
