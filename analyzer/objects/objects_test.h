// What tests of this folder ask their questions of: a program of one file, read and analysed as the tool does it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "analyzer/objects/program_index.h"
#include "analyzer/source/file_system.h"
#include "driver/pipeline/pipeline.h"

namespace allranks::objects {

class ObjectsTest : public ::testing::Test {
 protected:
  // `memory`: of what was read with it before, which is followed where it can be.
  void Read(std::string text, pipeline::Memory* memory = nullptr) {
    // Files that mention no library are not parsed.
    const source::MemoryFileSystem files({{"train.py", "import torch.distributed as dist\ndist.barrier()\n" + std::move(text)}});
    pipeline::Options options;
    options.paths = {"train.py"};
    const base::Result<pipeline::Output> output = pipeline::Run(options, files, analysed_, memory);
    ASSERT_TRUE(output.has_value()) << output.error().message;
    ASSERT_EQ(analysed_.program.modules.size(), 1u);
    index_ = std::make_unique<ProgramIndex>(analysed_.program, *analysed_.knowledge, analysed_.facts);
  }

  const binding::Program& program() const { return analysed_.program; }
  const knowledge::Knowledge& knowledge() const { return *analysed_.knowledge; }
  const variation::Facts& facts() const { return analysed_.facts; }
  const pipeline::Analysed& analysed() const { return analysed_; }
  const ProgramIndex& index() const { return *index_; }

  // Where a text first stands in the file.
  uint32_t Position(std::string_view text) const {
    const size_t position = analysed_.files[program().modules[ir::ModuleId{0}].file].text.find(text);
    EXPECT_NE(position, std::string::npos);
    return static_cast<uint32_t>(position);
  }

  // What is handed to `asked(...)`; no expression: nothing calls it.
  Site Asked() const {
    const ir::ModuleId module_id{0};
    const ir::Module& module = program().modules[module_id];
    for (const ir::ExprId call : index().ExprsOf(module_id, ir::ExprKind::Call)) {
      const ir::Expr& callee = module[ir::CalleeOf(module[call])];
      if (callee.kind != ir::ExprKind::Name || program().text(ir::NameOf(callee)) != "asked") continue;
      return {index().FunctionOf(module_id, index().tree(module_id).StatementOf(call)), ir::ArgAt(module, module[call], 0).value};
    }
    return {};
  }

  // The line of a place, counted from the first of the text that was read.
  uint32_t Line(const Site& site) const {
    const ir::Module& module = program().module_of(site.function);
    constexpr uint32_t kLinesBefore = 2;
    return source::Locate(analysed_.files[module.file], module[site.expr].begin).line + 1 - kLinesBefore;
  }

 private:
  pipeline::Analysed analysed_;
  std::unique_ptr<ProgramIndex> index_;
};

}  // namespace allranks::objects
