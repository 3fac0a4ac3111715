// Witnesses as JSON: what `allranks check` writes and `allranks verify` reads. A witness is untrusted input.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "witness/witness.h"

namespace allranks::witness {

// Bounds that keep a run of an untrusted witness small (witness.schema.json says the same).
struct Bounds {
  size_t file_bytes = 1 << 20;
  uint32_t world = 1024;  // of the simulator; backends with real processes take 16
  uint32_t comms = 16;
  uint32_t ops_per_class = 256;
  uint32_t count = 65536;
  uint32_t bytes_per_rank = 64u << 20;
  uint32_t total_ms = 180000;
};

// A witness, or one line on what is wrong with the text.
struct ReadResult {
  std::optional<Witness> witness;
  std::string error;
};

// Strict: unknown keys, wrong types and references to nothing are errors that name the place
// ("ops.r0[2].comm").
[[nodiscard]] ReadResult ReadJson(std::string_view text, const Bounds& bounds = {});

// One line, keys in the order of the schema.
std::string WriteJson(const Witness& witness);

// What makes a witness meaningless; empty if it is fine. ReadJson includes it.
std::string Check(const Witness& witness, const Bounds& bounds = {});

std::string_view EffectName(Effect effect);

// What the parser complains of, without its own name for it and without all of a long text: "number overflow parsing '999…".
std::string JsonProblem(std::string_view what);

}  // namespace allranks::witness
