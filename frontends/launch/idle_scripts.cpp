#include "frontends/launch/idle_scripts.h"

#include <algorithm>
#include <array>

#include "frontends/launch/read.h"

namespace allranks::launch_files {
namespace {

// Whether what a script is told may name what it starts.
bool MayBeOfCommand(const Word& word) {
  constexpr std::array<std::string_view, 3> kPrograms = {"python", ".py", ".sh"};
  const std::string& text = word.text();
  return MentionsLauncher(text) || std::ranges::any_of(kPrograms, [&](std::string_view program) { return text.find(program) != std::string::npos; });
}

}  // namespace

bool IdleScripts::StaysIdle(source::FileId script, const ShellCommand& command, size_t at) const {
  if (!idle_.contains(script.index)) return false;
  const auto first = command.words.begin() + static_cast<std::ptrdiff_t>(at) + 1;
  return std::none_of(first, command.words.end(), MayBeOfCommand) &&
         std::ranges::none_of(command.environment, [](const Setting& setting) { return MayBeOfCommand(setting.value); });
}

void IdleScripts::Note(source::FileId script, std::span<const launch::Job> jobs) {
  if (std::ranges::none_of(jobs, [&](const launch::Job& job) { return IsOfInterest(job); })) idle_.insert(script.index);
}

bool IdleScripts::IsOfInterest(const launch::Job& job) const {
  const bool starts_ranks = std::ranges::any_of(job.layers, [](const launch::Layer& layer) { return layer.launcher->is_job; });
  return starts_ranks || !job.script.IsKnown() || names_program_(job.is_module ? " -m " + job.script.text() : job.script.text());
}

}  // namespace allranks::launch_files
