#include "driver/server/framing.h"

#include <gmock/gmock.h>

namespace allranks::server {
namespace {

std::vector<std::string> Read(FrameReader& reader) {
  std::vector<std::string> frames;
  while (const std::optional<Frame> frame = reader.Next()) {
    frames.push_back(frame->problem.empty() ? frame->text : "!" + frame->problem);
  }
  return frames;
}

std::vector<std::string> ReadAll(std::string_view bytes) {
  FrameReader reader;
  reader.Feed(bytes);
  return Read(reader);
}

TEST(FramingTest, MessagesOneByteAtATime) {
  FrameReader reader;
  std::vector<std::string> frames;
  for (const char c : Framed("{}") + Framed("[1]") + Framed("")) {
    reader.Feed({&c, 1});
    for (std::string& frame : Read(reader)) frames.push_back(std::move(frame));
  }
  EXPECT_THAT(frames, testing::ElementsAre("{}", "[1]", ""));
}

TEST(FramingTest, OtherHeadersAndCases) {
  EXPECT_THAT(ReadAll("content-length:2\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{}"),
              testing::ElementsAre("{}"));
  EXPECT_THAT(ReadAll("Content-Type: x\r\nContent-Length: 2\r\n\r\n{}"), testing::ElementsAre("{}"));
}

TEST(FramingTest, GoesOnAfterBytesThatAreNoHeader) {
  EXPECT_THAT(ReadAll("hello\r\n\r\n" + Framed("{}")), testing::ElementsAre("!bytes that are no message header", "{}"));
}

TEST(FramingTest, LengthsThatAreNone) {
  for (const char* length : {"", "x", "-1", "1x", "99999999999999999999999", "0x10"}) {
    const std::string bytes = "Content-Length: " + std::string(length) + "\r\n\r\n" + Framed("{}");
    EXPECT_THAT(ReadAll(bytes), testing::ElementsAre("!a message header without a sound Content-Length", "{}")) << length;
  }
}

TEST(FramingTest, TooLargeMessagesAreSkipped) {
  FrameReader reader;
  const size_t size = kLargestMessage + 1;
  reader.Feed("Content-Length: " + std::to_string(size) + "\r\n\r\n");
  EXPECT_THAT(Read(reader), testing::ElementsAre(testing::HasSubstr("too large")));
  const std::string piece(1 << 20, 'x');
  for (size_t fed = 0; fed < size; fed += piece.size()) {
    reader.Feed(std::string_view(piece).substr(0, std::min(piece.size(), size - fed)));
    EXPECT_THAT(Read(reader), testing::IsEmpty());
  }
  reader.Feed(Framed("{}"));
  EXPECT_THAT(Read(reader), testing::ElementsAre("{}"));
}

TEST(FramingTest, EndlessHeader) {
  FrameReader reader;
  reader.Feed("Content-Length: " + std::string(10'000, '1'));
  EXPECT_FALSE(Read(reader).empty());
}

}  // namespace
}  // namespace allranks::server
