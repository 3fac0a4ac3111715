#pragma once

#include <functional>
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

// Whether to give a file up, asked thousands of times a second while it is read. None: never.
using IsOver = std::function<bool()>;
// What `Lower` throws then.
struct GivenUp {};

// Python source to IR. Takes any bytes: what cannot be read becomes a problem with its place, and the rest is
// lowered all the same. Keeps no state between calls but in `last`, so that several threads may lower at once.
ir::Module Lower(const source::SourceFile& file, source::FileId file_id, base::Interner& interner,
                 LastParse* last = nullptr, const IsOver& is_over = {});

}  // namespace allranks::python
