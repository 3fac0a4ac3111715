#include "tests/analysis/analysed_text.h"

#include <stdexcept>

namespace allranks::testing {

AnalysedText::AnalysedText(std::map<std::string, std::string> files)
    : analysed_(std::make_unique<pipeline::Analysed>()) {
  pipeline::Options options;
  options.jobs = 1;
  const source::MemoryFileSystem memory(std::move(files));
  base::Result<pipeline::Output> output = pipeline::Run(options, memory, *analysed_);
  if (!output) throw std::runtime_error(output.error().message);
  output_ = std::move(*output);
}

std::vector<std::string> AnalysedText::Probes() const {
  const binding::Program& program = analysed_->program;
  std::vector<std::string> probes;
  for (uint32_t m = 0; m < program.modules.size(); ++m) {
    const ir::ModuleId module_id{m};
    const ir::Module& module = program.modules[module_id];
    for (const ir::Expr& expr : module.exprs) {
      if (expr.kind != ir::ExprKind::Call || ir::ArgCount(module, expr) != 1) continue;
      const ir::Expr& callee = module[ir::CalleeOf(expr)];
      if (callee.kind != ir::ExprKind::Name || program.text(ir::NameOf(callee)) != "probe") continue;
      const variation::ValueId value = analysed_->facts.value(module_id, ir::ArgAt(module, expr, 0).value);
      probes.push_back(value ? analysed_->facts.values_store.Print(value, program, *analysed_->knowledge) : "none");
    }
  }
  return probes;
}

std::vector<std::string> AnalysedText::Findings() const {
  std::vector<std::string> lines;
  for (const findings::Finding& finding : output_.findings) {
    const source::SourceFile& file = analysed_->files[finding.span.file];
    const uint32_t line = source::Locate(file, finding.span.begin).line + 1;
    lines.push_back(std::string(finding.code) + " " + file.path + ":" + std::to_string(line));
  }
  return lines;
}

AnalysedText Analysed(std::string text) { return AnalysedText({{"train.py", std::move(text)}}); }

}  // namespace allranks::testing
