// Feeds the fuzz target with mutations of conversations: the same ones every time.
#include <gtest/gtest.h>

#include <array>

#include "driver/server/framing.h"
#include "tests/fuzz/feed.h"

namespace allranks::tests {
namespace {

std::string Conversation(std::initializer_list<std::string_view> messages) {
  std::string text;
  for (const std::string_view message : messages) text += server::Framed(message);
  return text;
}

constexpr std::string_view kInitialize =
    R"({"id":1,"method":"initialize","params":{"capabilities":{"general":{"positionEncodings":["utf-8"]}},)"
    R"("workspaceFolders":[{"uri":"file:///w","name":"w"}]}})";
constexpr std::string_view kInitialized = R"({"method":"initialized","params":{}})";
constexpr std::string_view kOpen =
    R"({"method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///w/a.py","languageId":"python",)"
    R"("version":1,"text":"import torch.distributed as dist\nif dist.get_rank() == 0:\n    dist.barrier()\n"}}})";

const std::array<std::string, 3> kTexts = {
    Conversation({kInitialize, kInitialized, kOpen,
                  R"({"method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///w/a.py","version":2},)"
                  R"("contentChanges":[{"range":{"start":{"line":1,"character":3},"end":{"line":2,"character":4}},"text":"x"}]}})",
                  R"({"id":2,"method":"textDocument/diagnostic","params":{"textDocument":{"uri":"file:///w/a.py"}}})"}),
    Conversation({kInitialize, kInitialized, kOpen,
                  R"({"id":3,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///w/a.py"},"position":{"line":2,"character":8}}})",
                  R"({"id":4,"method":"textDocument/codeAction","params":{"textDocument":{"uri":"file:///w/a.py"},)"
                  R"("range":{"start":{"line":0,"character":0},"end":{"line":9,"character":0}},"context":{"only":["quickfix"]}}})",
                  R"({"method":"$/cancelRequest","params":{"id":3}})", R"({"id":5,"method":"shutdown"})", R"({"method":"exit"})"}),
    Conversation({kInitialize,
                  R"({"method":"notebookDocument/didOpen","params":{"notebookDocument":{"uri":"file:///w/n.ipynb","version":1,)"
                  R"("cells":[{"kind":2,"document":"c:1"}]},"cellTextDocuments":[{"uri":"c:1","version":1,"text":"x = 1"}]}})",
                  R"({"method":"notebookDocument/didChange","params":{"notebookDocument":{"uri":"file:///w/n.ipynb"},"change":{"cells":)"
                  R"({"structure":{"array":{"start":0,"deleteCount":1,"cells":[]},"didClose":[{"uri":"c:1"}]}}}}})",
                  R"({"method":"workspace/didChangeWorkspaceFolders","params":{"event":{"added":[{"uri":"file:///v"}],"removed":[]}}})"})};

constexpr std::array<std::string_view, 20> kPieces = {
    "{", "}", "[", "]", "\"", ":", ",", "0", "-1", "4294967296", "1e300", "null", "true", "\"\"", "\r\n\r\n",
    "Content-Length: 7\r\n\r\n", "file:///w/a.py", "%00", "\xff", "\\ud800"};

TEST(ServerFuzzTest, MutatedConversations) {
  constexpr int kRounds = 150;
  for (const std::string& original : kTexts) FeedMutated(original, kPieces, kRounds);
}

}  // namespace
}  // namespace allranks::tests
