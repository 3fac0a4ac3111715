// The environment of commands that a Python program starts: `os.environ["NAME"] = "1"` before one, and `env={...}` of the call.
//
// Only what a function does in any case counts: assignments that stand right in its body, or in that of the module, before the
// command. Variables of dicts are followed where they are assigned once. What other functions set is not seen.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/interner.h"
#include "analyzer/ir/program.h"
#include "analyzer/launch/job.h"

namespace allranks::launch_files {

struct PythonNames {
  const ir::Module& module;
  const base::Interner& names;
  const std::map<std::string_view, std::string>& imported;        // as bound: "os", "os.environ"
  const std::map<std::string_view, ir::ExprId>& assigned;         // variables that are assigned once; none: more often
  std::function<launch::Word(ir::ExprId)> text;                   // what an expression is as a text
};

class PythonEnvironment {
 public:
  explicit PythonEnvironment(PythonNames names);

  // Of the command that a call starts; `env`: the argument for it, none if there is none.
  std::vector<launch::Setting> Of(ir::ExprId call, ir::ExprId env) const;

 private:
  // `os.environ["NAME"] = value`, or the same of a dict that is a variable.
  struct Store {
    ir::FunctionId function;
    uint32_t at = 0;
    std::string_view dict;  // empty: `os.environ`
    launch::Setting setting;
  };

  void NoteStores(ir::FunctionId function);
  void NoteStore(ir::FunctionId function, ir::ExprId target, ir::ExprId value);
  void AddStores(ir::ExprId call, std::string_view dict, std::vector<launch::Setting>& settings) const;
  void AddFrom(ir::ExprId call, ir::ExprId env, int depth, int& steps, std::vector<launch::Setting>& settings) const;
  bool IsInside(ir::ExprId part, ir::ExprId whole) const;
  void Add(std::string_view key, ir::ExprId value, std::vector<launch::Setting>& settings) const;
  ir::FunctionId FunctionOf(ir::ExprId id) const;
  bool IsEnviron(ir::ExprId id) const;
  std::string_view NameOf(ir::ExprId id) const;
  std::string_view KeyOf(ir::ExprId id) const;

  PythonNames in_;
  std::vector<Store> stores_;  // in the order of the file
};

}  // namespace allranks::launch_files
