#include "analyzer/objects/test_files.h"

#include <algorithm>
#include <string>

#include "analyzer/ir/bindings.h"

namespace allranks::objects {
namespace {

// `from unittest.mock import MagicMock`: programs put it in the place of packages that are not there.
bool IsOfMock(std::string_view module, std::string_view name) {
  return module.starts_with("unittest.mock") || (module == "unittest" && name == "mock");
}

// What a function imports is for whoever calls it.
bool IsInFunction(const ir::Module& module, const ir::Import& import) {
  return std::ranges::any_of(module.functions, [&](const ir::Function& function) {
    const bool is_top = &function == &module.functions[ir::kTopLevel];
    return !is_top && function.begin <= import.begin && import.end <= function.end;
  });
}

// What editors import by themselves, as in `from unittest import result`, stands there for nothing.
bool IsUsed(const binding::Program& program, const ir::Module& module, const ir::Import& import) {
  if (import.star) return true;
  const base::NameId bound = ir::BoundName(import, *program.names);
  return std::ranges::any_of(module.exprs, [&](const ir::Expr& expr) { return expr.kind == ir::ExprKind::Name && ir::NameOf(expr) == bound; });
}

bool ImportsRunner(const binding::Program& program, ir::ModuleId module_id) {
  const ir::Module& module = program.modules[module_id];
  return std::ranges::any_of(module.imports, [&](const ir::Import& import) {
    const std::string_view name = import.module ? program.text(import.module) : std::string_view();
    const std::string_view package = name.substr(0, name.find('.'));
    const bool is_runner = package == "pytest" || package == "unittest" || name.starts_with("torch.testing") || name.starts_with("absl.testing");
    return is_runner && !IsOfMock(name, import.name ? program.text(import.name) : std::string_view()) && !IsInFunction(module, import) && IsUsed(program, module, import);
  });
}

}  // namespace

// What pytest and unittest look for by default, and the folder in which pytest's documentation puts tests and the scripts
// that they start: https://docs.pytest.org/en/stable/explanation/goodpractices.html and
// https://docs.python.org/3/library/unittest.html#test-discovery.
bool IsPlaceOfTests(std::string_view path) {
  for (const std::string_view folder : {"tests/", "test/"}) {
    if (path.starts_with(folder) || path.find("/" + std::string(folder)) != std::string_view::npos) return true;
  }
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return name.starts_with("test_") || name.ends_with("_test.py") || name == "conftest.py";
}

bool IsTestFile(const binding::Program& program, ir::ModuleId module) {
  return IsPlaceOfTests(program.infos[module].path) || ImportsRunner(program, module);
}

}  // namespace allranks::objects
