#include "frontends/launch/called_scripts.h"

#include <algorithm>
#include <array>

#include "frontends/launch/read.h"

namespace allranks::launch_files {
namespace {

// People start a script in a dozen ways; programs write hundreds of files that start one.
constexpr uint32_t kMostReads = 12;

// Whether what a script is told may name what it starts.
bool MayBeOfCommand(const Word& word) {
  constexpr std::array<std::string_view, 3> kPrograms = {"python", ".py", ".sh"};
  const std::string& text = word.text();
  return MentionsLauncher(text) || std::ranges::any_of(kPrograms, [&](std::string_view program) { return text.find(program) != std::string::npos; });
}

bool TellsOfCommand(const ShellCommand& command, size_t at) {
  const auto first = command.words.begin() + static_cast<std::ptrdiff_t>(at) + 1;
  return std::any_of(first, command.words.end(), MayBeOfCommand) ||
         std::ranges::any_of(command.environment, [](const Setting& setting) { return MayBeOfCommand(setting.value); });
}

}  // namespace

bool CalledScripts::IsWorthReading(source::FileId script, std::string_view text, const ShellCommand& command, size_t at) {
  Known& known = known_[script.index];
  if (!known.is_idle) known.is_idle = !MayStartAnything(text);
  if (*known.is_idle && !TellsOfCommand(command, at)) return false;
  return ++known.reads <= kMostReads;
}

void CalledScripts::Note(source::FileId script, std::span<const launch::Job> jobs) {
  known_[script.index].is_idle = std::ranges::none_of(jobs, [&](const launch::Job& job) { return IsOfInterest(job); });
}

bool CalledScripts::MayStartAnything(std::string_view text) const {
  return text.find("python") != std::string_view::npos || text.find("PYTHON") != std::string_view::npos || MentionsLauncher(text) || names_program_(text);
}

bool CalledScripts::IsOfInterest(const launch::Job& job) const {
  const bool starts_ranks = std::ranges::any_of(job.layers, [](const launch::Layer& layer) { return layer.launcher->is_job; });
  return starts_ranks || !job.script.IsKnown() || names_program_(job.is_module ? " -m " + job.script.text() : job.script.text());
}

}  // namespace allranks::launch_files
