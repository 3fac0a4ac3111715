#include "analyzer/objects/test_files.h"

#include <algorithm>
#include <string>

namespace allranks::objects {
namespace {

bool ImportsRunner(const binding::Program& program, ir::ModuleId module) {
  return std::ranges::any_of(program.modules[module].imports, [&](const ir::Import& import) {
    const std::string_view name = import.module ? program.text(import.module) : std::string_view();
    const std::string_view package = name.substr(0, name.find('.'));
    return package == "pytest" || package == "unittest" || name.starts_with("torch.testing") || name.starts_with("absl.testing");
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
