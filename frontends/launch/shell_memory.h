// The variables of a shell while its commands are followed. An arm of a branch is followed with `Begin`, and `TakeBack` says
// what it changed and undoes that; `Join` puts together what several arms changed. The cost is that of the changes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/launch/shell.h"

namespace allranks::launch_files {

class ShellMemory {
 public:
  using Variables = std::map<std::string, ShellVariable>;
  // By name what it is afterwards; nothing: it is unset.
  using Changes = std::map<std::string, std::optional<ShellVariable>>;

  explicit ShellMemory(Variables variables) : all_(std::move(variables)) {}

  const Variables& all() const { return all_; }
  Variables Take() { return std::move(all_); }
  const ShellVariable* Find(const std::string& name) const {
    const auto known = all_.find(name);
    return known == all_.end() ? nullptr : &known->second;
  }
  // Grows with each change of what is exported.
  size_t export_changes() const { return export_changes_; }
  void Set(const std::string& name, ShellVariable variable);
  void Erase(const std::string& name);

  void Begin() { marks_.push_back(journal_.size()); }
  Changes TakeBack();
  // What holds behind all arms: what they agree on. Where one arm says nothing of a variable that had no value before, the other
  // one's is a default.
  void Join(const std::vector<Changes>& arms);

 private:
  void Note(const std::string& name, std::optional<ShellVariable> before) {
    if (!marks_.empty()) journal_.emplace_back(name, std::move(before));
  }

  Variables all_;
  std::vector<std::pair<std::string, std::optional<ShellVariable>>> journal_;  // what was there before each change
  std::vector<size_t> marks_;                                                  // where the arms begin that are being followed
  size_t export_changes_ = 0;
};

}  // namespace allranks::launch_files
