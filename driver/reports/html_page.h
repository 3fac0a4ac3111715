// The fixed parts of the HTML report.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/source/source_file.h"
#include "witness/witness.h"

namespace allranks::reports {

std::string_view HtmlStyle();
std::string_view HtmlScript();

// The picture of a witness as SVG: a lane a rank class, operations in order, and where each waits. Said in words for
// those who do not see it.
std::string HtmlLanes(const witness::Witness& witness, std::string_view path, const source::SourceFiles& files);

}  // namespace allranks::reports
