// What a program's NCCL is expected to do with a schedule, as the models say.
#pragma once

#include <string>

#include "witness/schedule.h"

namespace allranks::verify {

// Whether PyTorch issues the operations: sends and receives that are in no batch then go over communicators of pairs, and
// communicators are made as it makes them.
bool IsOfPyTorch(const witness::Witness& witness);

// As NCCL gets it, on communicators that are made.
witness::Schedule OnNccl(const witness::Witness& witness);

// The same where the first operation on each communicator makes it. A barrier that stands for a call of another name, such as
// one that sets the job up, makes no communicator of its group: each has one to itself, on which its ranks meet.
witness::Schedule OnNcclAtFirstUse(const witness::Witness& witness);

struct Expectation {
  std::string rings;          // "LL deadlock, Simple corruption": on communicators that are made; empty: too many ranks
  std::string words;          // the same for people: "deadlock (protocols LL and Simple)"
  bool at_first_use = false;  // it hangs where the first operation on each communicator makes that, though rings need not
  std::string Text() const;   // all in one sentence part; says which of the two the program does
  witness::Communicators communicators = witness::Communicators::Unknown;
  bool is_pytorch = false;
};

Expectation ExpectedOf(const witness::Witness& witness);

}  // namespace allranks::verify
