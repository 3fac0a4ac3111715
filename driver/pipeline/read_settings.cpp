#include "driver/pipeline/read_settings.h"

#include <algorithm>

#include "frontends/launch/read.h"
#include "frontends/launch/settings.h"
#include "frontends/launch/templates.h"

namespace allranks::pipeline {
namespace {

using launch_files::SettingsText;

class SettingsReader {
 public:
  SettingsReader(const LaunchInput& input, source::SourceFiles& files, Parsed& parsed, launch::Launches& launches)
      : in_(input), files_(files), parsed_(parsed), launches_(launches) {}

  launch::SettingsFile Read(const objects::SettingsSource& source, bool is_requested) {
    is_requested_ = is_requested;
    const std::string& folder = source.folder;
    const launch_files::OpenSettings open = [this](const std::string& path) { return Open(path); };
    // Hydra looks beside the program's file only.
    if (!source.name.empty()) return launch_files::ComposeSettings(Normalized(Join(folder, source.path)), source.name, open);
    const std::string beside = Normalized(Join(folder, source.path));
    return launch_files::ReadSettings(IsThere(beside) ? beside : Normalized(source.path), open);
  }

 private:
  bool IsThere(const std::string& path) const {
    return in_.overlays.contains(path) || in_.files.Kind(in_.paths.Shown(path)).value_or(source::EntryKind::Other) == source::EntryKind::File;
  }

  std::optional<SettingsText> Open(const std::string& path) {
    const std::optional<launch::FileKind> kind = launch_files::KindOfSettings(path);
    // Absolute paths are those of another machine, and `..` may lead out of the project.
    if (!kind || path.empty() || path.starts_with('/') || path.starts_with("..")) return std::nullopt;
    const auto known = std::ranges::find(launches_.files, path, &launch::LaunchFile::path);
    if (known != launches_.files.end()) return TextOf(*known);
    std::optional<launch::LaunchFile> read = ReadFile(path, *kind);
    if (!read) return std::nullopt;
    launches_.files.push_back(std::move(*read));
    return TextOf(launches_.files.back());
  }

  // Of a file with mistakes nothing is known, and neither is of a template that is no YAML yet.
  std::optional<SettingsText> TextOf(const launch::LaunchFile& file) const {
    const bool is_blank = files_[file.file].text.find_first_not_of(" \t\r\n") == std::string::npos;
    if (!file.problems.empty() || (file.tree.empty() && !is_blank)) return std::nullopt;
    return SettingsText{.tree = file.tree, .package = launch_files::PackageIn(files_[file.file].text)};
  }

  std::optional<launch::LaunchFile> ReadFile(const std::string& path, launch::FileKind kind) {
    if (!IsThere(path)) return std::nullopt;
    base::Result<std::string> text = in_.Read(path);
    if (!text) return std::nullopt;
    const bool is_large = text->size() > launch_files::kLargestSettings;
    // JSON holds data more often than settings.
    if (is_large && kind == launch::FileKind::Json) return std::nullopt;
    base::Result<source::SourceFile> made = source::MakeSourceFile(in_.paths.Shown(path), is_large ? std::string() : std::move(*text));
    if (!made) return std::nullopt;
    launch::LaunchFile file;
    file.file = files_.Add(std::move(*made));
    file.path = path;
    file.kind = kind;
    file.requested = is_requested_;
    parsed_.requested.resize(files_.size());
    parsed_.requested[file.file.index] = is_requested_;
    const source::SourceFile& source = files_[file.file];
    file.syntax.file = file.file;
    if (kind == launch::FileKind::Json) file.syntax.comment_mark = "";
    if (is_large || source.has_nul) {
      file.problems.push_back({is_large ? "it is larger than the 512 KiB that are read of a file of settings" : "it contains NUL bytes", {file.file, 0, 0}});
      return file;
    }
    launch_files::ConfigText config = kind == launch::FileKind::Yaml ? launch_files::ReadYaml(source, file.file)
                                      : kind == launch::FileKind::Json ? launch_files::ReadJson(source, file.file)
                                                                       : launch_files::ReadToml(source, file.file);
    // Python reads more than JSON allows.
    const bool is_of_python = source.text.find("NaN") != std::string::npos || source.text.find("Infinity") != std::string::npos;
    if (kind == launch::FileKind::Json && !config.problems.empty() && is_of_python) return std::nullopt;
    file.tree = std::move(config.tree);
    file.problems = std::move(config.problems);
    const bool is_template = !launch_files::TemplatesIn(source.text).empty();
    if (is_template && !file.problems.empty()) {
      file.problems.clear();
      file.tree = {};
    }
    file.syntax.comments = std::move(config.comments);
    file.syntax.statements = launch_files::StatementsOf(file.tree);
    return file;
  }

  const LaunchInput& in_;
  bool is_requested_ = false;
  source::SourceFiles& files_;
  Parsed& parsed_;
  launch::Launches& launches_;
};

}  // namespace

objects::SettingsFiles ReadSettingsFiles(const LaunchInput& input, std::span<const objects::SettingsRead> reads, const binding::Program& program,
                                         source::SourceFiles& files, Parsed& parsed, launch::Launches& launches) {
  SettingsReader reader(input, files, parsed, launches);
  objects::SettingsFiles read;
  for (const auto& [source, module] : reads) {
    if (!read.contains(source)) read.emplace(source, reader.Read(source, parsed.requested[program.modules[module].file.index]));
  }
  return read;
}

}  // namespace allranks::pipeline
