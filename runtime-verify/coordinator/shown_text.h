// Texts of a report are not ours: names of files, code, words of libraries. What they hold neither steers a terminal nor speaks to a
// runner that reads our output in the log of a job.
#pragma once

#include <string>

namespace allranks::verify {

// On one line: control characters, characters that change the direction of text, a second `#` (`##[` and `##vso[` are commands to a
// runner wherever they stand) and the first of two colons at the beginning (`::error::`) become blanks.
std::string OneLine(std::string text);

// JSON as a library wrote it, with such characters of its strings spelt out: it says the same.
std::string ShownJson(std::string json);

}  // namespace allranks::verify
