// Whether the path of a file is one for several ranks, and how a message names it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_set>

#include "analyzer/objects/first_process.h"
#include "rules/rule.h"

namespace allranks::rules {

class SharedPaths {
 public:
  explicit SharedPaths(const Context& context);

  // The same on all ranks that come by: nothing in it differs between these, nor speaks of them by its name.
  bool IsOnePath(const objects::FileUse& use) const;
  // On a disk that each node has for itself.
  static bool IsOfNode(const objects::FilePath& path);
  // The last component as a person would write it, with stars for what is not known.
  static std::string NameOf(const objects::FileUse& use);

  // `f"{sample.name}.png"`, of a loop over what may be each rank's share.
  bool HoldsItem(const objects::FileUse& use) const;
  // Whether a place is where something is made if it is not found, and one rank comes there alone from somewhere: it goes first.
  bool IsMadeFirst(std::span<const objects::Site> way) const;
  // `if not os.path.exists(path):` around it.
  bool AsksDisk(const objects::Site& site) const;

 private:
  static bool EndsInRank(std::string_view text);
  bool DiffersAtEachCall(variation::ValueId value, const objects::CallFrame* frame, int depth) const;
  bool IsPassedApart(const variation::Value& param, const objects::CallFrame* frame, int depth) const;
  bool AddsChance(variation::ValueId value) const;
  bool IsOneValue(variation::ValueId value, const objects::FileUse& use, traces::RankSet ranks) const;
  void NoteOwnRanks();
  bool SpeaksOfRanks(const variation::Value& value) const;

  const Context& context_;
  const traces::World world_;
  const objects::FirstProcess first_;
  std::unordered_set<uint32_t> own_ranks_;  // values that are handed over as the rank when the group is made
};

}  // namespace allranks::rules
