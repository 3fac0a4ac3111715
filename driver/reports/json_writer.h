// JSON as it is written, member by member: no tree in memory, keys in the order of the calls.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/findings/finding.h"

namespace allranks::reports {

enum class JsonLayout : uint8_t { Indented, OneLine };

class JsonWriter {
 public:
  explicit JsonWriter(JsonLayout layout = JsonLayout::Indented) : layout_(layout) {}
  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(std::string_view key);
  // Bytes that are not UTF-8 become U+FFFD: the output is valid whatever was analysed.
  JsonWriter& String(std::string_view text);
  JsonWriter& Number(uint64_t number) { return Value(std::to_string(number)); }
  JsonWriter& Bool(bool value) { return Value(value ? "true" : "false"); }
  // A value that is JSON already.
  JsonWriter& Raw(std::string_view json);
  JsonWriter& Member(std::string_view key, std::string_view text) { return Key(key).String(text); }
  JsonWriter& Member(std::string_view key, uint64_t number) { return Key(key).Number(number); }

  std::string Take() { return std::move(out_) + "\n"; }

 private:
  JsonWriter& Value(std::string_view json);
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);
  void BeforeValue();
  void NewLine();

  JsonLayout layout_;
  std::string out_;
  std::vector<bool> has_members_;  // by open bracket
  bool after_key_ = false;
};

std::string JsonQuoted(std::string_view text);
// "condition": the role of a label in machine formats.
std::string_view RoleName(findings::LabelRole role);
// "assumptions": [{"kind": "batch-differs", "text": "ranks work on different batches"}]
void WriteAssumptions(JsonWriter& json, findings::Assumptions assumptions);

}  // namespace allranks::reports
