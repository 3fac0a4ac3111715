#pragma once

#include <map>
#include <string>

#include "analyzer/base/result.h"
#include "analyzer/source/file_system.h"

namespace allranks::cli {

// What `allranks verify -o FILE` has written into a JSON or SARIF report: by the name of the witness, one line such as
// "hangs on NCCL (4 ranks)".
[[nodiscard]] base::Result<std::map<std::string, std::string>> ReadVerdicts(const std::string& path,
                                                                            const source::FileSystem& files);

}  // namespace allranks::cli
