// Bytes of any kind as a client's traffic: the server answers, and what it answers is JSON-RPC.
// Built for libFuzzer with -DALLRANKS_FUZZ=ON and Clang; `server_fuzz_test.cpp` runs it on mutated conversations in
// every build.
#include <cstdint>
#include <map>
#include <string_view>

#include "driver/server/framing.h"
#include "driver/server/server.h"
#include "driver/server/worker.h"
#include "tests/fuzz/fault.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace allranks;
  const std::map<std::string, std::string> texts = {{"/w/a.py", "import torch.distributed as dist\nif dist.get_rank() == 0:\n    dist.barrier()\n"}};
  const source::MemoryFileSystem files(texts);
  server::Desk desk;
  server::Outbox outbox([](const std::string& text) {
    const server::Json message = server::Json::parse(text, nullptr, false);
    const bool is_sound = message.is_object() && (message.contains("id") || message.contains("method"));
    if (!is_sound) tests::Fault(("not a message: " + text).c_str());
  });
  server::Server server(desk, outbox, "0");
  server::Worker worker(desk, outbox, files, false);
  server::FrameReader frames;
  // In two pieces, as a pipe may hand it on.
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const std::string_view piece : {bytes.substr(0, size / 2), bytes.substr(size / 2)}) {
    frames.Feed(piece);
    while (const std::optional<server::Frame> frame = frames.Next()) {
      if (frame->problem.empty()) server.Receive(frame->text);
      else server.ReceiveMalformed(frame->problem);
      if (server.has_exited()) return 0;
    }
  }
  worker.RunPending();
  return 0;
}
