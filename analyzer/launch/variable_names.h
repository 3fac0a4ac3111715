// Which variables of the environment a library reads, and since which release: knowledge/launch/nccl_variables.toml.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/launch/version.h"

namespace allranks::launch {

// A variable that has been read once, or never.
struct UnreadVariable {
  std::string name;
  std::string in;       // the release that stopped reading it; empty: none ever did
  std::string instead;
};

struct VariableFamily {
  std::string library;  // "NCCL"
  std::string prefix;   // "NCCL_"
  std::string source;
  bool shares_names = false;  // some names have moved between it and another family of which this holds
  std::map<std::string, Version, std::less<>> since;   // by name; the first release that reads it
  std::vector<UnreadVariable> unread;
};

class VariableNames {
 public:
  void Add(VariableFamily family) { families_.push_back(std::move(family)); }
  const VariableFamily* FamilyOf(std::string_view name) const;
  const UnreadVariable* FindUnread(std::string_view name) const;
  const std::deque<VariableFamily>& families() const { return families_; }

 private:
  std::deque<VariableFamily> families_;
};

}  // namespace allranks::launch
