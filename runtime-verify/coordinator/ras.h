#pragma once

#include <chrono>
#include <string>

namespace allranks::verify {

// NCCL's own monitor (2.24 and later), asked over its socket: how many operations of each kind every rank has
// launched. It says nothing about completion, order, roots or sizes. Empty if nobody answers.
std::string AskRas(const std::string& address, std::chrono::milliseconds limit);

}  // namespace allranks::verify
