// The message of a finding in two: what stands in its headline, and the rest.
#pragma once

#include <string>

namespace allranks::reports {

struct Headline {
  std::string head;
  std::string rest;  // empty: the head is all
};

// A long message is taken apart behind its first colon that is not part of code.
Headline HeadlineOf(const std::string& message);

}  // namespace allranks::reports
