// What commands name of the project and is not there.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/launch/job.h"

namespace allranks::pipeline {

// A path into a folder of the project counts, where no file of it ends so, from whichever folder the command is run, and where the only
// file of that name lies further down in the folder that the path begins with; or where one beside it has nearly its name, or the other ending
// of YAML. What a program writes, and what has to be fetched, lies in no such place.
class MissingPaths {
 public:
  // `launch`, `code`: all files of the project, relative to its root. They outlive this.
  MissingPaths(const std::vector<std::string>& launch, const std::vector<std::string>& code);
  // The path that is meant, from the same folder; empty: the file may be there, or nobody can say. `from`: the folder of the file that names it.
  // `goes_elsewhere`: that file may go to a folder that nobody knows, and then nearly the same name says nothing.
  std::string MeantBy(std::string_view path, std::string_view from, bool goes_elsewhere = false) const;

  // The only configuration beside a path whose name goes on where that of the path ends, `large-v2.yml` for `large.yml`; empty: there is none.
  std::string LongerThan(std::string_view path, std::string_view from) const;
  // The only file of that name, wherever it lies; empty: there are none, or several.
  std::string_view OnlyNamed(std::string_view name) const;

 private:
  std::string Moved(const std::string& path, std::string_view from) const;
  template <class IsMeant>
  std::string Beside(const std::string& path, std::string_view from, const IsMeant& may_be) const;
  bool EndsAny(const std::string& path) const;

  std::map<std::string_view, std::vector<std::string_view>> by_name_;    // paths by their last part
  std::map<std::string_view, std::vector<std::string_view>> by_folder_;  // last parts
};

// The words among the arguments of a command that may name a file which it reads.
std::vector<launch::Word> ReadBy(const std::vector<launch::Word>& args);

}  // namespace allranks::pipeline
