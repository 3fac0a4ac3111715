#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace allranks::base {

// "accum_iter" of "--accum-iter": the attribute that argparse gives to an option.
inline std::string OptionAttribute(std::string_view option) {
  std::string name(option.substr(std::min(option.find_first_not_of('-'), option.size())));
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace allranks::base
