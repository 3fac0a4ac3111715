// The names by which C, C++ and CUDA files call what the knowledge base describes.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzer/knowledge/knowledge.h"
#include "driver/pipeline/prefilter.h"
#include "frontends/cpp/outline.h"

namespace allranks::pipeline {

class CppNames {
 public:
  // Libraries, as bits; those beyond the last one share it.
  using Libraries = uint64_t;

  explicit CppNames(const knowledge::Knowledge& knowledge);

  // The libraries that the text names.
  Libraries LibrariesIn(std::string_view text) const;
  // Whether the name is of an operation or of what tells ranks apart, for a file in which these libraries may be meant.
  bool Acts(cpp::NameHash name, Libraries libraries) const { return acting_.Has(name, libraries); }
  // The same of what chooses a device.
  bool ChoosesDevice(cpp::NameHash name, Libraries libraries) const { return choosing_.Has(name, libraries); }
  // Whether the name is of what ends the process.
  bool Exits(cpp::NameHash name) const { return exiting_.contains(name); }

 private:
  void AddEntry(const knowledge::Knowledge& knowledge, std::string_view qualified, const knowledge::Entry& entry, Libraries libraries);

  struct Meaning {
    std::unordered_map<cpp::NameHash, Libraries> of;  // of which libraries it is a name
    std::unordered_set<cpp::NameHash> always;         // the name itself says of which
    bool Has(cpp::NameHash name, Libraries libraries) const;
  };

  std::vector<Prefilter> literals_;  // by library
  Meaning acting_, choosing_;
  std::unordered_set<cpp::NameHash> exiting_;
};

}  // namespace allranks::pipeline
