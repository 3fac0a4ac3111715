#include "driver/pipeline/enumerate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace allranks::pipeline {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

ProjectFiles In(std::map<std::string, std::string> files, std::vector<std::string> paths, EnumerateOptions options = {}) {
  options.paths = std::move(paths);
  return Enumerate(options, PathMap(".", ""), source::MemoryFileSystem(std::move(files)));
}

std::vector<std::string> Requested(const ProjectFiles& project) {
  std::vector<std::string> requested;
  for (size_t i = 0; i < project.all.size(); ++i) {
    if (project.requested[i]) requested.push_back(project.all[i]);
  }
  return requested;
}

TEST(EnumerateTest, PythonFilesAndNotebooksSorted) {
  const ProjectFiles project = In({{"b.py", ""}, {"a/c.ipynb", ""}, {"a/d.txt", ""}, {"a.py", ""}}, {"."});
  EXPECT_THAT(Requested(project), ElementsAre("a.py", "a/c.ipynb", "b.py"));
  EXPECT_THAT(project.errors, IsEmpty());
}

TEST(EnumerateTest, TheProjectAroundIsKnownButNotRequested) {
  const ProjectFiles project = In({{"a/x.py", ""}, {"b/y.py", ""}}, {"a"});
  EXPECT_THAT(project.all, ElementsAre("a/x.py", "b/y.py"));
  EXPECT_THAT(Requested(project), ElementsAre("a/x.py"));
}

TEST(EnumerateTest, AFolderWithALicenceOfOthers) {
  const std::string own = "Copyright (c) 2024 Jane Doe";
  std::map<std::string, std::string> files = {{"LICENSE", own}, {"a.py", ""}, {"copy/LICENSE", "Copyright 2020 Example, Inc."}, {"copy/x.py", ""},
                                              {"part/LICENSE", own}, {"part/y.py", ""}};
  EXPECT_THAT(Requested(In(files, {"."})), ElementsAre("a.py", "part/y.py"));
  EXPECT_THAT(Requested(In(files, {"copy"})), ElementsAre("copy/x.py"));
  files.erase("LICENSE");
  EXPECT_THAT(Requested(In(files, {"."})), ElementsAre("a.py", "copy/x.py", "part/y.py"));
}

TEST(EnumerateTest, NestedIgnoreFiles) {
  const ProjectFiles project = In({{".gitignore", "*.gen.py\nout/\n"},
                                   {"a.gen.py", ""},
                                   {"out/x.py", ""},
                                   {"sub/.gitignore", "!keep.gen.py\nlocal.py\n"},
                                   {"sub/keep.gen.py", ""},
                                   {"sub/local.py", ""},
                                   {"sub/deep/local.py", ""},
                                   {"local.py", ""}},
                                  {"."});
  EXPECT_THAT(Requested(project), ElementsAre("local.py", "sub/keep.gen.py"));
}

TEST(EnumerateTest, IgnoreFilesAboveTheRequestedFolderCount) {
  const ProjectFiles project = In({{".gitignore", "gen.py\n"}, {"a/gen.py", ""}, {"a/x.py", ""}}, {"a"});
  EXPECT_THAT(Requested(project), ElementsAre("a/x.py"));
}

TEST(EnumerateTest, IgnoredFilesMayBeWantedAllTheSame) {
  std::map<std::string, std::string> files = {{".gitignore", "out/\ngen.py\n"}, {"out/x.py", ""}, {"gen.py", ""}};
  EXPECT_THAT(Requested(In(files, {"gen.py"})), ElementsAre("gen.py"));
  EXPECT_THAT(Requested(In(files, {"out"})), ElementsAre("out/x.py"));
  EnumerateOptions options;
  options.respect_gitignore = false;
  EXPECT_THAT(Requested(In(files, {"."}, options)), ElementsAre("gen.py", "out/x.py"));
}

TEST(EnumerateTest, OtherPeoplesCodeIsSkipped) {
  const ProjectFiles project = In({{"node_modules/a.py", ""},
                                   {".git/hooks/b.py", ""},
                                   {"env/pyvenv.cfg", ""},
                                   {"env/lib/c.py", ""},
                                   {".venv/d.py", ""},
                                   {"__pypackages__/e.py", ""},
                                   {"x.py", ""}},
                                  {"."});
  EXPECT_THAT(project.all, ElementsAre("x.py"));
  std::vector<std::string> said;
  for (const LeftOutPath& each : project.left_out) said.push_back(each.path);
  EXPECT_THAT(said, ElementsAre(".venv", "__pypackages__", "env", "node_modules"));
}

TEST(EnumerateTest, InstalledPackagesMayBeWantedAllTheSame) {
  EXPECT_THAT(Requested(In({{"node_modules/a.py", ""}, {".venv/pyvenv.cfg", ""}, {".venv/b.py", ""}}, {"node_modules", ".venv/b.py"})),
              ElementsAre(".venv/b.py", "node_modules/a.py"));
}

TEST(EnumerateTest, WhatABuildMadeIsReadAndNotChecked) {
  const ProjectFiles project = In({{"build/lib/a.py", ""}, {"pkg/dist/b.py", ""}, {"buildings/c.py", ""}}, {"."});
  EXPECT_THAT(project.all, ElementsAre("build/lib/a.py", "buildings/c.py", "pkg/dist/b.py"));
  EXPECT_THAT(Requested(project), ElementsAre("buildings/c.py"));
  EXPECT_THAT(Requested(In({{"dist/a.py", ""}, {"b.py", ""}}, {".", "dist"})), ElementsAre("b.py", "dist/a.py"));
}

TEST(EnumerateTest, Exclude) {
  EnumerateOptions options;
  options.exclude = {"tests/", "*_pb2.py"};
  const ProjectFiles project = In({{"tests/a.py", ""}, {"x_pb2.py", ""}, {"x.py", ""}}, {"."}, options);
  EXPECT_THAT(Requested(project), ElementsAre("x.py"));
}

TEST(EnumerateTest, WhatIsNotThereIsAnErrorAndTheRestIsDone) {
  const ProjectFiles project = In({{"x.py", ""}}, {"x.py", "nowhere.py"});
  EXPECT_THAT(Requested(project), ElementsAre("x.py"));
  ASSERT_EQ(project.errors.size(), 1u);
  EXPECT_EQ(project.errors[0].path, "nowhere.py");
}

TEST(EnumerateTest, CodeOfOthersIsReadAndNamedOnlyWhereItWasAskedFor) {
  const auto left_out = [](const ProjectFiles& project) {
    std::vector<std::string> paths;
    for (const LeftOutPath& each : project.left_out) paths.push_back(each.path);
    return paths;
  };
  const std::map<std::string, std::string> texts = {{"a/x.py", ""}, {"third_party/y.py", ""}};
  EXPECT_THAT(Requested(In(texts, {"."})), ElementsAre("a/x.py"));
  EXPECT_THAT(left_out(In(texts, {"."})), ElementsAre("third_party"));
  EXPECT_THAT(left_out(In(texts, {"a"})), IsEmpty());
  EXPECT_THAT(Requested(In(texts, {"third_party"})), ElementsAre("third_party/y.py"));
}

TEST(EnumerateTest, ACheckoutOfAFrameworkInsideAnotherProjectIsACopy) {
  const std::map<std::string, std::string> inside = {{"train.py", ""}, {"nlu/setup.py", ""}, {"nlu/src/transformers/__init__.py", ""},
                                                     {"nlu/examples/run.py", ""}};
  EXPECT_THAT(Requested(In(inside, {"."})), ElementsAre("train.py"));
  EXPECT_THAT(In(inside, {"."}).all, Contains("nlu/examples/run.py"));
  EXPECT_THAT(Requested(In(inside, {"nlu/examples"})), ElementsAre("nlu/examples/run.py"));
}

TEST(EnumerateTest, TheFrameworkItselfIsNoCopy) {
  EXPECT_THAT(Requested(In({{"setup.py", ""}, {"src/transformers/__init__.py", ""}, {"examples/run.py", ""}}, {"."})),
              ElementsAre("examples/run.py", "setup.py", "src/transformers/__init__.py"));
  EXPECT_THAT(Requested(In({{"python/setup.py", ""}, {"python/megatron/__init__.py", ""}}, {"."})),
              ElementsAre("python/megatron/__init__.py", "python/setup.py"));
}

TEST(EnumerateTest, AFolderThatOnlySharesTheNameIsNoCopy) {
  EXPECT_THAT(Requested(In({{"setup.py", ""}, {"models/megatron/__init__.py", ""}}, {"."})), ElementsAre("models/megatron/__init__.py", "setup.py"));
}

constexpr const char* kOfExample = "# Copyright (c) Example, Inc. and its affiliates.\n";

TEST(EnumerateTest, APackageOfAFrameworkWhoseFilesNameAnotherHolder) {
  std::map<std::string, std::string> files = {{"LICENSE", "Copyright (c) 2024 Jane Doe"}, {"train.py", ""}, {"fairseq/__init__.py", ""},
                                              {"fairseq/utils.py", kOfExample}, {"fairseq/deep/x.py", ""}};
  EXPECT_THAT(Requested(In(files, {"."})), ElementsAre("train.py"));
  EXPECT_THAT(Requested(In(files, {"fairseq/deep"})), ElementsAre("fairseq/deep/x.py"));
  files["LICENSE"] = "Copyright (c) 2020 Example, Inc.";
  EXPECT_THAT(Requested(In(files, {"."})), Contains("fairseq/utils.py"));
  files.erase("LICENSE");
  EXPECT_THAT(Requested(In(files, {"."})), Contains("fairseq/utils.py"));
}

TEST(EnumerateTest, APackageWhoseFilesPointToALicenceThatIsNotHere) {
  std::map<std::string, std::string> files = {{"mine/train.py", ""}, {"fairseq/__init__.py", ""},
                                              {"fairseq/utils.py", std::string(kOfExample) + "# LICENSE file in the root directory of this source tree.\n"}};
  EXPECT_THAT(Requested(In(files, {"."})), ElementsAre("mine/train.py"));
  files.erase("mine/train.py");
  EXPECT_THAT(Requested(In(files, {"."})), Contains("fairseq/utils.py"));
}

TEST(EnumerateTest, APackageMayNameItsHolderFurtherIn) {
  const std::map<std::string, std::string> files = {{"train.py", ""}, {"fairseq/__init__.py", ""}, {"fairseq/optim/__init__.py", ""},
                                                    {"fairseq/optim/adam.py", std::string(kOfExample) + "# LICENSE file in the root directory of this source tree.\n"}};
  EXPECT_THAT(Requested(In(files, {"."})), ElementsAre("train.py"));
}

TEST(EnumerateTest, SeveralFrameworksInOneProjectAreOfOthers) {
  std::map<std::string, std::string> files = {{"train.py", ""}, {"fairseq/__init__.py", ""}, {"detectron2/__init__.py", ""}};
  EXPECT_THAT(Requested(In(files, {"."})), ElementsAre("train.py"));
  files.erase("detectron2/__init__.py");
  EXPECT_THAT(Requested(In(files, {"."})), Contains("fairseq/__init__.py"));
}

TEST(EnumerateTest, AFrameworkThatTheProjectPackagesIsItsOwn) {
  const std::map<std::string, std::string> files = {{"LICENSE", "Copyright (c) 2024 Jane Doe"}, {"setup.py", "setup(\n    name = 'verl',\n)\n"},
                                                    {"verl/__init__.py", kOfExample}, {"verl/worker.py", kOfExample}, {"examples/run.py", ""}};
  EXPECT_THAT(Requested(In(files, {"."})), ElementsAre("examples/run.py", "setup.py", "verl/__init__.py", "verl/worker.py"));
}

TEST(EnumerateTest, AProjectOfProgramsThatOthersBegan) {
  std::map<std::string, std::string> files = {{"LICENSE", "Copyright (c) 2024 Jane Doe"}, {"reasoning/LICENSE", "Copyright (c) 2020 Example, Inc."},
                                              {"reasoning/train.py", ""}, {"vision/lib/LICENSE", "Copyright (c) 2019 Somebody"}, {"vision/lib/x.py", ""}};
  EXPECT_THAT(Requested(In(files, {"."})), ElementsAre("reasoning/train.py"));
  files["train.py"] = "";
  EXPECT_THAT(Requested(In(files, {"."})), ElementsAre("train.py"));
}

TEST(EnumerateTest, FoldersThatMayBeAPackageOfTheProject) {
  const std::map<std::string, std::string> files = {{"a/external/__init__.py", ""}, {"a/external/x.py", ""}, {"deps/y.py", ""}, {"a/_vendor/__init__.py", ""}};
  EXPECT_THAT(Requested(In(files, {"."})), ElementsAre("a/external/__init__.py", "a/external/x.py"));
}

std::vector<std::pair<std::string, LeftOut>> LeftOutIn(const ProjectFiles& project) {
  std::vector<std::pair<std::string, LeftOut>> left_out;
  for (const LeftOutPath& each : project.left_out) left_out.emplace_back(each.path, each.why);
  return left_out;
}

TEST(EnumerateTest, WhatGitAttributesSayOfAFile) {
  const std::map<std::string, std::string> files = {{".gitattributes", "gen/* linguist-generated\nlibs/*.py linguist-vendored\n"},
                                                    {"gen/a.py", ""}, {"gen/b.py", ""}, {"gen/.gitattributes", "b.py -linguist-generated\n"},
                                                    {"libs/c.py", ""}, {"d.py", ""}};
  const ProjectFiles project = In(files, {"."});
  EXPECT_THAT(Requested(project), ElementsAre("d.py", "gen/b.py"));
  EXPECT_THAT(LeftOutIn(project), ElementsAre(testing::Pair("gen/a.py", LeftOut::Generated), testing::Pair("libs/c.py", LeftOut::Vendored)));
  EXPECT_THAT(Requested(In(files, {"gen/a.py"})), ElementsAre("gen/a.py"));
}

TEST(EnumerateTest, AFileThatSaysItIsGeneratedIsJudgedOnlyWhereItIsNamed) {
  const ProjectFiles below = In({{"gen/a.py", ""}}, {"gen"});
  EXPECT_TRUE(below.IsJudged(0, false));
  EXPECT_FALSE(below.IsJudged(0, true));
  EXPECT_TRUE(In({{"gen/a.py", ""}}, {"gen/a.py"}).IsJudged(0, true));
  EXPECT_TRUE(In({{".gitattributes", "*.py -linguist-generated\n"}, {"a.py", ""}}, {"."}).IsJudged(0, true));
}

TEST(EnumerateTest, OverlaysNeedNoFile) {
  EnumerateOptions options;
  options.overlays = {"new.py"};
  EXPECT_THAT(Requested(In({{"x.py", ""}}, {"new.py"}, options)), ElementsAre("new.py"));
}

TEST(EnumerateTest, ImportsStartAtPackagingFilesAndTheirSrc) {
  const ProjectFiles project = In({{"pyproject.toml", ""}, {"lib/setup.py", ""}, {"x.py", ""}}, {"."});
  EXPECT_THAT(project.import_roots, ElementsAre("", "src", "lib", "lib/src"));
  EXPECT_THAT(In({{"x.py", ""}}, {"."}).import_roots, Contains(""));
}

}  // namespace
}  // namespace allranks::pipeline
