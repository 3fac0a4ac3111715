// Typed members of a JSON object that nobody vouches for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace allranks::witness {

using Json = nlohmann::ordered_json;

constexpr size_t kLongestText = 4096;

// Reads typed members and remembers the first thing that is wrong, with its place; later reads give defaults.
class JsonReader {
 public:
  const std::string& error() const { return error_; }
  void Fail(const std::string& where, const std::string& what) {
    if (error_.empty()) error_ = where.empty() ? what : where + ": " + what;
  }
  // True if `value` is an object with no other keys than these.
  bool Object(const Json& value, const std::string& where, std::initializer_list<std::string_view> keys) {
    if (!value.is_object()) return Fail(where, "an object is expected"), false;
    for (const auto& member : value.items()) {
      if (std::find(keys.begin(), keys.end(), member.key()) == keys.end()) {
        return Fail(where, "unknown key `" + member.key().substr(0, 80) + "`"), false;
      }
    }
    return true;
  }
  const Json* Member(const Json& object, const std::string& where, const char* key, bool required) {
    const auto found = object.find(key);
    if (found != object.end()) return &*found;
    if (required) Fail(where, "key `" + std::string(key) + "` is missing");
    return nullptr;
  }
  const Json* Array(const Json& object, const std::string& where, const char* key, bool required,
                    size_t most) {
    const Json* value = Member(object, where, key, required);
    if (value == nullptr) return nullptr;
    if (!value->is_array()) return Fail(Path(where, key), "a list is expected"), nullptr;
    if (value->size() > most) {
      return Fail(Path(where, key), "more than " + std::to_string(most) + " elements"), nullptr;
    }
    return value;
  }
  void Text(const Json& object, const std::string& where, const char* key, bool required, std::string& out) {
    const Json* value = Member(object, where, key, required);
    if (value == nullptr) return;
    if (!value->is_string()) return Fail(Path(where, key), "a text is expected");
    const std::string& text = value->get_ref<const std::string&>();
    if (text.size() > kLongestText) return Fail(Path(where, key), "the text is too long");
    out = text;
  }
  template <class Number>
  void Integer(const Json& object, const std::string& where, const char* key, bool required, Number& out) {
    const Json* value = Member(object, where, key, required);
    if (value != nullptr) IntegerOf(*value, Path(where, key), out);
  }
  template <class Number>
  void IntegerOf(const Json& value, const std::string& where, Number& out) {
    if (!value.is_number_integer()) return Fail(where, "a whole number is expected");
    const bool fits = value.is_number_unsigned()
                          ? value.get<uint64_t>() <= uint64_t{std::numeric_limits<Number>::max()}
                          : value.get<int64_t>() >= int64_t{std::numeric_limits<Number>::min()};
    if (!fits) return Fail(where, "the number is out of range");
    out = value.get<Number>();
  }
  void Real(const Json& object, const std::string& where, const char* key, bool required, double& out) {
    const Json* value = Member(object, where, key, required);
    if (value == nullptr) return;
    if (!value->is_number()) return Fail(Path(where, key), "a number is expected");
    out = value->get<double>();
  }
  void Flag(const Json& object, const std::string& where, const char* key, bool& out) {
    const Json* value = Member(object, where, key, false);
    if (value == nullptr) return;
    if (!value->is_boolean()) return Fail(Path(where, key), "true or false is expected");
    out = value->get<bool>();
  }
  template <class Number>
  void Integers(const Json& object, const std::string& where, const char* key, size_t most,
                std::vector<Number>& out) {
    const Json* list = Array(object, where, key, true, most);
    for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
      IntegerOf((*list)[i], At(Path(where, key), i), out.emplace_back());
    }
  }
  static std::string Path(const std::string& where, std::string_view key) {
    return where.empty() ? std::string(key) : where + "." + std::string(key);
  }
  static std::string At(const std::string& where, size_t index) {
    return where + "[" + std::to_string(index) + "]";
  }

 private:
  std::string error_;
};

}  // namespace allranks::witness
