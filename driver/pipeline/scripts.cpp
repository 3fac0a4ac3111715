#include "driver/pipeline/scripts.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "frontends/python/imports.h"
#include "frontends/python/lower.h"

namespace allranks::pipeline {
namespace {

// A script that comes to more files is one of a framework, whose arguments come from everywhere.
constexpr size_t kMostFiles = 300;

// One of these stands in a file that makes, fills or reads a parser, asks for its rank, starts ranks or makes a process group; or the name of
// a part of PyTorch that newer releases lack.
const std::array<std::string, 10> kWords = {"ArgumentParser", "add_argument", "parse_", "argv", "local_rank", "RANK", "WORLD_SIZE", "SLURM_", "spawn",
                                            "init_process_group"};
// One of these in a file that imports what lets several ranks work on one batch; of such a file nothing else is asked.
const std::array<std::string, 3> kOfBatches = {"deepspeed", "megatron", "distributed.tensor"};

class ScriptReader {
 public:
  ScriptReader(const LaunchInput& input, const binding::ModuleGraph& graph, const Selection& selection, const Parsed& parsed,
               const launch::LauncherTables& tables, base::Interner& names)
      : in_(input), graph_(graph), selection_(selection), parsed_(parsed), names_(names), words_(WordsWith(tables)), of_batches_(kOfBatches) {
    for (const ir::Module& module : parsed.modules) by_path_.emplace(parsed.files[module.file].path, &module);
  }

  // Of a script that comes to too many files: what the nearest of them show.
  objects::ScriptOptions Read(const std::string& script) {
    std::vector<std::string_view> reached = {script};
    std::unordered_set<std::string_view> seen = {script};
    std::vector<const objects::ModuleOptions*> modules;
    for (size_t at = 0; at < reached.size(); ++at) {
      if (reached.size() > kMostFiles) return OfSome(std::move(modules));
      const File& file = FileOf(reached[at]);
      modules.push_back(&file.options);
      for (const std::string& import : file.imports) {
        if (seen.insert(import).second) reached.push_back(import);
      }
    }
    return objects::OptionsOf(modules);
  }

 private:
  // What these files show holds; that none shows a thing says nothing.
  static objects::ScriptOptions OfSome(std::vector<const objects::ModuleOptions*> modules) {
    const objects::ModuleOptions unseen{.is_open = true};
    modules.push_back(&unseen);
    objects::ScriptOptions options = objects::OptionsOf(modules);
    options.has_local_rank_of_option = options.starts_its_ranks = options.has_no_nccl = false;
    return options;
  }

  static std::vector<std::string> WordsWith(const launch::LauncherTables& tables) {
    std::vector<std::string> words(kWords.begin(), kWords.end());
    for (const launch::TorchModule& module : tables.torch_modules()) words.push_back(module.name.substr(module.name.rfind('.') + 1));
    return words;
  }

  struct File {
    objects::ModuleOptions options;
    std::vector<std::string> imports;
  };

  const File& FileOf(std::string_view path) {
    const auto [known, is_new] = files_.try_emplace(std::string(path));
    if (is_new) known->second = ReadFile(known->first);
    return known->second;
  }

  File ReadFile(const std::string& path) {
    const std::string shown = in_.paths.Shown(path);
    File file;
    if (const auto parsed = by_path_.find(shown); parsed != by_path_.end() && path.ends_with(".py")) {
      const std::string_view text = parsed_.files[parsed->second->file].text;
      file.imports = ImportsOf(path, text);
      file.options = OptionsIn(text, *parsed->second);
      return file;
    }
    base::Result<std::string> text = in_.Read(path);
    // Who cannot be read may take anything.
    file.options.is_open = !text || text->size() > kLargestSource;
    if (file.options.is_open) return file;
    file.imports = ImportsOf(path, *text);
    if (!words_.Mentions(*text) && !of_batches_.Mentions(*text)) return file;
    const base::Result<source::SourceFile> source = source::MakeSourceFile(shown, std::move(*text));
    file.options.is_open = !source;
    if (source) file.options = OptionsIn(source->text, python::Lower(*source, source::FileId{0}, names_));
    return file;
  }

  objects::ModuleOptions OptionsIn(std::string_view text, const ir::Module& module) {
    if (words_.Mentions(text)) return objects::OptionsOf(module, names_);
    objects::ModuleOptions options;
    if (of_batches_.Mentions(text)) options.shares_batches = objects::OptionsOf(module, names_).shares_batches;
    return options;
  }

  std::vector<std::string> ImportsOf(const std::string& path, std::string_view text) {
    std::vector<std::string> imports;
    const auto index = static_cast<size_t>(std::ranges::lower_bound(in_.code, path) - in_.code.begin());
    if (index < in_.code.size() && in_.code[index] == path && selection_.files[index].state == ReadState::Read) {
      for (const uint32_t target : selection_.files[index].imports) {
        if (in_.code[target].ends_with(".py")) imports.push_back(in_.code[target]);
      }
      return imports;
    }
    const auto add = [&](uint32_t level, const std::string& dotted) {
      const std::string& file = Resolve(path, level, dotted);
      if (file.ends_with(".py")) imports.push_back(file);
    };
    for (const python::ScannedImport& import : python::ScanImports(text)) {
      const std::string module(import.module);
      add(import.level, module);
      for (const auto& name : import.names) add(import.level, module.empty() ? std::string(name) : module + "." + std::string(name));
    }
    return imports;
  }

  // Files of one folder import the same for the most part.
  const std::string& Resolve(const std::string& path, uint32_t level, const std::string& dotted) {
    const auto [known, is_new] = resolved_.try_emplace(std::string(DirectoryOf(path)) + ":" + std::to_string(level) + ":" + dotted);
    if (is_new) known->second = graph_.Resolve(path, level, dotted);
    return known->second;
  }

  const LaunchInput& in_;
  const binding::ModuleGraph& graph_;
  const Selection& selection_;
  const Parsed& parsed_;
  base::Interner& names_;
  Prefilter words_;
  Prefilter of_batches_;
  std::unordered_map<std::string_view, const ir::Module*> by_path_;   // as shown
  std::unordered_map<std::string, std::string> resolved_;             // by folder and import
  std::unordered_map<std::string, File> files_;                       // relative to the root
};

}  // namespace

Scripts ReadScripts(const LaunchInput& input, const binding::ModuleGraph& graph, const Selection& selection, const Parsed& parsed,
                    const launch::Launches& launches, base::Interner& names) {
  ScriptReader reader(input, graph, selection, parsed, launches.tables, names);
  Scripts scripts;
  for (const launch::LaunchFile& file : launches.files) {
    for (const launch::Job& job : file.jobs) {
      // One that no launcher starts may start its ranks itself.
      if (!job.script_path.ends_with(".py") || scripts.contains(job.script_path)) continue;
      scripts.emplace(job.script_path, reader.Read(job.script_path));
    }
  }
  return scripts;
}

}  // namespace allranks::pipeline
