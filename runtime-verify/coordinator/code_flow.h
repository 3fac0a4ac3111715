// The code flow of a SARIF result, one thread flow a class of ranks, told what was seen of each.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "runtime-verify/coordinator/verdict.h"

namespace allranks::verify {

// Says at the operation in which ranks were stuck who waits there, for whom, and on what that was seen. What an earlier
// verdict said is replaced; a result without code flow, or with one of something else, is left as it is.
void MarkCodeFlow(const witness::Witness& witness, const Verdict& verdict, nlohmann::ordered_json* result);

}  // namespace allranks::verify
