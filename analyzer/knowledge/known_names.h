#pragma once

#include <set>
#include <string>
#include <string_view>

namespace allranks::knowledge {

// Dotted names that are described, to tell a slip of the pen from a name that is new.
class KnownNames {
 public:
  // `torch.distributed.barrier`, and with it `torch.distributed` and `torch`.
  void Add(std::string_view dotted);

  // What `dotted` most likely means; empty: it is known, or it is like nothing that stands in the same place.
  [[nodiscard]] std::string Meant(std::string_view dotted) const;

 private:
  std::set<std::string, std::less<>> names_;
};

}  // namespace allranks::knowledge
