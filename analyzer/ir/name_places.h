// Which names occur in a function, whatever they mean there.
#pragma once

#include <span>
#include <vector>

#include "analyzer/ir/program.h"

namespace allranks::ir {

class NamePlaces {
 public:
  explicit NamePlaces(const Module& module);
  // In its body and in those of functions inside it, in order. Of languages other than Python all of the module: what is included stands
  // in another file.
  std::span<const NameId> In(const Function& function) const;

 private:
  bool is_python_;
  std::vector<uint32_t> begins_;   // in order
  std::vector<NameId> names_;      // beside them
};

}  // namespace allranks::ir
