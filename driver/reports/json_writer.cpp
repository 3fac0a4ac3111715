#include "driver/reports/json_writer.h"

#include <array>
#include <cstdio>

#include "driver/reports/text_width.h"

namespace allranks::reports {

std::string JsonQuoted(std::string_view text) {
  std::string out = "\"";
  const std::vector<Decoded> characters = DecodeAll(text);
  for (size_t i = 0; i < characters.size(); ++i) {
    const Decoded& c = characters[i];
    if (c.value == '"' || c.value == '\\') {
      out += '\\';
      out += static_cast<char>(c.value);
    } else if (c.value == '\n') {
      out += "\\n";
    } else if (c.value == '\t') {
      out += "\\t";
    } else if (c.value < 0x20 || (c.value >= 0x7f && c.value < 0xa0) || c.value == 0x2028 || c.value == 0x2029 ||
               IsOfCommand(characters, i)) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(c.value));
      out += escape.data();
    } else {
      out += c.valid ? text.substr(c.offset, c.length) : std::string_view("\xef\xbf\xbd");
    }
  }
  return out + "\"";
}

JsonWriter& JsonWriter::Key(std::string_view key) {
  BeforeValue();
  out_ += JsonQuoted(key) + ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::Value(std::string_view json) {
  BeforeValue();
  out_ += json;
  return *this;
}

JsonWriter& JsonWriter::String(std::string_view text) { return Value(JsonQuoted(text)); }

// Outside of strings JSON has no `#`.
JsonWriter& JsonWriter::Raw(std::string_view json) {
  if (json.find('#') == std::string_view::npos) return Value(json);
  const std::vector<Decoded> characters = DecodeAll(json);
  std::string out;
  for (size_t i = 0; i < characters.size(); ++i) {
    out += IsOfCommand(characters, i) ? std::string_view("\\u0023") : json.substr(characters[i].offset, characters[i].length);
  }
  return Value(out);
}

JsonWriter& JsonWriter::Open(char bracket) {
  BeforeValue();
  out_ += bracket;
  has_members_.push_back(false);
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  const bool had_members = has_members_.back();
  has_members_.pop_back();
  if (had_members) NewLine();
  out_ += bracket;
  return *this;
}

void JsonWriter::BeforeValue() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_members_.empty()) return;
  if (has_members_.back()) out_ += ',';
  has_members_.back() = true;
  NewLine();
}

void JsonWriter::NewLine() {
  if (layout_ == JsonLayout::OneLine) return;
  out_ += '\n';
  out_.append(has_members_.size() * 2, ' ');
}

std::string_view RoleName(findings::LabelRole role) {
  switch (role) {
    case findings::LabelRole::Primary: return "primary";
    case findings::LabelRole::Condition: return "condition";
    case findings::LabelRole::Why: return "why";
    case findings::LabelRole::Victim: return "victim";
    case findings::LabelRole::Call: return "call";
    case findings::LabelRole::Note: return "note";
  }
  return "note";
}

void WriteAssumptions(JsonWriter& json, findings::Assumptions assumptions) {
  json.Key("assumptions").BeginArray();
  for (const findings::Assumption assumption : assumptions.List()) {
    json.BeginObject().Member("kind", findings::NameOf(assumption)).Member("text", findings::ClauseOf(assumption));
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace allranks::reports
