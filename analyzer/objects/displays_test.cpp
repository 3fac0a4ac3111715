#include "analyzer/objects/displays.h"

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class DisplaysTest : public ObjectsTest {
 protected:
  // The lines of the places in the function of `asked(...)` that show something, each with a `*` where it is a line of a file.
  std::string In(const std::string& text) {
    Read(text);
    const Displays displays(program(), knowledge(), facts(), index());
    std::string lines;
    for (const Display& display : displays.In(Asked().function)) lines += std::to_string(Line(display.call)) + (display.is_file ? "* " : " ");
    return lines;
  }
};

TEST_F(DisplaysTest, WhatIsPrintedOrLogged) {
  EXPECT_EQ(In("import wandb\ndef f(x):\n  asked(x)\n  print(x)\n  wandb.log({'loss': x})\n"), "4 5 ");
  EXPECT_EQ(In("def f(x):\n  asked(x)\n  y = abs(x)\n  return y\n"), "");
}

TEST_F(DisplaysTest, MethodsByWhichLoggersAreCalled) {
  EXPECT_EQ(In("def f(x, writer):\n  asked(x)\n  writer.add_scalar('loss', x)\n  writer.close()\n"), "3 ");
}

TEST_F(DisplaysTest, LinesOfAFile) {
  EXPECT_EQ(In("def f(x):\n  asked(x)\n  with open('log', 'w') as file:\n    file.write(x)\n"), "4* ");
}

TEST_F(DisplaysTest, HelpersThatShowTheirParameter) {
  EXPECT_EQ(In("def tell(what):\n  print(what)\ndef keep(what):\n  return what\ndef f(x):\n  asked(x)\n  tell(x)\n  keep(x)\n"), "7 ");
}

}  // namespace
}  // namespace allranks::objects
