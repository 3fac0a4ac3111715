// What is asked of one document: a file each.
#pragma once

#include "driver/server/documents.h"
#include "driver/server/target.h"
#include "rules/rule.h"

namespace allranks::server {

// The rule behind a code; else what the expression there is on each rank, and who reaches a collective.
Json Hover(const Target& target, source::LineColumn place);

// The job that a command of a launch file starts.
Json JobHover(const Target& target, uint32_t offset);

// Of a configuration file, which is not analysed: the setting that a line gives, or the rule behind a code.
bool IsConfigurationFile(std::string_view path);
Json ConfigHover(const Document& document, source::LineColumn place, const Client& client);

// The rule that a text names at a place, as suppressions and configuration write it: "AR101"; nullptr: none.
const rules::Rule* RuleAt(std::string_view text, uint32_t offset);

// `ranks: 0` at the first line of what only some ranks reach.
Json InlayHints(const Target& target, const Range& range);

// "3 collectives, aligned on all ranks" above each function that issues some.
Json CodeLenses(const Target& target);

// `only`: kinds of actions that are wanted; null: any.
Json CodeActions(const Target& target, const Range& range, const Json& only);

}  // namespace allranks::server
