#include "analyzer/objects/file_uses.h"

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class FileUsesTest : public ObjectsTest {
 protected:
  // "line:act:path" of each use, in order.
  std::string Of(const std::string& text) {
    Read("import os, shutil, torch\n" + text);
    const FileUses uses(program(), facts(), index());
    std::string spelled;
    for (const FileUse& use : uses.uses()) spelled += std::to_string(Line(use.site())) + ":" + Name(use.act) + ":" + use.path.Name().Spelled() + " ";
    return spelled;
  }
  static std::string Name(FileAct act) {
    switch (act) {
      case FileAct::Write: return "write";
      case FileAct::WriteLog: return "log";
      case FileAct::Read: return "read";
      case FileAct::List: return "list";
      case FileAct::Remove: return "remove";
      case FileAct::MoveFrom: return "from";
      case FileAct::MoveTo: return "to";
      case FileAct::MakeFolder: return "make";
    }
    return {};
  }
};

TEST_F(FileUsesTest, WhatACallDoesToAPath) {
  EXPECT_EQ(Of("def f(state):\n  torch.save(state, 'a.pt')\n  os.remove('b.pt')\n"), "3:write:a.pt 4:remove:b.pt ");
  EXPECT_EQ(Of("def f():\n  os.replace('new', 'old')\n"), "3:from:new 3:to:old ");
}

TEST_F(FileUsesTest, TheModeOfAnOpenFile) {
  EXPECT_EQ(Of("def f():\n  open('a')\n"), "3:read:a ");
  EXPECT_EQ(Of("def f():\n  open('a', 'w')\n"), "3:write:a ");
  EXPECT_EQ(Of("def f():\n  open('a', 'a')\n"), "3:log:a ");
}

TEST_F(FileUsesTest, OneForEachCallerThatSaysThePath) {
  EXPECT_EQ(Of("def save(state, path):\n  torch.save(state, path)\ndef f(state):\n  save(state, 'a.pt')\n  save(state, 'b.pt')\n"), "3:write:a.pt 3:write:b.pt ");
}

TEST_F(FileUsesTest, AFileThatIsDumpedIntoIsOneWrite) {
  EXPECT_EQ(Of("import pickle\ndef f(state):\n  with open('a.pkl', 'wb') as file:\n    pickle.dump(state, file)\n"), "5:write:a.pkl ");
}

}  // namespace
}  // namespace allranks::objects
