// A hang put into words: what every format prints. Plain text throughout; no id of any stage is left in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver/explain/match.h"
#include "driver/explain/partings.h"
#include "explain/hang/hang.h"

namespace allranks::explain {

// Ranks that are at the same place.
struct Crowd {
  std::vector<uint32_t> ranks;
  std::string kind;       // of the operation they are in, or were last in; empty: none is known
  std::string shapes;
  std::vector<Call> calls;  // outermost first, of the user's files
  std::string state;      // "waits", "last seen", "raised", "killed"
  std::string detail;     // what else is known of them
};

struct Foretelling {
  Foretold finding;
  std::string because;
};

struct Answer {
  Cause cause = Cause::None;
  // False: nothing in the code separates the ranks. None: that could not be decided.
  std::optional<bool> is_code;
  std::string summary;                 // one paragraph
  std::string operation;               // "all_reduce on the default group (operation 7)"
  std::string kind, group;
  uint64_t turn = 0;
  uint32_t world = 0;
  std::vector<Crowd> waiting;
  std::vector<Crowd> missing;
  std::vector<uint32_t> unheard;
  std::optional<Call> last_common;     // where all were together last
  std::string last_common_kind;
  std::vector<Parting> partings;       // best first
  std::optional<Foretelling> foretold;
  std::optional<Foretold> beside;      // without it: a finding in the same function, of ranks that are missing
  size_t following = 0;
  std::vector<std::string> evidence;
  std::vector<std::string> notes;      // of the reading, of sources that differ
};

// What the program at hand says of the stacks; all empty where its sources are not here.
struct Sources {
  std::vector<Parting> partings;
  std::vector<std::string> drift;
  std::vector<Foretold> findings;
  bool were_read = false;
};

// The calls of a stack in the user's files, under the names of this machine where they are known.
class Naming {
 public:
  virtual ~Naming() = default;
  virtual std::string Shown(std::string_view recorded) = 0;
};

std::vector<Call> CallsOf(const Recording& recording, StackIndex stack, Naming& naming);
Answer AnswerOf(const Recording& recording, const Hang& hang, const Sources& sources, Naming& naming);

std::string RenderText(const Answer& answer);
std::string RenderMarkdown(const Answer& answer);
std::string RenderHtml(const Answer& answer);
std::string RenderJson(const Answer& answer, std::string_view version);
std::string RenderSarif(const Answer& answer, std::string_view version);

}  // namespace allranks::explain
