#include "explain/readers/json.h"

#include <nlohmann/json.hpp>

namespace allranks::explain {
namespace {

constexpr size_t kDeepest = 64;

// Builds the document as the parser goes: no second tree in between.
class Builder {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  bool null() { return Put(result.document.AddNone()); }
  bool boolean(bool value) { return Put(result.document.AddBool(value)); }
  bool number_integer(number_integer_t value) { return Put(result.document.AddInt(value)); }
  bool number_unsigned(number_unsigned_t value) { return Put(result.document.AddInt(static_cast<int64_t>(value))); }
  bool number_float(number_float_t value, const string_t&) { return Put(result.document.AddFloat(value)); }
  bool string(string_t& value) { return Put(result.document.AddOwnText(std::move(value))); }
  bool binary(binary_t&) { return false; }
  bool key(string_t& value) { return Put(result.document.AddOwnText(std::move(value))); }
  bool start_object(size_t) { return Open(ValueKind::Dict); }
  bool start_array(size_t) { return Open(ValueKind::List); }
  bool end_object() { return Close(); }
  bool end_array() { return Close(); }
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) {
    if (result.error.empty()) result.error = "not readable as JSON (byte " + std::to_string(position) + ")";
    return false;
  }

  ReadDocument result;

 private:
  bool Put(ValueIndex value) {
    if (open_.empty()) result.root = value;
    else result.document.Append(open_.back(), &value, 1);
    return true;
  }
  bool Open(ValueKind kind) {
    if (open_.size() >= kDeepest) return result.error = "nested deeper than 64 levels", false;
    const ValueIndex container = result.document.AddContainer(kind);
    Put(container);
    open_.push_back(container);
    return true;
  }
  bool Close() { return open_.pop_back(), true; }

  std::vector<ValueIndex> open_;
};

}  // namespace

ReadDocument ReadJson(std::string_view text) {
  Builder builder;
  const bool whole = nlohmann::json::sax_parse(text, &builder);
  if (!whole && builder.result.error.empty()) builder.result.error = "not readable as JSON";
  return std::move(builder.result);
}

}  // namespace allranks::explain
