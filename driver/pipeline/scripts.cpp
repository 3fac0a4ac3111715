#include "driver/pipeline/scripts.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "frontends/python/imports.h"
#include "frontends/python/lower.h"

namespace allranks::pipeline {
namespace {

// A script that comes to more files is one of a framework, whose arguments come from everywhere.
constexpr size_t kMostFiles = 300;

// One of these stands in a file that makes, fills or reads a parser, asks for its rank, starts ranks or makes a process group.
constexpr std::array<std::string_view, 10> kWords = {"ArgumentParser", "add_argument", "parse_", "argv", "local_rank", "RANK", "WORLD_SIZE", "SLURM_", "spawn", "init_process_group"};

class ScriptReader {
 public:
  ScriptReader(const LaunchInput& input, const binding::ModuleGraph& graph, const Parsed& parsed, base::Interner& names)
      : in_(input), graph_(graph), parsed_(parsed), names_(names) {
    for (const ir::Module& module : parsed.modules) by_path_.emplace(parsed.files[module.file].path, &module);
  }

  // Nothing: it comes to too many files.
  std::optional<objects::ScriptOptions> Read(const std::string& script) {
    std::vector<std::string> reached = {script};
    std::vector<const objects::ModuleOptions*> modules;
    for (size_t at = 0; at < reached.size(); ++at) {
      if (reached.size() > kMostFiles) return std::nullopt;
      const File& file = FileOf(reached[at]);
      modules.push_back(&file.options);
      for (const std::string& import : file.imports) {
        if (std::ranges::count(reached, import) == 0) reached.push_back(import);
      }
    }
    return objects::OptionsOf(modules);
  }

 private:
  struct File {
    objects::ModuleOptions options;
    std::vector<std::string> imports;
  };

  const File& FileOf(const std::string& path) {
    const auto [known, is_new] = files_.try_emplace(path);
    if (is_new) known->second = ReadFile(path);
    return known->second;
  }

  File ReadFile(const std::string& path) {
    const std::string shown = in_.paths.Shown(path);
    File file;
    if (const auto parsed = by_path_.find(shown); parsed != by_path_.end() && path.ends_with(".py")) {
      const std::string_view text = parsed_.files[parsed->second->file].text;
      file.imports = ImportsOf(path, text);
      if (MayTakeOptions(text)) file.options = objects::OptionsOf(*parsed->second, names_);
      return file;
    }
    base::Result<std::string> text = in_.Read(path);
    // Who cannot be read may take anything.
    file.options.is_open = !text || text->size() > kLargestSource;
    if (file.options.is_open) return file;
    file.imports = ImportsOf(path, *text);
    if (!MayTakeOptions(*text)) return file;
    const base::Result<source::SourceFile> source = source::MakeSourceFile(shown, std::move(*text));
    file.options.is_open = !source;
    if (source) file.options = objects::OptionsOf(python::Lower(*source, source::FileId{0}, names_), names_);
    return file;
  }

  static bool MayTakeOptions(std::string_view text) {
    return std::ranges::any_of(kWords, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
  }

  std::vector<std::string> ImportsOf(const std::string& path, std::string_view text) const {
    std::vector<std::string> imports;
    const auto add = [&](uint32_t level, const std::string& dotted) {
      std::string file = graph_.Resolve(path, level, dotted);
      if (file.ends_with(".py")) imports.push_back(std::move(file));
    };
    for (const python::ScannedImport& import : python::ScanImports(text)) {
      const std::string module(import.module);
      add(import.level, module);
      for (const auto& name : import.names) add(import.level, module.empty() ? std::string(name) : module + "." + std::string(name));
    }
    return imports;
  }

  const LaunchInput& in_;
  const binding::ModuleGraph& graph_;
  const Parsed& parsed_;
  base::Interner& names_;
  std::unordered_map<std::string_view, const ir::Module*> by_path_;   // as shown
  std::unordered_map<std::string, File> files_;                       // relative to the root
};

}  // namespace

Scripts ReadScripts(const LaunchInput& input, const binding::ModuleGraph& graph, const Parsed& parsed, const launch::Launches& launches,
                    base::Interner& names) {
  ScriptReader reader(input, graph, parsed, names);
  Scripts scripts;
  for (const launch::LaunchFile& file : launches.files) {
    for (const launch::Job& job : file.jobs) {
      const bool has_launcher = std::ranges::any_of(job.layers, [](const launch::Layer& layer) { return layer.launcher->is_job; });
      if (!has_launcher || !job.script_path.ends_with(".py") || scripts.contains(job.script_path)) continue;
      scripts.emplace(job.script_path, reader.Read(job.script_path).value_or(objects::ScriptOptions()));
    }
  }
  return scripts;
}

}  // namespace allranks::pipeline
