#include "analyzer/objects/test_files.h"

#include <algorithm>
#include <cctype>

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

// `tests`, `integration_tests`, `tests_gpu`, `testing`, `testdata`. A folder `test_images` or `train_test` holds something else.
bool IsFolderOfTests(std::string_view folder) {
  if (folder == "test" || folder == "testing" || folder == "testdata" || folder == "test_utils") return true;
  constexpr std::string_view kTests = "tests";
  const auto is_letter = [&](size_t at) { return at < folder.size() && std::isalnum(static_cast<unsigned char>(folder[at])) != 0; };
  const size_t at = folder.find(kTests);
  return at != std::string_view::npos && (at == 0 || !is_letter(at - 1)) && !is_letter(at + kTests.size());
}

}  // namespace

// What pytest and unittest look for by default, and the folders in which pytest's documentation puts tests and the scripts
// that they start: https://docs.pytest.org/en/stable/explanation/goodpractices.html and
// https://docs.python.org/3/library/unittest.html#test-discovery.
bool IsPlaceOfTests(std::string_view path) {
  for (size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
    if (IsFolderOfTests(path.substr(0, slash))) return true;
    path.remove_prefix(slash + 1);
  }
  return path.starts_with("test_") || path.ends_with("_test.py") || path == "conftest.py";
}

bool IsTestFile(const binding::Program& program, ir::ModuleId module) {
  return IsPlaceOfTests(program.infos[module].path) || ImportsRunner(program, module);
}

}  // namespace allranks::objects
