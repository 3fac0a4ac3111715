// The Python front end on any bytes at all: it must return, and what it returns must be sound. Built for
// libFuzzer with -DALLRANKS_FUZZ=ON and Clang; `python_frontend_fuzz_test.cpp` runs it on mutated programs in
// every build.
#include <cstdint>
#include <string>

#include "analyzer/ir/printer.h"
#include "analyzer/ir/verifier.h"
#include "frontends/python/imports.h"
#include "frontends/python/lower.h"
#include "tests/fuzz/fault.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace allranks;
  // The first byte chooses: a notebook's text or plain Python.
  const bool is_notebook = size > 0 && data[0] == '{';
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto file = source::MakeSourceFile(is_notebook ? "fuzz.ipynb" : "fuzz.py", bytes);
  if (!file) return 0;
  python::ScanImports(file->text);
  base::Interner interner;
  const ir::Module module = python::Lower(*file, source::FileId{0}, interner);
  ir::Print(module, interner, {.file = &*file});
  for (const std::string& fault : ir::Verify(module, file->text.size())) tests::Fault(fault.c_str());
  return 0;
}
