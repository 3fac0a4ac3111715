#include "runtime-verify/worker/worker.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <map>

#include "runtime-verify/backends/payload.h"
#include "runtime-verify/worker/protocol.h"

namespace allranks::verify {
namespace {

// How often operations under way are looked at: less often while nothing comes of it, as hundreds of ranks may share a machine.
constexpr int kPollMs = 1;
constexpr int kLongestPollMs = 16;
constexpr int kForever = -1;

// The two pipes to the coordinator.
class LineToCoordinator {
 public:
  // False once the coordinator is gone.
  bool is_open() const { return is_open_; }

  void Send(const Event& event) {
    const std::string line = Encode(event);
    for (size_t written = 0; is_open_ && written < line.size();) {
      const ssize_t n = write(kEventDescriptor, line.data() + written, line.size() - written);
      if (n < 0 && errno == EINTR) continue;
      is_open_ = n > 0;
      if (n > 0) written += static_cast<size_t>(n);
    }
  }

  std::optional<Command> Receive(int timeout_ms) {
    while (is_open_) {
      if (const std::optional<std::string> line = buffer_.Take()) {
        const std::optional<Command> command = DecodeCommand(*line);
        is_open_ = command.has_value();
        return command;
      }
      pollfd descriptor{.fd = kCommandDescriptor, .events = POLLIN, .revents = 0};
      const int ready = poll(&descriptor, 1, timeout_ms);
      if (ready == 0) return std::nullopt;
      if (ready < 0) {
        is_open_ = errno == EINTR;
        continue;
      }
      char bytes[4096];
      const ssize_t n = read(kCommandDescriptor, bytes, sizeof(bytes));
      is_open_ = n > 0 && buffer_.Add({bytes, static_cast<size_t>(n)});
    }
    return std::nullopt;
  }

 private:
  LineBuffer buffer_;
  bool is_open_ = true;
};

// The store lives with the coordinator.
class RemoteStore : public Store {
 public:
  RemoteStore(LineToCoordinator& line, std::deque<Command>& postponed) : line_(line), postponed_(postponed) {}
  void Set(const std::string& key, const std::string& value) override {
    line_.Send({.kind = Event::Kind::Set, .text = "", .key = key, .value = value});
  }
  std::optional<std::string> Get(const std::string& key) override {
    line_.Send({.kind = Event::Kind::Get, .text = "", .key = key, .value = ""});
    while (line_.is_open()) {
      std::optional<Command> command = line_.Receive(kForever);
      if (!command || command->kind == Command::Kind::Quit) break;
      if (command->kind == Command::Kind::Value && command->key == key) return command->value;
      postponed_.push_back(*command);
    }
    return std::nullopt;
  }

 private:
  LineToCoordinator& line_;
  std::deque<Command>& postponed_;
};

class Worker {
 public:
  explicit Worker(Backend& backend) : backend_(backend), store_(line_, postponed_) {}

  int Run() {
    while (line_.is_open()) {
      if (const std::optional<Command> command = NextCommand()) {
        if (command->kind == Command::Kind::Quit) break;
        Obey(*command);
      }
      PollOps();
      IssueOps();
    }
    return 0;
  }

 private:
  struct Op {
    witness::ScheduledOp what;
    uint32_t tag = 0;
    PayloadPlace place;
    OpBuffers buffers;
  };

  std::optional<Command> NextCommand() {
    if (!postponed_.empty()) {
      Command command = postponed_.front();
      postponed_.pop_front();
      return command;
    }
    const bool is_busy = !under_way_.empty() || (next_ < end_ && !has_failed_);
    std::optional<Command> command = line_.Receive(is_busy ? poll_ms_ : kForever);
    poll_ms_ = command ? kPollMs : std::min(poll_ms_ * 2, kLongestPollMs);
    return command;
  }

  void Obey(const Command& command) {
    switch (command.kind) {
      case Command::Kind::Comm:
        setup_.comms.push_back(command.ranks);
        break;
      case Command::Kind::Init:
        Connect(command.setup);
        break;
      case Command::Kind::Op:
        AddOp(command);
        break;
      case Command::Kind::Run:
        next_ = command.first;
        end_ = std::min<size_t>(size_t{command.first} + command.count, ops_.size());
        is_running_ = true;
        MakeRoom();
        break;
      case Command::Kind::Value:
      case Command::Kind::Quit:
        break;
    }
  }

  void Connect(const RankSetup& setup) {
    std::vector<std::vector<uint32_t>> comms = std::move(setup_.comms);
    setup_ = setup;
    setup_.comms = std::move(comms);
    Facilities facilities;
    if (const std::optional<Failure> failure = backend_.Connect(setup_, store_, &facilities)) {
      has_failed_ = true;
      line_.Send({.kind = Event::Kind::Failed, .code = failure->code, .text = failure->text});
      return;
    }
    line_.Send({.kind = Event::Kind::Ready, .text = facilities.description, .devices = facilities.devices});
  }

  void AddOp(const Command& command) {
    Op op{.what = command.op, .tag = command.tag, .place = {}, .buffers = {}};
    const std::vector<uint32_t>& members = setup_.comms.at(command.op.comm);
    const auto member = std::find(members.begin(), members.end(), setup_.rank);
    op.place = {.rank = static_cast<uint32_t>(member - members.begin()),
                .size = static_cast<uint32_t>(members.size()),
                .tag = command.tag};
    ops_.push_back(std::move(op));
  }

  void MakeRoom() {
    size_t input = 0, output = 0;
    for (size_t id = next_; id < end_; ++id) {
      Op& op = ops_[id];
      if (!IsMember(op) || IsRefused(op.what)) continue;
      op.buffers = MakeBuffers(op.what, op.place);
      input += op.buffers.input.size();
      output += op.buffers.output.size();
    }
    if (has_failed_ || next_ == end_) return;
    if (const std::optional<Failure> failure = backend_.Reserve(input, output)) {
      Fail(static_cast<uint32_t>(next_), *failure);
    }
  }

  bool IsMember(const Op& op) const { return op.place.rank < op.place.size; }

  void IssueOps() {
    while (!has_failed_ && next_ < end_ && MayIssue(ops_[next_])) {
      const auto id = static_cast<uint32_t>(next_++);
      Op& op = ops_[id];
      line_.Send({.kind = Event::Kind::Issued, .op = id});
      if (!IsMember(op))
        return Fail(id, {.code = 0, .text = "the rank is not in the group of the operation"});
      if (IsRefused(op.what))
        return Fail(id, {.code = 0, .text = "the root of the operation is not in its group"});
      if (std::string reason = backend_.Unsupported(op.what); !reason.empty()) return Fail(id, {0, reason});
      if (const std::optional<Failure> failure = backend_.Issue(id, op.what, op.tag, op.buffers)) {
        return Fail(id, *failure);
      }
      if (EndsBatch(id)) {
        if (const std::optional<Failure> failure = backend_.EndBatch()) return Fail(id, *failure);
      }
      under_way_.push_back(id);
      if (!backend_.HasReturned()) held_ = id;
      else if (!HoldsHost(op)) line_.Send({.kind = Event::Kind::Returned, .op = id});
    }
    if (is_running_ && !has_failed_ && next_ == end_ && under_way_.empty()) {
      is_running_ = false;
      line_.Send({.kind = Event::Kind::Idle});
    }
  }

  bool EndsBatch(uint32_t id) const {
    const uint32_t batch = ops_[id].what.batch;
    return batch != 0 && (next_ == end_ || ops_[next_].what.batch != batch);
  }

  // The program's call returns when the operation is over.
  bool HoldsHost(const Op& op) const { return op.what.sync && !backend_.RunsAhead(); }

  // Where the device does not wait, the host must.
  bool MayIssue(const Op& op) const {
    if (!backend_.HasReturned()) return false;
    if (backend_.RunsAhead()) return true;
    return std::none_of(under_way_.begin(), under_way_.end(), [&](uint32_t id) {
      return ops_[id].what.sync ||
             (op.what.kind == witness::OpKind::Wait && ops_[id].what.comm == op.what.comm);
    });
  }

  void PollOps() {
    for (size_t i = 0; i < under_way_.size() && !has_failed_;) {
      const uint32_t id = under_way_[i];
      Failure failure;
      const OpState state = backend_.Poll(id, &failure);
      if (state == OpState::Failed) return Fail(id, failure);
      if (held_ == id && backend_.HasReturned()) {
        held_.reset();
        line_.Send({.kind = Event::Kind::Returned, .op = id});
      }
      if (state == OpState::Pending) {
        ++i;
        continue;
      }
      under_way_.erase(under_way_.begin() + static_cast<ptrdiff_t>(i));
      poll_ms_ = kPollMs;
      if (HoldsHost(ops_[id])) line_.Send({.kind = Event::Kind::Returned, .op = id});
      line_.Send({.kind = Event::Kind::Done, .op = id});
      const DataCheck check = CheckOutput(ops_[id].what, ops_[id].place, ops_[id].buffers.output);
      if (check.bad == 0) continue;
      line_.Send({.kind = Event::Kind::Data,
                  .op = id,
                  .bad = check.bad,
                  .first = check.first,
                  .expected = check.expected,
                  .got = check.got});
    }
  }

  void Fail(uint32_t id, const Failure& failure) {
    has_failed_ = true;
    under_way_.clear();
    line_.Send(
        {.kind = Event::Kind::Failed, .in_op = true, .op = id, .code = failure.code, .text = failure.text});
  }

  Backend& backend_;
  LineToCoordinator line_;
  std::deque<Command> postponed_;
  RemoteStore store_;
  RankSetup setup_;
  std::deque<Op> ops_;
  std::vector<uint32_t> under_way_;
  std::optional<uint32_t> held_;  // whose call is still in the library
  size_t next_ = 0, end_ = 0;
  int poll_ms_ = kPollMs;
  bool is_running_ = false;
  bool has_failed_ = false;
};

}  // namespace

int RunWorker(Backend& backend) { return Worker(backend).Run(); }

}  // namespace allranks::verify
