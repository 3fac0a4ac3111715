#pragma once

#include "runtime-verify/backends/backend.h"

namespace allranks::verify {

// NCCL on the CUDA driver, both loaded at run time. Built without their headers it says so when it connects.
std::unique_ptr<Backend> MakeNcclBackend();

}  // namespace allranks::verify
