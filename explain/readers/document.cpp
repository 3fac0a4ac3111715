#include "explain/readers/document.h"

namespace allranks::explain {

ValueIndex Document::Add(const Value& value) {
  values_.push_back(value);
  return static_cast<ValueIndex>(values_.size() - 1);
}

ValueIndex Document::AddNumber(ValueKind kind, int64_t number) {
  Value value;
  value.kind = kind;
  value.number = number;
  return Add(value);
}

ValueIndex Document::AddFloat(double real) {
  Value value;
  value.kind = ValueKind::Float;
  value.real = real;
  return Add(value);
}

ValueIndex Document::AddText(std::string_view text) {
  Value value;
  value.kind = ValueKind::Text;
  value.text = text.data();
  value.size = static_cast<uint32_t>(text.size());
  return Add(value);
}

ValueIndex Document::AddOwnText(std::string text) {
  own_texts_.push_back(std::move(text));
  return AddText(own_texts_.back());
}

ValueIndex Document::AddContainer(ValueKind kind) {
  Value value;
  value.kind = kind;
  return Add(value);
}

void Document::Append(ValueIndex container, const ValueIndex* values, size_t count) {
  if (count == 0) return;
  const auto start = static_cast<uint32_t>(items_.size());
  items_.insert(items_.end(), values, values + count);
  Value& list = values_[container];
  list.size += static_cast<uint32_t>(count);
  // What was appended to the same list last goes on.
  if (list.last_run != kNoValue && runs_[list.last_run].start + runs_[list.last_run].count == start) {
    runs_[list.last_run].count += static_cast<uint32_t>(count);
    return;
  }
  const auto run = static_cast<uint32_t>(runs_.size());
  runs_.push_back({.start = start, .count = static_cast<uint32_t>(count)});
  if (list.last_run == kNoValue) list.first_run = run;
  else runs_[list.last_run].next = run;
  list.last_run = run;
}

std::string_view Document::Text(ValueIndex index, std::string_view otherwise) const {
  if (index == kNoValue || values_[index].kind != ValueKind::Text) return otherwise;
  return {values_[index].text, values_[index].size};
}

int64_t Document::Int(ValueIndex index, int64_t otherwise) const {
  if (index == kNoValue) return otherwise;
  const ValueKind kind = values_[index].kind;
  return kind == ValueKind::Int || kind == ValueKind::Bool ? values_[index].number : otherwise;
}

ValueIndex Document::Member(ValueIndex dict, std::string_view key) const {
  ValueIndex found = kNoValue;
  ForEachPair(dict, [&](ValueIndex name, ValueIndex value) {
    if (Text(name) != key) return true;
    found = value;
    return false;
  });
  return found;
}

}  // namespace allranks::explain
