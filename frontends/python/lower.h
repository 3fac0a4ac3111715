#pragma once

#include "analyzer/base/interner.h"
#include "analyzer/ir/program.h"
#include "analyzer/source/source_file.h"

namespace allranks::python {

// Python source to IR. Takes any bytes: what cannot be read becomes a problem with its place, and the rest is
// lowered all the same. Keeps no state between calls, so that several threads may lower at once.
ir::Module Lower(const source::SourceFile& file, source::FileId file_id, base::Interner& interner);

}  // namespace allranks::python
