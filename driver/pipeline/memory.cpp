#include "driver/pipeline/memory.h"

namespace allranks::pipeline {

std::vector<Content> Memory::ContentsOf(const Selection& selection) {
  std::vector<Content> contents = {{selection.parse.size(), selection.faulty.size()}};
  const auto add = [&](uint32_t index) {
    contents.push_back({index, static_cast<uint64_t>(selection.files[index].state)});
    contents.push_back(selection.files[index].content);
  };
  for (const uint32_t index : selection.parse) add(index);
  for (const uint32_t index : selection.faulty) add(index);
  // Headers come with the files that include them.
  for (const ScannedFile& file : selection.files) {
    if (file.is_header) contents.push_back(file.content);
  }
  return contents;
}

bool Memory::IsSame(const Selection& selection) const {
  return disk_is_unchanged && !whole_.empty() && whole_ == ContentsOf(selection);
}

void Memory::NoteWhole(const Selection& selection) { whole_ = ContentsOf(selection); }

void Memory::Recall(binding::Program& program, source::SourceFiles& files) {
  whole_.clear();
  // A run that was stopped early has taken nothing.
  if (contents_.empty()) return;
  // What the run before did not use belongs to files that are gone.
  modules_.clear();
  for (uint32_t i = 0; i < program.infos.size(); ++i) {
    const std::string& path = program.infos[ir::ModuleId{i}].path;
    const auto content = contents_.find(path);
    if (content == contents_.end()) continue;
    ir::Module& module = program.modules[ir::ModuleId{i}];
    source::SourceFile& file = files[module.file];
    modules_.emplace(path, Module{content->second, std::move(file), std::move(module)});
  }
  contents_.clear();
}

const ProjectFiles& Memory::SetProject(ProjectFiles project) {
  const bool is_same = project_ && project_->all == project.all && project_->import_roots == project.import_roots;
  if (!is_same) scanned_.clear();
  project_ = std::move(project);
  return *project_;
}

const ScannedFile* Memory::Scanned(uint32_t index) const {
  return index < scanned_.size() && scanned_[index].state == ReadState::Read ? &scanned_[index] : nullptr;
}

void Memory::SetScanned(const std::vector<ScannedFile>& files) {
  scanned_ = files;
  for (ScannedFile& file : scanned_) std::string().swap(file.text);
}

bool Memory::HasModule(const std::string& path, const Content& content) const {
  const auto given = contents_.find(path);
  if (given != contents_.end()) return given->second == content;
  const auto known = modules_.find(path);
  return known != modules_.end() && known->second.content == content;
}

std::optional<Memory::Module> Memory::TakeModule(const std::string& path, const Content& content) {
  const auto known = modules_.find(path);
  if (known == modules_.end() || known->second.content != content) return std::nullopt;
  return std::move(known->second);
}

void Memory::NoteContent(const std::string& path, const Content& content) { contents_.insert_or_assign(path, content); }

python::LastParse& Memory::LastParseOf(const std::string& path) { return parses_.at(path); }

void Memory::KeepParsesOf(const std::map<std::string, std::string>& open) {
  std::erase_if(parses_, [&](const auto& parse) { return !open.contains(parse.first); });
  for (const auto& [path, text] : open) parses_.try_emplace(path);
}

std::shared_ptr<const cpp::Reply> Memory::Unit(const std::string& path, const Content& content) const {
  const auto known = units_.find(path);
  return known != units_.end() && known->second.content == content ? known->second.reply : nullptr;
}

void Memory::SetUnit(const std::string& path, const Content& content, std::shared_ptr<const cpp::Reply> reply) {
  units_.insert_or_assign(path, KnownUnit{content, std::move(reply)});
}

}  // namespace allranks::pipeline
