// What is to be known of files that are no part of the program.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "analyzer/binding/program.h"

namespace allranks::objects {

struct OtherFiles {
  // Whether one of them names a function of a module.
  std::function<bool(ir::ModuleId, std::string_view)> name = {};
  // Whether a module belongs to a package that others may install, and call.
  std::function<bool(ir::ModuleId)> may_install = {};
  // Whether nothing lies where an import in a module looks for a dotted name, and no build puts it there. Without a level (`import data`):
  // in none of the folders of the project from which its imports may start.
  std::function<bool(ir::ModuleId, uint32_t level, std::string_view dotted)> lacks = {};
  // Whether a file of Python, or a package with an `__init__.py`, of this name lies where a relative import in a module looks.
  std::function<bool(ir::ModuleId, uint32_t level, std::string_view name)> hold = {};
  // Whether any file speaks of PYTHONPATH.
  std::function<bool()> set_python_path = {};
  // Whether one of those that say what is to be installed names a package.
  std::function<bool(std::string_view)> require = {};
  // Whether files of settings name a class, and only as a part of an object of another.
  std::function<bool(std::string_view)> name_as_part = {};
};

}  // namespace allranks::objects
