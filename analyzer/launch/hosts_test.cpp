#include "analyzer/launch/hosts.h"

#include <gtest/gtest.h>

namespace allranks::launch {
namespace {

std::optional<HostFile> Read(std::string_view text) { return ReadHosts("hosts", text, source::FileId{0}); }

TEST(Hosts, SlotsOfEachLine) {
  const std::optional<HostFile> read = Read("# two nodes\na slots=8\n\n  b\tslots=4 max-slots=6  # small\r\n");
  ASSERT_TRUE(read && read->hosts.size() == 2);
  EXPECT_EQ(read->Slots(), 12);
  EXPECT_EQ(read->SlotsOfEach(), std::nullopt);
  EXPECT_EQ(read->MostSlots(), std::nullopt);
  EXPECT_EQ(read->Find("b")->most_slots, 6);
  EXPECT_EQ(read->hosts[0].span.begin, 12u);
  EXPECT_EQ(read->hosts[0].span.end, 21u);
}

TEST(Hosts, WhatIsNotSaidIsNotKnown) {
  EXPECT_EQ(Read("a slots=8\nb\n")->Slots(), std::nullopt);
  EXPECT_EQ(Read("a slots=many\n")->Slots(), std::nullopt);
  EXPECT_EQ(Read("a slots=99999999999999999999\n")->Slots(), std::nullopt);
  EXPECT_EQ(Read("a:8\n")->Slots(), std::nullopt);
  EXPECT_EQ(Read("a slots=8\na slots=8\n")->Slots(), std::nullopt);
  EXPECT_EQ(Read("<HOST> slots=8\n"), std::nullopt);
  EXPECT_EQ(Read("{{ host }} slots=8\n"), std::nullopt);
  EXPECT_EQ(Read(std::string_view("a\0b slots=8\n", 12)), std::nullopt);
}

TEST(Hosts, TheSameOneTwice) {
  const std::optional<HostFile> read = Read("a slots=2\nb slots=2\na slots=2\n");
  EXPECT_EQ(read->FindRepeated(), &read->hosts[2]);
  EXPECT_EQ(Read("a slots=2\nb slots=2\n")->FindRepeated(), nullptr);
}

TEST(Hosts, Nobody) {
  EXPECT_TRUE(Read("")->hosts.empty());
  EXPECT_TRUE(Read("# nobody yet\n")->hosts.empty());
}

}  // namespace
}  // namespace allranks::launch
