// What is compiled into the tool is complete and without contradiction.
#include "analyzer/built_in/built_in.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>

#include "analyzer/built_in/images.h"
#include "analyzer/knowledge/image.h"
#include "analyzer/launch/tables_image.h"

namespace allranks::built_in {
namespace {

using base::NameId;
using knowledge::Entry;
using knowledge::EntryId;
using knowledge::Image;
using knowledge::Knowledge;
using knowledge::Operation;
using knowledge::YieldKind;

class BuiltInTest : public ::testing::Test {
 protected:
  void SetUp() override { FillKnowledge(knowledge_); }
  NameId Name(std::string_view text) { return names_.Intern(text); }
  // Of `only_if = "made_with:..."`: a parameter of the `__init__` of the entry's class.
  // Each of the options, by comma.
  bool AreParamsOfConstructor(const Entry& entry, NameId options) {
    const std::string_view name = Text(entry.name);
    const std::string constructor = std::string(name.substr(0, name.rfind('.'))) + ".__init__";
    const EntryId id = knowledge_.FindEntry(Name(constructor));
    if (!id) return false;
    std::istringstream each{std::string(Text(options))};
    for (std::string option; std::getline(each, option, ',');) {
      if (std::ranges::find(knowledge_[id].params, Name(option)) == knowledge_[id].params.end()) return false;
    }
    return true;
  }
  const Entry& EntryOf(std::string_view name) {
    const EntryId id = knowledge_.FindEntry(Name(name));
    EXPECT_TRUE(id) << name;
    return id ? knowledge_[id] : knowledge_.entries()[0];
  }
  std::string_view Text(NameId name) const { return names_.View(name); }

  base::Interner names_;
  Knowledge knowledge_{names_};
};

TEST_F(BuiltInTest, EveryEntryNamesItsDocumentation) {
  ASSERT_GT(knowledge_.entries().size(), 500u);
  for (const Entry& entry : knowledge_.entries()) {
    EXPECT_TRUE(entry.docs.starts_with("https://")) << Text(entry.name) << ": " << entry.docs;
    EXPECT_EQ(entry.docs.find('{'), std::string::npos) << entry.docs;
  }
}

TEST_F(BuiltInTest, NoFileReplacesWhatAnotherSays) {
  std::set<std::string_view> seen;
  for (const Entry& entry : knowledge_.entries()) {
    EXPECT_TRUE(seen.insert(Text(entry.name)).second) << Text(entry.name) << " is described twice";
  }
}

TEST_F(BuiltInTest, WhatAnOperationNamesAreParameters) {
  for (const Entry& entry : knowledge_.entries()) {
    const Operation& op = entry.operation;
    for (const NameId param :
         {op.group_param, op.root_param, op.tensor_param, op.peer_param, op.reduce_op_param, op.async_param,
          op.only_if_param, op.local_if_param, entry.yield.argument}) {
      if (!param || Text(param) == "self") continue;
      // What an object was made with is a parameter of its class's `__init__`.
      if (param == entry.yield.argument && entry.yield.kind == YieldKind::MadeWith) continue;
      if (param == op.only_if_param && AreParamsOfConstructor(entry, param)) continue;
      EXPECT_NE(std::ranges::find(entry.params, param), entry.params.end())
          << Text(entry.name) << ": " << Text(param);
    }
  }
}

// Ranks are compared by the kind of what they issue, so a kind is one word of the field.
TEST_F(BuiltInTest, KindsAreWords) {
  for (const Entry& entry : knowledge_.entries()) {
    if (!entry.has_operation) continue;
    EXPECT_THAT(std::string(Text(entry.operation.kind)), ::testing::MatchesRegex("[a-z][a-z0-9_]+"))
        << Text(entry.name);
  }
}

TEST_F(BuiltInTest, EveryLibraryOfTheDesignIsThere) {
  for (const std::string_view name : {"torch.distributed.all_reduce",
                                      "torch.distributed.distributed_c10d.all_gather_object",
                                      "torch.nn.parallel.DistributedDataParallel.__init__",
                                      "torch.distributed.fsdp.FullyShardedDataParallel.state_dict",
                                      "torch.distributed.fsdp.fully_shard",
                                      "torch.distributed.device_mesh.init_device_mesh",
                                      "torch.distributed._tensor.distribute_tensor",
                                      "torch.distributed.checkpoint.save",
                                      "accelerate.Accelerator.gather",
                                      "accelerate.utils.operations.broadcast",
                                      "transformers.Trainer.save_model",
                                      "deepspeed.initialize",
                                      "deepspeed.comm.all_reduce",
                                      "pytorch_lightning.Trainer.save_checkpoint",
                                      "lightning.LightningModule.log",
                                      "lightning.fabric.Fabric.barrier",
                                      "torchmetrics.MeanMetric.compute",
                                      "horovod.torch.allreduce",
                                      "horovod.tensorflow.allreduce",
                                      "megatron.core.mpu.get_data_parallel_group",
                                      "mpi4py.MPI.Comm.Allreduce",
                                      "ray.train.report"}) {
    EXPECT_TRUE(knowledge_.FindEntry(Name(name))) << name;
  }
}

TEST_F(BuiltInTest, MarksReachBackward) {
  const Entry& forward = EntryOf("torch.nn.parallel.DistributedDataParallel.__call__");
  const EntryId backward = knowledge_.FindMarkMember(forward.yield.mark, Name("backward"));
  ASSERT_TRUE(backward);
  EXPECT_EQ(knowledge_[backward].operation.kind, Name("gradient_reduction"));
}

TEST_F(BuiltInTest, LaunchersAndNames) {
  for (const std::string_view variable :
       {"RANK", "LOCAL_RANK", "WORLD_SIZE", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"}) {
    EXPECT_NE(knowledge_.FindEnvironment(Name(variable)), nullptr) << variable;
  }
  for (const std::string_view hint :
       {"rank", "local_rank", "is_main_process", "master_process", "accelerator"}) {
    EXPECT_NE(knowledge_.FindHint(Name(hint)), nullptr) << hint;
  }
}

// What is ready for use and what is finished by hand say the same.
TEST_F(BuiltInTest, BothWaysOfReadingAgree) {
  Knowledge finished(names_);
  BeginKnowledge(finished);
  ASSERT_TRUE(finished.Finish());
  EXPECT_EQ(finished.literals(), knowledge_.literals());
  EXPECT_EQ(finished.cpp_literals(), knowledge_.cpp_literals());
  for (const Entry& entry : knowledge_.entries()) {
    EXPECT_EQ(finished.FindEntry(entry.name), knowledge_.FindEntry(entry.name)) << Text(entry.name);
    const std::string_view name = Text(entry.name);
    const NameId owner = Name(name.substr(0, name.rfind('.')));
    EXPECT_EQ(finished.IsKnownModule(owner), knowledge_.IsKnownModule(owner)) << Text(owner);
    EXPECT_EQ(finished.FindClass(owner), knowledge_.FindClass(owner)) << Text(owner);
  }
}

TEST_F(BuiltInTest, WhatIsReadIsWrittenTheSame) {
  Knowledge open(names_);
  BeginKnowledge(open);
  const base::Result<std::string> written = Image::Of(open);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_TRUE(*written == kKnowledgeImage);
  launch::LauncherTables tables;
  FillTables(tables);
  EXPECT_FALSE(tables.launchers().empty());
  EXPECT_TRUE(launch::TablesImage::Of(tables) == kLaunchImage);
}

TEST_F(BuiltInTest, FilesOfUsersReplaceWhatIsBuiltIn) {
  Knowledge ours(names_);
  BeginKnowledge(ours);
  const base::Result<bool> loaded = ours.Load("ours.toml", R"(
library = "ours"
docs = "https://example.org"
[[module]]
name = "ours.comm"
same_as = "torch.distributed"
[[function]]
name = "torch.distributed.get_rank"
uniform = true
)");
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_TRUE(ours.Finish());
  EXPECT_EQ(ours[ours.FindEntry(Name("torch.distributed.get_rank"))].yield.kind, YieldKind::Uniform);
  EXPECT_EQ(ours[ours.FindEntry(Name("ours.comm.get_rank"))].yield.kind, YieldKind::Uniform);
  EXPECT_EQ(ours.FindEntry(Name("ours.comm.all_reduce")), ours.FindEntry(Name("torch.distributed.all_reduce")));
  EXPECT_EQ(knowledge_[knowledge_.FindEntry(Name("torch.distributed.get_rank"))].yield.kind, YieldKind::Formula);
}

TEST_F(BuiltInTest, WhatAFileOfAUserRefersToIsChecked) {
  Knowledge ours(names_);
  BeginKnowledge(ours);
  ASSERT_TRUE(ours.Load("ours.toml", R"(
library = "ours"
docs = "https://example.org"
[[method]]
name = "ours.Unknown.step"
uniform = true
)"));
  const base::Result<bool> finished = ours.Finish();
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().message.find("ours.toml:5:"), 0u) << finished.error().message;
}

TEST_F(BuiltInTest, LiteralsAreLongEnoughToSelect) {
  EXPECT_GT(knowledge_.literals().size(), 20u);
  for (const std::string& literal : knowledge_.literals()) EXPECT_GE(literal.size(), 4u) << literal;
}

}  // namespace
}  // namespace allranks::built_in
