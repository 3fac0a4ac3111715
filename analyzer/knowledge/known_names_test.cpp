#include "analyzer/knowledge/known_names.h"

#include <gtest/gtest.h>

namespace allranks::knowledge {
namespace {

class KnownNamesTest : public ::testing::Test {
 protected:
  KnownNamesTest() {
    for (const char* name : {"torch.distributed.barrier", "torch.distributed.all_gather", "torch.distributed.get_rank", "torch.distributed.init_tp",
                             "accelerate.Accelerator.gather"}) {
      known_.Add(name);
    }
  }
  KnownNames known_;
};

TEST_F(KnownNamesTest, ALetterMissingWrongOrDoubledOrTwoSwapped) {
  EXPECT_EQ(known_.Meant("torch.distributed.barier"), "torch.distributed.barrier");
  EXPECT_EQ(known_.Meant("torch.distributed.all_gathr"), "torch.distributed.all_gather");
  EXPECT_EQ(known_.Meant("torch.distributed.all_gathe"), "torch.distributed.all_gather");
  EXPECT_EQ(known_.Meant("torch.distributed.barrrier"), "torch.distributed.barrier");
  EXPECT_EQ(known_.Meant("torch.distributed.all_gahter"), "torch.distributed.all_gather");
}

TEST_F(KnownNamesTest, AModuleOrClassBeforeTheName) {
  EXPECT_EQ(known_.Meant("torch.distribued.barrier"), "torch.distributed.barrier");
  EXPECT_EQ(known_.Meant("torch.distribued"), "torch.distributed");
  EXPECT_EQ(known_.Meant("accelerate.Acelerator.reduce"), "accelerate.Accelerator.reduce");
}

TEST_F(KnownNamesTest, WhatIsKnownIsMeant) {
  EXPECT_EQ(known_.Meant("torch.distributed.barrier"), "");
  EXPECT_EQ(known_.Meant("torch.distributed"), "");
}

TEST_F(KnownNamesTest, AnotherBeginningOrEndingIsAnotherName) {
  EXPECT_EQ(known_.Meant("torch.distributed.set_rank"), "");
  EXPECT_EQ(known_.Meant("torch.distributed.all_gatherv"), "");
  EXPECT_EQ(known_.Meant("torch.distributed.init_tx"), "");
}

TEST_F(KnownNamesTest, NewNamesAreLikeNone) {
  EXPECT_EQ(known_.Meant("torch.distributed.all_swap"), "");
  EXPECT_EQ(known_.Meant("acme.distribued.barier"), "");
}

}  // namespace
}  // namespace allranks::knowledge
