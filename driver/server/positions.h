// Places as the protocol writes them: lines and columns from zero, columns in the unit agreed on with the client.
#pragma once

#include <cstdint>
#include <string_view>

#include "analyzer/source/source_file.h"
#include "driver/server/json.h"

namespace allranks::server {

using source::ColumnUnit;

// "utf-8", "utf-16", "utf-32".
std::string_view EncodingName(ColumnUnit unit);
// The first one that the client offers and we know: it lists them by preference. UTF-16 otherwise.
ColumnUnit ChooseEncoding(const Json& offered);

// A whole number that is not negative; one that is too large means "the end". Throws RequestError for anything else.
uint32_t ReadNumber(const Json& value, const char* what);
// Throws RequestError for what is no position.
source::LineColumn ReadPosition(const Json& position);
Json WritePosition(source::LineColumn place);

struct Range {
  source::LineColumn start;
  source::LineColumn end;
};
Range ReadRange(const Json& range);
Json WriteRange(const Range& range);

// Whether one is within the other or they touch.
bool Touches(const Range& a, const Range& b);

}  // namespace allranks::server
