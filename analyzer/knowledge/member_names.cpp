#include "analyzer/knowledge/member_names.h"

#include <algorithm>

namespace allranks::knowledge {

std::string NameWithMethod(const Knowledge& knowledge, const Entry& entry, NameId method) {
  const std::string first(knowledge.names().View(entry.name));
  const size_t dot = std::min(first.rfind('.'), first.size());
  const NameId owner = knowledge.names().Find(first.substr(0, dot));
  const ClassId known = owner ? knowledge.FindClass(owner) : ClassId::None();
  const auto is_it = [&](EntryId member) { return member && &knowledge[member] == &entry; };
  const bool has_it = (known && is_it(knowledge.FindMember(known, method))) || is_it(knowledge.FindAnyMember(method));
  return has_it ? first.substr(0, dot) + "." + std::string(knowledge.names().View(method)) : first;
}

}  // namespace allranks::knowledge
