#include "driver/pipeline/run_record.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <unordered_map>

#include "analyzer/base/image.h"
#include "analyzer/platform/platform.h"
#include "driver/pipeline/parallel.h"
#include "frontends/cpp/cuda_headers.h"
#include "frontends/cpp/helper.h"

namespace allranks::findings {

using base::Is;

template <Is<Assumptions> T, class Visit>
void Fields(T& it, Visit& visit) {
  uint64_t bits = it.bits();
  visit(bits);
  if constexpr (!std::is_const_v<T>) {
    for (unsigned i = 0; i < 64; ++i) {
      if ((bits >> i & 1) != 0) it.Add(static_cast<Assumption>(i));
    }
  }
}

template <Is<Text> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [format, args] = it;
  visit(format, args);
}

template <Is<Label> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [span, role, text] = it;
  visit(span, role, text);
}

template <Is<Edit> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [span, replacement] = it;
  visit(span, replacement);
}

template <Is<Fix> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [title, applicability, edits] = it;
  visit(title, applicability, edits);
}

template <Is<Finding> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [code, severity, confidence, assumptions, is_in_preview, span, message, labels, help, flight_record, function, function_code, fingerprint, witness, fixes] = it;
  visit(code, severity, confidence, assumptions, is_in_preview, span, message, labels, help, flight_record, function, function_code, fingerprint, witness, fixes);
}

template <Is<Suppressed> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [finding, reason, comment] = it;
  visit(finding, reason, comment);
}

template <Is<Extent> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [begin, end, header_end] = it;
  visit(begin, end, header_end);
}

template <Is<FileSyntax> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [file, statements, comments, comment_mark] = it;
  visit(file, statements, comments, comment_mark);
}

}  // namespace allranks::findings

namespace allranks::source {

template <base::Is<Span> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [file, begin, end] = it;
  visit(file, begin, end);
}

}  // namespace allranks::source

namespace allranks::traces {

template <base::Is<LedgerEntry> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [span, function, name, verdict, assumptions, reason] = it;
  visit(span, function, name, verdict, assumptions, reason);
}

}  // namespace allranks::traces

namespace allranks::witness {

using base::Is;

template <Is<Place> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [uri, line] = it;
  visit(uri, line);
}

template <Is<Communicator> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [id, ranks] = it;
  visit(id, ranks);
}

template <Is<RankClass> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [id, ranks, guard] = it;
  visit(id, ranks, guard);
}

template <Is<Op> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [id, op, comm, count, dtype, redop, root, peer, sync, batch, source, at] = it;
  visit(id, op, comm, count, dtype, redop, root, peer, sync, batch, source, at);
}

template <Is<Stuck> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [rank, op] = it;
  visit(rank, op);
}

template <Is<DeviceOrdinal> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [devices, ordinals] = it;
  visit(devices, ordinals);
}

template <Is<EpochOrder> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [samples, epochs, seed, set_epoch] = it;
  visit(samples, epochs, seed, set_epoch);
}

template <Is<UnevenBatches> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [samples, batch, drop_last, join] = it;
  visit(samples, batch, drop_last, join);
}

template <Is<SampleShares> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [samples, batch, workers, by_rank, by_worker, seeds] = it;
  visit(samples, batch, workers, by_rank, by_worker, seeds);
}

template <Is<LearningRate> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [batch, accumulation, learning_rate, scaled] = it;
  visit(batch, accumulation, learning_rate, scaled);
}

template <Is<Accumulation> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [micro_steps, buckets, no_sync] = it;
  visit(micro_steps, buckets, no_sync);
}

template <Is<AveragedGradient> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [batch, learning_rate, divided] = it;
  visit(batch, learning_rate, divided);
}

template <Is<TensorMemory> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [backend, device] = it;
  visit(backend, device);
}

template <Is<FileOrder> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [writers] = it;
  visit(writers);
}

template <Is<LaunchedRanks> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [processes, awaited, nodes, places, numbers] = it;
  visit(processes, awaited, nodes, places, numbers);
}

template <Is<UnusedParameter> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [buckets, unused, find_unused] = it;
  visit(buckets, unused, find_unused);
}

template <Is<Witness> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [finding, world, nodes, comms, classes, ops, communicators, fence, effect, stuck, scenario, quiet_ms, total_ms] = it;
  visit(finding, world, nodes, comms, classes, ops, communicators, fence, effect, stuck, scenario, quiet_ms, total_ms);
}

}  // namespace allranks::witness

namespace allranks::config {

template <base::Is<SeverityChoice> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [rules, level] = it;
  visit(rules, level);
}

}  // namespace allranks::config

namespace allranks::pipeline {

using base::Is;

template <Is<Content> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [low, high] = it;
  visit(low, high);
}

template <Is<Question> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [asked, path, answer] = it;
  visit(asked, path, answer);
}

template <Is<LeftOutPath> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [path, is_folder, why] = it;
  visit(path, is_folder, why);
}

template <Is<FileIgnore> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [pattern, rules] = it;
  visit(pattern, rules);
}

template <Is<Policy> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [folder, file, rules, without_previews, file_ignores, severity, least, fail_on, require_reason] = it;
  visit(folder, file, rules.size(), without_previews.size(), file_ignores, severity, least, fail_on, require_reason);
  for (const rules::Rule* rule : rules) visit(std::string(rule->code));
  for (const rules::Rule* rule : without_previews) visit(std::string(rule->code));
}

template <Is<Options> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [root, working_directory, paths, overlays, named_knowledge, knowledge_files, exclude, import_roots, compile_commands, extra_args, cache_folder,
         policies, not_used, job, respect_gitignore, reads_launch_files, force_exclude, jobs, bounds, is_stopped, progress] = it;
  visit(root, working_directory, paths, named_knowledge, knowledge_files, exclude, import_roots, compile_commands, extra_args, policies.of_run,
        policies.nested, not_used, job.nodes, job.devices, respect_gitignore, reads_launch_files, force_exclude, bounds.per_file.count(), bounds.memory_bytes,
        bounds.memory_per_file);
}

template <Is<Output> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [files, findings, ledger, checked, requested, is_same, errors, timings, bytes_scanned, bytes_parsed, files_scanned, files_parsed,
         files_requested, files_excluded, suppressed, syntax, left_out, read_in_part, knows_tracked, unread_importers, notes, index_problem, limits,
         cut_files, is_repeatable, stopped_in, steps] = it;
  visit(findings, ledger, checked, requested, bytes_scanned, bytes_parsed, files_scanned, files_parsed, files_requested, files_excluded,
        suppressed, syntax, left_out, read_in_part, knows_tracked, unread_importers, notes, index_problem, limits, steps);
}

namespace {

// A project has as many as there are ways in which it is checked: from the command line, by hooks, file by file.
constexpr CacheBounds kBounds = {.entries = 32, .bytes = uint64_t{256} << 20};
constexpr size_t kLargestRecord = size_t{64} << 20;

// A file that was read is taken from the disk again.
struct KeptFile {
  std::string path;  // by which it is shown and opened
  Content text;
};

template <Is<KeptFile> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [path, text] = it;
  visit(path, text);
}

std::string SettingsOf(const Options& options) {
  const base::Interner no_names;
  base::ImageWriter writer(no_names);
  writer(options);
  return std::move(writer).Finish() + cpp::HelperIdentity() + cpp::CudaSettings();
}

// Whether another run would come to the same.
bool IsKept(const Output& out) {
  return out.stopped_in.empty() && out.errors.empty() && out.cut_files.empty() && out.is_repeatable;
}

// The texts of files that were read, by path; nothing, where an answer is another one than then.
using Texts = std::unordered_map<std::string_view, std::string>;
bool AnswersAreTheSame(const std::vector<Question>& questions, const source::FileSystem& files, const Unlisted& unlisted, unsigned jobs, Texts& texts) {
  std::atomic<bool> is_same = true;
  ParallelFor(questions.size(), jobs, [&](size_t i) {
    if (!is_same.load(std::memory_order_relaxed)) return;
    const Question& question = questions[i];
    const auto text = question.asked == Asked::Read ? texts.find(question.path) : texts.end();
    std::string* bytes = text == texts.end() ? nullptr : &text->second;
    if (!(AnswerNow(question.asked, question.path, files, unlisted, bytes) == question.answer)) is_same = false;
  });
  return is_same;
}

// What cannot be read as what it is named stands among the files without a text.
source::SourceFile FileOf(const std::string& path, const std::string& bytes) {
  base::Result<source::SourceFile> file = source::MakeSourceFile(path, bytes);
  return file ? std::move(*file) : *source::MakeSourceFile(path + "/", "");
}

bool FillFiles(const std::vector<KeptFile>& kept, unsigned jobs, const Texts& texts, source::SourceFiles& files) {
  std::atomic<bool> is_whole = true;
  files.resize(kept.size());
  ParallelFor(kept.size(), jobs, [&](size_t i) {
    source::SourceFile& file = files[source::FileId{static_cast<uint32_t>(i)}];
    file = FileOf(kept[i].path, texts.find(kept[i].path)->second);
    file.path = kept[i].path;
    if (!(ContentOf(file.text) == kept[i].text)) is_whole = false;
  });
  return is_whole;
}

}  // namespace

RunRecord::RunRecord(const Options& options, std::string_view key)
    : unlisted_(options.cache_folder, options.working_directory),
      jobs_(options.jobs),
      folder_(options.overlays.empty() ? options.cache_folder : "", key, "runs") {
  if (IsUsed()) settings_ = DigitsOf(SettingsOf(options));
}

std::optional<Output> RunRecord::Find(const source::FileSystem& files) const {
  if (!IsUsed()) return std::nullopt;
  const auto start = std::chrono::steady_clock::now();
  const std::optional<std::string> bytes = folder_.Find(settings_, settings_, kLargestRecord);
  if (!bytes) return std::nullopt;
  base::Interner no_names;
  base::ImageReader reader(*bytes, no_names);
  std::vector<Question> questions;
  std::vector<KeptFile> kept;
  Output out;
  reader(questions, kept, out);
  if (!reader.ok() || !reader.AtEnd()) return std::nullopt;
  Texts texts;
  for (const KeptFile& file : kept) texts.try_emplace(file.path);
  if (!AnswersAreTheSame(questions, files, unlisted_, jobs_, texts) || !FillFiles(kept, jobs_, texts, out.files)) return std::nullopt;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  out.timings.push_back({.phase = "compare", .seconds = took.count(), .peak_bytes = platform::PeakMemory()});
  return out;
}

void RunRecord::Keep(const RecordingFileSystem& files, const Output& out) {
  if (!IsUsed() || !IsKept(out)) return;
  const std::optional<std::vector<Question>> questions = files.Questions();
  if (!questions) return;
  std::vector<KeptFile> kept;
  for (const source::SourceFile& file : out.files) kept.push_back({.path = file.path, .text = ContentOf(file.text)});
  const base::Interner no_names;
  base::ImageWriter writer(no_names);
  writer(*questions, kept, out);
  const std::string bytes = std::move(writer).Finish();
  // One that would never be read again.
  if (bytes.size() > kLargestRecord) return;
  folder_.Keep(settings_, settings_, bytes);
  folder_.Prune(kBounds);
}

}  // namespace allranks::pipeline
