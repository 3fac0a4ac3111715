// Places as the file on disk has them. They differ from those that people are shown in notebooks alone, where a line is one
// of the JSON.
#pragma once

#include "driver/reports/place.h"
#include "driver/reports/report.h"

namespace allranks::reports {

// The line, from one, of a line of the file's text, from zero.
uint32_t LineInFile(const Report& report, source::FileId file, uint32_t line);

// Of a notebook the column is 1: what stands there is a string of JSON.
Place PlaceInFile(const Report& report, source::FileId file, uint32_t offset, source::ColumnUnit unit = source::ColumnUnit::CodePoints);

// "14", or "cell 3, line 2" where a notebook of that name is among the files.
std::string LineName(const source::SourceFiles& files, std::string_view path, uint32_t line);

}  // namespace allranks::reports
