#pragma once

#include <string>
#include <tl/expected.hpp>

namespace allranks::base {

// What went wrong, where, and how to fix it: one line that a person can act on.
struct Error {
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> Fail(std::string message) { return tl::unexpected<Error>(Error{std::move(message)}); }

}  // namespace allranks::base
