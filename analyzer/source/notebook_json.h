// Where the code of a notebook stands in its JSON: for reports that name lines of the file, and for fixes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace allranks::source {

// Bytes of the JSON, brackets and quotes included.
struct JsonExtent {
  size_t begin = 0;
  size_t end = 0;
};

// The source of one code cell: a list of strings, or one string.
struct CellJson {
  JsonExtent value;
  std::vector<JsonExtent> strings;
  bool is_list = false;
};

// The code cells of JSON that ReadNotebook has accepted, in its order.
std::vector<CellJson> LocateCells(std::string_view json);

// For each line of the notebook's text, the line of the JSON, from one, where it stands.
std::vector<uint32_t> LinesInJson(std::string_view json);

// The text of a JSON string, quotes included.
std::string DecodedString(std::string_view json);

}  // namespace allranks::source
