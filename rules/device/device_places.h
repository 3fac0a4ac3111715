// Where the program says which device it means.
#pragma once

#include <vector>

#include "rules/rule.h"

namespace allranks::rules {

// A number that picks one of a node's devices.
struct DevicePlace {
  objects::Site site;          // the number as written
  variation::ValueId ordinal;
  std::string sink;            // "torch.cuda.set_device", "the device `cuda:...`"
};

// Arguments that select a device (`select_device` in the knowledge base) and texts such as f"cuda:{rank}".
std::vector<DevicePlace> DevicePlaces(const Context& context);

}  // namespace allranks::rules
