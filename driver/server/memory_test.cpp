// A run that takes up what the last one left finds what a run from nothing finds.
#include <gmock/gmock.h>

#include "driver/pipeline/pipeline.h"

namespace allranks {
namespace {

constexpr const char* kTrain = R"(import torch.distributed as dist
from helpers import is_main, evaluate

def save(model):
    if is_main():
        evaluate(model)
    dist.barrier()
)";
constexpr const char* kHelpers = R"(import torch.distributed as dist
from deep import total

def is_main():
    return dist.get_rank() == 0

def evaluate(model):
    return total(model)
)";
constexpr const char* kDeep = R"(import torch.distributed as dist

def total(model):
    dist.all_reduce(model.loss)
    return model.loss
)";

std::vector<std::string> Lines(const pipeline::Analysed& analysed, const pipeline::Output& out) {
  std::vector<std::string> lines;
  for (const findings::Finding& finding : out.findings) {
    std::string line = analysed.files[finding.span.file].path + ":" + std::to_string(finding.span.begin) + " " +
                       std::string(finding.code) + " " + findings::Render(finding.message);
    for (const findings::Label& label : finding.labels) {
      line += "|" + analysed.files[label.span.file].path + ":" + std::to_string(label.span.begin) + findings::Render(label.text);
    }
    lines.push_back(std::move(line));
  }
  for (const traces::LedgerEntry& entry : out.ledger) lines.push_back(entry.name + " " + entry.reason);
  return lines;
}

class MemoryTest : public testing::Test {
 protected:
  std::vector<std::string> Fresh() const {
    pipeline::Analysed analysed;
    const auto out = pipeline::Run(Options(), files_, analysed);
    return Lines(analysed, *out);
  }
  std::vector<std::string> Again(bool disk_is_unchanged) {
    memory_.disk_is_unchanged = disk_is_unchanged;
    base::Result<pipeline::Output> out = pipeline::Run(Options(), files_, analysed_, &memory_);
    if (!out) return {out.error().message};
    if (!out->is_same) last_ = Lines(analysed_, *out);
    return last_;
  }
  pipeline::Options Options() const {
    pipeline::Options options;
    options.overlays = overlays_;
    return options;
  }

  source::MemoryFileSystem files_{{{"train.py", kTrain}, {"helpers.py", kHelpers}, {"deep.py", kDeep}}};
  std::map<std::string, std::string> overlays_;
  pipeline::Analysed analysed_;
  pipeline::Memory memory_;
  std::vector<std::string> last_;
};

TEST_F(MemoryTest, EditsOfOpenFiles) {
  overlays_["train.py"] = kTrain;
  EXPECT_EQ(Again(false), Fresh());
  EXPECT_FALSE(Fresh().empty());
  for (const char* text : {"", "import torch.distributed as dist\n\ndist.barrier()\n", "x = (", kTrain,
                           "from deep import total\n\ndef f(rank):\n    if rank == 0:\n        total(1)\n", kTrain}) {
    overlays_["train.py"] = text;
    EXPECT_EQ(Again(true), Fresh()) << text;
  }
}

TEST_F(MemoryTest, AnEditReachesOtherFiles) {
  overlays_["helpers.py"] = kHelpers;
  EXPECT_EQ(Again(false), Fresh());
  const size_t before = Fresh().size();
  overlays_["helpers.py"] = "def is_main():\n    return True\n\ndef evaluate(model):\n    return 0\n";
  EXPECT_EQ(Again(true), Fresh());
  EXPECT_NE(Fresh().size(), before);
}

TEST_F(MemoryTest, EditsOfFilesThatDoNotMatterFindTheSame) {
  files_ = source::MemoryFileSystem({{"train.py", kTrain}, {"helpers.py", kHelpers}, {"deep.py", kDeep}, {"other.py", "x = 1\n"}});
  overlays_["other.py"] = "x = 1\n";
  EXPECT_EQ(Again(false), Fresh());
  memory_.disk_is_unchanged = true;
  overlays_["other.py"] = "x = 12\n";
  EXPECT_TRUE(pipeline::Run(Options(), files_, analysed_, &memory_)->is_same);
  overlays_["other.py"] = "import torch.distributed as dist\nif dist.get_rank() == 0:\n    dist.barrier()\n";
  EXPECT_EQ(Again(true), Fresh());
  overlays_["other.py"] = "x = 1\n";
  EXPECT_EQ(Again(true), Fresh());
}

TEST_F(MemoryTest, FilesComeAndGo) {
  EXPECT_EQ(Again(false), Fresh());
  files_ = source::MemoryFileSystem({{"train.py", kTrain}, {"helpers.py", kHelpers}});
  EXPECT_EQ(Again(false), Fresh());
  files_ = source::MemoryFileSystem({{"a.py", kDeep}, {"train.py", kTrain}, {"helpers.py", kHelpers}, {"deep.py", kDeep}});
  EXPECT_EQ(Again(false), Fresh());
  files_ = source::MemoryFileSystem({{"train.py", kDeep}, {"helpers.py", kTrain}, {"deep.py", kHelpers}});
  EXPECT_EQ(Again(false), Fresh());
}

TEST_F(MemoryTest, AStoppedRunLosesNothing) {
  overlays_["train.py"] = kTrain;
  EXPECT_EQ(Again(false), Fresh());
  std::stop_source stop;
  stop.request_stop();
  memory_.stop = stop.get_token();
  EXPECT_THAT(Again(true), testing::ElementsAre("stopped"));
  memory_.stop = {};
  EXPECT_EQ(Again(true), Fresh());
}

}  // namespace
}  // namespace allranks
