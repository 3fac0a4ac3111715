// Conversations with the server, in one thread: what the client says, then what it is told.
#include "driver/server/server.h"

#include <gmock/gmock.h>

#include "driver/server/worker.h"

namespace allranks::server {
namespace {

constexpr const char* kGuarded = R"(import torch.distributed as dist

def save():
    rank = dist.get_rank()
    if rank == 0:
        dist.barrier()
)";

class ServerTest : public testing::Test {
 protected:
  void Say(const Json& message) {
    server_.Receive(message.dump());
    worker_.RunPending();
  }
  Json Ask(const std::string& method, Json params) {
    const int id = next_id_++;
    Say(Request(id, method, std::move(params)));
    for (const Json& message : told_) {
      if (At(message, "id") == id && !message.contains("method")) return message;
    }
    return nullptr;
  }
  void Start(Json capabilities = Json::object()) {
    Ask("initialize", {{"capabilities", std::move(capabilities)}, {"workspaceFolders", Json::array({{{"uri", "file:///w"}, {"name", "w"}}})}});
    Say(Notification("initialized", Json::object()));
  }
  void Open(const std::string& uri, const std::string& text) {
    Say(Notification("textDocument/didOpen", {{"textDocument", {{"uri", uri}, {"languageId", "python"}, {"version", 1}, {"text", text}}}}));
  }
  int CodeOf(const std::string& text) {
    told_.clear();
    server_.Receive(text);
    worker_.RunPending();
    return told_.empty() ? 0 : told_[0].value("/error/code"_json_pointer, 0);
  }
  std::vector<std::string> CodesIn(const std::string& uri) const {
    std::vector<std::string> codes;
    for (const Json& message : told_) {
      if (At(message, "method") != "textDocument/publishDiagnostics" || message["params"]["uri"] != uri) continue;
      codes.clear();
      for (const Json& each : message["params"]["diagnostics"]) codes.push_back(each["code"]);
    }
    return codes;
  }

  source::MemoryFileSystem files_{{{"/w/train.py", kGuarded}}};
  Desk desk_;
  std::vector<Json> told_;
  Outbox outbox_{[this](const std::string& text) { told_.push_back(Json::parse(text)); }};
  Server server_{desk_, outbox_, "1"};
  Worker worker_{desk_, outbox_, files_, false};
  int next_id_ = 1;
};

TEST_F(ServerTest, DiagnosticsOfFilesThatAreNotOpen) {
  Start();
  EXPECT_THAT(CodesIn("file:///w/train.py"), testing::ElementsAre("AR101"));
}

TEST_F(ServerTest, AnEditReachesOtherFiles) {
  files_ = source::MemoryFileSystem({{"/w/train.py", "from rules import is_main\nimport torch.distributed as dist\n\ndef f():\n    if is_main():\n        dist.barrier()\n"},
                                     {"/w/rules.py", "def is_main():\n    return True\n"}});
  Start();
  EXPECT_THAT(CodesIn("file:///w/train.py"), testing::IsEmpty());
  Open("file:///w/rules.py", "def is_main():\n    return True\n");
  const Json text = {{"text", "import torch.distributed as dist\n\ndef is_main():\n    return dist.get_rank() == 0\n"}};
  Say(Notification("textDocument/didChange", {{"textDocument", {{"uri", "file:///w/rules.py"}, {"version", 2}}}, {"contentChanges", {text}}}));
  EXPECT_THAT(CodesIn("file:///w/train.py"), testing::ElementsAre("AR101"));
}

TEST_F(ServerTest, ErrorCodes) {
  EXPECT_EQ(CodeOf(R"({"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{}})"), -32002);
  Start();
  EXPECT_EQ(CodeOf("{"), -32700);
  EXPECT_EQ(CodeOf("[]"), -32600);
  EXPECT_EQ(CodeOf(R"({"id":1})"), -32600);
  EXPECT_EQ(CodeOf(R"({"id":[1],"method":"x"})"), -32600);
  EXPECT_EQ(CodeOf(R"({"id":1,"method":7})"), -32600);
  EXPECT_EQ(CodeOf(std::string(100'000, '[')), -32600);
  EXPECT_EQ(CodeOf(R"({"id":1,"method":"no/such"})"), -32601);
  EXPECT_EQ(CodeOf(R"({"id":1,"method":"textDocument/hover","params":{}})"), -32602);
  EXPECT_EQ(CodeOf(R"({"id":1,"method":"textDocument/hover","params":{"textDocument":{"uri":7},"position":{}}})"), -32602);
  EXPECT_EQ(CodeOf(R"({"id":1,"method":"workspace/executeCommand","params":{"command":"rm"}})"), -32602);
  EXPECT_EQ(CodeOf(R"({"id":1,"method":"initialize","params":{}})"), -32600);
  EXPECT_EQ(CodeOf(R"({"method":"no/such"})"), 0);
}

TEST_F(ServerTest, ACancelledRequestIsAnsweredSo) {
  Start();
  told_.clear();
  server_.Receive(Request(77, "textDocument/hover", {{"textDocument", {{"uri", "file:///w/train.py"}}}, {"position", {{"line", 4}, {"character", 8}}}}).dump());
  server_.Receive(Notification("$/cancelRequest", {{"id", 77}}).dump());
  worker_.RunPending();
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_EQ(told_[0]["error"]["code"], -32800);
}

TEST_F(ServerTest, ShutdownAnswersWhatStillWaits) {
  Start();
  told_.clear();
  const Json params = {{"textDocument", {{"uri", "file:///w/train.py"}}}, {"position", {{"line", 4}, {"character", 8}}}};
  for (const Json& id : {Json(77), Json("a"), Json(77)}) server_.Receive(Request(id, "textDocument/hover", params).dump());
  server_.Receive(Request(78, "shutdown", nullptr).dump());
  worker_.RunPending();
  ASSERT_EQ(told_.size(), 4u);
  std::vector<Json> ids;
  for (size_t i = 0; i < 3; ++i) {
    ids.push_back(told_[i]["id"]);
    EXPECT_EQ(told_[i]["error"]["code"], -32800);
  }
  EXPECT_THAT(ids, testing::UnorderedElementsAre(77, 77, "a"));
  EXPECT_EQ(told_[3], Answer(78, nullptr));
}

// The worker is at a request when the reading thread takes `shutdown`.
TEST_F(ServerTest, ShutdownAnswersWhatIsAtWork) {
  Start();
  told_.clear();
  outbox_.Expect(77);
  server_.Receive(Request(78, "shutdown", nullptr).dump());
  outbox_.Reply(77, Answer(77, "late"));
  ASSERT_EQ(told_.size(), 2u);
  EXPECT_EQ(told_[0]["error"]["code"], -32800);
  EXPECT_EQ(told_[1]["id"], 78);
}

TEST_F(ServerTest, AWrongConfigurationIsSaidOnce) {
  files_ = source::MemoryFileSystem({{"/w/train.py", kGuarded}, {"/w/allranks.toml", "selec = []\n"}});
  Start();
  Open("file:///w/train.py", kGuarded);
  const auto shown = std::ranges::count_if(told_, [](const Json& m) { return At(m, "method") == "window/showMessage"; });
  EXPECT_EQ(shown, 1);
}

TEST_F(ServerTest, TheConfigurationNearestToAFileCounts) {
  files_ = source::MemoryFileSystem({{"/w/train.py", kGuarded},
                                     {"/w/one/train.py", kGuarded},
                                     {"/w/one/allranks.toml", "ignore = ['AR101']\n"},
                                     {"/elsewhere/.git/HEAD", ""},
                                     {"/elsewhere/train.py", kGuarded},
                                     {"/elsewhere/one/train.py", kGuarded},
                                     {"/elsewhere/one/allranks.toml", "ignore = ['AR101']\n"}});
  Start();
  EXPECT_THAT(CodesIn("file:///w/train.py"), testing::ElementsAre("AR101"));
  EXPECT_THAT(CodesIn("file:///w/one/train.py"), testing::IsEmpty());
  // Of a project that is no folder of the workspace only open files are checked.
  Open("file:///elsewhere/train.py", kGuarded);
  EXPECT_THAT(CodesIn("file:///elsewhere/train.py"), testing::ElementsAre("AR101"));
  Open("file:///elsewhere/one/train.py", kGuarded);
  EXPECT_THAT(CodesIn("file:///elsewhere/one/train.py"), testing::IsEmpty());
  EXPECT_THAT(CodesIn("file:///elsewhere/train.py"), testing::ElementsAre("AR101"));
}

TEST_F(ServerTest, OnlyAnOrderlyEndIsOne) {
  Start();
  EXPECT_EQ(server_.exit_code(), 1);
  Ask("shutdown", nullptr);
  Say(Notification("exit", nullptr));
  EXPECT_TRUE(server_.has_exited());
  EXPECT_EQ(server_.exit_code(), 0);
}

}  // namespace
}  // namespace allranks::server
