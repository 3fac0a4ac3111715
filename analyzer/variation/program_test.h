// What tests of this folder ask their questions of: a program of one file, read as the tool does it and evaluated to the end, with the
// tables as they are then.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/source/file_system.h"
#include "analyzer/variation/tables.h"
#include "driver/pipeline/pipeline.h"

namespace allranks::variation {

class ProgramTest : public ::testing::Test {
 protected:
  void Read(std::string text) {
    // Files that mention no library are not parsed.
    const source::MemoryFileSystem files({{"train.py", "import torch.distributed as dist\ndist.barrier()\n" + std::move(text)}});
    pipeline::Options options;
    options.paths = {"train.py"};
    const base::Result<pipeline::Output> output = pipeline::Run(options, files, analysed_);
    ASSERT_TRUE(output.has_value()) << output.error().message;
    ASSERT_EQ(program().modules.size(), 1u);
    tables_ = std::make_unique<Tables>(program(), *analysed_.knowledge, facts_);
    Prepare(*tables_);
    RunRounds(*tables_);
  }

  const binding::Program& program() const { return analysed_.program; }
  const ir::Module& module() const { return program().modules[ir::ModuleId{0}]; }
  Tables& tables() { return *tables_; }
  ValueStore& store() { return tables_->store; }
  NameId Name(std::string_view text) const { return program().names->Intern(text); }

  FuncId Function(std::string_view name) const {
    for (uint32_t i = 0; i < program().funcs.size(); ++i) {
      if (program().text(program().function(FuncId{i}).name) == name) return FuncId{i};
    }
    ADD_FAILURE() << "no function " << name;
    return {};
  }
  binding::ClassId Class(std::string_view name) const {
    for (uint32_t i = 0; i < program().classes.size(); ++i) {
      if (program().text(program().ir_class(binding::ClassId{i}).name) == name) return binding::ClassId{i};
    }
    ADD_FAILURE() << "no class " << name;
    return {};
  }

 private:
  pipeline::Analysed analysed_;
  Facts facts_;
  std::unique_ptr<Tables> tables_;
};

}  // namespace allranks::variation
