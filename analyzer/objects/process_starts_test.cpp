#include "analyzer/objects/process_starts.h"

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class ProcessStartsTest : public ObjectsTest {
 protected:
  // Of the function of `asked(...)`: "parent", "started", "alone".
  std::string Of(const std::string& text) {
    Read("import torch.multiprocessing as mp\n" + text);
    const ProcessStarts starts(program(), facts(), index());
    const FuncId function = Asked().function;
    std::string answer;
    if (starts.IsParent(function)) answer += "parent ";
    if (starts.IsStarted(function)) answer += "started ";
    if (starts.IsStartedAlone(function)) answer += "alone ";
    return answer;
  }
};

TEST_F(ProcessStartsTest, SpawnedFunctionsAndWhatTheyCall) {
  EXPECT_EQ(Of("def worker(rank):\n  asked(rank)\ndef main():\n  mp.spawn(worker, nprocs=4)\n"), "started ");
  EXPECT_EQ(Of("def step(rank):\n  asked(rank)\ndef worker(rank):\n  step(rank)\ndef main():\n  mp.spawn(worker, nprocs=4)\n"), "started ");
}

TEST_F(ProcessStartsTest, WhoStartsThem) {
  EXPECT_EQ(Of("def worker(rank):\n  pass\ndef main():\n  asked(1)\n  mp.spawn(worker, nprocs=4)\n"), "parent ");
}

TEST_F(ProcessStartsTest, AHelperBesideTheOthers) {
  EXPECT_EQ(Of("def collect():\n  asked(1)\ndef main():\n  mp.Process(target=collect).start()\n"), "started alone ");
  EXPECT_EQ(Of("def work(i):\n  asked(i)\ndef main():\n  for i in range(4):\n    mp.Process(target=work, args=(i,)).start()\n"), "started ");
}

TEST_F(ProcessStartsTest, OtherFunctions) { EXPECT_EQ(Of("def f(x):\n  asked(x)\n"), ""); }

}  // namespace
}  // namespace allranks::objects
