#pragma once

#include "driver/server/client.h"
#include "driver/server/places.h"
#include "driver/server/workspace.h"

namespace allranks::server {

// What a request about one document is answered from.
struct Target {
  Workspace& workspace;
  const Snapshot& snapshot;
  const Client& client;
  std::string uri;
  source::FileId file;
  uint32_t cell = 0;      // of a notebook, from one
  ir::ModuleId module;    // none: the file holds nothing that concerns ranks, and was not parsed

  Places places() const { return {snapshot, client.encoding}; }
  const ir::Module& ir() const { return snapshot.analysed.program.modules[module]; }
  uint32_t OffsetAt(source::LineColumn place) const { return places().OffsetAt(file, cell, place); }
};

}  // namespace allranks::server
