#pragma once

#include <memory>

#include "analyzer/base/interner.h"
#include "analyzer/ir/program.h"
#include "analyzer/source/source_file.h"

namespace allranks::python {

// What parsing a text leaves for the next state of that text: of a file that is being edited most is as it was.
class LastParse {
 public:
  LastParse();
  ~LastParse();
  LastParse(LastParse&&) noexcept;
  LastParse& operator=(LastParse&&) noexcept;

 private:
  friend class FileLowering;
  std::unique_ptr<struct ParsedText> parsed_;  // the last that was whole and right; none: there was none yet
};

// Python source to IR. Takes any bytes: what cannot be read becomes a problem with its place, and the rest is
// lowered all the same. Keeps no state between calls but in `last`, so that several threads may lower at once.
ir::Module Lower(const source::SourceFile& file, source::FileId file_id, base::Interner& interner,
                 LastParse* last = nullptr);

}  // namespace allranks::python
