// What names and attributes stand for in a program that puts commands together, where one place alone says it.
#pragma once

#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "analyzer/base/interner.h"
#include "analyzer/ir/program.h"

namespace allranks::launch_files {

class PythonValues {
 public:
  PythonValues(const ir::Module& module, const base::Interner& names);

  // What a variable, a parameter or an attribute of `self` stands for; itself: it is not known.
  ir::ExprId Followed(ir::ExprId id) const;
  // What the calls of a function hand to the parameter that a name is; empty: it is none, or anybody may call it.
  std::vector<ir::ExprId> HandedTo(ir::ExprId name) const;
  // By name; none: several places say it, or what says it is not a value.
  const std::map<std::string_view, ir::ExprId>& variables() const { return variables_; }

 private:
  std::string_view Text(base::NameId name) const;
  std::string_view NameOf(ir::ExprId id) const;
  void NoteClassBodies();
  void NoteStatement(const ir::Stmt& stmt);
  void NoteTarget(ir::ExprId target, ir::ExprId value);
  void NoteCalls();
  const ir::Param* ParamNamed(ir::ExprId name, ir::FunctionId& function) const;
  std::vector<ir::ExprId> CallsOf(const ir::Function& function) const;
  ir::ExprId Handed(const ir::Expr& call, const ir::Function& function, const ir::Param& param) const;

  const ir::Module& module_;
  const base::Interner& names_;
  std::map<std::string_view, ir::ExprId> variables_;
  std::map<std::string_view, ir::ExprId> attributes_;
  std::set<std::string_view> selves_;  // first parameters of methods
  std::set<uint32_t> of_class_;        // statements right in the body of a class
  std::map<std::string_view, uint32_t> uses_;
  std::map<std::string_view, std::vector<ir::ExprId>> calls_;
};

}  // namespace allranks::launch_files
