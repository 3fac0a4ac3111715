// The terminal and the streams of the process.
#pragma once

#include <string>
#include <string_view>

#include "driver/reports/report.h"

namespace allranks::cli {

// Makes a closed pipe an error of the write instead of the death of the process, and keeps files that are opened
// from becoming the standard streams.
void PrepareStreams();

// Writes all of it. A reader that left is no error; a full disk is one: says so and returns false.
bool WriteOut(std::string_view text);
// The same for names and sources as they are: a terminal gets nothing of them that could steer it.
bool WriteNames(std::string_view text);
// One line, or several that are already ended; of texts that are not ours only what OneLine has made of them.
void WriteErr(std::string_view text);
// "allranks: error: ...". Whatever names and texts the message holds, it is one line, and an excerpt below it.
void PrintError(std::string_view message);
// "allranks: warning: ..."
void PrintWarning(std::string_view message);

bool IsTerminal(int descriptor);
// How to draw on stdout, or into a file if `to_file`; `color` is auto, always or never.
reports::TextStyle StyleFor(std::string_view color, bool to_file);

// All of the standard input.
std::string ReadStandardInput();

// As files::WriteTo: of a file a reader sees the old text or the new one, and a path in `project` leads nowhere else.
bool WriteFile(const std::string& path, std::string_view text, const std::string& project);

std::string WorkingDirectory();

}  // namespace allranks::cli
