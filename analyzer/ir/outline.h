// What other modules can see of one, as a number: imports, classes, the heads of functions, and all text that stands in no
// function's body. As long as it stays, ids and meanings of names stay what they were in the whole program.
//
// Of bodies it holds what the analysis of other modules asks of them directly, so that nothing notes who asked: what they import,
// which variables they declare to be the module's, classes in them and the names around these, whether a method is there to be
// overridden, and whether it calls the one that it overrides.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/base/interner.h"
#include "analyzer/ir/program.h"

namespace allranks::ir {

// Of a module of Python: what other front ends resolve may depend on any text. `text`: of its file.
uint64_t OutlineOf(const Module& module, std::string_view text, const base::Interner& names);

// Which methods of a module call the ones that they override, as far as names tell: `super()`, or an attribute of their own name.
class CallsOfOverridden {
 public:
  CallsOfOverridden(const Module& module, const base::Interner& names);
  bool In(const Function& method) const;

 private:
  std::unordered_map<NameId, std::vector<uint32_t>> places_;   // of attributes and of `super`, in order
  NameId super_;
};

// Where the first statement of a function's body begins; its end if there is none.
uint32_t BodyBegin(const Module& module, const Function& function);

// Whether nothing but `raise`, `pass` and constants stands in a function's body: it is there to be overridden.
bool IsStub(const Module& module, const Function& function);

}  // namespace allranks::ir
