#include "analyzer/launch/job.h"

#include <algorithm>
#include <ranges>

namespace allranks::launch {

const Option* Layer::Find(std::string_view means) const {
  for (const Option& option : std::views::reverse(options)) {
    if (option.means == means) return &option;
  }
  return nullptr;
}

bool Layer::HidesOptions() const {
  return std::ranges::any_of(options, [](const Option& option) {
    const bool is_unknown_word = !option.word.IsKnown() && option.word.text().find('=') == std::string::npos;
    return option.means == "unknown" || is_unknown_word;
  });
}

std::optional<int64_t> Layer::Number(std::string_view means) const {
  const Option* option = Find(means);
  return option == nullptr ? std::nullopt : option->value.Number();
}

const Layer* Job::Find(std::string_view launcher) const {
  const auto layer = std::ranges::find_if(layers, [&](const Layer& one) { return one.launcher->name == launcher; });
  return layer == layers.end() ? nullptr : &*layer;
}

const Setting* Job::Env(std::string_view name) const {
  for (const Setting& setting : std::views::reverse(environment)) {
    if (setting.name == name) return &setting;
  }
  return nullptr;
}

bool IsArgumentName(std::string_view text) {
  return text.size() > 1 && text[0] == '-' && text[1] != '.' && (text[1] < '0' || text[1] > '9');
}

Word ValueOf(const std::vector<Word>& args, size_t at) {
  const std::string& text = args[at].text();
  if (const size_t equals = text.find('='); equals != std::string::npos) return args[at].From(equals + 1);
  const bool has_next = IsArgumentName(text) && at + 1 < args.size() && !IsArgumentName(args[at + 1].text());
  return has_next ? args[at + 1] : Word();
}

const LaunchFile* Launches::Find(source::FileId file) const {
  const auto found = std::ranges::find(files, file, &LaunchFile::file);
  return found == files.end() ? nullptr : &*found;
}

namespace {

// The only file whose path ends so, as seen from a folder above the one that names it: commands are started there. A script that goes into
// other folders itself may mean one anywhere.
const LaunchFile* FileBelow(const std::vector<LaunchFile>& files, std::string_view from, std::string_view wanted, bool is_anywhere) {
  if (wanted.empty()) return nullptr;
  std::string folder(from.substr(0, from.rfind('/') + 1));
  while (wanted.starts_with("./") || wanted.starts_with("../")) {
    const bool is_above = wanted[1] == '.';
    if (is_above) folder.erase(folder.size() < 2 ? 0 : folder.rfind('/', folder.size() - 2) + 1);
    wanted.remove_prefix(is_above ? 3 : 2);
  }
  const std::string beside = folder + std::string(wanted);
  const std::string below = "/" + std::string(wanted);
  const LaunchFile* ending = nullptr;
  for (const LaunchFile& file : files) {
    if (file.path == beside || file.path == wanted) return &file;
    if (!file.path.ends_with(below)) continue;
    const std::string_view start = std::string_view(file.path).substr(0, file.path.size() - wanted.size());
    if (!is_anywhere && !from.starts_with(start)) continue;
    if (ending != nullptr) return nullptr;
    ending = &file;
  }
  return ending;
}

}  // namespace

const LaunchFile* Launches::FileNamed(const LaunchFile& from, const Word& path) const {
  return path.IsKnown() ? FileBelow(files, from.path, path.text(), from.changes_folder) : nullptr;
}

const LaunchFile* Launches::FileNamed(std::string_view from, std::string_view path) const { return FileBelow(files, from, path, false); }

}  // namespace allranks::launch
