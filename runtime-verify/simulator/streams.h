// What NCCL adds to matching: the operations of a rank on one communicator run in the order in which they were issued, also
// those that the program does not wait for; and a send or receive holds the caller until the other side has connected. What
// PyTorch adds to NCCL: when it makes communicators, and which operations go over which.
#pragma once

#include "witness/schedule.h"

namespace allranks::verify {

// Whether point-to-point operations hang in the order of their communicator's stream: two ranks that both send first, or a
// receive behind a collective that the sender reaches later. Those of a batch go together.
bool HangsOnStream(const witness::Schedule& schedule);

// Whether ranks wait for each other where the first operation on each communicator makes it: the caller is held until all members
// have come to their first one, whatever that is. All else is left out, as what is put on the device holds no caller.
bool HangsAtFirstUse(const witness::Schedule& schedule);

// As PyTorch runs sends and receives that are in no batch: each pair of ranks has a communicator of its own for them.
witness::Schedule WithPairCommunicators(witness::Schedule schedule);

}  // namespace allranks::verify
