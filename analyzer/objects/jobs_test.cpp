#include "analyzer/objects/jobs.h"

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class JobsTest : public ObjectsTest {
 protected:
  // Of the function of `asked(...)`: "run", "of job".
  std::string Of(const std::string& text) {
    Read(text);
    const Jobs jobs(program(), index());
    std::string answer;
    if (jobs.IsRun(Asked().function)) answer += "run ";
    if (jobs.IsOfJob(Asked().function)) answer += "of job ";
    return answer;
  }
};

TEST_F(JobsTest, WhatTheTopOfTheFileCalls) {
  EXPECT_EQ(Of("def f(x):\n  asked(x)\nf(1)\n"), "run ");
  EXPECT_EQ(Of("def f(x):\n  asked(x)\n"), "");
}

TEST_F(JobsTest, AFileThatJoinsAJob) {
  EXPECT_EQ(Of("def f(x):\n  asked(x)\ndef setup():\n  dist.init_process_group()\n"), "of job ");
}

TEST_F(JobsTest, WhatJoinsAJobAndNobodyCallsIsThereToBeRun) {
  EXPECT_EQ(Of("def f(x):\n  dist.init_process_group()\n  asked(x)\n"), "run of job ");
}

}  // namespace
}  // namespace allranks::objects
