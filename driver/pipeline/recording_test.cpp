#include "driver/pipeline/recording.h"

#include <gtest/gtest.h>

namespace allranks::pipeline {
namespace {

using Files = std::map<std::string, std::string>;

// Whether all that was asked of the one disk has the same answer on the other.
bool IsSame(const Files& before, const Files& after) {
  const source::MemoryFileSystem then(before);
  const source::MemoryFileSystem now(after);
  const Unlisted unlisted(".cache", "/p");
  const RecordingFileSystem recording(then, unlisted);
  (void)recording.List("/p");
  (void)recording.Read("/p/a.py");
  (void)recording.Kind("/p/b.py");
  (void)recording.Canonical("/p/a.py");
  const std::optional<std::vector<Question>> questions = recording.Questions();
  if (!questions) return false;
  EXPECT_EQ(questions->size(), 4u);
  for (const Question& each : *questions) {
    if (!(AnswerNow(each.asked, each.path, now, unlisted) == each.answer)) return false;
  }
  return true;
}

TEST(Recording, AnswersAreCompared) {
  const Files before = {{"/p/a.py", "x = 1\n"}};
  EXPECT_TRUE(IsSame(before, before));
  EXPECT_FALSE(IsSame(before, {{"/p/a.py", "x = 2\n"}}));
  EXPECT_FALSE(IsSame(before, {{"/p/a.py", "x = 1\n"}, {"/p/b.py", ""}})) << "an error is an answer";
  EXPECT_FALSE(IsSame(before, {{"/p/a.py", "x = 1\n"}, {"/p/c.py", ""}})) << "of a folder all that is in it";
  EXPECT_FALSE(IsSame(before, {}));
}

TEST(Recording, TheCacheIsInNoListing) {
  const Files before = {{"/p/a.py", "x = 1\n"}};
  EXPECT_TRUE(IsSame(before, {{"/p/a.py", "x = 1\n"}, {"/p/.cache/CACHEDIR.TAG", ""}}));
  EXPECT_TRUE(Unlisted("/q/.cache", "/p").Is("../q", ".cache"));
  EXPECT_TRUE(Unlisted(".cache", "/p").Is(".", ".cache"));
  EXPECT_FALSE(Unlisted(".cache", "/p").Is("sub", ".cache"));
}

TEST(Recording, ADiskThatChangesMeanwhileSaysNothing) {
  class Changing : public source::MemoryFileSystem {
   public:
    Changing() : MemoryFileSystem(Files()) {}
    base::Result<std::string> Read(const std::string&) const override { return std::to_string(++reads_); }

   private:
    mutable int reads_ = 0;
  };
  const Changing files;
  const RecordingFileSystem recording(files, Unlisted("", ""));
  (void)recording.Read("a.py");
  EXPECT_TRUE(recording.Questions());
  (void)recording.Read("a.py");
  EXPECT_FALSE(recording.Questions());
}

}  // namespace
}  // namespace allranks::pipeline
