// What JSON types cannot say: that names refer to something, classes partition the world, and sizes stay
// bounded.
#include <algorithm>
#include <set>

#include "witness/json.h"
#include "witness/scenario_json.h"
#include "witness/schedule.h"

namespace allranks::witness {
namespace {

std::string At(std::string_view where, size_t index) {
  return std::string(where) + "[" + std::to_string(index) + "]";
}

std::string CheckWorld(const Witness& w, const Bounds& bounds) {
  if (w.world < 2 || w.world > bounds.world) {
    return "world: " + std::to_string(w.world) + " is outside 2.." + std::to_string(bounds.world);
  }
  if (w.nodes == 0 || w.world % w.nodes != 0) return "nodes: does not divide the world";
  if (w.total_ms == 0 || w.total_ms > bounds.total_ms) {
    return "limits.total_ms: is outside 1.." + std::to_string(bounds.total_ms);
  }
  if (w.quiet_ms == 0 || w.quiet_ms > w.total_ms) return "limits.quiet_ms: is outside 1..total_ms";
  return {};
}

std::string CheckRanks(const std::vector<uint32_t>& ranks, uint32_t world, const std::string& where) {
  if (ranks.empty()) return where + ".ranks: is empty";
  std::set<uint32_t> seen;
  for (uint32_t rank : ranks) {
    if (rank >= world) return where + ".ranks: rank " + std::to_string(rank) + " is not below the world size";
    if (!seen.insert(rank).second)
      return where + ".ranks: rank " + std::to_string(rank) + " stands there twice";
  }
  return {};
}

std::string CheckComms(const Witness& w, const Bounds& bounds) {
  if (w.comms.size() > bounds.comms) return "comms: more than " + std::to_string(bounds.comms);
  std::set<std::string> ids;
  for (size_t i = 0; i < w.comms.size(); ++i) {
    if (w.comms[i].id.empty() || !ids.insert(w.comms[i].id).second) {
      return At("comms", i) + ".id: is empty or stands there twice";
    }
    if (std::string error = CheckRanks(w.comms[i].ranks, w.world, At("comms", i)); !error.empty())
      return error;
  }
  return {};
}

std::string CheckClasses(const Witness& w) {
  if (w.ops.size() != w.classes.size()) return "ops: needs one list for each class";
  std::set<std::string> ids;
  std::vector<bool> placed(w.world);
  for (size_t i = 0; i < w.classes.size(); ++i) {
    const RankClass& one = w.classes[i];
    if (one.id.empty() || !ids.insert(one.id).second)
      return At("classes", i) + ".id: is empty or stands there twice";
    if (std::string error = CheckRanks(one.ranks, w.world, At("classes", i)); !error.empty()) return error;
    for (uint32_t rank : one.ranks) {
      if (placed[rank])
        return At("classes", i) + ".ranks: rank " + std::to_string(rank) + " is in two classes";
      placed[rank] = true;
    }
  }
  const auto missing = std::find(placed.begin(), placed.end(), false);
  if (missing == placed.end()) return {};
  return "classes: rank " + std::to_string(missing - placed.begin()) + " is in none";
}

std::string CheckOp(const Witness& w, const Op& op, const Bounds& bounds) {
  const auto comm =
      std::find_if(w.comms.begin(), w.comms.end(), [&](const Communicator& c) { return c.id == op.comm; });
  if (comm == w.comms.end()) return "comm: there is no communicator `" + op.comm + "`";
  const std::optional<OpKind> kind = OpKindNamed(op.op);
  if (!kind) return "op: `" + op.op + "` is not known";
  if (!DtypeNamed(op.dtype)) return "dtype: `" + op.dtype + "` is not known";
  if (op.count == 0 || op.count > bounds.count) return "count: is outside 1.." + std::to_string(bounds.count);
  const auto size = static_cast<int32_t>(comm->ranks.size());
  if (op.root < -1 || op.root >= size) return "root: is not a rank of the communicator";
  if (op.peer < -1 || op.peer >= size) return "peer: is not a rank of the communicator";
  if (IsPointToPoint(*kind) && op.peer < 0) return "peer: is missing";
  if (op.batch != 0 && (!IsPointToPoint(*kind) || op.sync)) return "batch: only sends and receives that are not `sync` go together";
  return {};
}

// One buffer to send from and one to receive into; some hold a part for each rank.
uint64_t BytesOf(const Witness& w, const Op& op) {
  const OpKind kind = *OpKindNamed(op.op);
  const auto comm =
      std::find_if(w.comms.begin(), w.comms.end(), [&](const Communicator& c) { return c.id == op.comm; });
  const bool gathers = kind == OpKind::AllGather || kind == OpKind::AllToAll;
  const bool scatters = kind == OpKind::ReduceScatter || kind == OpKind::AllToAll;
  const uint64_t parts = (gathers ? comm->ranks.size() : 1) + (scatters ? comm->ranks.size() : 1);
  return uint64_t{op.count} * BytesOf(*DtypeNamed(op.dtype)) * parts;
}

std::string CheckOps(const Witness& w, const Bounds& bounds) {
  for (size_t c = 0; c < w.ops.size(); ++c) {
    const std::string where = "ops." + w.classes[c].id;
    if (w.ops[c].size() > bounds.ops_per_class) {
      return where + ": more than " + std::to_string(bounds.ops_per_class) + " operations";
    }
    std::set<std::string> ids;
    uint64_t bytes = 0;
    for (size_t i = 0; i < w.ops[c].size(); ++i) {
      const Op& op = w.ops[c][i];
      if (op.id.empty() || !ids.insert(op.id).second)
        return At(where, i) + ".id: is empty or stands there twice";
      if (std::string error = CheckOp(w, op, bounds); !error.empty()) return At(where, i) + "." + error;
      bytes += BytesOf(w, op);
    }
    if (bytes > bounds.bytes_per_rank) return where + ": needs more than the bytes a rank may use";
  }
  return {};
}

std::string CheckStuck(const Witness& w) {
  for (size_t i = 0; i < w.stuck.size(); ++i) {
    const Stuck& stuck = w.stuck[i];
    if (stuck.rank >= w.world) return At("expect.stuck", i) + ".rank: is not below the world size";
    bool known = false;
    for (size_t c = 0; c < w.classes.size() && !known; ++c) {
      const auto& ranks = w.classes[c].ranks;
      if (std::find(ranks.begin(), ranks.end(), stuck.rank) == ranks.end()) continue;
      known = std::any_of(w.ops[c].begin(), w.ops[c].end(), [&](const Op& op) { return op.id == stuck.op; });
    }
    if (known) continue;
    return At("expect.stuck", i) + ".op: rank " + std::to_string(stuck.rank) + " has no operation `" +
           stuck.op + "`";
  }
  return {};
}

}  // namespace

std::string Check(const Witness& witness, const Bounds& bounds) {
  if (std::string error = CheckWorld(witness, bounds); !error.empty()) return error;
  if (std::string error = CheckComms(witness, bounds); !error.empty()) return error;
  if (std::string error = CheckClasses(witness); !error.empty()) return error;
  if (std::string error = CheckOps(witness, bounds); !error.empty()) return error;
  if (std::string error = CheckScenario(witness.scenario, witness.world); !error.empty()) return error;
  return CheckStuck(witness);
}

}  // namespace allranks::witness
