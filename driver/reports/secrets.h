// Values that a report must not repeat: `WANDB_API_KEY=...`, `--hf_token ...`, `password: ...` in files that start jobs.
//
// A secret is told by the name in front of it. What is taken for one that is none is shown as stars, no more; what has
// another name is shown.
#pragma once

#include <string>
#include <string_view>

namespace allranks::reports {

// The text with a star for each byte of such a value, so that places in it stay what they are. A value that another
// variable holds (`$TOKEN`) is shown.
std::string WithoutSecrets(std::string_view text);

}  // namespace allranks::reports
