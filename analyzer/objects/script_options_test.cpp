#include "analyzer/objects/script_options.h"

#include <gmock/gmock.h>

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ScriptOptionsTest : public ObjectsTest {
 protected:
  ScriptOptions Of(const std::string& text) {
    Read("import argparse, os, sys\n" + text);
    const ModuleOptions options = OptionsOf(program().modules[ir::ModuleId{0}], *program().names);
    return OptionsOf(std::vector<const ModuleOptions*>{&options});
  }
  const std::string parser_ = "parser = argparse.ArgumentParser()\nparser.add_argument('--size', '-s', type=int)\n";
};

TEST_F(ScriptOptionsTest, WhatTheParserTakes) {
  const ScriptOptions options = Of(parser_ + "args = parser.parse_args()\n");
  EXPECT_TRUE(options.is_known);
  EXPECT_THAT(options.options, ElementsAre("--size", "-s"));
  EXPECT_TRUE(options.Takes("--size"));
  EXPECT_FALSE(options.Takes("--width"));
}

TEST_F(ScriptOptionsTest, ABeginningOfANameIsTaken) { EXPECT_TRUE(Of(parser_ + "args = parser.parse_args()\n").Takes("--siz")); }

TEST_F(ScriptOptionsTest, OpenToWhatItDoesNotShow) {
  EXPECT_FALSE(Of(parser_ + "args, rest = parser.parse_known_args()\n").is_known);
  EXPECT_FALSE(Of(parser_ + "parser.add_argument(os.sep)\nargs = parser.parse_args()\n").is_known);
  EXPECT_FALSE(Of(parser_ + "args = parser.parse_args()\nprint(sys.argv)\n").is_known);
}

TEST_F(ScriptOptionsTest, ALocalRankOfTheCommandLine) {
  const std::string option = "parser.add_argument('--local_rank', type=int)\nargs = parser.parse_args()\n";
  const std::string passes_over = "parser.add_argument('--local_rank', type=int)\nargs, _ = parser.parse_known_args()\n";
  EXPECT_TRUE(Of(parser_ + passes_over + "print(os.environ['RANK'])\n").ignores_local_rank);
  EXPECT_FALSE(Of(parser_ + passes_over + "print(args.local_rank)\n").ignores_local_rank);
  EXPECT_TRUE(Of("print(os.environ['LOCAL_RANK'])\n").ignores_local_rank);
  EXPECT_FALSE(Of("import sys\nprint(sys.argv[1])\n").ignores_local_rank);
  EXPECT_TRUE(Of(parser_ + option + "print(args.local_rank)\n").has_local_rank_of_option);
  EXPECT_FALSE(Of(parser_ + option + "print(os.environ['LOCAL_RANK'], args.local_rank)\n").has_local_rank_of_option);
}

TEST_F(ScriptOptionsTest, OptionsThatEachCommandHasToGive) {
  const std::string required = "parser.add_argument('--data', '-d', required=True)\n";
  const std::string parses = "args = parser.parse_args()\n";
  EXPECT_THAT(Of(parser_ + required + parses).required, ElementsAre(ElementsAre("--data", "-d")));
  EXPECT_THAT(Of(parser_ + "if os.sep:\n  " + required + parses).required, IsEmpty());
  EXPECT_THAT(Of(parser_ + required + "other = argparse.ArgumentParser()\n" + parses).required, IsEmpty());
  EXPECT_THAT(Of(parser_ + required + "args = parser.parse_args(['--data', 'x'])\n").required, IsEmpty());
}

TEST_F(ScriptOptionsTest, ArgumentsWithoutAName) {
  const std::string parses = "args = parser.parse_args()\n";
  EXPECT_FALSE(Of(parser_ + parses).has_positional);
  EXPECT_TRUE(Of(parser_ + "parser.add_argument('config')\n" + parses).has_positional);
  EXPECT_TRUE(Of(parser_ + "commands = parser.add_subparsers()\n" + parses).has_positional);
}

TEST_F(ScriptOptionsTest, ProgramsOfSeveralRanks) {
  EXPECT_TRUE(Of("dist.init_process_group(sys.argv[1])\n").works_in_ranks);
  EXPECT_TRUE(Of("import torch.multiprocessing as mp\nmp.spawn(print)\n").works_in_ranks);
  EXPECT_FALSE(Of(parser_).works_in_ranks);
}

TEST_F(ScriptOptionsTest, BackendsOfItsGroups) {
  EXPECT_TRUE(Of("dist.init_process_group('nccl')\n").communicates_on_gpus);
  EXPECT_TRUE(Of("dist.init_process_group('gloo')\n").has_no_nccl);
  EXPECT_FALSE(Of("dist.init_process_group(sys.argv[1])\n").has_no_nccl);
}

}  // namespace
}  // namespace allranks::objects
