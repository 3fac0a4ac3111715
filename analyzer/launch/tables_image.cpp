#include "analyzer/launch/tables_image.h"

#include "analyzer/base/image.h"

namespace allranks::launch {

using base::Is;

template <Is<Version> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [major_number, minor_number] = it;
  visit(major_number, minor_number);
}

template <Is<Release> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [major_number, minor_number, patch] = it;
  visit(major_number, minor_number, patch);
}

template <Is<TorchBound::Step> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [last, torch] = it;
  visit(last, torch);
}

template <Is<TorchBound> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [names, steps] = it;
  visit(names, steps);
}

template <Is<TorchModule> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [name, last] = it;
  visit(name, last);
}

template <Is<UnreadVariable> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [name, in, instead] = it;
  visit(name, in, instead);
}

template <Is<VariableFamily> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [library, prefix, source, shares_names, since, unread] = it;
  visit(library, prefix, source, shares_names, since, unread);
}

template <Is<VariableNames> T, class Visit>
void Fields(T& it, Visit& visit) {
  std::deque<VariableFamily> families = it.families();
  visit(families);
  if constexpr (!std::is_const_v<T>) {
    for (VariableFamily& family : families) it.Add(std::move(family));
  }
}

template <Is<OptionEntry> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [names, takes, means, default_value, is_count, words, sets] = it;
  visit(names, takes, means, default_value, is_count, words, sets);
}

template <Is<LauncherTable> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [name, commands, source, since, starts, underscores, abbreviates, is_complete, is_job, is_of_node, ends_others, detaches, options] = it;
  visit(name, commands, source, since, starts, underscores, abbreviates, is_complete, is_job, is_of_node, ends_others, detaches, options);
}

template <Is<VariableEntry> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [name, debug_values, why, only_if, unless] = it;
  visit(name, debug_values, why, only_if, unless);
}

template <Is<KeyEntry> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [path, type, stages, off, until, instead, words] = it;
  visit(path, type, stages, off, until, instead, words);
}

template <Is<ConfigTable> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [name, source, marks, closed, closed_since, keys] = it;
  visit(name, source, marks, closed, closed_since, keys);
}

template <Is<KeyAbout> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [config, key, text, default_value, since] = it;
  visit(config, key, text, default_value, since);
}

template <Is<PairEntry> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [config, key, args, launcher, ignored, absent, excludes] = it;
  visit(config, key, args, launcher, ignored, absent, excludes);
}

template <class Self, class Visit>
void TablesImage::VisitAll(Self& self, Visit& visit) {
  visit(self.launchers_, self.variables_, self.configs_, self.pairs_, self.abouts_, self.variable_names_, self.device_arguments_,
        self.torch_bounds_, self.torch_modules_);
}

std::string TablesImage::Of(const LauncherTables& tables) {
  const base::Interner no_names;
  base::ImageWriter writer(no_names);
  VisitAll(tables, writer);
  return std::move(writer).Finish();
}

void TablesImage::Read(std::string_view bytes, LauncherTables& tables) {
  base::Interner no_names;
  base::ImageReader reader(bytes, no_names);
  VisitAll(tables, reader);
}

}  // namespace allranks::launch
