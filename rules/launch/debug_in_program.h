// Variables for looking for errors that a program sets for itself: `os.environ["CUDA_LAUNCH_BLOCKING"] = "1"`.
#pragma once

#include <string_view>

#include "rules/rule.h"

namespace allranks::rules {

// Where all ranks of a job set one, whatever they are told. Under a test it may be asked for; in a notebook somebody is at work.
void FindDebugInProgram(const Context& context, std::string_view code, FindingSink& sink);

}  // namespace allranks::rules
