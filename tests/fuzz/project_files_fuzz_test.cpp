// Feeds the fuzz target with mutated files of a project: the same ones every time.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "tests/fuzz/feed.h"

namespace allranks::tests {
namespace {

// The first byte is the number of the reader.
const std::array<std::string, 10> kTexts = {
    std::string(1, '\0') + "select = [\"AR1\", 'ALL']\nfail-on = \"error\"\n[severity]\nAR4 = \"info\"\n[per-file-ignores]\n"
                           "\"tests/\" = [\"AR3\"]\n[world]\nnodes = 1\n",
    std::string(1, '\0') + "[tool.allranks]\nroot = \"..\"\nexclude = [\"a/**\", \"!b\"]\nextend = \"x.toml\"\nseverity = { AR101 = \"off\" }\n",
    "\1library = \"x\"\ndocs = \"https://x\"\n[[function]]\nname = \"x.f\"\nparams = [\"group\", \"src\"]\n"
    "operation = { kind = \"broadcast\", group = \"group\", root = \"src\" }\nguard = \"rank == 0 and local_rank < arg(src)\"\n"
    "[[class]]\nname = \"x.C\"\nbases = [\"torch.nn.Module\"]\n[[hint]]\nname = \"rank\"\nvalue = \"rank\"\n",
    "\2{\"schema\": \"allranks.baseline/1\", \"findings\": [\n{\"fingerprint\": \"0123456789abcdef\", \"code\": \"AR101\", \"path\": \"a.py\", "
    "\"function\": \"f\", \"message\": \"m\"}\n]}\n",
    "\3[{\"directory\": \"/p\", \"file\": \"a.cpp\", \"command\": \"c++ -DX='a b' @flags -I../x -c a.cpp\"}, {\"file\": \"b.c\", \"arguments\": [\"cc\", \"-std=c99\"]}]",
    "\4# ignored\n*.py[co]\n!/keep/**/x?\nbuild/\n[[:alpha:]-z]\\*\n**/a/**\n",
    "\5# written by a program\n*.pb.py linguist-generated\ndocs/** -linguist-generated=false\n[attr]ours linguist-vendored\n\"a\\tb\" linguist-vendored=true\n",
    "\6[submodule \"third_party/x\"]\n\tpath = third_party/x\n\turl = ../x.git\n[submodule \"y\"]\n\tpath = \"a\\\"b\" ; c\n",
    "\7{\"findings\": [{\"fingerprint\": \"0123\", \"witness\": {\"finding\": \"a\"}, \"verify\": {\"says\": \"hangs\", \"reason\": \"x\", \"world\": 2}}], "
    "\"results\": [{\"partialFingerprints\": {\"allranks/v1\": \"4567\"}, \"properties\": {\"witness\": {}, \"allranks/verify\": {\"evidence\": \"job\", \"seen\": \"y\"}}}]}",
    "\10#include <mpi.h>\n#include \"a/b.h\"\n#define CHECK(x) f(x)\ntemplate <class T> struct A : B {\n  A() : b_{1} {}\n  void m(int r) const {\n"
    "    if (r == 0) kernel<<<grid, {32, 32}>>>(R\"x(})x\"); else if (r) MPI_Barrier(c); /* } */ }\n};\n#if X\nvoid A<int>::n() { '\\''; }\n#endif\n"};

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
