#include "driver/reports/headline.h"

namespace allranks::reports {
namespace {

// What a terminal shows on one line beside severity and code.
constexpr size_t kLongest = 99;

}  // namespace

Headline HeadlineOf(const std::string& message) {
  if (message.size() <= kLongest) return {message, ""};
  bool in_code = false;
  for (size_t i = 0; i + 1 < message.size(); ++i) {
    if (message[i] == '`') in_code = !in_code;
    if (!in_code && message[i] == ':' && message[i + 1] == ' ') return {message.substr(0, i), message.substr(i + 2)};
  }
  return {message, ""};
}

}  // namespace allranks::reports
