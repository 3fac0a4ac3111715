#include "frontends/launch/syntax_tree.h"

#include <gtest/gtest.h>

#include "frontends/launch/shell.h"

namespace allranks::launch_files {
namespace {

// The words of the first command.
std::vector<std::string> Words(const std::string& text) {
  const Word whole(launch::Piece{.text = text, .origin = {source::FileId{0}, 0, static_cast<uint32_t>(text.size())}});
  const ShellScript script = ReadShell({.text = whole, .variables = {}, .arguments = {}, .path = {}, .sourcing = {}, .open = {}});
  std::vector<std::string> words;
  if (script.commands.empty()) return words;
  for (const Word& word : script.commands[0].words) words.push_back(word.text());
  return words;
}

using Texts = std::vector<std::string>;

TEST(JoinedArguments, PlainOnesSideBySide) {
  EXPECT_EQ(WithJoinedArguments("python a.py --lr 0.1 --x y"), "python a.py --lr_0.1_--x_y");
  EXPECT_EQ(WithJoinedArguments("run --a b \\\n  --c d\nrun"), "run --a_b_____--c_d\nrun");
}

TEST(JoinedArguments, WithVariables) {
  EXPECT_EQ(WithJoinedArguments("run --a $B --c \"d e\" # f"), "run --a__B_--c__d_e_ # f");
  EXPECT_EQ(Words("B=1\nrun --a $B --b=\"$B $C\" --c ${B}2 --d \"\""), (Texts{"run", "--a", "1", "--b=1 \x1a", "--c", "12", "--d", ""}));
  EXPECT_EQ(Words("B='1 2'\nrun --a $B \"$B\""), (Texts{"run", "--a", "1", "2", "1 2"}));
}

TEST(JoinedArguments, BeforeACommand) {
  EXPECT_EQ(Words("--a=1 --b 2"), (Texts{"--a=1", "--b", "2"}));
  EXPECT_EQ(Words("--a=1 --b `c`").size(), 3U);
}

TEST(JoinedArguments, WhatStaysAsItIs) {
  for (const char* text : {"run --a 2>&1", "# run --a b \\\n--c", "[ $1 = --a -o x ]", "run -a b c", "case $1 in --a) b;; esac",
                           "run --a `b`", "run --a \"b*\"", "run --a ${B:-c}", "run --a $@", "x=\"run --a $B\"", "x=\"\n--a $B\n\"", "y=\"$(run --a \"$B\")\"", "cat <<E\n--a $B\nE", "run --a {b}", "run --a\nb", "x=--a b"}) {
    EXPECT_EQ(WithJoinedArguments(text), text);
  }
}

TEST(JoinedArguments, AreSeveralWordsToTheShell) {
  EXPECT_EQ(Words("torchrun --nproc_per_node 8 train.py --lr 0.1 --data x"), (Texts{"torchrun", "--nproc_per_node", "8", "train.py", "--lr", "0.1", "--data", "x"}));
  EXPECT_EQ(Words("run --a b \\\n\t --c d \\\n --e \"f g\" --h i"), (Texts{"run", "--a", "b", "--c", "d", "--e", "f g", "--h", "i"}));
  EXPECT_EQ(Words("run --a b\\\nc --d"), (Texts{"run", "--a", "bc", "--d"}));
  EXPECT_EQ(Words("run --name my\\ file --b c"), (Texts{"run", "--name", "my file", "--b", "c"}));
  EXPECT_EQ(Words("A=(--lr 0.1\n--x y)\nrun ${A[@]} --z 1"), (Texts{"run", "--lr", "0.1", "--x", "y", "--z", "1"}));
  EXPECT_EQ(Words("run --a 1 2>&1 | tee log"), (Texts{"run", "--a", "1"}));
  EXPECT_EQ(Words("run --a 1 --b; other"), (Texts{"run", "--a", "1", "--b"}));
}

}  // namespace
}  // namespace allranks::launch_files
