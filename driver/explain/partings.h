// Where the ways of two ranks through the code parted: the branches, loops and exits that decide whether the line is
// reached where some ranks wait.
//
// The stacks say which calls both ranks are in. In the innermost function that both are in, or were in when they last
// issued the same operation, the line of the one stands under decisions under which that of the other does not; so do the
// lines of the calls below it. A decision that all ranks take alike, as far as the analysis knows, is left out unless the two
// lines show that it was taken differently.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/explain/foretold.h"
#include "driver/pipeline/pipeline.h"

namespace allranks::explain {

// A frame on this machine.
struct Call {
  std::string path;   // as the pipeline shows it
  std::string function;
  uint32_t line = 0;
};

struct Parting {
  Spot place;          // of the condition or loop head; text = its source
  std::string kind;    // "branch", "loop", "exit", "handler"; "size": what a call is given is computed under it
  std::string varies;  // "differs between ranks"; empty: not known to
  bool is_by_rank = false;  // it tells one rank from another, whatever they work on
  uint32_t exit_line = 0;
  bool is_observed = false;  // the two lines stand on different sides of it
  std::vector<Spot> why;
};

// `waiting`: the calls to the line where ranks wait, outermost first. `elsewhere`: those to where a rank stands that did
// not come, or empty. `last_common`: those of the last operation that all issued, or empty. Best first.
std::vector<Parting> FindPartings(const pipeline::Analysed& analysed, const std::vector<Call>& waiting,
                                  const std::vector<Call>& elsewhere, const std::vector<Call>& last_common);

// The decisions under which the operands of the call at this line are computed in its function, where ranks take them differently.
std::vector<Parting> FindSizePartings(const pipeline::Analysed& analysed, const Call& waiting);

// What in a frame does not fit the source of this machine; empty: all does, or the file was not analysed.
std::string DriftOf(const pipeline::Analysed& analysed, const Call& call);

}  // namespace allranks::explain
