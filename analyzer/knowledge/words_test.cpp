#include "analyzer/knowledge/words.h"

#include <vector>

#include <gtest/gtest.h>

namespace allranks::knowledge {
namespace {

TEST(WordsTest, NamesThatProgramsSayStay) {
  EXPECT_EQ(WordsOfCall("torch.distributed.all_reduce", "all_reduce", OpClass::Collective), "torch.distributed.all_reduce");
  EXPECT_EQ(WordsOfKind("all_reduce", OpClass::Collective), "all_reduce");
}

TEST(WordsTest, NamesOfTheKnowledgeBaseBecomeWords) {
  EXPECT_EQ(WordsOfCall("@gradient_synced.backward", "gradient_reduction", OpClass::Implicit), "backward of a wrapped model");
  EXPECT_EQ(WordsOfCall("*.save", "", OpClass::Implicit), "save");
  EXPECT_EQ(WordsOfCall("a.DDP.__init__", "module_broadcast", OpClass::Implicit), "a.DDP");
  EXPECT_EQ(WordsOfCall("a.DDP.__call__", "module_forward", OpClass::Implicit), "module forward");
}

TEST(WordsTest, AlternativesAreListed) {
  base::Interner names;
  const NameId one = names.Intern("FSDP"), two = names.Intern("DeepSpeed"), three = names.Intern("DDP with buffers");
  EXPECT_EQ(WordsOfAlternatives(std::vector{one}, names), "FSDP");
  EXPECT_EQ(WordsOfAlternatives(std::vector{one, two}, names), "FSDP or DeepSpeed");
  EXPECT_EQ(WordsOfAlternatives(std::vector{one, two, three}, names), "FSDP, DeepSpeed or DDP with buffers");
}

TEST(WordsTest, OnlyNamesAreCode) {
  EXPECT_EQ(AsCode("MPI_Bcast"), "`MPI_Bcast`");
  EXPECT_EQ(AsCode("backward of a wrapped model"), "backward of a wrapped model");
  EXPECT_EQ(AsCode("forward of `model`"), "forward of `model`");
}

}  // namespace
}  // namespace allranks::knowledge
