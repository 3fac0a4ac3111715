#include "driver/pipeline/parse.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <unordered_set>

#include "analyzer/ir/serialize.h"
#include "driver/pipeline/memory.h"
#include "driver/pipeline/parallel.h"
#include "driver/pipeline/read_cpp.h"
#include "driver/pipeline/untyped_cpp.h"
#include "frontends/cpp/includes.h"
#include "frontends/cpp/nesting.h"
#include "frontends/python/lower.h"

namespace allranks::pipeline {
namespace {

std::string WhyFaulty(const ScannedFile& file) {
  switch (file.state) {
    case ReadState::Binary: return "it contains NUL bytes, so it is binary or not UTF-8; save it as UTF-8";
    case ReadState::TooLarge:
      return "its " + std::to_string(file.bytes) + " bytes are over the limit of " +
             std::to_string(kLargestSource >> 20) + " MiB; split it or exclude it";
    default: return file.problem;
  }
}

source::SourceFile EmptyFile(std::string path) {
  source::SourceFile file;
  file.path = std::move(path);
  file.line_starts = {0};
  return file;
}

bool IsCpp(const std::string& path) { return cpp::IsSourceName(path) || cpp::IsHeaderName(path); }

// What a byte of text takes once it is read and analysed, about.
constexpr uint64_t kMemoryOfText = 20;

// What a run grants a file holds for Clang too; without a bound of the run that of the helper does.
cpp::Limits LimitsOfHelper(const base::Bounds& bounds) {
  cpp::Limits limits;
  if (bounds.per_file.count() > 0) {
    const auto seconds = static_cast<uint32_t>((bounds.per_file.count() + 999) / 1000);
    limits.seconds = std::min(limits.seconds, seconds);
  }
  for (const uint64_t most : {bounds.memory_bytes, bounds.memory_per_file}) {
    if (most > 0) limits.memory_bytes = std::min(limits.memory_bytes, most);
  }
  return limits;
}

// The files that get a FileId: those to parse and those to complain about, in the order of their paths.
std::vector<uint32_t> Kept(const Selection& selection) {
  std::vector<uint32_t> kept;
  std::merge(selection.parse.begin(), selection.parse.end(), selection.faulty.begin(), selection.faulty.end(),
             std::back_inserter(kept));
  return kept;
}

constexpr const char* kStopped = "the run was stopped";

// How long one file may be read: until the run is stopped, the time of the file is over, or the memory of the run is used up.
class Patience {
 public:
  explicit Patience(const base::Watch& watch) : watch_(watch) {}

  bool IsOver() {
    // The system is asked for it.
    constexpr uint32_t kBetweenLooksAtMemory = 64;
    if (!why_.empty()) return true;
    if (watch_.IsStopped()) why_ = kStopped;
    else if (IsLate()) why_ = "more than " + std::to_string(watch_.bounds().per_file.count()) + " ms for this file";
    else if (++looks_ % kBetweenLooksAtMemory == 0 && watch_.IsFull()) why_ = watch_.FullText();
    return !why_.empty();
  }
  const std::string& why() const { return why_; }

 private:
  using Clock = std::chrono::steady_clock;
  bool IsLate() const { return watch_.bounds().per_file.count() > 0 && Clock::now() - begin_ > watch_.bounds().per_file; }

  const base::Watch& watch_;
  Clock::time_point begin_ = Clock::now();
  uint32_t looks_ = 0;
  std::string why_;
};

// What became of one file.
struct Outcome {
  ir::Module module;
  std::shared_ptr<const cpp::Reply> reply;  // of a translation unit instead
  std::string problem;              // not empty: it was not read, and why
  std::string bound;                // not empty: the bound for which it was not read
};

class Parser {
 public:
  Parser(const ParseInput& input, Selection& selection, base::Interner& names)
      : in_(input), selection_(selection), names_(names), kept_(Kept(selection)) {}

  Parsed Run() {
    out_.files.resize(kept_.size());
    std::vector<Outcome> outcomes(kept_.size());
    if (AsksForCpp()) {
      reader_.emplace(in_.paths, in_.files, in_.compile_commands, in_.extra_args, LimitsOfHelper(in_.watch.bounds()), in_.units.IsUsed() ? &in_.units : nullptr);
      headers_content_ = HeadersContent();
      out_.problems = reader_->problems();
    }
    ParallelFor(kept_.size(), in_.jobs, [&](size_t i) {
      if (in_.watch.IsStopped()) LeaveOut(i, outcomes[i]);
      else ReadOne(i, outcomes[i]);
    });
    if (reader_) out_.is_repeatable = reader_->IsRepeatable();
    for (uint32_t i = 0; i < kept_.size(); ++i) {
      if (cpp::IsHeaderName(PathOf(i))) headers_.emplace(PathOf(i), source::FileId{i});
    }
    for (uint32_t i = 0; i < kept_.size(); ++i) Add(i, outcomes[i]);
    FillCpp();
    return std::move(out_);
  }

 private:
  // Whether or not a file of it concerns ranks: what is wrong with its compile commands is told before the day on which one does.
  bool AsksForCpp() const {
    const auto is_cpp = [&](uint32_t index) { return IsCpp(in_.project.all[index]); };
    if (std::ranges::any_of(selection_.parse, is_cpp)) return true;
    return std::ranges::any_of(std::views::iota(0u, static_cast<uint32_t>(selection_.requested.size())),
                               [&](uint32_t index) { return selection_.requested[index] && is_cpp(index); });
  }

  const std::string& PathOf(size_t i) const { return in_.project.all[kept_[i]]; }

  void LeaveOut(size_t i, Outcome& outcome) {
    out_.files[source::FileId{static_cast<uint32_t>(i)}] = EmptyFile(in_.paths.Shown(PathOf(i)));
    outcome.bound = kStopped;
  }

  void ReadOne(size_t i, Outcome& outcome) {
    ScannedFile& scanned = selection_.files[kept_[i]];
    const source::FileId id{static_cast<uint32_t>(i)};
    const std::string shown = in_.paths.Shown(PathOf(i));
    out_.files[id] = EmptyFile(shown);
    if (scanned.state != ReadState::Read) {
      outcome.problem = WhyFaulty(scanned);
      return;
    }
    if (const uint64_t most = in_.watch.bounds().memory_per_file; most > 0 && scanned.text.size() > most / kMemoryOfText) {
      outcome.bound = in_.watch.LargeText();
      return;
    }
    if (in_.watch.IsFull()) {
      outcome.bound = in_.watch.FullText();
      return;
    }
    if (std::optional<Memory::Module> known = Remembered(PathOf(i), scanned)) {
      out_.files[id] = std::move(known->file);
      outcome.module = std::move(known->module);
      outcome.module.file = id;
      return;
    }
    base::Result<source::SourceFile> file = source::MakeSourceFile(shown, std::move(scanned.text));
    if (!file) {
      outcome.problem = file.error().message;
      return;
    }
    out_.files[id] = std::move(*file);
    if (!IsCpp(PathOf(i))) {
      Patience patience(in_.watch);
      try {
        outcome.module = ReadPython(PathOf(i), scanned.content, id, patience);
      } catch (const python::GivenUp&) {
        outcome.bound = patience.why();
      }
      return;
    }
    ReadUnit(i, scanned.content, out_.files[id].text, *reader_, outcome);
  }

  std::optional<Memory::Module> Remembered(const std::string& path, const ScannedFile& scanned) const {
    return in_.memory == nullptr ? std::nullopt : in_.memory->TakeModule(path, scanned.content);
  }

  void ReadUnit(size_t i, const Content& content, const std::string& text, const CppReader& reader, Outcome& outcome) {
    const Content whole{content.low ^ headers_content_.low, content.high ^ headers_content_.high};
    if (in_.memory != nullptr) {
      const std::lock_guard lock(units_mutex_);
      outcome.reply = in_.memory->Unit(PathOf(i), whole);
    }
    if (outcome.reply != nullptr) return;
    if (cpp::NestingOf(text) > cpp::kDeepestNesting) {
      outcome.bound = "statements nested more than " + std::to_string(cpp::kDeepestNesting) + " deep without braces";
      return;
    }
    Patience patience(in_.watch);
    cpp::Reached reached = cpp::Reached::Nothing;
    base::Result<cpp::Reply> reply = reader.Read(PathOf(i), text, IncludeFolders(kept_[i]), in_.overlays.contains(PathOf(i)),
                                                 [this] { return in_.watch.IsStopped(); }, &reached);
    if (!reply) {
      outcome.bound = BoundOf(reached, patience);
      if (outcome.bound.empty()) outcome.problem = reply.error().message;
      return;
    }
    outcome.reply = std::make_shared<const cpp::Reply>(std::move(*reply));
    if (in_.memory == nullptr) return;
    const std::lock_guard lock(units_mutex_);
    in_.memory->SetUnit(PathOf(i), whole, outcome.reply);
  }

  // Of those that the user has set: what Clang has of its own is a problem of the file. Empty: another.
  std::string BoundOf(cpp::Reached reached, Patience& patience) const {
    const base::Bounds& bounds = in_.watch.bounds();
    const bool is_of_user = bounds.memory_bytes > 0 || bounds.memory_per_file > 0;
    if (reached == cpp::Reached::Memory && is_of_user) {
      return "memory of more than " + std::to_string(LimitsOfHelper(bounds).memory_bytes >> 20) + " MiB for Clang";
    }
    const bool is_of_time = reached == cpp::Reached::Time || reached == cpp::Reached::Stop;
    return is_of_time && patience.IsOver() ? patience.why() : std::string();
  }

  // A unit is read anew when any header of the project has changed.
  Content HeadersContent() const {
    Content sum;
    for (const ScannedFile& file : selection_.files) {
      if (!file.is_header) continue;
      sum.low += file.content.low;
      sum.high += file.content.high;
    }
    return sum;
  }

  // Of a file and of all headers that it includes, through any number of them.
  std::vector<std::string> IncludeFolders(uint32_t main) const {
    std::vector<std::string> folders;
    std::vector<uint32_t> work = {main};
    std::unordered_set<uint32_t> seen = {main};
    for (size_t i = 0; i < work.size(); ++i) {
      const ScannedFile& file = selection_.files[work[i]];
      for (const std::string& folder : file.include_folders) {
        if (std::ranges::count(folders, folder) == 0) folders.push_back(folder);
      }
      for (const uint32_t target : file.imports) {
        if (cpp::IsHeaderName(in_.project.all[target]) && seen.insert(target).second) work.push_back(target);
      }
    }
    return folders;
  }

  ir::Module ReadPython(const std::string& path, const Content& content, source::FileId id, Patience& patience) {
    const source::SourceFile& file = out_.files[id];
    const bool is_on_disk = !in_.overlays.contains(path);
    if (is_on_disk) {
      if (std::optional<ir::Module> known = in_.cache.Find(path, content, id, file.text.size(), names_)) return std::move(*known);
    }
    python::LastParse* last = is_on_disk || in_.memory == nullptr ? nullptr : &in_.memory->LastParseOf(path);
    ir::Module module = python::Lower(file, id, names_, last, [&] { return patience.IsOver(); });
    if (is_on_disk) in_.cache.Keep(path, content, module, names_);
    return module;
  }

  void Add(uint32_t i, Outcome& outcome) {
    out_.requested.resize(std::max<size_t>(out_.requested.size(), kept_.size()));
    out_.requested[i] = selection_.requested[kept_[i]];
    const source::FileId id{i};
    if (outcome.reply) AddUnit(id, PathOf(i), *outcome.reply, &outcome.problem);
    if (!outcome.bound.empty()) {
      out_.limited.emplace_back(id, std::move(outcome.bound));
      return;
    }
    if (!outcome.problem.empty()) {
      out_.faulty.emplace_back(id, std::move(outcome.problem));
      if (IsCpp(PathOf(i))) cpp_files_[id] = {.is_read = false};
      return;
    }
    out_.bytes += out_.files[id].text.size();
    if (outcome.reply) return;
    if (in_.memory != nullptr) in_.memory->NoteContent(PathOf(i), selection_.files[kept_[i]].content);
    out_.modules.Add(std::move(outcome.module));
    out_.infos.Add({.path = PathOf(i),
                    .dotted = in_.graph.DottedName(PathOf(i)),
                    .is_package = NameOf(PathOf(i)) == "__init__.py",
                    .requested = out_.requested[i],
                    .content = selection_.files[kept_[i]].content.low});
  }

  void AddUnit(source::FileId main, const std::string& path, const cpp::Reply& reply, std::string* problem) {
    bool has_main = false;
    for (const cpp::FilePart& part : reply.parts) {
      const std::string relative = in_.paths.Relative(part.path);
      const bool is_main = relative == path;
      const source::FileId id = is_main ? main : HeaderFile(relative);
      if (!id || out_.files[id].text.size() != part.bytes) continue;
      base::Result<ir::Module> module = ir::Deserialize(part.module, id, part.bytes, names_);
      if (!module) {
        *problem = module.error().message;
        return;
      }
      Note(id, part, reply);
      // A header by itself may lack what every file that includes it brings.
      if (is_main && cpp::IsSourceName(path)) AddErrors(reply, path, *module);
      has_main = has_main || is_main;
      const bool is_source = is_main && cpp::IsSourceName(path);
      if (!is_source && !HasNews(*module) && !is_main) continue;
      AddModule(relative, std::move(*module), ContentOf(part.module).low);
    }
    if (!has_main) *problem = reply.errors.empty() ? "Clang could not read it" : reply.errors[0].text;
  }

  // What Clang says of a file in one unit.
  void Note(source::FileId id, const cpp::FilePart& part, const cpp::Reply& reply) {
    std::vector<ir::Range> skipped;
    for (const cpp::Stretch& stretch : part.skipped) skipped.push_back({stretch.begin, stretch.end});
    std::ranges::sort(skipped, {}, &ir::Range::begin);
    const auto [known, is_new] = cpp_files_.try_emplace(id);
    known->second.skipped = is_new ? std::move(skipped) : InBoth(known->second.skipped, skipped);
    known->second.has_errors = known->second.has_errors || reply.error_count > 0;
  }

  // What Clang lost in them is read from their text.
  void FillCpp() {
    if (cpp_files_.empty()) return;
    for (auto& [id, file] : cpp_files_) {
      file.file = id;
      file.text = &out_.files[id].text;
    }
    for (uint32_t m = 0; m < out_.modules.size(); ++m) {
      ir::Module& module = out_.modules[ir::ModuleId{m}];
      const auto file = cpp_files_.find(module.file);
      if (file == cpp_files_.end()) continue;
      file->second.modules.push_back(&module);
      // What is filled in follows from the text.
      out_.infos[ir::ModuleId{m}].content ^= ContentOf(*file->second.text).low;
    }
    std::vector<CppFile> files;
    for (auto& [id, file] : cpp_files_) files.push_back(std::move(file));
    for (ir::Module& module : FillFromText(files, in_.knowledge, names_)) {
      const source::SourceFile& file = out_.files[module.file];
      AddModule(in_.paths.Relative(file.path), std::move(module), ContentOf(file.text).low);
    }
  }

  // Several files include a header; what one of them found in it is not looked at again.
  bool HasNews(ir::Module& module) {
    bool has_news = false;
    for (ir::Function& function : module.functions) {
      if (!function.symbol) continue;
      if (header_symbols_.insert(function.symbol.index).second) has_news = true;
      else function.body = ir::BlockId::None();
    }
    return has_news;
  }

  void AddErrors(const cpp::Reply& reply, const std::string& path, ir::Module& module) {
    if (reply.error_count == 0 || reply.errors.empty()) return;
    const bool is_listed = reader_->IsListed(path);
    if (!is_listed) out_.guessed.insert(module.file);
    const cpp::ReadError& first = reply.errors[0];
    std::string text = first.text;
    if (reply.error_count > 1) text += ", and " + std::to_string(reply.error_count - 1) + " more errors";
    const auto size = static_cast<uint32_t>(out_.files[module.file].text.size());
    const uint32_t begin = std::min(first.offset, size);
    module.problems.push_back({.kind = ir::ProblemKind::Syntax, .text = std::move(text), .begin = begin,
                               .end = std::min(begin + first.length, size)});
  }

  void AddModule(const std::string& path, ir::Module module, uint64_t content) {
    const bool requested = out_.requested[module.file.index];
    out_.modules.Add(std::move(module));
    out_.infos.Add({.path = path, .dotted = path, .is_package = false, .requested = requested, .content = content});
  }

  source::FileId HeaderFile(const std::string& relative) {
    const auto [known, is_new] = headers_.try_emplace(relative);
    if (!is_new) return known->second;
    const std::string shown = in_.paths.Shown(relative);
    base::Result<std::string> bytes = in_.files.Read(shown);
    if (!bytes) return {};
    base::Result<source::SourceFile> file = source::MakeSourceFile(shown, std::move(*bytes));
    if (!file) return {};
    known->second = out_.files.Add(std::move(*file));
    const auto listed = std::ranges::lower_bound(in_.project.all, relative);
    const bool requested = listed != in_.project.all.end() && *listed == relative &&
                           selection_.requested[static_cast<size_t>(listed - in_.project.all.begin())];
    out_.requested.resize(out_.files.size());
    out_.requested[known->second.index] = requested;
    return known->second;
  }

  const ParseInput& in_;
  Selection& selection_;
  base::Interner& names_;
  std::vector<uint32_t> kept_;
  std::optional<CppReader> reader_;  // where C or C++ is asked for, or read
  Parsed out_;
  std::map<std::string, source::FileId> headers_;
  std::unordered_set<uint32_t> header_symbols_;
  std::map<source::FileId, CppFile> cpp_files_;
  Content headers_content_;
  std::mutex units_mutex_;
};

}  // namespace

Parsed ParseFiles(const ParseInput& input, Selection& selection, base::Interner& names) {
  if (input.memory != nullptr) input.memory->KeepParsesOf(input.overlays);
  return Parser(input, selection, names).Run();
}

}  // namespace allranks::pipeline
