// Modules as bytes: how a front end in a process of its own hands over what it read, and what may be kept on disk.
//
// The form is one of this machine (little-endian) and of this version: readers refuse any other. A reader takes any
// bytes: what it returns is sound (`Verify` finds no fault with it), or it is an error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "analyzer/base/interner.h"
#include "analyzer/base/result.h"
#include "analyzer/ir/program.h"

namespace allranks::ir {

// Grows with every change of nodes.def, program.h or of the form itself.
constexpr uint32_t kSerializedVersion = 1;

// Afterwards the names in `module` mean nothing: throw it away.
std::string Serialize(Module module, const base::Interner& interner);

// `file` becomes the module's file, of `source_bytes` bytes.
[[nodiscard]] base::Result<Module> Deserialize(std::string_view bytes, source::FileId file, size_t source_bytes,
                                               base::Interner& interner);

}  // namespace allranks::ir
