#include "driver/pipeline/read_launch.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <unordered_map>

#include "analyzer/base/folder.h"
#include "analyzer/knowledge/spelling.h"
#include "driver/pipeline/launch_lines.h"
#include "driver/pipeline/missing_paths.h"
#include "driver/pipeline/parallel.h"
#include "driver/pipeline/prefilter.h"
#include "driver/pipeline/syntax.h"
#include "frontends/launch/called_scripts.h"
#include "frontends/launch/configured.h"
#include "frontends/launch/pages.h"
#include "frontends/launch/python_calls.h"
#include "frontends/launch/read.h"
#include "frontends/launch/shell_trees.h"
#include "frontends/launch/unset.h"
#include "frontends/python/lower.h"
#include "rules/launch/job_facts.h"

namespace allranks::pipeline {
namespace {

using launch::FileKind;
using launch::Piece;
using launch::Word;

// Larger ones hold data: those of frameworks have some kilobytes.
constexpr size_t kLargestConfiguration = 512u << 10;

std::optional<std::string> TextOf(const LaunchInput& in, const std::string& path) {
  base::Result<std::string> text = in.Read(path);
  if (!text || text->size() > launch_files::kLargestFile) return std::nullopt;
  return std::move(*text);
}

// What a file of data begins with says what it is. Data may hold configurations as texts, whose quotes have backslashes.
bool IsLargeConfiguration(std::string_view path, std::string_view text) {
  constexpr size_t kBeginning = 1u << 20;
  if (!path.ends_with(".json")) return false;
  const std::string_view beginning = text.substr(0, kBeginning);
  return std::ranges::any_of(launch_files::ConfigWords(), [&](const std::string& word) {
    const size_t at = beginning.find("\"" + word + "\":");
    return at != std::string_view::npos && at > 0 && beginning[at - 1] != '\\';
  });
}

// Reads the files one after the other: they are small and few, and one may source the other.
class Reader {
 public:
  Reader(const LaunchInput& input, const LaunchScan& scan, const LaunchingCode& code, Parsed& parsed, launch::Launches& launches,
         objects::LaunchLines& lines)
      : in_(input), scan_(scan), code_(code), parsed_(parsed), launches_(launches), line_reader_(input.code, std::string(NameOf(input.paths.Absolute("")))),
        missing_(scan.files.all, input.code), lines_(lines) {}

  void Run() {
    for (const LaunchText& one : scan_.texts) {
      if (!one.is_of_others) Read(one);
    }
    for (const std::string& path : code_.paths) ReadPython(path);
    // Where no line starts a file that is analysed, one that starts another tells that there are such lines.
    for (auto one = scan_.texts.begin(); lines_.empty() && one != scan_.texts.end(); ++one) {
      if (one->is_of_others) Read(*one);
    }
    NoteStartedFromRoot();
    NoteCalledFromRoot();
    ForgetGiven();
    AddSourced();
    if (AsksForVersions()) ReadPins();
    line_reader_.Finish(launches_, lines_);
    launch_files::AddConfiguredOptions(launches_);
  }

 private:
  // Rules ask which PyTorch it is only of some jobs, and of loaders with workers; and which DeepSpeed of its configurations.
  bool AsksForVersions() const {
    const launch::VariableNames& names = launches_.tables.variable_names();
    const bool is_of_job = std::ranges::any_of(launches_.files, [&](const launch::LaunchFile& file) {
      return std::ranges::any_of(file.jobs, [&](const launch::Job& job) {
        const bool is_set = std::ranges::any_of(job.environment, [&](const launch::Setting& setting) { return names.FamilyOf(setting.name) != nullptr; });
        return is_set || job.Find("torch.distributed.launch") != nullptr;
      });
    });
    // The texts last: there are many.
    for (uint32_t i = 0; !is_of_job && i < parsed_.files.size(); ++i) {
      const std::string& text = parsed_.files[source::FileId{i}].text;
      if (text.find("num_workers") != std::string::npos || text.find("zero_optimization") != std::string::npos) return true;
    }
    return is_of_job;
  }
  void ReadPins() {
    const auto read = [&](const std::string& path) {
      if (const std::optional<std::string> text = TextOf(in_, path)) launches_.pins.Note(path, *text, launches_.tables.torch_bounds());
    };
    std::ranges::for_each(scan_.files.requirements, read);
    for (const std::string& path : scan_.files.all) {
      if (launch::MayInstall(path)) read(path);
    }
  }

  // A notebook whose cells have been taken from its JSON already.
  source::FileId ReadAsCode(const std::string& path) const {
    if (!path.ends_with(".ipynb")) return {};
    const std::string shown = in_.paths.Shown(path);
    const auto module = std::ranges::find_if(parsed_.modules, [&](const ir::Module& one) { return parsed_.files[one.file].path == shown; });
    return module == parsed_.modules.end() ? source::FileId() : module->file;
  }

  void Read(const LaunchText& one) {
    const std::string& path = scan_.files.all[one.index];
    if (const source::FileId read = ReadAsCode(path)) return ReadOne(path, read, false);
    const bool is_full = in_.watch.IsFull();
    const source::FileId id = FileOf(path, is_full ? "" : one.text);
    if (!id) return;
    parsed_.requested[id.index] = one.is_launch && scan_.files.requested[one.index];
    if (is_full) parsed_.limited.emplace_back(id, in_.watch.FullText());
    else if (one.is_too_large) parsed_.faulty.emplace_back(id, "it is larger than the 4 MiB that are read of a configuration");
    else ReadOne(path, id, one.is_launch);
  }

  bool IsRequested(const std::string& path) const {
    return scan_.files.requested[static_cast<size_t>(std::ranges::lower_bound(scan_.files.all, path) - scan_.files.all.begin())];
  }

  source::FileId FileOf(const std::string& path, const std::string& text) {
    const auto known = ids_.find(path);
    if (known != ids_.end()) return known->second;
    base::Result<source::SourceFile> file = source::MakeSourceFile(in_.paths.Shown(path), text);
    if (!file) return {};
    const source::FileId id = parsed_.files.Add(std::move(*file));
    parsed_.requested.resize(parsed_.files.size());
    ids_.emplace(path, id);
    return id;
  }

  void ReadOne(const std::string& path, source::FileId id, bool is_launch) {
    const FileKind kind = launch_files::KindOfName(path).value_or(FileKind::Shell);
    const auto open = [this, &path](const std::string& name) { return Sourced(path, name); };
    // Of a file that is checked each command counts, of any other only how it starts files of the project.
    const auto names = is_launch ? std::function<bool(std::string_view)>() : [this](std::string_view text) { return scan_.names->Names(text); };
    // Reading may add files that it sources, which moves the others.
    const source::SourceFile file = parsed_.files[id];
    if (file.has_nul) {
      if (is_launch) parsed_.faulty.emplace_back(id, "it contains NUL bytes");
      return;
    }
    launch::LaunchFile read = launch_files::ReadLaunchFile({.tables = launches_.tables, .text = file, .id = id, .path = path, .kind = kind, .open = open, .trees = &trees_, .called = &called_, .names_program = names});
    AddMentioned(read);
    line_reader_.Resolve(read);
    for (launch::Job& job : read.jobs) {
      // One that is not analysed is there all the same.
      if (!job.missing_in.empty() && IsThere(Join(job.missing_in, NameOf(job.script.text())))) job.missing_in.clear();
      NoteMissingConfig(read, job);
      NoteHosts(read.path, job);
    }
    NoteMissingPaths(read);
    line_reader_.Add(read, lines_);
    // What it starts with arguments may be a script that starts ranks.
    const bool starts_ranks = std::ranges::any_of(read.jobs, [](const launch::Job& job) {
      return std::ranges::any_of(job.layers, [](const launch::Layer& layer) { return layer.launcher->is_job; });
    });
    // What the shell loses of a command, and what is given twice, is asked of all that start a program of the project.
    const bool starts_any = !read.missing.empty() || std::ranges::any_of(read.called, [&](const launch::CalledScript& script) { return !ScriptElsewhere(read, script).empty(); }) || std::ranges::any_of(read.jobs, [](const launch::Job& job) { return !job.script_path.empty(); });
    const bool starts_program = kind != FileKind::Notebook && starts_any;
    if (!is_launch && !starts_ranks && !starts_program) return;
    if (!is_launch && starts_program) {
      parsed_.requested[id.index] = IsRequested(path);
      read.problems.clear();
      read.settings.clear();
      for (launch::Job& job : read.jobs) {
        job.missing_config = {};
        job.environment.clear();
      }
    }
    read.requested = parsed_.requested[id.index];
    launches_.files.push_back(std::move(read));
  }

  void AddMentioned(launch::LaunchFile& page) {
    launch::LaunchFile mentions{.file = page.file, .path = page.path, .kind = page.kind, .jobs = std::move(page.mentioned)};
    line_reader_.Resolve(mentions);
    const auto asks_for_help = [](const launch::Job& job) {
      return std::ranges::any_of(job.args, [](const launch::Word& word) { return word.text() == "-h" || word.text() == "--help"; });
    };
    std::erase_if(mentions.jobs, [&](const launch::Job& job) { return job.script_path.empty() || asks_for_help(job); });
    line_reader_.Add(mentions, lines_);
  }

  void NoteStartedFromRoot() {
    line_reader_.NoteStartedFromRoot(launches_.files);
    for (launch::LaunchFile& file : launches_.files) {
      for (launch::Job& job : file.jobs) {
        // One that is not analysed is there all the same, and one that is written is named.
        if (!job.root_script.empty() && (IsThere(Normalized(job.script.text())) || IsSaidElsewhere(file, job.script))) job.root_script.clear();
      }
    }
  }

  // The only script of a name that a command gives without a folder, where it lies neither beside the command nor in the root; empty: there is none.
  std::string_view ScriptElsewhere(const launch::LaunchFile& file, const launch::CalledScript& script) const {
    const std::string& name = script.path.text();
    if (file.brings_files || file.changes_folder || line_reader_.IsElsewhere(script.cloned) || !script.path.IsKnown() || name.find('/') != std::string::npos) return {};
    const std::string_view only = missing_.OnlyNamed(name);
    return base::IsBelow(file.path, DirectoryOf(only)) ? std::string_view() : only;
  }

  // Whether a word stands before it in its line: a name alone may be an entry of a list of files.
  bool IsHandedOn(const launch::LaunchFile& file, const Word& path) const {
    const std::string_view before = std::string_view(parsed_.files[file.file].text).substr(0, path.span().begin);
    const size_t last = before.find_last_not_of(" \t");
    return path.span().file == file.file && last != std::string_view::npos && std::isalnum(static_cast<unsigned char>(before[last])) != 0;
  }

  // `bash train.sh` of `scripts/train.sh`, which starts files of the root: it is to be run from there, where it does not lie.
  void NoteCalledFromRoot() {
    for (launch::LaunchFile& file : launches_.files) {
      for (const launch::CalledScript& script : file.called) {
        const std::string_view path = ScriptElsewhere(file, script);
        const auto called = std::ranges::find(launches_.files, path, &launch::LaunchFile::path);
        if (path.empty() || called == launches_.files.end() || !line_reader_.StartsFromRoot(*called) || IsSaidElsewhere(file, script.path)) continue;
        if (!IsHandedOn(file, script.path)) continue;
        file.missing.push_back({script.path, std::string(path)});
      }
    }
  }

  // What a script does not set another file may, which starts it or is read before.
  void ForgetGiven() {
    for (launch::LaunchFile& file : launches_.files) {
      std::erase_if(file.lost, [&](const launch::LostArguments& lost) {
        return lost.by == launch::LostBy::NothingSet && std::ranges::any_of(launches_.files, [&](const launch::LaunchFile& other) {
          return other.file != file.file && MayGive(other, std::string(lost.first.Variable()), NameOf(file.path));
        });
      });
    }
  }
  bool MayGive(const launch::LaunchFile& file, const std::string& variable, std::string_view script) const {
    const std::string& text = parsed_.files[file.file].text;
    const bool is_of_others = text.find(script) != std::string::npos || text.find("export " + variable) != std::string::npos;
    return is_of_others && launch_files::Assigns(text, variable);
  }

  // `--hostfile hosts.txt`: beside the file that names it, or from the root.
  void NoteHosts(const std::string& from, launch::Job& job) {
    for (launch::Layer& layer : job.layers) {
      const launch::Option* option = layer.Find("hostfile");
      if (option == nullptr || !option->value.IsKnown()) continue;
      const std::string& name = option->value.text();
      for (const std::string& path : {Normalized(Join(DirectoryOf(from), name)), Normalized(name)}) {
        if (!layer.hosts) layer.hosts = HostsIn(path);
      }
    }
  }
  std::optional<launch::HostFile> HostsIn(const std::string& path) {
    if (path.empty() || path.starts_with('/') || path.starts_with("..") || path.starts_with('~') || !IsThere(path) || !LiesInside(path)) return std::nullopt;
    const base::Result<std::string> text = in_.Read(path);
    if (!text || text->size() > launch::kLargestHostFile) return std::nullopt;
    const source::FileId id = FileOf(path, *text);
    return id ? launch::ReadHosts(path, parsed_.files[id].text, id) : std::nullopt;
  }
  // A link may lead out of the project.
  bool LiesInside(const std::string& path) const {
    if (in_.overlays.contains(path)) return true;
    const base::Result<std::string> root = in_.files.Canonical(in_.paths.Shown(""));
    const base::Result<std::string> file = in_.files.Canonical(in_.paths.Shown(path));
    return root && file && IsInside(*file, *root);
  }

  // Of the arguments of jobs, and of scripts that are started by the shell.
  void NoteMissingPaths(launch::LaunchFile& file) const {
    if (file.brings_files) return;
    const std::string folder(DirectoryOf(file.path));
    // Whether the path is among those that are missing now.
    const auto note = [&](const Word& path) {
      if (!path.IsKnown() || IsSaidElsewhere(file, path) || IsThere(Normalized(Join(folder, path.text()))) || IsThere(Normalized(path.text()))) return false;
      const bool is_known = std::ranges::any_of(file.missing, [&](const launch::MissingPath& one) { return one.path.span() == path.span(); });
      if (is_known) return true;
      std::string meant = missing_.MeantBy(path.text(), folder, file.changes_folder);
      if (meant.empty() && !file.changes_folder && !IsToldOf(file, path)) meant = missing_.LongerThan(path.text(), folder);
      if (meant.empty()) return false;
      file.missing.push_back({path, std::move(meant)});
      return true;
    };
    for (launch::Job& job : file.jobs) {
      if (job.is_remote || line_reader_.IsElsewhere(job.cloned) || rules::AgentOf(job) == nullptr) continue;
      for (const Word& path : ReadBy(job.args)) {
        const bool is_config = path.span() == job.missing_config.span();
        const bool is_noted = (!is_config || !job.missing_config_of.empty()) && note(path);
        if (is_config && is_noted) job.missing_config = {};
      }
    }
    for (const launch::CalledScript& script : file.called) {
      if (line_reader_.IsElsewhere(script.cloned)) continue;
      note(script.path);
      for (const Word& path : ReadBy(script.args)) note(path);
    }
  }

  // A script that fetches or writes files may bring this one, and somebody who types from a page has to write it.
  void NoteMissingConfig(const launch::LaunchFile& file, launch::Job& job) const {
    if (file.brings_files) return;
    const std::string folder(DirectoryOf(file.path));
    for (const std::string_view means : {"config_file", "deepspeed_config"}) {
      const launch::Option* option = job.innermost().Find(means);
      if (option == nullptr || !IsMissing(option->value, folder)) continue;
      job.missing_config = option->value;
      const std::string name = Normalized(option->value.text());
      for (const std::string& path : {Normalized(Join(folder, name)), name}) {
        if (job.nearest_config.empty()) job.nearest_config = NearestConfig(path);
      }
    }
    if (job.missing_config.empty()) NoteMissingArgument(file, job, folder);
  }
  bool IsMissing(const Word& value, const std::string& folder) const {
    if (!value.IsKnown() || !MayBeOfProject(value.text())) return false;
    const std::string name = Normalized(value.text());
    return !IsThere(Normalized(Join(folder, name))) && !IsThere(name) && !IsBelowAnother(name);
  }

  // `train.py --deepspeed zero3.json`. Where the script is found the folder is known from which its path, and this one, begins.
  void NoteMissingArgument(const launch::LaunchFile& file, launch::Job& job, const std::string& folder) const {
    const std::optional<std::string> start = StartOf(file, job, folder);
    if (!start || job.is_remote) return;
    for (size_t i = 0; i < job.args.size(); ++i) {
      const std::string& text = job.args[i].text();
      const size_t equals = text.find('=');
      const std::string name = text.substr(0, equals);
      if (!name.starts_with("--") || !NamesConfig(name)) continue;
      const Word value = launch::ValueOf(job.args, i);
      if (!HasEndingOfConfig(value.text()) || !IsMissing(value, folder) || IsSaidElsewhere(file, value)) continue;
      const std::string path = Normalized(Join(*start, Normalized(value.text())));
      std::string nearest = NearestConfig(path);
      if (nearest.empty()) nearest = OnlyConfigBelow(*start, NameOf(path));
      if (nearest.empty() && !(IsOfDeepSpeed(name) && IsFolder(std::string(DirectoryOf(path))))) continue;
      job.missing_config = value;
      job.missing_config_of = name;
      job.nearest_config = std::move(nearest);
      return;
    }
  }
  static bool IsOfDeepSpeed(const std::string& name) { return name.find("deepspeed") != std::string::npos || name.find("ds_config") != std::string::npos; }
  static bool NamesConfig(const std::string& name) {
    constexpr std::array<std::string_view, 9> kNames = {"config", "config_file", "config_path", "cfg", "deepspeed", "deepspeed_config", "deepspeed_config_file", "ds_config", "ds_config_file"};
    std::string plain = name.substr(2);
    std::ranges::replace(plain, '-', '_');
    return std::ranges::count(kNames, plain) > 0;
  }
  static bool HasEndingOfConfig(const std::string& path) { return path.ends_with(".json") || path.ends_with(".yaml") || path.ends_with(".yml"); }
  // The folder in which the command is run, by the script that it starts; nothing: it is not known.
  std::optional<std::string> StartOf(const launch::LaunchFile& file, const launch::Job& job, const std::string& folder) const {
    std::string script = Normalized(job.script.text());
    if (job.is_module) {
      script = job.script.text();
      std::ranges::replace(script, '.', '/');
      script += job.script_path.ends_with("/__main__.py") ? "/__main__.py" : ".py";
    }
    const bool is_beside = !file.changes_folder && !job.script_path.empty() && job.script_path == Join(folder, script);
    if (is_beside) return folder;
    if (!job.script.IsKnown() || script.find('/') == std::string::npos || script.starts_with('/')) return std::nullopt;
    // Of several copies the one above the launch file is meant.
    for (std::string above = folder; job.script_path.empty() && !above.empty(); above = std::string(DirectoryOf(above))) {
      if (IsThere(Join(above, script))) return above;
    }
    if (job.script_path.empty()) return std::nullopt;
    if (job.script_path == script) return std::string();
    if (!job.script_path.ends_with("/" + script)) return std::nullopt;
    return job.script_path.substr(0, job.script_path.size() - script.size() - 1);
  }
  // Whoever writes the file has to name it.
  bool IsSaidElsewhere(const launch::LaunchFile& file, const Word& value) const {
    const std::string& text = parsed_.files[file.file].text;
    const std::string name(NameOf(value.text()));
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
      size_t before = text.find_last_of(" \t\n\"'=", at);
      while (before != std::string::npos && before > 0 && (text[before] == '"' || text[before] == '\'' || text[before] == ' ')) --before;
      if (before != std::string::npos && text[before] == '>') return true;
    }
    return false;
  }
  // Whether the file speaks of it elsewhere than in commands that name it: how it is made, say.
  bool IsToldOf(const launch::LaunchFile& file, const Word& value) const {
    const std::string& text = parsed_.files[file.file].text;
    const std::string name(NameOf(value.text()));
    int64_t told = 0;
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) ++told;
    const auto names_it = [&](const Word& word) { return word.text().find(name) != std::string::npos; };
    for (const launch::Job& job : file.jobs) told -= std::ranges::count_if(job.args, names_it);
    for (const launch::CalledScript& script : file.called) told -= std::ranges::count_if(script.args, names_it);
    return told > 0;
  }
  bool IsFolder(const std::string& path) const {
    return !path.empty() && in_.files.Kind(in_.paths.Shown(path)).value_or(source::EntryKind::Other) == source::EntryKind::Directory;
  }
  // Where a file lies that was moved, as seen from a folder.
  std::string OnlyConfigBelow(const std::string& folder, std::string_view name) const {
    std::string found;
    for (const std::string& one : scan_.files.all) {
      if (!base::IsBelow(one, folder) || NameOf(one) != name) continue;
      if (!found.empty()) return {};
      found = folder.empty() ? one : one.substr(folder.size() + 1);
    }
    return found;
  }
  static bool MayBeOfProject(const std::string& path) {
    return path.find('.') != std::string::npos && path.find_first_of("{}*") == std::string::npos && !path.starts_with('/') && !path.starts_with('~');
  }
  bool IsThere(const std::string& path) const {
    return in_.overlays.contains(path) || in_.files.Kind(in_.paths.Shown(path)).value_or(source::EntryKind::Other) == source::EntryKind::File;
  }
  // The script may go into another folder first.
  bool IsBelowAnother(const std::string& path) const {
    return std::ranges::any_of(scan_.files.all, [&](const std::string& one) { return one.ends_with("/" + path); });
  }
  std::string NearestConfig(const std::string& path) const {
    const std::string_view folder = DirectoryOf(path);
    std::vector<std::string_view> names;
    for (const std::string& one : scan_.files.all) {
      const bool is_config = launch_files::KindOfName(one) == FileKind::Yaml || launch_files::KindOfName(one) == FileKind::Json;
      if (is_config && DirectoryOf(one) == folder) names.push_back(NameOf(one));
    }
    return std::string(knowledge::Nearest(NameOf(path), names));
  }

  void ReadPython(const std::string& path) {
    const std::string shown = in_.paths.Shown(path);
    const auto parsed = std::ranges::find_if(parsed_.modules, [&](const ir::Module& module) { return parsed_.files[module.file].path == shown; });
    if (parsed != parsed_.modules.end()) return AddPython(path, *parsed, false);
    const std::optional<std::string> text = TextOf(in_, path);
    const source::FileId id = text ? FileOf(path, *text) : source::FileId();
    if (!id) return;
    const auto index = static_cast<size_t>(std::ranges::lower_bound(in_.code, path) - in_.code.begin());
    parsed_.requested[id.index] = code_.requested[index];
    AddPython(path, python::Lower(parsed_.files[id], id, code_.names), code_.requested[index]);
  }
  // `has_syntax`: no other part of the pipeline knows where its statements stand.
  void AddPython(const std::string& path, const ir::Module& module, bool has_syntax) {
    launch::LaunchFile read = launch_files::ReadPythonCalls(
        {.tables = launches_.tables, .module = module, .names = code_.names, .text = parsed_.files[module.file], .path = path});
    if (read.jobs.empty()) return;
    line_reader_.Resolve(read);
    for (launch::Job& job : read.jobs) NoteHosts(read.path, job);
    line_reader_.Add(read, lines_);
    read.syntax = has_syntax ? SyntaxOf(module) : findings::FileSyntax{.file = module.file, .statements = {}, .comments = {}};
    read.requested = has_syntax;
    launches_.files.push_back(std::move(read));
  }

  // They are judged as what sources them is.
  void AddSourced() {
    for (const auto& [path, id] : sourced_) {
      const auto index = static_cast<size_t>(std::ranges::lower_bound(scan_.files.all, path) - scan_.files.all.begin());
      if (launches_.Find(id) != nullptr || !scan_.files.requested[index]) continue;
      parsed_.requested[id.index] = true;
      launches_.sourced.push_back(launch_files::ReadLaunchFile({.tables = launches_.tables, .text = parsed_.files[id], .id = id, .path = path,
                                                                .kind = FileKind::Shell, .open = {}, .trees = &trees_, .names_program = {}}).syntax);
    }
  }

  source::FileId SourcedFile(const std::string& path) {
    if (const auto known = sourced_.find(path); known != sourced_.end()) return known->second;
    const std::optional<std::string> text = TextOf(in_, path);
    return text && text->find('\0') == std::string::npos ? FileOf(path, *text) : source::FileId();
  }

  // `source env.sh`: beside the script, or from the root, where most scripts are started.
  std::optional<Word> Sourced(const std::string& from, const std::string& name) {
    for (const std::string& path : {Normalized(Join(DirectoryOf(from), name)), Normalized(name)}) {
      if (!std::ranges::binary_search(scan_.files.all, path)) continue;
      const source::FileId id = SourcedFile(path);
      if (!id) return std::nullopt;
      sourced_.emplace(path, id);
      const std::string& all = parsed_.files[id].text;
      return Word(Piece{.text = all, .origin = {id, 0, static_cast<uint32_t>(all.size())}});
    }
    return std::nullopt;
  }

  const LaunchInput& in_;
  const LaunchScan& scan_;
  const LaunchingCode& code_;
  Parsed& parsed_;
  launch::Launches& launches_;
  LaunchLineReader line_reader_;
  MissingPaths missing_;
  objects::LaunchLines& lines_;
  std::unordered_map<std::string, source::FileId> ids_;
  std::map<std::string, source::FileId> sourced_;
  launch_files::ShellTrees trees_;
  launch_files::CalledScripts called_{[this](std::string_view text) { return scan_.names->Names(text); }};
};

}  // namespace

base::Result<std::string> LaunchInput::Read(const std::string& path) const {
  const auto overlay = overlays.find(path);
  return overlay == overlays.end() ? files.Read(paths.Shown(path)) : base::Result<std::string>(overlay->second);
}

base::Result<uint64_t> LaunchInput::Size(const std::string& path) const {
  const auto overlay = overlays.find(path);
  return overlay == overlays.end() ? files.Size(paths.Shown(path)) : base::Result<uint64_t>(overlay->second.size());
}

namespace {

bool IsJson(const std::string& path) { return launch_files::KindOfName(path) == FileKind::Json; }

// Folders that hold so many files of JSON side by side that these are data. What is asked for, and what lies around it, is counted apart.
class DataFolders {
 public:
  explicit DataFolders(const LaunchFiles& files) : files_(files) {
    for (size_t i = 0; i < files.all.size(); ++i) {
      if (IsJson(files.all[i])) ++counts_[KeyOf(i)];
    }
  }
  bool Holds(size_t index) const { return IsJson(files_.all[index]) && counts_.at(KeyOf(index)) > kMostConfigurations; }

 private:
  // People keep up to fifteen beside one another.
  static constexpr size_t kMostConfigurations = 60;
  std::pair<std::string_view, bool> KeyOf(size_t index) const { return {DirectoryOf(files_.all[index]), files_.requested[index]}; }

  const LaunchFiles& files_;
  std::map<std::pair<std::string_view, bool>, size_t> counts_;
};

// Data that is larger than a configuration and smaller than what has to be said of is not even read.
bool IsOfDataSize(const LaunchInput& input, const std::string& path) {
  if (!IsJson(path)) return false;
  const base::Result<uint64_t> size = input.Size(path);
  return size && *size > kLargestConfiguration && *size <= launch_files::kLargestFile;
}

// Which files a run looks into, and how.
struct LookedAt {
  std::optional<std::string> text;  // of one that is read
  bool is_launch = false;
  bool is_too_large = false;
  bool is_of_others = false;        // it names only files of the project that are not analysed
  bool calls_scripts = false;       // it names no file that is analysed, and starts scripts of the shell, which may
};

// What files mention, each looked through as often as it has to be.
class LaunchFilter {
 public:
  LaunchFilter() : commands_(launch_files::CommandWords()), configs_(launch_files::ConfigWords()), starts_(launch_files::StartWords()), any_(AllWords()) {}

  // `analysed` and `all`: names of the files that are analysed, and of all files of the project that hold code.
  LookedAt Look(const std::string& path, std::string text, const StartNames& analysed, const StartNames& all) const {
    LookedAt out;
    if (launch_files::MayBeScript(path) && !launch_files::IsShellScript(text)) return out;
    const FileKind kind = launch_files::KindOfName(path).value_or(FileKind::Shell);
    // Most of a notebook is code and pictures. An editor shows it as code.
    const bool is_saved_notebook = kind == FileKind::Notebook && text.starts_with('{');
    if (is_saved_notebook && !launch_files::NotebookStartsAnything(text)) return out;
    // Of a page its blocks are asked. Most are prose.
    const std::string shell = kind == FileKind::Markdown ? launch_files::ShellOnPage(path, text) : std::string();
    const std::string_view asked = kind == FileKind::Markdown ? std::string_view(shell) : text;
    // Most files have none of these: they are looked through once.
    const bool has_any = kind != FileKind::Json && any_.Mentions(asked) && (kind != FileKind::Yaml || launch_files::MayHoldCommands(asked));
    const bool has_command = has_any && commands_.Mentions(asked) && launch_files::MentionsLauncher(asked);
    // Of a notebook only what it starts is asked: as code it has its own findings.
    const bool may_start = has_command && kind != FileKind::Notebook;
    const bool may_configure = (kind == FileKind::Json || kind == FileKind::Yaml) && text.size() <= kLargestConfiguration && configs_.Mentions(text);
    const bool starts_any = kind != FileKind::Json && kind != FileKind::Toml && has_any && starts_.Mentions(asked);
    out.is_launch = may_start || may_configure;
    const bool is_read = out.is_launch || has_command || (starts_any && analysed.NamesProgram(asked));
    out.is_of_others = !is_read && starts_any && all.NamesProgram(asked);
    out.calls_scripts = !is_read && starts_any && (asked.find(".sh") != std::string_view::npos || asked.find("sbatch ") != std::string_view::npos);
    if (is_read || out.is_of_others || out.calls_scripts) out.text = std::move(text);
    return out;
  }

 private:
  static std::vector<std::string> AllWords() {
    std::vector<std::string> words(launch_files::CommandWords().begin(), launch_files::CommandWords().end());
    words.insert(words.end(), launch_files::StartWords().begin(), launch_files::StartWords().end());
    return words;
  }

  Prefilter commands_;
  Prefilter configs_;
  Prefilter starts_;
  Prefilter any_;
};

bool IsShell(const std::string& path) { return launch_files::KindOfName(path).value_or(FileKind::Shell) == FileKind::Shell; }

// A script that only starts others is read if one of them starts anything. The names of those that are read.
std::vector<std::string> FollowScripts(const std::vector<std::string>& paths, std::vector<LookedAt>& files) {
  std::vector<std::string> names;
  std::vector<std::string> fresh;
  for (size_t i = 0; i < paths.size(); ++i) {
    const bool is_read = files[i].text && !files[i].calls_scripts && !files[i].is_of_others;
    if (is_read && IsShell(paths[i])) fresh.emplace_back(NameOf(paths[i]));
  }
  while (!fresh.empty()) {
    const Prefilter started(fresh);
    names.insert(names.end(), fresh.begin(), fresh.end());
    fresh.clear();
    for (size_t i = 0; i < paths.size(); ++i) {
      if (!files[i].calls_scripts || !started.Mentions(*files[i].text)) continue;
      files[i].calls_scripts = false;
      files[i].is_of_others = false;
      if (IsShell(paths[i])) fresh.emplace_back(NameOf(paths[i]));
    }
  }
  return names;
}

}  // namespace

LaunchScan ScanLaunchFiles(const LaunchInput& input, LaunchFiles files, const std::vector<std::string>& analysed) {
  LaunchScan scan{.files = std::move(files), .texts = {}, .names = StartNames(input.code)};
  const std::vector<std::string>& paths = scan.files.all;
  std::vector<LookedAt> looked(paths.size());
  const LaunchFilter filter;
  const StartNames started(analysed);
  const DataFolders data(scan.files);
  ParallelFor(paths.size(), input.jobs, [&](size_t i) {
    if (data.Holds(i) || IsOfDataSize(input, paths[i])) return;
    base::Result<std::string> read = input.Read(paths[i]);
    if (!read) return;
    if (read->size() > launch_files::kLargestFile) looked[i].is_too_large = IsLargeConfiguration(paths[i], *read);
    else looked[i] = filter.Look(paths[i], std::move(*read), started, *scan.names);
  });
  scan.names->SetScripts(FollowScripts(paths, looked));
  for (uint32_t i = 0; i < looked.size(); ++i) {
    LookedAt& file = looked[i];
    const bool is_read = file.text && (!file.calls_scripts || file.is_of_others);
    if (!is_read && !file.is_too_large) continue;
    scan.texts.push_back({.index = i, .is_launch = file.is_launch || file.is_too_large, .is_too_large = file.is_too_large,
                          .is_of_others = file.is_of_others, .text = std::move(file.text).value_or("")});
  }
  return scan;
}

void ReadLaunchFiles(const LaunchInput& input, const LaunchScan& scan, const LaunchingCode& code, Parsed& parsed,
                     launch::Launches& launches, objects::LaunchLines& lines) {
  Reader(input, scan, code, parsed, launches, lines).Run();
}

}  // namespace allranks::pipeline
