// A recording as a tree of plain values, whichever format it was written in: pickle (pickle.h) or JSON (json.h).
//
// Texts are views of the bytes that were read, which must outlive the document. Lists are chains of runs, so that memory
// grows with the bytes read and never faster, however often a hostile file appends. One value may stand in several
// lists (a pickle's memo): readers visit a bounded number of values rather than the whole tree.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace allranks::explain {

using ValueIndex = uint32_t;
constexpr ValueIndex kNoValue = 0xffffffff;

enum class ValueKind : uint8_t { None, Bool, Int, Float, Text, List, Dict };

class Document {
 public:
  struct Value {
    ValueKind kind = ValueKind::None;
    uint32_t first_run = kNoValue;  // List, Dict (keys and values in turn)
    uint32_t last_run = kNoValue;
    union {
      int64_t number = 0;
      double real;
      const char* text;
    };
    uint32_t size = 0;  // Text: bytes; List, Dict: values
  };

  ValueIndex AddNone() { return Add({}); }
  ValueIndex AddBool(bool value) { return AddNumber(ValueKind::Bool, value ? 1 : 0); }
  ValueIndex AddInt(int64_t value) { return AddNumber(ValueKind::Int, value); }
  ValueIndex AddFloat(double value);
  ValueIndex AddText(std::string_view text);
  // A text that stands nowhere in the bytes as it is: the document keeps it.
  ValueIndex AddOwnText(std::string text);
  ValueIndex AddContainer(ValueKind kind);
  // To the end of a List, or keys and values in turn to that of a Dict.
  void Append(ValueIndex container, const ValueIndex* values, size_t count);

  const Value& operator[](ValueIndex index) const { return values_[index]; }
  size_t size() const { return values_.size(); }

  // `visit(ValueIndex)` for each value of a List; stops where it returns false.
  template <class Visit>
  void ForEach(ValueIndex list, Visit visit) const {
    if (list == kNoValue || (values_[list].kind != ValueKind::List && values_[list].kind != ValueKind::Dict)) return;
    for (uint32_t run = values_[list].first_run; run != kNoValue; run = runs_[run].next) {
      for (uint32_t i = 0; i < runs_[run].count; ++i) {
        if (!visit(items_[runs_[run].start + i])) return;
      }
    }
  }
  // `visit(key, value)` for each pair of a Dict; stops where it returns false.
  template <class Visit>
  void ForEachPair(ValueIndex dict, Visit visit) const {
    if (dict == kNoValue || values_[dict].kind != ValueKind::Dict) return;
    ValueIndex key = kNoValue;
    ForEach(dict, [&](ValueIndex item) {
      if (key == kNoValue) return key = item, true;
      return visit(std::exchange(key, kNoValue), item);
    });
  }

  // Reading with defaults: what has another kind, or is not there, is the default.
  std::string_view Text(ValueIndex index, std::string_view otherwise = {}) const;
  int64_t Int(ValueIndex index, int64_t otherwise = 0) const;
  ValueIndex Member(ValueIndex dict, std::string_view key) const;

 private:
  struct Run {
    uint32_t start = 0;
    uint32_t count = 0;
    uint32_t next = kNoValue;
  };
  ValueIndex Add(const Value& value);
  ValueIndex AddNumber(ValueKind kind, int64_t number);

  std::vector<Value> values_;
  std::vector<Run> runs_;
  std::vector<ValueIndex> items_;
  std::deque<std::string> own_texts_;
};

// What was read, or one line on what is wrong.
struct ReadDocument {
  Document document;
  ValueIndex root = kNoValue;
  std::string error;
};

}  // namespace allranks::explain
