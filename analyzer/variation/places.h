// Places within functions, counted so that they stay what they are while text is added or removed outside of the function:
// an edit elsewhere in a file must not make its values others than they were.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/binding/program.h"

namespace allranks::variation {

class Places {
 public:
  explicit Places(const binding::Program& program) : program_(program), built_(program.modules.size()) {}

  // Bytes of the function's own text before `offset` (of the file): the bodies of functions nested in it do not count.
  // Where a front end resolves macros a place may stand anywhere in the file; there it is the offset itself.
  uint32_t Within(binding::FuncId function, uint32_t offset);

  // After an edit of this module.
  void Forget(ir::ModuleId module) { built_[module.index] = false; }

 private:
  // The body of a nested function, and the length of all such up to its end.
  struct Body {
    uint32_t end = 0;
    uint32_t length = 0;
  };
  void Build(ir::ModuleId module);

  const binding::Program& program_;
  std::vector<bool> built_;                 // by module
  std::vector<std::vector<Body>> nested_;   // by FuncId, in order
};

}  // namespace allranks::variation
