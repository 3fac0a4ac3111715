#include "driver/cli/left_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "driver/cli/wording.h"

namespace allranks::cli {
namespace {

using pipeline::LeftOut;
using pipeline::LeftOutPath;

std::string WhyIgnored(const LeftOutFiles& left_out) { return left_out.knows_tracked ? ".gitignore names it and git does not track it" : ".gitignore names it"; }

std::string WhyLeftOut(const LeftOutFiles& left_out, LeftOut why) {
  switch (why) {
    case LeftOut::Ignored: return WhyIgnored(left_out);
    case LeftOut::Submodule: return "another repository";
    case LeftOut::NotCheckedOut: return "a submodule that is not checked out";
    case LeftOut::Vendored: return "a copy of somebody else's code";
    case LeftOut::Built: return "made by a build";
    case LeftOut::Generated: return "a generated file";
    case LeftOut::Installed: return "installed packages";
  }
  return {};
}

std::string IgnoredText(const LeftOutFiles& left_out) {
  const auto count = [&](bool is_folder) {
    return static_cast<size_t>(std::ranges::count_if(left_out.paths, [&](const LeftOutPath& each) { return each.why == LeftOut::Ignored && each.is_folder == is_folder; }));
  };
  const size_t files = count(false), folders = count(true);
  if (files + folders == 0) return {};
  std::string what = files > 0 ? Counted(files, "file") : "";
  if (folders > 0) what += (what.empty() ? "" : " and ") + Counted(folders, "folder");
  return fmt::format("Left out: {} that .gitignore names{}.", what, left_out.knows_tracked ? " and git does not track" : "");
}

std::vector<std::string> NamesOfKind(const LeftOutFiles& left_out, const pipeline::PathMap& paths, LeftOut why) {
  std::vector<std::string> names;
  for (const LeftOutPath& each : left_out.paths) {
    if (each.why == why) names.push_back(paths.Shown(each.path));
  }
  return names;
}

std::string ReadText(const LeftOutFiles& left_out, const pipeline::PathMap& paths) {
  std::vector<std::string> others;
  size_t generated = 0;
  for (const LeftOutPath& each : left_out.paths) {
    if (each.why == LeftOut::Generated) ++generated;
    const bool is_named = each.why == LeftOut::Submodule || each.why == LeftOut::Vendored || each.why == LeftOut::Built;
    if (is_named) others.push_back(fmt::format("{} ({})", paths.Shown(each.path), WhyLeftOut(left_out, each.why)));
  }
  std::string text = FirstOf(others);
  if (generated > 0) text += (text.empty() ? "" : "; ") + Counted(generated, "generated file");
  if (text.empty()) return {};
  return fmt::format("Read, but not checked: {}. Give the path of one to check it.", text);
}

}  // namespace

std::vector<std::string> LeftOutLines(const LeftOutFiles& left_out, const pipeline::PathMap& paths) {
  std::vector<std::string> lines;
  for (const LeftOutPath& each : left_out.paths) {
    lines.push_back(fmt::format("{}{}: {}", paths.Shown(each.path), each.is_folder ? "/" : "", WhyLeftOut(left_out, each.why)));
  }
  return lines;
}

std::vector<std::string> LeftOutNotes(const LeftOutFiles& left_out, const pipeline::PathMap& paths, bool verbose) {
  std::vector<std::string> notes;
  const auto add = [&](std::string note) {
    if (!note.empty()) notes.push_back(std::move(note));
  };
  add(IgnoredText(left_out));
  const std::vector<std::string> installed = NamesOfKind(left_out, paths, LeftOut::Installed);
  if (!installed.empty()) add(fmt::format("Not read, as installed packages: {}. Give the path of one to check it.", FirstOf(installed)));
  const std::vector<std::string> missing = NamesOfKind(left_out, paths, LeftOut::NotCheckedOut);
  if (!missing.empty()) {
    add(fmt::format("Not read, as a submodule that is not checked out: {}. `git submodule update --init` fetches what is imported from there.", FirstOf(missing)));
  }
  add(ReadText(left_out, paths));
  if (verbose) std::ranges::move(LeftOutLines(left_out, paths), std::back_inserter(notes));
  return notes;
}

}  // namespace allranks::cli
