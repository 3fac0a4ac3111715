#include "frontends/python/lowered_text.h"

#include "analyzer/ir/printer.h"
#include "analyzer/ir/verifier.h"
#include "frontends/python/lower.h"

namespace allranks::python {
namespace {

std::string Print(const source::SourceFile& file, bool with_lines) {
  base::Interner interner;
  const ir::Module module = Lower(file, source::FileId{0}, interner);
  std::string text = ir::Print(module, interner, {.file = with_lines ? &file : nullptr});
  for (const std::string& fault : ir::Verify(module, file.text.size())) text += "FAULT: " + fault + "\n";
  return text;
}

source::SourceFile FileOf(std::string_view source) {
  return source::MakeSourceFile("test.py", std::string(source)).value();
}

}  // namespace

std::string LoweredText(std::string_view source) { return Print(FileOf(source), false); }

std::string LoweredText(const source::SourceFile& file) { return Print(file, false); }

std::string LoweredLines(std::string_view source) { return Print(FileOf(source), true); }

}  // namespace allranks::python
