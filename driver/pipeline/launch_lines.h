// What launch files tell the analysis of code: which scripts are started, and as what.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/launch/job.h"
#include "analyzer/objects/launch_lines.h"
#include "driver/pipeline/paths.h"

namespace allranks::pipeline {

// Finds the files that lines start: beside the file that the line stands in, below the root, else the only one of that path
// in the project, or of that name beside and below the file that the line stands in. Of several it is not known which one is meant.
//
// Which strategy a job is run under a launcher is told by an option, or by a configuration that an option names.
class LaunchLineReader {
 public:
  // `code`: all files of the project, relative to its root. `root`: the name of its folder.
  LaunchLineReader(const std::vector<std::string>& code, std::string root);
  // Tells the jobs of a file which scripts they mean.
  void Resolve(launch::LaunchFile& file) const;
  // Once all files are read and resolved: which scripts are not there, by the folder from which others show that they are started.
  void NoteStartedFromRoot(std::vector<launch::LaunchFile>& files) const;
  // Whether a script of the shell starts files of the root by paths from there, and none that lie beside it.
  bool StartsFromRoot(const launch::LaunchFile& file) const;
  void Add(const launch::LaunchFile& file, objects::LaunchLines& lines);
  // Whether what is named so was fetched from another repository.
  bool IsElsewhere(std::string_view cloned) const { return !cloned.empty() && !IsThis(cloned); }
  // Once all files are read: what configurations say, of the lines that name them and by themselves.
  void Finish(const launch::Launches& launches, objects::LaunchLines& lines) const;

 private:
  // A line that names a configuration of its launcher.
  struct Configured {
    std::optional<size_t> line;       // none: what it starts is not here
    std::vector<std::string> paths;   // where that may be
    bool takes_ranks = false;         // the command leaves their number to it
  };

  void NoteConfig(const launch::Job& job, const std::string& folder, std::optional<size_t> line);
  std::string_view FileOf(const launch::Job& job, std::string_view folder) const;
  std::string_view FileOf(const std::string& script, std::string_view folder) const;
  std::string_view FileAt(const std::string& path) const;
  bool MayBeBelow(const launch::Job& job, std::string_view folder) const;
  std::string_view OnlyBelow(std::string_view folder, std::string_view name) const;
  // Whether it may start a file of the project though it is not known which.
  bool MayBeOfProject(const launch::Job& job) const;
  // The folder below which a line may start files.
  std::string ReachOf(const std::string& folder) const;
  std::string NearestTo(const launch::Job& job, std::string_view folder) const;
  std::string MissingIn(const launch::Job& job, std::string_view folder) const;
  std::string MovedTo(const launch::Job& job, std::string_view folder) const;
  void NoteSiblings(launch::LaunchFile& file) const;
  bool LiesBelowRoot(const launch::Job& job, std::string_view folder) const;
  bool IsThis(std::string_view repository) const;

  std::string root_;
  std::vector<Configured> configured_;
  std::unordered_map<std::string_view, std::vector<std::string_view>> by_name_;  // paths by their last part
  std::unordered_map<std::string_view, std::vector<std::string_view>> by_folder_;  // names of Python files
};

}  // namespace allranks::pipeline
