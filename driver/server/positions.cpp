#include "driver/server/positions.h"

#include <algorithm>
#include <tuple>

#include "driver/server/json_rpc.h"

namespace allranks::server {
namespace {

bool IsBefore(source::LineColumn a, source::LineColumn b) {
  return std::tie(a.line, a.column) < std::tie(b.line, b.column);
}

}  // namespace

std::string_view EncodingName(ColumnUnit unit) {
  switch (unit) {
    case ColumnUnit::Utf8: return "utf-8";
    case ColumnUnit::CodePoints: return "utf-32";
    case ColumnUnit::Utf16: return "utf-16";
  }
  return "utf-16";
}

ColumnUnit ChooseEncoding(const Json& offered) {
  if (!offered.is_array()) return ColumnUnit::Utf16;
  for (const Json& name : offered) {
    for (const ColumnUnit unit : {ColumnUnit::Utf8, ColumnUnit::Utf16, ColumnUnit::CodePoints}) {
      if (name.is_string() && name.get<std::string>() == EncodingName(unit)) return unit;
    }
  }
  return ColumnUnit::Utf16;
}

uint32_t ReadNumber(const Json& value, const char* what) {
  constexpr uint64_t kEnd = 0x7fffffff;
  const std::string name = std::string("`") + what + "`";
  if (!value.is_number_integer()) throw RequestError(ErrorCode::InvalidParams, name + " is no whole number");
  if (!value.is_number_unsigned() && value.get<int64_t>() < 0) throw RequestError(ErrorCode::InvalidParams, name + " is negative");
  return static_cast<uint32_t>(std::min(value.get<uint64_t>(), kEnd));
}

source::LineColumn ReadPosition(const Json& position) {
  return {.line = ReadNumber(At(position, "line"), "line"), .column = ReadNumber(At(position, "character"), "character")};
}

Json WritePosition(source::LineColumn place) { return {{"line", place.line}, {"character", place.column}}; }

Range ReadRange(const Json& range) {
  Range read{ReadPosition(At(range, "start")), ReadPosition(At(range, "end"))};
  if (IsBefore(read.end, read.start)) throw RequestError(ErrorCode::InvalidParams, "the range ends before it starts");
  return read;
}

Json WriteRange(const Range& range) {
  return {{"start", WritePosition(range.start)}, {"end", WritePosition(range.end)}};
}

bool Touches(const Range& a, const Range& b) { return !IsBefore(a.end, b.start) && !IsBefore(b.end, a.start); }

}  // namespace allranks::server
