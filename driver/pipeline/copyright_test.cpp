#include "driver/pipeline/copyright.h"

#include <gmock/gmock.h>

namespace allranks::pipeline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CopyrightTest, NamesBesideAYearOrTheSign) {
  EXPECT_THAT(CopyrightHolders("MIT License\n\nCopyright (c) 2020 Jane Doe\n"), ElementsAre("doe", "jane"));
  EXPECT_THAT(CopyrightHolders("    Copyright (c) Example Corporation.\n"), ElementsAre("example"));
  EXPECT_THAT(CopyrightHolders("Thing, Copyright (c) 2022-present Example Inc. and its affiliates"), ElementsAre("example"));
  EXPECT_THAT(CopyrightHolders("Copyright \xC2\xA9 Jane Doe <jane@example.org>"), ElementsAre("doe", "jane"));
}

TEST(CopyrightTest, TheTextOfALicenceNamesNobody) {
  EXPECT_THAT(CopyrightHolders("The above copyright notice and this permission notice shall be included"), IsEmpty());
  EXPECT_THAT(CopyrightHolders("   Copyright [yyyy] [name of copyright owner]\n"), IsEmpty());
  EXPECT_THAT(CopyrightHolders("Apache License\nVersion 2.0, January 2004\n"), IsEmpty());
}

TEST(CopyrightTest, AFirmThatChangedItsName) {
  EXPECT_EQ(CopyrightHolders("Copyright (c) Facebook, Inc."), CopyrightHolders("Copyright 2023 Meta Platforms, Inc. and affiliates"));
}

TEST(CopyrightTest, NamesOfLicences) {
  EXPECT_TRUE(IsLicenceName("LICENSE"));
  EXPECT_TRUE(IsLicenceName("licence.md"));
  EXPECT_FALSE(IsLicenceName("train.py"));
}

}  // namespace
}  // namespace allranks::pipeline
