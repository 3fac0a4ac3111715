#include "driver/server/stdio.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <thread>

#include "analyzer/files/write_file.h"
#include "driver/server/framing.h"
#include "driver/server/server.h"
#include "driver/server/worker.h"

namespace allranks::server {
namespace {

// Whether anything came; false at the end of the input.
bool ReadSome(FrameReader& frames) {
  std::array<char, 1 << 16> bytes;
  const ssize_t count = read(STDIN_FILENO, bytes.data(), bytes.size());
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) return false;
  frames.Feed({bytes.data(), static_cast<size_t>(count)});
  return true;
}

}  // namespace

int ServeStdio(std::string_view version) {
  const source::RealFileSystem files;
  Desk desk;
  // A client that left is no error: reading will end as well.
  Outbox outbox([](const std::string& text) { (void)files::WriteAll(STDOUT_FILENO, Framed(text)); });
  Server server(desk, outbox, version);
  Worker worker(desk, outbox, files, true);
  std::thread work([&] { worker.Run(); });
  FrameReader frames;
  bool is_open = true;
  while (is_open && !server.has_exited()) {
    is_open = ReadSome(frames);
    while (!server.has_exited()) {
      const std::optional<Frame> frame = frames.Next();
      if (!frame) break;
      if (frame->problem.empty()) server.Receive(frame->text);
      else server.ReceiveMalformed(frame->problem);
    }
  }
  desk.End();
  if (server.has_exited()) {
    // The worker may hang in a write that nobody reads any more; nothing of it is worth waiting for.
    std::_Exit(server.exit_code());
  }
  work.join();
  return server.exit_code();
}

}  // namespace allranks::server
