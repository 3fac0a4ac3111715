#pragma once

#include <string>

#include "witness/witness.h"

namespace allranks::verify {

// The same schedule with more ranks: those that are new do what the largest class does. Only a witness all of
// whose communicators hold all ranks can grow; otherwise `error` says so and nothing changes.
witness::Witness ScaledTo(const witness::Witness& witness, uint32_t world, std::string* error);

}  // namespace allranks::verify
