#pragma once

#include <string>
#include <vector>

#include "analyzer/source/file_system.h"

namespace allranks::cpp {

// The folder of the CUDA toolkit's own headers; empty: this machine has none, or `CUDA_HOME` or `CUDA_PATH` names a
// place without them. Beside these two, /usr/local/cuda and Debian's /usr/include are looked at.
std::string InstalledCudaHeaders(const source::FileSystem& files);

// What of the environment decides that.
std::string CudaSettings();

// The same for one compile command (KeptFlags), whose own include folders go before; `installed` if they have none.
std::string CudaHeadersOf(const std::string& directory, const std::vector<std::string>& args,
                          const std::string& installed, const source::FileSystem& files);

}  // namespace allranks::cpp
