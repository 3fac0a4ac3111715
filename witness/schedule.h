// A checked witness in the form that runs: names are indices, kinds are enumerators.
#pragma once

#include <optional>
#include <string_view>

#include "witness/witness.h"

namespace allranks::witness {

enum class OpKind : uint8_t {
  AllReduce,
  Broadcast,
  Reduce,
  AllGather,
  ReduceScatter,
  AllToAll,
  Send,
  Recv,
  Barrier,
  Wait,  // for all operations of the communicator that the rank issued with `sync` false
};
enum class Dtype : uint8_t { F32, F16, Bf16, F64, I32, I64, U8 };
enum class Redop : uint8_t { Sum, Product, Min, Max, Average, Other };

std::optional<OpKind> OpKindNamed(std::string_view name);
std::string_view NameOf(OpKind kind);
std::optional<Dtype> DtypeNamed(std::string_view name);
std::string_view NameOf(Dtype dtype);
uint32_t BytesOf(Dtype dtype);
// As the libraries spell them; nothing said is a sum.
Redop RedopNamed(std::string_view name);
std::string_view NameOf(Redop redop);

constexpr bool IsPointToPoint(OpKind kind) { return kind == OpKind::Send || kind == OpKind::Recv; }
constexpr bool IsRooted(OpKind kind) { return kind == OpKind::Broadcast || kind == OpKind::Reduce; }
constexpr bool IsReduction(OpKind kind) {
  return kind == OpKind::AllReduce || kind == OpKind::Reduce || kind == OpKind::ReduceScatter;
}
constexpr bool IsCollective(OpKind kind) { return !IsPointToPoint(kind) && kind != OpKind::Wait; }

struct ScheduledOp {
  OpKind kind = OpKind::Barrier;
  uint32_t comm = 0;  // index into Schedule::comms
  uint32_t count = 1;
  Dtype dtype = Dtype::F32;
  Redop redop = Redop::Sum;
  int32_t root = -1;  // ranks in the communicator; -1 where they mean nothing
  int32_t peer = -1;
  bool sync = true;
  uint32_t batch = 0;
  friend bool operator==(const ScheduledOp&, const ScheduledOp&) = default;
};

// Whether two ranks that issue these wait for each other and leave: what follows can then still be wrong
// data.
bool Pair(const ScheduledOp& a, const ScheduledOp& b);
// Whether the data is right as well.
bool Agree(const ScheduledOp& a, const ScheduledOp& b);

// What every library refuses before anything is sent: a root outside the group.
constexpr bool IsRefused(const ScheduledOp& op) { return IsRooted(op.kind) && op.root < 0; }

struct Schedule {
  uint32_t world = 0;
  std::vector<std::vector<uint32_t>> comms;   // ranks, in the order of their ranks in the communicator
  std::vector<uint32_t> class_of;             // by rank
  std::vector<std::vector<ScheduledOp>> ops;  // by class

  const std::vector<ScheduledOp>& OpsOf(uint32_t rank) const { return ops[class_of[rank]]; }
  // The rank's rank in the communicator; -1 outside.
  int32_t MemberIndex(uint32_t comm, uint32_t rank) const;
};

// What is issued twice on a communicator once its ranks are through, to see what they left behind: each part
// of the ring's data is alike, so that whatever was left fits.
ScheduledOp FenceOp(const Schedule& schedule, uint32_t comm);

// The witness has passed Check.
Schedule MakeSchedule(const Witness& witness);

}  // namespace allranks::witness
