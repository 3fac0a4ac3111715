#pragma once

#include <map>
#include <string>

#include "driver/server/client.h"
#include "driver/server/places.h"

namespace allranks::server {

Json WriteDiagnostic(const Snapshot& snapshot, const findings::Finding& finding, const Client& client);

// By URI of the document: a file or a cell. Every open document of the folder has an entry.
std::map<std::string, Json> DiagnosticsOf(const Snapshot& snapshot, const Client& client);

}  // namespace allranks::server
