// The findings that the tool makes about its own reading: AR001 and AR003.
#pragma once

#include <string>
#include <vector>

#include "analyzer/binding/program.h"
#include "analyzer/findings/finding.h"
#include "analyzer/launch/job.h"
#include "analyzer/source/source_file.h"
#include "analyzer/traces/analysis.h"

namespace allranks::pipeline {

// A file that was not parsed at all. `why` says what is wrong and, after a semicolon, how to fix it.
findings::Finding UnreadableFile(source::FileId file, std::string why);

// A file that a bound kept from being parsed.
findings::Finding LimitedFile(source::FileId file, std::string bound);
findings::Finding StoppedFile(source::FileId file);

// Whether a finding speaks of a bound: AR003.
bool IsLimit(const findings::Finding& finding);

// Whether a line of the summary counts a finding by itself: a function that is too large, a part of C++ that the flags of the
// build would make readable.
bool HasLineOfItsOwn(const findings::Finding& finding);

// What a front end could not read of a module, and bytes that are not UTF-8. `is_guessed`: nobody has said how the file is
// compiled.
void AddReadingProblems(const ir::Module& module, const source::SourceFile& file, bool is_guessed,
                        std::vector<findings::Finding>& findings);

// What could not be read of a launch file.
void AddReadingProblems(const launch::LaunchFile& file, std::vector<findings::Finding>& findings);

// Functions that a bound kept from being analysed.
void AddLimits(const binding::Program& program, const traces::Analysis& analysis,
               std::vector<findings::Finding>& findings);

}  // namespace allranks::pipeline
