#include "analyzer/objects/communicators.h"

namespace allranks::objects {

using witness::Communicators;

Communicators CommunicatorsOf(const binding::Program& program, const ProgramIndex& index, const Values& values) {
  bool with_device = false, without = false;
  for (const KnownCall& call : index.known_calls()) {
    for (const knowledge::RoleOf& role : call.entry->roles) {
      if (role.role != knowledge::Role::MakesCommunicators) continue;
      const ValueId device = index.Arg(call, program.text(role.param));
      (device && !values.IsNone(device) ? with_device : without) = true;
    }
  }
  if (with_device == without) return Communicators::Unknown;
  return with_device ? Communicators::AtInit : Communicators::FirstUse;
}

}  // namespace allranks::objects
