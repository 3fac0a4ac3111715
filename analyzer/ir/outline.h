// What other modules can see of a module, as a hash: imports, classes, the heads of functions, and all text outside of function
// bodies. While it is unchanged, ids and meanings of names are unchanged in the whole program.
//
// From bodies it includes what the analysis of other modules asks directly, without a record of who asked: what they import,
// which variables they declare as the module's, classes in them and the names around these, whether a method exists that may be
// overridden, and whether it calls the method that it overrides.
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
