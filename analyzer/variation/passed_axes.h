// Along which axes a value differs between ranks where a parameter in it is what callers pass.
#pragma once

#include "analyzer/variation/facts.h"

namespace allranks::variation {

knowledge::Axes PassedAxes(const Facts& facts, ValueId value);

}  // namespace allranks::variation
