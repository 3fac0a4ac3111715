// Which calls the files of one program make, and the calls of one function by the name of the method.
#pragma once

#include <initializer_list>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/binding/neighbourhood.h"
#include "rules/rule.h"

namespace allranks::rules {

class ProgramCalls {
 public:
  explicit ProgramCalls(const Context& context) : context_(context), neighbourhood_(context.program) {}

  // The files that make one program with `module`.
  const std::vector<ir::ModuleId>& FilesOf(ir::ModuleId module);
  bool IsOneProgram(ir::ModuleId module, ir::ModuleId other);
  // The first call in these files that is wanted; none: nullptr.
  template <class Wanted>
  const objects::KnownCall* FindIf(ir::ModuleId module, Wanted wanted) {
    for (const objects::KnownCall& call : context_.index.known_calls()) {
      if (wanted(call) && IsOneProgram(module, context_.program.funcs[call.function].module)) return &call;
    }
    return nullptr;
  }
  // The first call in these files of an entry whose name starts with `prefix`; none: nullptr.
  const objects::KnownCall* Find(ir::ModuleId module, std::string_view prefix);
  // The first that sets a process group up.
  const objects::KnownCall* FindInit(ir::ModuleId module);
  bool Has(ir::ModuleId module, std::string_view prefix) { return Find(module, prefix) != nullptr; }
  bool HasAny(ir::ModuleId module, std::initializer_list<std::string_view> prefixes);
  // Whether the code of one of these files names something of which a word is part.
  bool Names(ir::ModuleId module, std::initializer_list<std::string_view> words);

 private:
  const Context& context_;
  binding::Neighbourhood neighbourhood_;
  std::unordered_map<uint32_t, std::vector<ir::ModuleId>> files_;
};

// The call expressions in the body of a function, whatever they call.
std::vector<objects::Site> CallsIn(const Context& context, binding::FuncId function);
// How often an attribute is named in the text of a function, the functions in it included.
size_t CountAttribute(const Context& context, binding::FuncId function, std::string_view attribute);
// The name of the method that a call calls, `step` of `optimizer.step()`; empty if it calls something else.
std::string_view MethodOf(const Context& context, const objects::Site& call);
// The calls of a method of this name in a function, where the text of the object holds `object`.
std::vector<objects::Site> MethodCalls(const Context& context, binding::FuncId function, std::string_view method,
                                       std::string_view object = "");
// Whether the code of a file, or what stands between two positions of it, names something of which one of the words is part: an
// identifier, an argument, an import, or a text of one word. What comments and other texts say does not count.
bool NamesAny(const Context& context, ir::ModuleId module, std::initializer_list<std::string_view> words, uint32_t begin = 0,
              uint32_t end = ~0u);
// The same for an expression, and for what is assigned anywhere in the file to the variable that it is.
bool NamesAnyByOrigin(const Context& context, const objects::Site& site, std::initializer_list<std::string_view> words);
// Whether a name or text holds one of the words.
bool HoldsWord(std::string_view text, std::initializer_list<std::string_view> words);
// The argument that is passed by this name, none if it is not.
ir::ExprId KeywordOf(const Context& context, ir::ModuleId module, ir::ExprId call, std::string_view keyword);

}  // namespace allranks::rules
