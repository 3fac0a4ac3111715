#include "runtime-verify/worker/protocol.h"

#include <gtest/gtest.h>

namespace allranks::verify {
namespace {

// Encoded, read again and encoded once more: the same line.
void ExpectRoundTrip(const Command& command) {
  const std::string line = Encode(command);
  const std::optional<Command> read = DecodeCommand(line);
  ASSERT_TRUE(read.has_value()) << line;
  EXPECT_EQ(Encode(*read), line);
}

void ExpectRoundTrip(const Event& event) {
  const std::string line = Encode(event);
  const std::optional<Event> read = DecodeEvent(line);
  ASSERT_TRUE(read.has_value()) << line;
  EXPECT_EQ(Encode(*read), line);
}

TEST(ProtocolTest, CommandsComeBack) {
  Command init{.kind = Command::Kind::Init};
  init.setup = {.rank = 3, .device = 1, .address = "127.0.0.1", .first_on_device = false, .survey = true, .comms = {}};
  ExpectRoundTrip(init);
  ExpectRoundTrip(Command{.kind = Command::Kind::Comm, .ranks = {0, 2}});
  Command op{.kind = Command::Kind::Op,
             .op = {.kind = witness::OpKind::Send, .comm = 1, .count = 7, .peer = 2},
             .tag = 9};
  ExpectRoundTrip(op);
  ExpectRoundTrip(Command{.kind = Command::Kind::Run, .first = 1, .count = 2});
  ExpectRoundTrip(Command{.kind = Command::Kind::Value, .key = "k", .value = std::string("\0\xff\n", 3)});
  EXPECT_EQ(
      DecodeCommand(Encode(Command{.kind = Command::Kind::Value, .key = "k", .value = "\xff\n"}))->value,
      "\xff\n");
}

TEST(ProtocolTest, EventsComeBack) {
  for (int kind = 0; kind <= static_cast<int>(Event::Kind::Idle); ++kind) {
    ExpectRoundTrip(Event{.kind = static_cast<Event::Kind>(kind),
                          .in_op = true,
                          .op = 4,
                          .code = 5,
                          .text = "a \"b\"\n",
                          .key = "k",
                          .value = "\x80",
                          .bad = 1,
                          .first = 2,
                          .expected = 3,
                          .got = 4.5});
  }
}

TEST(ProtocolTest, WhatIsNoMessageIsRefused) {
  for (const char* line :
       {"", "{}", "[]", "{\"do\":\"fire\"}", "{\"do\":\"op\"}", "{\"do\":\"op\",\"op\":\"sing\"}",
        "{\"do\":\"run\",\"first\":\"a\",\"count\":1}", "\xff"}) {
    EXPECT_FALSE(DecodeCommand(line).has_value()) << line;
    EXPECT_FALSE(DecodeEvent(line).has_value()) << line;
  }
}

TEST(ProtocolTest, LongestTextsFitIntoALine) {
  const Event event{.kind = Event::Kind::Failed, .text = std::string(100000, '"')};
  EXPECT_LE(Encode(event).size(), kLongestLine);
}

TEST(ProtocolTest, LinesAreCut) {
  LineBuffer buffer;
  EXPECT_TRUE(buffer.Add("ab"));
  EXPECT_FALSE(buffer.Take().has_value());
  EXPECT_TRUE(buffer.Add("c\nd\ne"));
  EXPECT_EQ(buffer.Take(), "abc");
  EXPECT_EQ(buffer.Take(), "d");
  EXPECT_FALSE(buffer.Take().has_value());
  EXPECT_FALSE(buffer.Add(std::string(kLongestLine + 1, 'x')));
}

}  // namespace
}  // namespace allranks::verify
