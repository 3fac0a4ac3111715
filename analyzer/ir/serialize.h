// Modules as bytes: how a front end in a separate process returns what it read, and the form that may be kept on disk.
//
// The format belongs to this machine (little-endian) and this version. Readers refuse any other. A reader accepts any
// bytes: its result is either sound (`Verify` finds no fault with it) or an error.
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
