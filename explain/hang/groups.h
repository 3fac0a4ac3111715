// Under which group each operation belongs, where recorders and logs name one group in several ways or not at all.
#pragma once

#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "explain/readers/recording.h"

namespace allranks::explain {

// Members of a group are told by dumps alone. What a log names is found among these by its name or description, and only
// where the rank is a member: groups of one name or description exist side by side (`split_group`, the dimensions of a mesh).
class Groups {
 public:
  explicit Groups(const Recording& recording);

  uint32_t Of(uint32_t rank, const Operation& op) const;
  // How far a rank is in a group, whatever the group was called there; null: nothing says so.
  const Progress* ProgressOf(uint32_t rank, uint32_t group) const;
  // Whether all that is recorded is of one group.
  bool IsOnly() const { return used_.size() == 1; }
  // Whether it is the group of all ranks.
  bool IsDefault(uint32_t group) const;

 private:
  using Turn = std::tuple<uint64_t, NameIndex, NameIndex>;  // number, kind and sizes

  void Name(uint32_t rank, const Rank& record);
  uint32_t Find(uint32_t rank, uint32_t group) const;

  const Recording& recording_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> found_;  // of untold groups: by rank and group
  std::map<std::pair<uint32_t, uint32_t>, Progress> progress_;
  std::set<uint32_t> used_;
  std::map<Turn, uint32_t> named_;  // turns that a log names the group of; ~0: of several groups
};

}  // namespace allranks::explain
