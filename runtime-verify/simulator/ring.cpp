// A communicator is a ring: between neighbours lies a connection of 8 steps, and nothing on it says which
// operation a step belongs to. Each rank runs its operations on a stream a communicator, in order; one that
// is not `sync` does not hold up other streams. A rank goes on until it waits for data that was not sent, or
// for room that was not freed. Point-to-point and all_to_all make connections of their own, which takes both
// sides: they match strictly.
#include "runtime-verify/simulator/ring.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <tuple>

#include "runtime-verify/simulator/primitives.h"
#include "witness/cycle.h"

namespace allranks::verify {
namespace {

using witness::OpKind;
using witness::Outcome;
using witness::RankOp;
using witness::Schedule;
using witness::ScheduledOp;

constexpr int64_t kNever = -1;

// What stands in a step of a connection: enough to see whether the receiver takes it for what it is.
struct Message {
  int64_t step = kNever;
  const ScheduledOp* op = nullptr;
  uint32_t turn = 0;   // the how-manieth operation of the communicator it is for the sender
  uint64_t index = 0;  // the how-manieth message of the operation
  uint32_t lines = 0;
};

// From a member to the next one.
struct Connection {
  int64_t sent = 0;      // steps the receiver can see
  int64_t received = 0;  // steps the sender may use again
  int64_t send_step = 0, receive_step = 0;
  std::array<Message, kConnectionSteps> steps;
};

// The operations of one rank on one communicator.
struct Stream {
  std::vector<uint32_t> ops;
  size_t current = 0;
  bool started = false;
  bool is_blocked = false;  // by a neighbour
  uint64_t primitive = 0;
  uint32_t slice = 0;
  uint64_t sends = 0, receives = 0;
  bool is_wrong = false;
};

struct Ring {
  std::vector<Connection> connections;  // by the sender's rank in the communicator
  std::vector<Stream> streams;
};

// Collectives over connections of their own, and pairs.
struct Meeting {
  std::vector<std::vector<RankOp>> arrived;  // by turn
  std::vector<uint32_t> next;
};
struct Mailbox {
  std::deque<RankOp> sends, recvs;
};

class RingSimulator {
 public:
  RingSimulator(const Schedule& schedule, Protocol protocol) : schedule_(schedule), protocol_(protocol) {
    fences_ = MakeFences();
    rings_.resize(schedule.comms.size());
    for (size_t c = 0; c < rings_.size(); ++c) {
      rings_[c].connections.resize(schedule.comms[c].size());
      rings_[c].streams.resize(schedule.comms[c].size());
    }
    meetings_.resize(rings_.size());
    for (Meeting& meeting : meetings_) meeting.next.resize(schedule.world);
    ranks_.resize(schedule.world);
    for (uint32_t rank = 0; rank < schedule.world; ++rank) Plan(rank);
  }

  Outcome Run(bool fence) {
    RunAll();
    CollectStuck();
    out_.leaves_data = std::any_of(rings_.begin(), rings_.end(), [](const Ring& ring) {
      return std::any_of(ring.connections.begin(), ring.connections.end(),
                         [](const Connection& c) { return c.sent > c.received; });
    });
    if (fence && out_.stuck.empty() && out_.refused.empty()) {
      AddFences();
      RunAll();
      CollectStuck();
    }
    std::sort(out_.wrong.begin(), out_.wrong.end(), [](const RankOp& a, const RankOp& b) {
      return std::tie(a.rank, a.op) < std::tie(b.rank, b.op);
    });
    out_.cycle = witness::FindCycle(out_.stuck, schedule_.world);
    out_.effect = !out_.stuck.empty()     ? witness::Effect::Deadlock
                  : !out_.refused.empty() ? witness::Effect::Error
                  : !out_.wrong.empty()   ? witness::Effect::Corruption
                                          : witness::Effect::Clean;
    return std::move(out_);
  }

 private:
  struct Rank {
    std::vector<bool> done;  // by operation
    std::vector<std::vector<uint32_t>>
        after;  // by operation: those the stream of the program waits for first
    std::vector<std::pair<uint32_t, uint32_t>> streams;  // communicator, rank in it
    std::vector<uint32_t> loose;                         // operations that are on no ring, not yet issued
  };

  // Two reductions, with the second of which the first one's last step is over on all ranks.
  std::vector<ScheduledOp> MakeFences() const {
    std::vector<ScheduledOp> fences;
    for (uint32_t c = 0; c < schedule_.comms.size(); ++c) {
      fences.insert(fences.end(), 2, FenceOp(schedule_, c));
    }
    return fences;
  }

  const ScheduledOp& OpOf(const RankOp& at) const {
    const std::vector<ScheduledOp>& ops = schedule_.OpsOf(at.rank);
    return at.op < ops.size() ? ops[at.op] : fences_[at.op - ops.size()];
  }
  static bool IsOnRing(OpKind kind) { return witness::IsCollective(kind) && kind != OpKind::AllToAll; }

  // What each operation waits for: `sync` ones hold up the program's stream, `wait` adds those it waits for.
  void Plan(uint32_t rank) {
    const std::vector<ScheduledOp>& ops = schedule_.OpsOf(rank);
    Rank& state = ranks_[rank];
    state.done.resize(ops.size());
    state.after.resize(ops.size());
    std::vector<uint32_t> current;
    std::map<uint32_t, std::vector<uint32_t>> asynchronous;
    for (uint32_t i = 0; i < ops.size(); ++i) {
      const ScheduledOp& op = ops[i];
      const int32_t member = schedule_.MemberIndex(op.comm, rank);
      if (member < 0 || IsRefused(op)) {
        out_.refused.push_back({rank, i});
        // The program ends there.
        state.done.resize(i);
        break;
      }
      state.after[i] = current;
      if (op.kind == OpKind::Wait) {
        std::vector<uint32_t>& waited = asynchronous[op.comm];
        current.insert(current.end(), waited.begin(), waited.end());
        waited.clear();
        state.done[i] = true;
        continue;
      }
      if (IsOnRing(op.kind)) AddToStream(rank, op.comm, static_cast<uint32_t>(member), i);
      if (!IsOnRing(op.kind)) state.loose.push_back(i);
      if (op.sync) current = {i};
      if (!op.sync) asynchronous[op.comm].push_back(i);
    }
  }

  void AddToStream(uint32_t rank, uint32_t comm, uint32_t member, uint32_t op) {
    Stream& stream = rings_[comm].streams[member];
    if (stream.ops.empty()) ranks_[rank].streams.emplace_back(comm, member);
    stream.ops.push_back(op);
  }

  void AddFences() {
    for (uint32_t rank = 0; rank < schedule_.world; ++rank) {
      const auto first = static_cast<uint32_t>(schedule_.OpsOf(rank).size());
      ranks_[rank].done.resize(first + fences_.size());
      ranks_[rank].after.resize(first + fences_.size());
      for (uint32_t i = 0; i < fences_.size(); ++i) {
        const int32_t member = schedule_.MemberIndex(fences_[i].comm, rank);
        ranks_[rank].done[first + i] = member < 0;
        if (member >= 0) AddToStream(rank, fences_[i].comm, static_cast<uint32_t>(member), first + i);
      }
    }
  }

  void RunAll() {
    for (uint32_t rank = 0; rank < schedule_.world; ++rank) awake_.push_back(rank);
    while (!ready_.empty() || !awake_.empty()) {
      if (ready_.empty()) {
        const uint32_t rank = awake_.back();
        awake_.pop_back();
        StartOps(rank);
        continue;
      }
      const auto [comm, member] = ready_.back();
      ready_.pop_back();
      Advance(comm, member);
    }
  }

  // Something the rank's operations waited for may be over.
  void StartOps(uint32_t rank) {
    for (const auto& stream : ranks_[rank].streams) ready_.push_back(stream);
    std::vector<uint32_t> waiting;
    waiting.swap(ranks_[rank].loose);
    for (const uint32_t op : waiting) {
      if (MayStart({rank, op})) {
        Meet({rank, op});
      } else {
        ranks_[rank].loose.push_back(op);
      }
    }
  }

  bool MayStart(const RankOp& at) const {
    const Rank& state = ranks_[at.rank];
    return std::all_of(state.after[at.op].begin(), state.after[at.op].end(),
                       [&](uint32_t i) { return state.done[i]; });
  }

  void Finish(const RankOp& at) {
    ranks_[at.rank].done[at.op] = true;
    awake_.push_back(at.rank);
  }

  void Meet(const RankOp& at) {
    const ScheduledOp& op = OpOf(at);
    if (op.kind == OpKind::AllToAll) {
      Meeting& meeting = meetings_[op.comm];
      const uint32_t turn = meeting.next[at.rank]++;
      if (turn == meeting.arrived.size()) meeting.arrived.emplace_back();
      meeting.arrived[turn].push_back(at);
      if (meeting.arrived[turn].size() < schedule_.comms[op.comm].size()) return;
      const std::vector<RankOp> all = meeting.arrived[turn];
      for (const RankOp& one : all) {
        if (!Agree(op, OpOf(one))) out_.wrong.push_back(one);
        Finish(one);
      }
      return;
    }
    const uint32_t peer = schedule_.comms[op.comm][static_cast<size_t>(op.peer)];
    const bool sends = op.kind == OpKind::Send;
    Mailbox& box = mail_[{op.comm, sends ? at.rank : peer, sends ? peer : at.rank}];
    (sends ? box.sends : box.recvs).push_back(at);
    if (box.sends.empty() || box.recvs.empty()) return;
    const RankOp send = box.sends.front(), recv = box.recvs.front();
    box.sends.pop_front();
    box.recvs.pop_front();
    if (OpOf(send).count != OpOf(recv).count || OpOf(send).dtype != OpOf(recv).dtype)
      out_.wrong.push_back(recv);
    Finish(send);
    Finish(recv);
  }

  void Advance(uint32_t comm, uint32_t member) {
    Stream& stream = rings_[comm].streams[member];
    const uint32_t rank = schedule_.comms[comm][member];
    while (stream.current < stream.ops.size()) {
      const RankOp at{rank, stream.ops[stream.current]};
      if (!stream.started && !MayStart(at)) return;
      const auto size = static_cast<uint32_t>(rings_[comm].streams.size());
      const RingProgram program(OpOf(at), protocol_, size, member);
      if (!stream.started) Start(comm, member, OpOf(at).kind);
      while (stream.primitive < program.primitives()) {
        stream.is_blocked = !Step(comm, member, at, program.At(stream.primitive));
        if (stream.is_blocked) return;
      }
      if (stream.is_wrong) out_.wrong.push_back(at);
      stream = {.ops = std::move(stream.ops), .current = stream.current + 1};
      Finish(at);
    }
  }

  Connection& Incoming(uint32_t comm, uint32_t member) {
    std::vector<Connection>& all = rings_[comm].connections;
    return all[(member + all.size() - 1) % all.size()];
  }
  void Wake(uint32_t comm, uint32_t member) {
    bool& is_blocked = rings_[comm].streams[member].is_blocked;
    if (is_blocked) ready_.emplace_back(comm, member);
    is_blocked = false;
  }

  // Simple starts an operation at a whole chunk: the receiver gives back what it skips, the sender just
  // skips.
  void Start(uint32_t comm, uint32_t member, OpKind kind) {
    rings_[comm].streams[member].started = true;
    const StepShape shape = ShapeOf(kind, protocol_);
    const int64_t chunk = int64_t{shape.slices} * shape.steps_per_slice;
    const auto up = [&](int64_t step) { return (step + chunk - 1) / chunk * chunk; };
    Connection& in = Incoming(comm, member);
    Connection& out = rings_[comm].connections[member];
    in.receive_step = up(in.receive_step);
    out.send_step = up(out.send_step);
    if (in.received == in.receive_step) return;
    in.received = in.receive_step;
    const auto size = static_cast<uint32_t>(rings_[comm].streams.size());
    Wake(comm, (member + size - 1) % size);
  }

  // One slice of a primitive; false if it has to wait.
  bool Step(uint32_t comm, uint32_t member, const RankOp& at, const Primitive& primitive) {
    Ring& ring = rings_[comm];
    Stream& stream = ring.streams[member];
    Connection& in = Incoming(comm, member);
    Connection& out = ring.connections[member];
    const StepShape shape = ShapeOf(OpOf(at).kind, protocol_);
    const int64_t steps = shape.steps_per_slice;
    if (primitive.receives && !CanReceive(in, steps, primitive.lines)) return false;
    if (primitive.sends && out.received + kConnectionSteps < out.send_step + steps) return false;
    const auto size = static_cast<uint32_t>(ring.streams.size());
    if (primitive.receives) {
      const Message expected{.op = &OpOf(at),
                             .turn = static_cast<uint32_t>(stream.current),
                             .index = stream.receives++,
                             .lines = primitive.lines};
      for (int64_t s = 0; s < steps; ++s) {
        if (!IsExpected(in.steps[static_cast<size_t>((in.receive_step + s) % kConnectionSteps)], expected)) {
          stream.is_wrong = true;
        }
      }
      in.receive_step += steps;
      in.received = in.receive_step;
      Wake(comm, (member + size - 1) % size);
    }
    if (primitive.sends) {
      const uint64_t index = stream.sends++;
      for (int64_t s = 0; s < steps; ++s) {
        const int64_t step = out.send_step + s;
        out.steps[static_cast<size_t>(step % kConnectionSteps)] = {
            .step = step,
            .op = &OpOf(at),
            .turn = static_cast<uint32_t>(stream.current),
            .index = index,
            .lines = primitive.lines};
      }
      out.send_step += steps;
      out.sent = out.send_step;
      Wake(comm, (member + 1) % size);
    }
    if (++stream.slice == shape.slices) {
      stream.slice = 0;
      ++stream.primitive;
    }
    return true;
  }

  bool CanReceive(const Connection& in, int64_t steps, uint32_t lines) const {
    if (protocol_ == Protocol::Simple) return in.sent >= in.receive_step + steps;
    const Message& message = in.steps[static_cast<size_t>(in.receive_step % kConnectionSteps)];
    return message.step == in.receive_step && message.lines >= lines;
  }

  static bool IsExpected(const Message& message, const Message& expected) {
    return message.op != nullptr && message.turn == expected.turn && message.index == expected.index &&
           Agree(*message.op, *expected.op);
  }

  void CollectStuck() {
    for (uint32_t rank = 0; rank < schedule_.world; ++rank) {
      const std::vector<bool>& done = ranks_[rank].done;
      const auto open = static_cast<uint32_t>(std::find(done.begin(), done.end(), false) - done.begin());
      if (open < done.size()) out_.stuck.push_back({rank, open, WaitsFor({rank, open})});
    }
  }

  // The ranks that stand elsewhere: at another turn of the communicator, or there with something else.
  std::vector<uint32_t> WaitsFor(const RankOp& at) const {
    const ScheduledOp& op = OpOf(at);
    const std::vector<uint32_t>& members = schedule_.comms[op.comm];
    if (witness::IsPointToPoint(op.kind)) return {members[static_cast<size_t>(op.peer)]};
    std::vector<uint32_t> others;
    const size_t turn = TurnOf(at);
    for (size_t m = 0; m < members.size(); ++m) {
      if (members[m] == at.rank) continue;
      if (op.kind == OpKind::AllToAll) {
        if (meetings_[op.comm].next[members[m]] <= turn) others.push_back(members[m]);
        continue;
      }
      const Stream& stream = rings_[op.comm].streams[m];
      const bool is_there =
          turn < stream.ops.size() && (stream.current > turn || MayStart({members[m], stream.ops[turn]}));
      if (!is_there || !Pair(op, OpOf({members[m], stream.ops[turn]}))) others.push_back(members[m]);
    }
    std::sort(others.begin(), others.end());
    return others;
  }

  size_t TurnOf(const RankOp& at) const {
    const ScheduledOp& op = OpOf(at);
    if (op.kind == OpKind::AllToAll) return meetings_[op.comm].next[at.rank] - 1;
    const Stream& stream =
        rings_[op.comm].streams[static_cast<size_t>(schedule_.MemberIndex(op.comm, at.rank))];
    return static_cast<size_t>(std::find(stream.ops.begin(), stream.ops.end(), at.op) - stream.ops.begin());
  }

  const Schedule& schedule_;
  Protocol protocol_;
  std::vector<ScheduledOp> fences_;
  std::vector<Ring> rings_;
  std::vector<Meeting> meetings_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Mailbox> mail_;
  std::vector<Rank> ranks_;
  std::vector<std::pair<uint32_t, uint32_t>> ready_;  // streams
  std::vector<uint32_t> awake_;                       // ranks
  Outcome out_;
};

}  // namespace

std::string_view NameOf(Protocol protocol) { return protocol == Protocol::LowLatency ? "LL" : "Simple"; }

Outcome SimulateRing(const Schedule& schedule, Protocol protocol, bool fence) {
  return RingSimulator(schedule, protocol).Run(fence);
}

}  // namespace allranks::verify
