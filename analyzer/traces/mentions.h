// What the conditions and groups of a function mention, and the worlds that realise it.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "analyzer/traces/world.h"

namespace allranks::traces {

// What conditions and groups mention; decides which worlds are worth a look.
struct Mentions {
  knowledge::Axes axes;      // of coordinates and of groups
  std::span<const Mesh> meshes;   // how the program lays out all of these, if that is known: in which jobs, smallest first
  bool nodes = false;        // local ranks, nodes
  bool neighbours = false;   // rank arithmetic
  bool created_groups = false;
  int64_t largest = 0;       // number that a rank is compared with
  int64_t equal = 0;         // of these: it is asked whether a rank is that one, or among a list with it
  int64_t ordered = 0;       // of these: compared with a rank itself, `rank < 8`
  uint64_t named = 0;        // ranks that it is asked for one by one, `rank == 2`, bit n for rank n
  int64_t listed = 0;        // rank that a group is made of
  int64_t divisor = 0;       // by which ranks or sizes are divided: `rank // 8`, `rank % 8`
  bool last_rank = false;    // `world_size - 1`
  bool bits = false;         // bit operations on ranks, `rank & (rank - 1)`
  uint64_t asked_sizes = 0;  // of the whole job, that conditions name: `world_size == 8`, bit n - 1 for n ranks
  // Sizes of the whole job, bit n - 1 for n ranks, on which the program goes on at all (`if world_size != 4: exit()`).
  uint64_t sizes = ~uint64_t{0};
  bool runs_on_all = false;   // it has communicated before it goes on on these alone
  variation::JobShape job;
  bool is_started_here = false;   // ranks of a job that the program starts itself
};

// Gathers what values mention. They share their parts: into one that was looked into, it looks again only from higher up.
class MentionCollector {
 public:
  MentionCollector(const variation::ValueStore& values, Mentions* mentions) : values_(values), mentions_(mentions) {}
  void Collect(ValueId value) { Visit(value, 0); }
  // Of a condition that is the same on all ranks only the sizes of jobs that it asks for: `world_size == 16`.
  void CollectSizes(ValueId condition);

 private:
  void Visit(ValueId id, int depth);
  void VisitCompare(ValueId id, const variation::Value& value);
  void VisitSize(const variation::Value& comparison, std::span<const ValueId> kids);

  const variation::ValueStore& values_;
  Mentions* mentions_;
  std::unordered_map<uint32_t, int> seen_;   // by value: how deep
};

std::vector<World> WorldsFor(const Mentions& mentions);
// Whether these worlds leave something out: a number that a rank is compared with is beyond their ranks, or the code says what each
// rank of a job of one size does.
bool IsBeyondWorlds(const Mentions& mentions);

}  // namespace allranks::traces
