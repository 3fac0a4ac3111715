// NCCL's monitor (RAS, `SET FORMAT json`): how many operations of each kind every rank of a communicator has launched.
#pragma once

#include <string>

#include "explain/readers/document.h"
#include "explain/readers/recording.h"

namespace allranks::explain {

bool IsRas(const Document& document, ValueIndex root);
void AddRas(const Document& document, ValueIndex root, Recording& recording);

// NCCL 2.28.7 to 2.28.9 leave out a comma after "nvml_dev" of missing ranks: the text with it.
std::string WithMissingCommas(std::string_view text);

}  // namespace allranks::explain
