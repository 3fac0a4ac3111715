// Feeds the fuzz target with mutated files of a project: the same ones every time.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "tests/fuzz/feed.h"

namespace allranks::tests {
namespace {

// The first byte is the number of the reader.
const std::array<std::string, 6> kTexts = {
    std::string(1, '\0') + "select = [\"AR1\", 'ALL']\nfail-on = \"error\"\n[severity]\nAR4 = \"info\"\n[per-file-ignores]\n"
                           "\"tests/\" = [\"AR3\"]\n[world]\nnodes = 1\n",
    std::string(1, '\0') + "[tool.allranks]\nroot = \"..\"\nexclude = [\"a/**\", \"!b\"]\nextend = \"x.toml\"\nseverity = { AR101 = \"off\" }\n",
    "\1library = \"x\"\ndocs = \"https://x\"\n[[function]]\nname = \"x.f\"\nparams = [\"group\", \"src\"]\n"
    "operation = { kind = \"broadcast\", group = \"group\", root = \"src\" }\nguard = \"rank == 0 and local_rank < arg(src)\"\n"
    "[[class]]\nname = \"x.C\"\nbases = [\"torch.nn.Module\"]\n[[hint]]\nname = \"rank\"\nvalue = \"rank\"\n",
    "\2{\"schema\": \"allranks.baseline/1\", \"findings\": [\n{\"fingerprint\": \"0123456789abcdef\", \"code\": \"AR101\", \"path\": \"a.py\", "
    "\"function\": \"f\", \"message\": \"m\"}\n]}\n",
    "\3[{\"directory\": \"/p\", \"file\": \"a.cpp\", \"command\": \"c++ -DX='a b' @flags -I../x -c a.cpp\"}, {\"file\": \"b.c\", \"arguments\": [\"cc\", \"-std=c99\"]}]",
    "\4# ignored\n*.py[co]\n!/keep/**/x?\nbuild/\n[[:alpha:]-z]\\*\n**/a/**\n"};

constexpr std::array<std::string_view, 24> kPieces = {"[", "]", "{", "}", "\"", "'", "=", ".", ",", "\n", "#", "[[", "]]", "\\u0000", "\\",
                                                      "1e400", "-", "true", "*", "**", "!", "/", "\xff", "a.a.a.a"};

TEST(ProjectFilesFuzzTest, Mutated) {
  constexpr int kRounds = 600;
  for (const std::string& text : kTexts) FeedMutated(text, kPieces, kRounds);
}

TEST(ProjectFilesFuzzTest, Cut) {
  for (const std::string& text : kTexts) FeedCut(text);
}

}  // namespace
}  // namespace allranks::tests
