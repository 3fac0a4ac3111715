#include "driver/pipeline/witness_id.h"

#include <fmt/format.h>

#include <map>
#include <xxhash.h>

namespace allranks::pipeline {

void NameWitnesses(const source::SourceFiles& files, std::vector<findings::Finding>& findings) {
  std::map<std::string, int> seen;
  for (findings::Finding& finding : findings) {
    if (!finding.witness) continue;
    std::string key(finding.code);
    key += '\n' + files[finding.span.file].path + '\n' + finding.function + '\n' + findings::Render(finding.message);
    // Two findings that say the same in one function are told apart by their order.
    key += '\n' + std::to_string(seen[key]++);
    finding.witness->finding = fmt::format("{}/{:08x}", finding.code, XXH3_64bits(key.data(), key.size()) & 0xffffffffu);
  }
}

}  // namespace allranks::pipeline
