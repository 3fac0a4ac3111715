#include "frontends/launch/misread.h"

#include <gtest/gtest.h>

namespace allranks::launch_files {
namespace {

using launch::MisreadAs;

// Of the first word of a text.
std::optional<MisreadAs> Kind(std::string_view text, bool is_behind_empty = false) {
  const std::optional<Misread> misread = MisreadOf(text, std::min(text.find(' '), text.size()), is_behind_empty);
  return misread ? std::optional(misread->as) : std::nullopt;
}

TEST(Misread, AssignmentsThatStartPrograms) {
  EXPECT_EQ(Kind("$ADDR=localhost"), MisreadAs::NamedProgram);
  EXPECT_EQ(Kind("${ADDR}=localhost"), MisreadAs::NamedProgram);
  EXPECT_EQ(Kind("PORT = 29500"), MisreadAs::SpacedAssignment);
  EXPECT_EQ(Kind("29500", true), MisreadAs::EmptyAssignment);
  EXPECT_EQ(Kind("0,1", true), MisreadAs::EmptyAssignment);
}

TEST(Misread, WhatLooksLikeThem) {
  for (const char* text : {"$PROGRAM --lr=1", "$A==b", "${OPTION}x=1", "test = 1", "expr = 1", "run == 1", "$", "${", "=", "a =b", "7z x a"}) {
    EXPECT_EQ(Kind(text), std::nullopt) << text;
  }
  EXPECT_EQ(Kind("python train.py", true), std::nullopt);
}

TEST(Misread, Words) {
  EXPECT_EQ(Kind("True"), MisreadAs::PythonWord);
  EXPECT_EQ(Kind("[1 -eq 2 ]"), MisreadAs::GluedBracket);
  EXPECT_EQ(Kind("[ 1 -eq 2 ]"), std::nullopt);
  EXPECT_EQ(Kind("[[ a ]]"), std::nullopt);
  const std::string_view lines = "'''\ntorchrun\n'''";
  EXPECT_EQ(MisreadOf(lines, lines.size(), false)->as, MisreadAs::QuotedLines);
}

TEST(Misread, Programs) {
  EXPECT_EQ(Kind("torch --nnodes=1 --nproc_per_node=8 train.py"), MisreadAs::NoProgram);
  EXPECT_EQ(Kind("torch --version"), std::nullopt);
  for (const char* text : {"python python train.py", "srun python python -m x", "srun --mpi=pmi2 python torchrun x.py"}) {
    EXPECT_EQ(Kind(text), MisreadAs::DoubledProgram) << text;
  }
  for (const char* text : {"python python.py", "srun -J python python x.py", "echo python python", "srun python x.py python"}) {
    EXPECT_EQ(Kind(text), std::nullopt) << text;
  }
}

TEST(Misread, SignsOfEquality) {
  EXPECT_EQ(DoublySigned("CUDA_VISIBLE_DEVICES==5"), "CUDA_VISIBLE_DEVICES");
  for (const char* text : {"A=5", "A='=5'", "A==", "A===5", "torch==2.1", "A=\"==\""}) EXPECT_EQ(DoublySigned(text), "") << text;
}

TEST(Misread, PlainVariables) {
  EXPECT_EQ(PlainVariable("$NODES"), "NODES");
  EXPECT_EQ(PlainVariable("${NODES}"), "NODES");
  for (const char* text : {"$NODES x", "${NODES[@]}", "NODES", "${NODES:-1}"}) EXPECT_EQ(PlainVariable(text), "") << text;
}

}  // namespace
}  // namespace allranks::launch_files
