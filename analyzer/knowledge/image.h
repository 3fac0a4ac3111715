// The tool's knowledge of libraries, as bytes: knowledge/*.toml are read when the tool is built, not each time it starts.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/base/result.h"
#include "analyzer/knowledge/knowledge.h"

namespace allranks::knowledge {

class Image {
 public:
  // Of what was loaded and is not finished yet; finishes it.
  static base::Result<std::string> Of(Knowledge& knowledge);

  enum class State {
    Finished,  // ready for use
    Open,      // more files may be loaded, and Finish is still to be called
  };
  // `knowledge` is empty.
  static void Read(std::string_view bytes, State state, Knowledge& knowledge);

 private:
  template <class Self, class Visit>
  static void VisitEntries(Self& self, Visit& visit);
  template <class Self, class Visit>
  static void VisitLists(Self& self, Visit& visit);
  template <class Self, class Visit>
  static void VisitTables(Self& self, Visit& visit);
  template <class Self, class Visit>
  static void VisitLiterals(Self& self, Visit& visit);
};

}  // namespace allranks::knowledge
