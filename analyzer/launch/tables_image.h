// What launchers mean, as bytes: knowledge/launch/*.toml are read when the tool is built, and not each time it starts.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/launch/launcher_table.h"

namespace allranks::launch {

class TablesImage {
 public:
  static std::string Of(const LauncherTables& tables);
  // `tables` are empty.
  static void Read(std::string_view bytes, LauncherTables& tables);

 private:
  template <class Self, class Visit>
  static void VisitAll(Self& self, Visit& visit);
};

}  // namespace allranks::launch
