// `loss.backward()` in files where a framework has taken the model over, so that its own backward is the one to call.
#pragma once

#include <functional>

#include "rules/finding_parts.h"

namespace allranks::rules {

struct BypassedBackward {
  objects::Site backward;
  ir::ExprId loss;
  const objects::KnownCall* taken_over = nullptr;  // the call that gives the model to the framework
};

// PyTorch's own `backward`, without arguments, in files with such a call and without a DDP wrapper beside it.
std::vector<BypassedBackward> BypassedBackwards(const Context& context,
                                                const std::function<bool(std::string_view entry)>& takes_over);

// A finding at one, its message `{}` being the loss, with its labels.
Finding FindingAt(const Context& context, std::string_view code, const BypassedBackward& found, std::string_view message,
                  std::string_view why);

}  // namespace allranks::rules
