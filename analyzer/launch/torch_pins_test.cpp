#include "analyzer/launch/torch_pins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace allranks::launch {
namespace {

using testing::Eq;
using testing::Optional;

std::optional<Version> Newest(std::string_view text) {
  TorchPins pins;
  pins.Note("requirements.txt", text, {});
  return pins.NewestFor("scripts/train.sh");
}

TEST(TorchPinsTest, UpperBounds) {
  EXPECT_THAT(Newest("numpy\ntorch==1.7.1\n"), Optional(Version{1, 7}));
  EXPECT_THAT(Newest("torch == 1.8.1+cu111"), Optional(Version{1, 8}));
  EXPECT_THAT(Newest("torch>=1.6, <1.10"), Optional(Version{1, 9}));
  EXPECT_THAT(Newest("torch<2"), Optional(Version{1, 99}));
  EXPECT_THAT(Newest("torch~=1.7.1"), Optional(Version{1, 7}));
  EXPECT_THAT(Newest("- pytorch=1.7.1=py3.8_cuda11"), Optional(Version{1, 7}));
  EXPECT_THAT(Newest("FROM pytorch/pytorch:1.6.0-cuda10.1-cudnn7-devel"), Optional(Version{1, 6}));
  EXPECT_THAT(Newest("install_requires=['torch<=1.9']"), Optional(Version{1, 9}));
}

TEST(TorchPinsTest, NewestDeepSpeedThatAnyFilePins) {
  TorchPins pins;
  pins.Note("requirements.txt", "deepspeed==0.6.5\n", {});
  pins.Note("train/requirements.txt", "deepspeed>=0.8\n", {});
  pins.Note("environment.yml", "dependencies:\n  - deepspeed=0.7.1\n", {});
  EXPECT_THAT(pins.DeepSpeedFor("train/ds.json"), Optional(Release{0, 7, 1}));
  EXPECT_THAT(pins.NewestFor("train/ds.json"), Eq(std::nullopt));
}

TEST(TorchPinsTest, ProseOfPages) {
  const auto said = [](std::string_view text) {
    TorchPins pins;
    pins.Note("docs/install.md", text, {});
    return pins.NewestFor("scripts/train.sh");
  };
  EXPECT_THAT(said("* Pytorch 1.4.0\n"), Optional(Version{1, 4}));
  EXPECT_THAT(said("- PyTorch (1.7.1)"), Optional(Version{1, 7}));
  EXPECT_THAT(said("conda install PyTorch==1.8.1"), Optional(Version{1, 8}));
  EXPECT_THAT(said("PyTorch 1.4 or later"), Eq(std::nullopt));
  EXPECT_THAT(said("PyTorch 1.4 and newer"), Eq(std::nullopt));
  EXPECT_THAT(said("built in PyTorch 1.8.1 and tested on Ubuntu"), Optional(Version{1, 8}));
  EXPECT_THAT(said("PyTorch 1.3+"), Eq(std::nullopt));
  EXPECT_THAT(said("Install PyTorch 1.10+cu111 and torchvision 0.11"), Optional(Version{1, 10}));
  EXPECT_THAT(said("PyTorch 1.4.0, and PyTorch 1.12.1"), Optional(Version{1, 12}));
  EXPECT_THAT(said("PyTorch3D 0.3.0"), Eq(std::nullopt));
  EXPECT_THAT(said("[PyTorch](http://pytorch.org) install = 1.4.0"), Optional(Version{1, 4}));
  EXPECT_THAT(said("* PyTorch version 1.7.1 and CUDA"), Optional(Version{1, 7}));
  EXPECT_THAT(said("[PyTorch](http://pytorch.org) 1.4.0 or later"), Eq(std::nullopt));
  EXPECT_THAT(said("[PyTorch](http://pytorch.org), 2 GPUs of version 1.4"), Eq(std::nullopt));
}

TEST(TorchPinsTest, OtherPagesTellWhatTheyInstall) {
  const auto said = [](std::string_view text) {
    TorchPins pins;
    pins.Note("FINETUNE.md", text, {});
    return pins.NewestFor("FINETUNE.md");
  };
  EXPECT_THAT(said("- Install `Pytorch==1.8.0` and `torchvision==0.9.0`"), Optional(Version{1, 8}));
  EXPECT_THAT(said("Since PyTorch 1.4.0 this is slower"), Eq(std::nullopt));
  EXPECT_THAT(said("torch>=1.7"), Eq(std::nullopt));
}

TEST(TorchPinsTest, NoBound) {
  EXPECT_THAT(Newest("torch"), Eq(std::nullopt));
  EXPECT_THAT(Newest("torch>=1.7\ntorch==1.7.1"), Eq(std::nullopt));
  EXPECT_THAT(Newest("torchvision==0.8.2"), Eq(std::nullopt));
  EXPECT_THAT(Newest("pytorch-lightning==1.2"), Eq(std::nullopt));
  EXPECT_THAT(Newest("my-torch==1.2"), Eq(std::nullopt));
}

TEST(TorchPinsTest, AVariableOfTheFile) {
  EXPECT_THAT(Newest("TORCH := 1.4.0\npip install torch==$(TORCH)"), Optional(Version{1, 4}));
  EXPECT_THAT(Newest("ARG TORCH=\"1.4.0\"\nFROM pytorch/pytorch:${TORCH}-cuda10.1"), Optional(Version{1, 4}));
  EXPECT_THAT(Newest("pip install torch==$TORCH"), Eq(std::nullopt));
}

TEST(TorchPinsTest, ScriptsThatInstall) {
  TorchPins pins;
  pins.Note("tools/Makefile", "install:\n\tpip install torch==1.4.0", {});
  pins.Note("sub/req.sh", "pip install torch==1.7.1+cu110", {});
  EXPECT_TRUE(MayInstall("tools/Makefile"));
  EXPECT_FALSE(MayInstall("train.py"));
  EXPECT_THAT(pins.NewestFor("recipes/run.sh"), Optional(Version{1, 4}));
  EXPECT_THAT(pins.NewestFor("sub/tools/run.sh"), Optional(Version{1, 7}));
}

TEST(TorchPinsTest, TheNewestOfAFolderAndTheNearestFolder) {
  TorchPins pins;
  pins.Note("README.md", "pip install torch==1.7.1", {});
  pins.Note("requirements.txt", "torch==1.13.0", {});
  pins.Note("old/requirements.txt", "torch==1.5", {});
  EXPECT_THAT(pins.NewestFor("run.sh"), Optional(Version{1, 13}));
  EXPECT_THAT(pins.NewestFor("old/scripts/run.sh"), Optional(Version{1, 5}));
  EXPECT_THAT(pins.NewestFor("older/run.sh"), Optional(Version{1, 13}));
}

// NVIDIA counts years and months, and what makes an environment lies in a folder of its own.
TEST(TorchPinsTest, ImagesOfNvidiaAndFoldersAside) {
  TorchPins pins;
  pins.Note("README.md", "docker run nvcr.io/nvidia/pytorch:20.11-py3", {});
  pins.Note("requirements.txt", "torch==1.7.0", {});
  pins.Note("sub/envs/docker/Dockerfile", "RUN pip install torch==1.5.0+cu101", {});
  EXPECT_THAT(pins.NewestFor("run.sh"), Optional(Version{1, 7}));
  EXPECT_THAT(pins.NewestFor("sub/scripts/run.sh"), Optional(Version{1, 5}));
}

// What such an image holds is told by a table, as of other packages: also on a page that does not tell how to install.
TEST(TorchPinsTest, ImagesWithADate) {
  const TorchBound bound{.names = {"nvidia/pytorch"}, .steps = {{{19, 6, 999}, {1, 1}}, {{20, 1, 999}, {1, 4}}}};
  TorchPins pins;
  pins.Note("doc/runs.md", "docker run --rm nvcr.io/nvidia/pytorch:19.12-py3", std::span(&bound, 1));
  pins.Note("new/README.md", "docker run --rm nvcr.io/nvidia/pytorch:24.05-py3", std::span(&bound, 1));
  EXPECT_THAT(pins.NewestFor("run.sh"), Optional(Version{1, 4}));
  EXPECT_EQ(pins.NewestFor("new/run.sh"), std::nullopt);
}

// A page names what the project was made with, and the requirements leave newer ones open.
TEST(TorchPinsTest, WhatIsNamedBesideWhatIsAllowed) {
  TorchPins pins;
  pins.Note("README.md", "pytorch 1.11.0", {});
  pins.Note("requirements.txt", "torch>=1.7", {});
  EXPECT_THAT(pins.NewestFor("train.sh"), Eq(std::nullopt));
  EXPECT_THAT(pins.NamedFor("train.sh"), Optional(Version{1, 11}));
  EXPECT_TRUE(pins.AreOlderThan("train.sh", {2, 0}));
  EXPECT_FALSE(pins.AreOlderThan("train.sh", {1, 11}));
}

// A pinned package that works with older releases only bounds what `torch>=1.4` leaves open.
TEST(TorchPinsTest, OtherPackages) {
  const std::vector<TorchBound> bounds = {
      {.names = {"torchvision"}, .steps = {{{0, 7, 999}, {1, 6}}, {{0, 8, 999}, {1, 7}}}},
      {.names = {"mmcv-full", "mmcv"}, .steps = {{{1, 4, 4}, {1, 10}}}}};
  const auto newest = [&](std::string_view text) {
    TorchPins pins;
    pins.Note("requirements.txt", text, bounds);
    return pins.NewestFor("train.sh");
  };
  EXPECT_THAT(newest("torch>=1.4\ntorchvision==0.8.2"), Optional(Version{1, 7}));
  EXPECT_THAT(newest("torchvision=0.7.0=py38"), Optional(Version{1, 6}));
  EXPECT_THAT(newest("mmcv-full==1.4.4"), Optional(Version{1, 10}));
  EXPECT_THAT(newest("mmcv<=1.3.9"), Optional(Version{1, 10}));
  EXPECT_THAT(newest("mmcv>=1.3.8,<=1.4.0"), Optional(Version{1, 10}));
  EXPECT_THAT(newest("mmcv>=1.3.8, !=1.4.0"), Eq(std::nullopt));
  EXPECT_THAT(newest("mmcv-full==1.4.8"), Eq(std::nullopt));
  EXPECT_THAT(newest("mmcv>=1.3.9"), Eq(std::nullopt));
  EXPECT_THAT(newest("torch==1.5.0\ntorchvision==0.8.2"), Optional(Version{1, 5}));
  EXPECT_THAT(newest("torchvision==0.8.2\ntorchvision==0.20.0"), Eq(std::nullopt));
  EXPECT_THAT(newest("my-mmcv==1.3"), Eq(std::nullopt));
  TorchPins nearer;
  nearer.Note("docs/install.md", "pip install torch==1.5", bounds);
  nearer.Note("tools/requirements.txt", "torchvision==0.8.2", bounds);
  EXPECT_THAT(nearer.NewestFor("tools/train.sh"), Optional(Version{1, 5}));
}

TEST(TorchPinsTest, EnvironmentsOfConda) {
  const auto newest = [](std::string_view text) {
    TorchPins pins;
    pins.Note("vsum.yaml", text, {});
    return pins.NewestFor("train.sh");
  };
  EXPECT_THAT(newest("name: vsum\ndependencies:\n  - pytorch=1.10.2=py3.7_cuda11.1\n"), Optional(Version{1, 10}));
  EXPECT_THAT(newest("dependencies:\n  - pip:\n    - torch==1.8.1+cu111\n"), Optional(Version{1, 8}));
  EXPECT_THAT(newest("model:\n  torch: 1\n  pytorch=1.10.2\n"), Eq(std::nullopt));
}

TEST(TorchPinsTest, NamesOfFiles) {
  for (const char* name : {"requirements.txt", "requirements-dev.txt", "docker/environment.yml", "vsum.yaml", "setup.py", "Dockerfile.gpu", "README.md", "readme.md", "FINETUNE.md"}) {
    EXPECT_TRUE(TellsRequirements(name)) << name;
  }
  for (const char* name : {"notes.txt", "configs/model.yaml", "train.py"}) EXPECT_FALSE(TellsRequirements(name)) << name;
}

}  // namespace
}  // namespace allranks::launch
