// What the client can do, and what its user wants.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/server/json.h"
#include "driver/server/positions.h"

namespace allranks::server {

struct Client {
  ColumnUnit encoding = ColumnUnit::Utf16;
  bool pulls_diagnostics = false;      // asks for them: then none are pushed
  bool refreshes_diagnostics = false;
  bool refreshes_inlay_hints = false;
  bool refreshes_code_lenses = false;
  bool shows_progress = false;
  bool answers_configuration = false;
  bool registers_watchers = false;
  bool registers_configuration = false;
  bool has_related_information = false;
  bool has_code_description = false;   // shows a code as a link
  bool knows_tags = false;             // fades what is unnecessary
  bool hovers_markdown = false;
  bool opens_pages = false;            // shows the texts that commands answer
};

Client ReadClient(const Json& initialize_params);

// Settings of the editor; they stand above those of configuration files.
struct Settings {
  std::optional<std::vector<std::string>> select;
  std::vector<std::string> ignore;
  std::string configuration;           // a file, instead of the one that would be found
  std::string min_confidence;          // empty: what the configuration says
  bool inlay_hints = true;
  bool code_lens = true;
  friend bool operator==(const Settings&, const Settings&) = default;
};

// From `initializationOptions` or the section `allranks` of the editor's settings. What has a wrong type is left out
// and said in `problems`.
Settings ReadSettings(const Json& json, std::vector<std::string>* problems);

}  // namespace allranks::server
