// The contract between the analyzer and runtime-verify: a schedule of operations that real ranks can replay.
// Plain text and numbers only. JSON schema: witness/witness.schema.json, `allranks.witness/1`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace allranks::witness {

struct Place {
  std::string uri;    // as in the report: relative to the project, '/' separated
  uint32_t line = 0;  // from one
  friend bool operator==(const Place&, const Place&) = default;
};

struct Communicator {
  std::string id;
  std::vector<uint32_t> ranks;
  friend bool operator==(const Communicator&, const Communicator&) = default;
};

// Ranks of the world that do the same. Classes partition 0 .. world-1.
struct RankClass {
  std::string id;
  std::vector<uint32_t> ranks;
  std::string guard;  // "rank == 0"; empty for "all other ranks"
  friend bool operator==(const RankClass&, const RankClass&) = default;
};

struct Op {
  std::string id;
  std::string op;        // all_reduce broadcast reduce all_gather reduce_scatter all_to_all send recv barrier wait
  std::string comm;      // Communicator::id
  uint32_t count = 1024; // elements
  std::string dtype = "f32";
  std::string redop;     // "sum", ...; empty where it means nothing
  int32_t root = -1;     // rank in the communicator; -1 where it means nothing
  int32_t peer = -1;     // of send and recv
  bool sync = true;
  std::string source;    // what the program calls: "torch.distributed.barrier", "backward of a DDP module"
  Place at;
  friend bool operator==(const Op&, const Op&) = default;
};

enum class Effect { Deadlock, Corruption, Error, Clean };

struct Stuck {
  uint32_t rank = 0;
  std::string op;  // Op::id
  friend bool operator==(const Stuck&, const Stuck&) = default;
};

struct Witness {
  std::string finding;  // "AR101/3f9c..."
  uint32_t world = 0;
  uint32_t nodes = 1;   // world is nodes × processes a node
  std::vector<Communicator> comms;
  std::vector<RankClass> classes;
  std::vector<std::vector<Op>> ops;  // by class
  bool fence = true;                 // a barrier of all ranks after the schedule
  Effect effect = Effect::Deadlock;
  std::vector<Stuck> stuck;
  uint32_t quiet_ms = 3000;
  uint32_t total_ms = 60000;
  friend bool operator==(const Witness&, const Witness&) = default;
};

}  // namespace allranks::witness
