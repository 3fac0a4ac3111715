#include "driver/pipeline/selection.h"

#include <xxhash.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include "analyzer/binding/added_folders.h"
#include "driver/pipeline/cpp_reach.h"
#include "driver/pipeline/generated.h"
#include "driver/pipeline/memory.h"
#include "driver/pipeline/parallel.h"
#include "frontends/cpp/includes.h"
#include "frontends/launch/python_calls.h"
#include "frontends/python/imports.h"

namespace allranks::pipeline {
namespace {

// So many files may be read because others import them; a project that needs more is checked as a whole.
constexpr size_t kMostOnDemand = 20000;

// Of what packages hand on to one file.
constexpr size_t kMostHandedOn = 64;

class Selector {
 public:
  explicit Selector(const SelectionInput& input) : in_(input) {
    for (uint32_t i = 0; i < in_.project.all.size(); ++i) index_.emplace(in_.project.all[i], i);
    out_.files.resize(in_.project.all.size());
  }

  Selection Run() {
    out_.requested = in_.project.requested;
    Scan(Requested());
    LeaveOutGenerated();
    const std::vector<uint32_t> requested = Requested();
    Scan(UnreadImportsOf(requested));
    ScanClosure(CppAmong(requested));
    cpp_ = FindCppReach(out_.files);
    if (CallOutOfSight(requested)) {
      Scan(UnreadCpp());
      cpp_ = FindCppReach(out_.files);
    }
    std::vector<uint32_t> seeds = Seeds(requested);
    AddImporters(seeds);
    ScanClosure(seeds);
    const std::vector<bool> reaches = ReachesMention();
    AddScripts(requested, reaches, seeds);
    SelectReachable(seeds, reaches);
    ReadSelected();
    CountUnreadBeside();
    Count(requested);
    return std::move(out_);
  }

 private:
  std::vector<uint32_t> Requested() const {
    std::vector<uint32_t> requested;
    for (uint32_t i = 0; i < in_.project.all.size(); ++i) {
      if (out_.requested[i]) requested.push_back(i);
    }
    return requested;
  }

  void LeaveOutGenerated() {
    for (const uint32_t index : Requested()) {
      if (in_.project.IsJudged(index, out_.files[index].says_generated)) continue;
      out_.requested[index] = false;
      out_.generated.push_back(index);
    }
  }

  void Scan(const std::vector<uint32_t>& indices) {
    ParallelFor(indices.size(), in_.jobs, [&](size_t i) { ScanOne(indices[i]); });
  }

  base::Result<std::string> ReadBytes(uint32_t index) const {
    const auto overlay = in_.overlays.find(in_.project.all[index]);
    if (overlay != in_.overlays.end()) return overlay->second;
    return in_.files.Read(in_.paths.Shown(in_.project.all[index]));
  }

  void ScanOne(uint32_t index) {
    if (in_.watch != nullptr && in_.watch->IsStopped()) return;
    ScannedFile& file = out_.files[index];
    const ScannedFile* known = in_.memory == nullptr ? nullptr : in_.memory->Scanned(index);
    if (known != nullptr && in_.memory->disk_is_unchanged && !in_.overlays.contains(in_.project.all[index])) {
      file = *known;
      return;
    }
    base::Result<std::string> bytes = ReadBytes(index);
    if (!bytes) {
      file.state = ReadState::Unreadable;
      file.problem = bytes.error().message;
      return;
    }
    const Content content = ContentOf(*bytes);
    if (known != nullptr && known->content == content) {
      file = *known;
      if (file.mentions && !HasModule(index)) file.text = std::move(*bytes);
      return;
    }
    file.state = ReadState::Read;
    file.bytes = bytes->size();
    file.content = content;
    file.is_cpp = IsCpp(index);
    file.is_header = IsHeader(index);
    file.says_generated = SaysGenerated(*bytes);
    file.mentions = (file.is_cpp ? in_.cpp_prefilter : in_.prefilter).Mentions(*bytes);
    file.starts_commands = !file.is_cpp && launch_files::StartsCommands(*bytes);
    file.wraps = file.mentions && (bytes->find("DistributedDataParallel") != std::string::npos ||
                                   bytes->find("DDP(") != std::string::npos);
    file.is_script = !file.is_cpp && bytes->find("__main__") != std::string::npos;
    file.has_models = !file.is_cpp && bytes->find("nn.Module") != std::string::npos;
    if (bytes->find('\0') != std::string::npos) {
      file.state = ReadState::Binary;
      file.mentions = false;
      return;
    }
    if (file.mentions && bytes->size() > kLargestSource) file.state = ReadState::TooLarge;
    if (file.state == ReadState::Read && file.is_cpp) {
      IncludeGraph::Included included = in_.includes.Targets(index, *bytes);
      file.imports = std::move(included.files);
      file.include_folders = std::move(included.folders);
      file.functions = cpp::ScanFunctions(*bytes, [&](std::string_view body) { return file.mentions && in_.cpp_prefilter.Mentions(body); },
                                          &file.declared);
    } else if (file.state == ReadState::Read) {
      file.imports = ImportsIn(index, *bytes);
    }
    if (file.state != ReadState::Read || !file.mentions) return;
    // Who reads does not know how much comes; of thousands of small files the rest is most.
    bytes->shrink_to_fit();
    file.text = std::move(*bytes);
  }

  bool HasModule(uint32_t index) const {
    return in_.memory != nullptr && in_.memory->HasModule(in_.project.all[index], out_.files[index].content);
  }
  bool IsHeader(uint32_t index) const { return cpp::IsHeaderName(in_.project.all[index]); }
  bool IsCpp(uint32_t index) const { return IsHeader(index) || cpp::IsSourceName(in_.project.all[index]); }

  std::vector<uint32_t> ImportsIn(uint32_t index, const std::string& bytes) const {
    const std::string& path = in_.project.all[index];
    if (!path.ends_with(".ipynb")) return Targets(index, bytes);
    const base::Result<source::SourceFile> notebook = source::MakeSourceFile(path, bytes);
    return notebook ? Targets(index, notebook->text) : std::vector<uint32_t>();
  }

  std::vector<uint32_t> Targets(uint32_t index, std::string_view text) const {
    const std::string& path = in_.project.all[index];
    std::vector<uint32_t> targets;
    const std::vector<binding::AddedFolder> added = python::ScanAddedFolders(text);
    auto add = [&](uint32_t level, const std::string& dotted) {
      std::string file = in_.graph.Resolve(path, level, dotted);
      if (file.empty() && level == 0) file = binding::FileInAddedFolder(in_.graph, path, added, dotted);
      const auto found = index_.find(file);
      if (found != index_.end() && found->second != index) targets.push_back(found->second);
    };
    for (const auto& import : python::ScanImports(text)) {
      const std::string module(import.module);
      add(import.level, module);
      for (const auto& name : import.names) {
        add(import.level, module.empty() ? std::string(name) : module + "." + std::string(name));
      }
    }
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
    return targets;
  }

  std::vector<uint32_t> UnreadImportsOf(const std::vector<uint32_t>& indices) const {
    std::vector<uint32_t> unread;
    for (const uint32_t index : indices) {
      for (const uint32_t target : out_.files[index].imports) {
        if (out_.files[target].state == ReadState::Unread) unread.push_back(target);
      }
    }
    std::sort(unread.begin(), unread.end());
    unread.erase(std::unique(unread.begin(), unread.end()), unread.end());
    return unread;
  }

  std::vector<uint32_t> CppAmong(const std::vector<uint32_t>& indices) const {
    std::vector<uint32_t> among;
    std::ranges::copy_if(indices, std::back_inserter(among), [&](uint32_t index) { return out_.files[index].is_cpp; });
    return among;
  }

  std::vector<uint32_t> UnreadCpp() const {
    std::vector<uint32_t> unread;
    for (uint32_t i = 0; i < out_.files.size(); ++i) {
      if (out_.files[i].state == ReadState::Unread && IsCpp(i)) unread.push_back(i);
    }
    return unread;
  }

  // Whether a source that the user named uses a function that is declared where it looks, but defined nowhere there.
  bool CallOutOfSight(const std::vector<uint32_t>& requested) const {
    if (in_.project.all.size() > kMostOnDemand) return false;
    return std::ranges::any_of(requested, [this](uint32_t index) {
      return in_.project.named[index] && cpp_.matters[index] && cpp::IsSourceName(in_.project.all[index]) && CallsOutOfSight(index);
    });
  }

  bool CallsOutOfSight(uint32_t source) const {
    std::unordered_set<uint32_t> seen = {source}, declared, defined;
    for (std::vector<uint32_t> work = {source}; !work.empty();) {
      const ScannedFile& file = out_.files[work.back()];
      work.pop_back();
      declared.insert(file.declared.begin(), file.declared.end());
      for (const cpp::NamedFunction& function : file.functions) defined.insert(function.names.begin(), function.names.end());
      std::ranges::copy_if(file.imports, std::back_inserter(work), [&](uint32_t target) { return seen.insert(target).second; });
    }
    return std::ranges::any_of(out_.files[source].functions, [&](const cpp::NamedFunction& function) {
      return std::ranges::any_of(function.uses, [&](uint32_t name) { return declared.contains(name) && !defined.contains(name); });
    });
  }

  // A file without a mention of its own matters if it imports one with: it may guard what that one does.
  std::vector<uint32_t> Seeds(const std::vector<uint32_t>& requested) const {
    std::vector<uint32_t> seeds;
    for (const uint32_t index : requested) {
      const ScannedFile& file = out_.files[index];
      const bool imports_mention = std::any_of(file.imports.begin(), file.imports.end(),
                                               [&](uint32_t target) { return out_.files[target].mentions; });
      const bool is_seed = file.is_cpp ? cpp_.matters[index] : file.mentions || imports_mention;
      if (file.state == ReadState::Read && is_seed) seeds.push_back(index);
    }
    return seeds;
  }

  // Scripts that come to a mention through other files: who starts them runs what they reach.
  void AddScripts(const std::vector<uint32_t>& requested, const std::vector<bool>& reaches, std::vector<uint32_t>& seeds) const {
    std::vector<bool> is_seed(out_.files.size());
    for (const uint32_t seed : seeds) is_seed[seed] = true;
    for (const uint32_t index : requested) {
      const ScannedFile& file = out_.files[index];
      if (!file.is_script || !reaches[index] || is_seed[index] || file.state != ReadState::Read) continue;
      seeds.push_back(index);
      is_seed[index] = true;
    }
  }

  // One that mentions nothing may be what all ranks call to write a file.
  void AddImporters(std::vector<uint32_t>& seeds) {
    std::vector<uint32_t> named;
    std::ranges::copy_if(Requested(), std::back_inserter(named), [&](uint32_t index) {
      return in_.project.named[index] && !IsCpp(index) && out_.files[index].state == ReadState::Read;
    });
    if (named.empty() || in_.project.all.size() > kMostOnDemand) return;
    Scan(UnreadPython());
    std::vector<uint32_t> importers = ImportersOf(named);
    if (importers.size() > kMostImporters) {
      out_.unread_importers = importers.size();
      return;
    }
    AddStarters(named, importers);
    for (const uint32_t index : Seeds(importers)) {
      if (std::ranges::find(seeds, index) == seeds.end()) seeds.push_back(index);
    }
  }

  // Those that may start one of these as a program of its own: they mention something, start processes, and have its name.
  void AddStarters(const std::vector<uint32_t>& named, std::vector<uint32_t>& starters) const {
    for (uint32_t i = 0; i < out_.files.size(); ++i) {
      if (!out_.files[i].mentions || out_.files[i].is_cpp || out_.requested[i] || std::ranges::count(starters, i) > 0) continue;
      std::string read;
      if (out_.files[i].text.empty()) read = ReadBytes(i).value_or("");
      const std::string_view text = out_.files[i].text.empty() ? read : out_.files[i].text;
      if (!launch_files::StartsProcesses(text)) continue;
      const bool has_name = std::ranges::any_of(named, [&](uint32_t file) { return text.find(NameOf(in_.project.all[file])) != std::string_view::npos; });
      if (has_name) starters.push_back(i);
    }
  }

  // Of a run over some files: what is not read, and imports what is.
  void CountUnreadBeside() {
    const bool is_of_some = std::ranges::any_of(Requested(), [&](uint32_t index) { return in_.project.named[index] && !IsCpp(index); });
    if (!is_of_some || out_.unread_importers > 0) return;
    std::vector<bool> is_read(out_.files.size());
    for (const uint32_t index : out_.parse) is_read[index] = true;
    for (uint32_t i = 0; i < out_.files.size(); ++i) {
      if (is_read[i] || out_.requested[i] || out_.files[i].is_cpp) continue;
      if (std::ranges::any_of(out_.files[i].imports, [&](uint32_t target) { return is_read[target]; })) ++out_.unread_importers;
    }
  }

  std::vector<uint32_t> UnreadPython() const {
    std::vector<uint32_t> unread;
    for (uint32_t i = 0; i < out_.files.size(); ++i) {
      if (out_.files[i].state == ReadState::Unread && !IsCpp(i)) unread.push_back(i);
    }
    return unread;
  }

  // Those that are not requested themselves, through any number of files.
  std::vector<uint32_t> ImportersOf(std::vector<uint32_t> work) const {
    const std::vector<std::vector<uint32_t>> importers = Importers();
    std::vector<bool> seen(out_.files.size());
    for (const uint32_t index : work) seen[index] = true;
    std::vector<uint32_t> found;
    while (!work.empty()) {
      const uint32_t at = work.back();
      work.pop_back();
      for (const uint32_t importer : importers[at]) {
        if (seen[importer]) continue;
        seen[importer] = true;
        work.push_back(importer);
        if (!out_.requested[importer]) found.push_back(importer);
      }
    }
    return found;
  }

  // By file: those that import it.
  std::vector<std::vector<uint32_t>> Importers() const {
    std::vector<std::vector<uint32_t>> importers(out_.files.size());
    for (uint32_t i = 0; i < out_.files.size(); ++i) {
      for (const uint32_t target : out_.files[i].imports) importers[target].push_back(i);
    }
    return importers;
  }

  void ScanClosure(const std::vector<uint32_t>& seeds) {
    std::vector<bool> seen(out_.files.size());
    std::vector<uint32_t> level = seeds;
    for (const uint32_t index : seeds) seen[index] = true;
    for (size_t on_demand = 0; !level.empty() && on_demand < kMostOnDemand;) {
      const std::vector<uint32_t> unread = UnreadImportsOf(level);
      on_demand += unread.size();
      Scan(unread);
      std::vector<uint32_t> next;
      for (const uint32_t index : level) {
        for (const uint32_t target : out_.files[index].imports) {
          if (!seen[target]) next.push_back(target);
          seen[target] = true;
        }
      }
      level = std::move(next);
    }
  }

  // By file: whether it mentions something, or imports, through any number of files, one that does; of C, C++ and CUDA whether
  // it matters.
  std::vector<bool> ReachesMention() const {
    const std::vector<std::vector<uint32_t>> importers = Importers();
    std::vector<bool> reaches(out_.files.size());
    std::vector<uint32_t> work;
    for (uint32_t i = 0; i < out_.files.size(); ++i) {
      const ScannedFile& file = out_.files[i];
      if (file.is_cpp) reaches[i] = cpp_.matters[i];
      if (file.is_cpp || !file.mentions) continue;
      reaches[i] = true;
      work.push_back(i);
    }
    while (!work.empty()) {
      const uint32_t at = work.back();
      work.pop_back();
      for (const uint32_t importer : importers[at]) {
        if (reaches[importer]) continue;
        reaches[importer] = true;
        work.push_back(importer);
      }
    }
    return reaches;
  }

  void SelectReachable(const std::vector<uint32_t>& seeds, const std::vector<bool>& reaches) {
    std::vector<bool> chosen(out_.files.size());
    std::vector<uint32_t> work = seeds;
    for (const uint32_t index : seeds) chosen[index] = true;
    while (!work.empty()) {
      const uint32_t at = work.back();
      work.pop_back();
      const ScannedFile& file = out_.files[at];
      for (const uint32_t target : file.is_cpp ? cpp_.calls[at] : file.imports) {
        if (chosen[target] || !reaches[target] || out_.files[target].state != ReadState::Read) continue;
        chosen[target] = true;
        work.push_back(target);
      }
    }
    AddImported(chosen);
    const std::vector<bool> included = IncludedBySources(chosen);
    for (uint32_t i = 0; i < chosen.size(); ++i) {
      if (chosen[i] && !included[i]) out_.parse.push_back(i);
    }
  }

  // Headers that a chosen source includes, through any number of headers: they are read with it. The others, of a
  // library that is nothing but headers, are read by themselves.
  std::vector<bool> IncludedBySources(const std::vector<bool>& chosen) const {
    std::vector<bool> included(out_.files.size());
    std::vector<uint32_t> work;
    for (uint32_t i = 0; i < chosen.size(); ++i) {
      if (chosen[i] && cpp::IsSourceName(in_.project.all[i])) work.push_back(i);
    }
    AddIncluded(std::move(work), &included);
    // Of several headers the outermost ones are enough: they bring the others.
    std::vector<uint32_t> headers;
    for (uint32_t i = 0; i < chosen.size(); ++i) {
      if (chosen[i] && IsHeader(i) && !included[i]) headers.push_back(i);
    }
    std::vector<bool> inner(out_.files.size());
    for (const uint32_t header : headers) {
      if (!inner[header]) AddIncluded({header}, &inner);
    }
    for (const uint32_t header : headers) included[header] = inner[header];
    return included;
  }

  void AddIncluded(std::vector<uint32_t> work, std::vector<bool>* included) const {
    const std::vector<uint32_t> origins = work;
    while (!work.empty()) {
      const uint32_t at = work.back();
      work.pop_back();
      for (const uint32_t target : out_.files[at].imports) {
        if (!IsHeader(target) || (*included)[target] || std::ranges::count(origins, target) > 0) continue;
        (*included)[target] = true;
        work.push_back(target);
      }
    }
  }

  // What decides in a file that mentions something may stand in one that it imports and that mentions nothing: settings,
  // classes, helpers. Models are left out, as they are large and decide nothing, but for those that may be wrapped, with all that
  // they are made of; so are sources of C++ that do not matter by what they call.
  void AddImported(std::vector<bool>& chosen) const {
    // `is_late` of a helper may ask another helper for the time.
    constexpr int kDeepestHelper = 2;
    std::vector<uint32_t> models, level;
    for (uint32_t i = 0; i < chosen.size(); ++i) {
      if (chosen[i] && out_.files[i].mentions) level.push_back(i);
    }
    for (int depth = 0; depth < kDeepestHelper; ++depth) {
      std::vector<uint32_t> helpers;
      for (const uint32_t importer : level) AddHelpersOf(importer, chosen, helpers, models);
      std::erase_if(helpers, [&](uint32_t helper) { return out_.files[helper].is_cpp || out_.files[helper].has_models; });
      level = std::move(helpers);
    }
    AddPartsOf(std::move(models), chosen);
  }

  void AddHelpersOf(uint32_t importer, std::vector<bool>& chosen, std::vector<uint32_t>& helpers, std::vector<uint32_t>& models) const {
    const bool wraps = out_.files[importer].wraps;
    for (const uint32_t target : ImportedBy(importer)) {
      const ScannedFile& file = out_.files[target];
      const bool is_wanted = file.is_cpp ? file.is_header : !file.has_models || wraps;
      if (!is_wanted || file.state != ReadState::Read) continue;
      if (!chosen[target]) helpers.push_back(target);
      chosen[target] = true;
      if (file.has_models && wraps) models.push_back(target);
    }
  }

  // What a file imports, and what packages among that hand on (`from .rows import Rows` in their `__init__.py`).
  std::vector<uint32_t> ImportedBy(uint32_t file) const {
    std::vector<uint32_t> imported = out_.files[file].imports;
    for (size_t i = 0; i < imported.size() && imported.size() < kMostHandedOn; ++i) {
      if (!in_.project.all[imported[i]].ends_with("__init__.py") || out_.files[imported[i]].state != ReadState::Read) continue;
      for (const uint32_t target : out_.files[imported[i]].imports) {
        if (target != file && std::ranges::count(imported, target) == 0) imported.push_back(target);
      }
    }
    return imported;
  }

  // Files that define the layers of a model, and the helpers of these, through any number of files with modules.
  void AddPartsOf(std::vector<uint32_t> models, std::vector<bool>& chosen) const {
    std::vector<bool> seen(out_.files.size());
    while (!models.empty()) {
      const uint32_t at = models.back();
      models.pop_back();
      if (seen[at]) continue;
      seen[at] = true;
      for (const uint32_t target : out_.files[at].imports) {
        const ScannedFile& file = out_.files[target];
        if (file.is_cpp || file.state != ReadState::Read) continue;
        chosen[target] = true;
        if (file.has_models) models.push_back(target);
      }
    }
  }

  // Texts without a mention were not kept, nor those of files that were parsed before; those now chosen are read once
  // more. One that vanished meanwhile is unreadable.
  void ReadSelected() {
    ParallelFor(out_.parse.size(), in_.jobs, [&](size_t i) {
      ScannedFile& file = out_.files[out_.parse[i]];
      if (!file.text.empty() || HasModule(out_.parse[i])) return;
      base::Result<std::string> bytes = ReadBytes(out_.parse[i]);
      if (bytes) {
        file.content = ContentOf(*bytes);
        file.text = std::move(*bytes);
      } else {
        file.state = ReadState::Unreadable;
        file.problem = bytes.error().message;
      }
    });
    std::erase_if(out_.parse, [&](uint32_t index) { return out_.files[index].state != ReadState::Read; });
  }

  void Count(const std::vector<uint32_t>& requested) {
    for (ScannedFile& file : out_.files) {
      if (file.state == ReadState::Unread) continue;
      ++out_.files_scanned;
      out_.bytes_scanned += file.bytes;
    }
    for (const uint32_t index : requested) {
      if (out_.files[index].state != ReadState::Read) out_.faulty.push_back(index);
    }
    std::vector<bool> kept(out_.files.size());
    for (const uint32_t index : out_.parse) kept[index] = true;
    for (uint32_t i = 0; i < out_.files.size(); ++i) {
      if (!kept[i]) std::string().swap(out_.files[i].text);
    }
  }

  const SelectionInput& in_;
  std::unordered_map<std::string_view, uint32_t> index_;
  CppReach cpp_;
  Selection out_;
};

}  // namespace

Content ContentOf(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return {.low = hash.low64, .high = hash.high64};
}

Selection SelectFiles(const SelectionInput& input) { return Selector(input).Run(); }

}  // namespace allranks::pipeline
