// What a program's NCCL is expected to do with a schedule, as the models say.
#pragma once

#include <string>

#include "witness/schedule.h"

namespace allranks::verify {

// Whether PyTorch issues the operations: sends and receives that are in no batch then go over communicators of pairs, and
// communicators are made as it makes them.
bool IsOfPyTorch(const witness::Witness& witness);

// Whether some barrier stands for a call that has another name, such as one that sets the job up: a communicator that it is on
// need not be made by it.
bool HasStandIns(const witness::Witness& witness);

// As NCCL gets it.
witness::Schedule OnNccl(const witness::Witness& witness);

struct Expectation {
  std::string rings;          // "LL deadlock, Simple corruption": on communicators that are made; empty: too many ranks
  bool at_first_use = false;  // it hangs where the first operation on each communicator makes that, though rings need not
  std::string Text() const;   // all in one sentence part; says which of the two the program does
  witness::Communicators communicators = witness::Communicators::Unknown;
  bool is_pytorch = false;
};

Expectation ExpectedOf(const witness::Witness& witness);

}  // namespace allranks::verify
