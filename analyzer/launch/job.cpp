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

const LaunchFile* Launches::Find(source::FileId file) const {
  const auto found = std::ranges::find(files, file, &LaunchFile::file);
  return found == files.end() ? nullptr : &*found;
}

}  // namespace allranks::launch
