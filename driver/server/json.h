#pragma once

#include <nlohmann/json.hpp>

namespace allranks::server {

using Json = nlohmann::json;

// A member of an object, or null: for what a client may leave out. Never throws.
inline const Json& At(const Json& object, const char* key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

// A member of nested objects.
template <class... Keys>
const Json& At(const Json& object, const char* key, Keys... keys) {
  return At(At(object, key), keys...);
}

inline bool IsTrue(const Json& value) { return value.is_boolean() && value.get<bool>(); }

}  // namespace allranks::server
