#include "analyzer/binding/program.h"

#include <gtest/gtest.h>

#include <string>

namespace allranks::binding {
namespace {

// Modules m0, m1, ... without a file.
struct Project {
  explicit Project(uint32_t size) {
    program.names = &names;
    for (uint32_t i = 0; i < size; ++i) program.infos.Add({.path = {}, .dotted = "m" + std::to_string(i)});
    program.top_level.resize(size);
    program.stars.resize(size);
  }
  void Define(uint32_t module, std::string_view name) {
    program.top_level[module][names.Intern(name)] = {.kind = TargetKind::Variable, .module = ModuleId{module}, .name = names.Intern(name)};
  }
  // from mOTHER import ORIGINAL as NAME
  void Import(uint32_t module, std::string_view name, uint32_t other, std::string_view original) {
    program.top_level[module][names.Intern(name)] = {.kind = TargetKind::Variable, .module = ModuleId{other}, .name = names.Intern(original)};
  }
  void Star(uint32_t module, uint32_t other) { program.stars[module].push_back(ModuleId{other}); }
  Target Lookup(uint32_t module, std::string_view name) { return program.Lookup(ModuleId{module}, names.Intern(name)); }

  base::Interner names;
  Program program;
};

TEST(Lookup, FollowsStarsAndOtherNames) {
  Project project(3);
  project.Star(0, 1);
  project.Import(1, "wait", 2, "barrier");
  project.Define(2, "barrier");
  const Target target = project.Lookup(0, "wait");
  EXPECT_EQ(target.kind, TargetKind::Variable);
  EXPECT_EQ(target.module, ModuleId{2});
  EXPECT_EQ(project.names.View(target.name), "barrier");
}

TEST(Lookup, ANameThatIsImportedInACircleIsNowhere) {
  Project project(2);
  project.Import(0, "a", 1, "a");
  project.Import(1, "a", 0, "a");
  EXPECT_EQ(project.Lookup(0, "a").kind, TargetKind::None);
}

// Each module takes all of each other one, and each name from the next under another name: no way is gone twice.
TEST(Lookup, EndsWhereAllModulesImportEachOther) {
  constexpr uint32_t kModules = 30;
  Project project(kModules);
  for (uint32_t i = 0; i < kModules; ++i) {
    for (uint32_t other = 0; other < kModules; ++other) project.Star(i, other);
    project.Import(i, "n" + std::to_string(i), (i + 1) % kModules, "n" + std::to_string((i + 2) % kModules));
  }
  EXPECT_EQ(project.Lookup(0, "n5").kind, TargetKind::None);
  EXPECT_EQ(project.Lookup(0, "missing").kind, TargetKind::None);
}

}  // namespace
}  // namespace allranks::binding
