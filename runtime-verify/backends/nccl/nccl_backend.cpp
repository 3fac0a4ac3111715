#include "runtime-verify/backends/nccl/nccl_backend.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "runtime-verify/backends/nccl/libraries.h"

namespace allranks::verify {
namespace {

using witness::Dtype;
using witness::OpKind;
using witness::Redop;
using witness::ScheduledOp;

// From Pascal on a kernel that spins is preempted, so that the ranks that share a device all go on.
constexpr int kOldestCapability = 6;

constexpr size_t kAlignment = 256;
size_t Aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

abi::NcclType TypeOf(Dtype dtype) {
  switch (dtype) {
    case Dtype::F32:
      return abi::kFloat32;
    case Dtype::F16:
      return abi::kFloat16;
    case Dtype::Bf16:
      return abi::kBfloat16;
    case Dtype::F64:
      return abi::kFloat64;
    case Dtype::I32:
      return abi::kInt32;
    case Dtype::I64:
      return abi::kInt64;
    case Dtype::U8:
      return abi::kUint8;
  }
  return abi::kFloat32;
}

abi::NcclReduction ReductionOf(Redop redop) {
  switch (redop) {
    case Redop::Product:
      return abi::kProd;
    case Redop::Min:
      return abi::kMin;
    case Redop::Max:
      return abi::kMax;
    case Redop::Average:
      return abi::kAvg;
    case Redop::Sum:
    case Redop::Other:
      return abi::kSum;
  }
  return abi::kSum;
}

// Memory of the device and its pinned image on the host: from other memory a copy would wait for the device.
struct Arena {
  abi::DevicePointer device = 0;
  std::byte* host = nullptr;
  size_t size = 0, used = 0;
};

struct Piece {
  abi::DevicePointer device = 0;
  std::byte* host = nullptr;
};

// What an operation needs that waits for its communicator.
struct Held {
  uint32_t id = 0;
  ScheduledOp op;
  Piece input;
  bool ends_batch = false;
};

struct Flight {
  abi::Event done = nullptr;
  Piece output;
  OpBuffers* buffers = nullptr;  // none: a `wait`, which brings nothing
  abi::Stream stream = nullptr;
  abi::Comm comm = nullptr;
  bool sync = false;
};

class NcclBackend : public Backend {
 public:
  std::optional<Failure> Connect(const RankSetup& setup, Store& store, Facilities* facilities) override {
    const char* library = std::getenv(kLibraryVariable);
    if (auto failure = LoadCuda(&cuda_)) return failure;
    if (auto failure = LoadNccl(library == nullptr ? "" : library, &nccl_)) return failure;
    if (auto failure = TakeDevice(setup, facilities)) return failure;
    comms_.resize(setup.comms.size());
    for (size_t c = 0; c < setup.comms.size(); ++c) {
      if (auto failure = Prepare(setup, store, c)) return failure;
      if (setup.at_first_use || comms_[c].size == 0) continue;
      const abi::NcclResult code = Make(comms_[c]);
      if (auto failure = AwaitReady(code, comms_[c].handle)) return failure;
    }
    return std::nullopt;
  }

  bool RunsAhead() const override { return true; }

  std::optional<Failure> Reserve(size_t input_bytes, size_t output_bytes) override {
    arena_ = {};
    // Each operation is aligned twice and has a scratch element.
    constexpr size_t kMostOps = 4096;
    arena_.size = Aligned(input_bytes) + Aligned(output_bytes) + kMostOps * kAlignment;
    if (auto failure = Check(cuda_.cuMemAlloc_(&arena_.device, arena_.size))) return failure;
    void* host = nullptr;
    if (auto failure = Check(cuda_.cuMemHostAlloc_(&host, arena_.size, 0))) return failure;
    arena_.host = static_cast<std::byte*>(host);
    return std::nullopt;
  }

  // A call that has not come back holds up the program, as PyTorch's does: until the peers of a first
  // point-to-point operation have come, NCCL has put nothing on the stream.
  bool HasReturned() const override { return launching_.empty() && !held_; }

  // As PyTorch does it: the communicator's stream waits for the program's; behind an operation that is `sync`
  // the program's stream waits for the communicator's.
  std::optional<Failure> Issue(uint32_t id, const ScheduledOp& op, uint32_t, OpBuffers& buffers) override {
    Flight flight{.stream = comms_[op.comm].stream, .comm = comms_[op.comm].handle, .sync = op.sync};
    if (auto failure = Check(cuda_.cuEventCreate_(&flight.done, abi::kEventDisableTiming))) return failure;
    if (op.kind == OpKind::Wait) {
      if (auto failure = Check(cuda_.cuEventRecord_(flight.done, flight.stream))) return failure;
      flights_[id] = flight;
      return Check(cuda_.cuStreamWaitEvent_(program_, flight.done, 0));
    }
    flight.output = Take(buffers.output.size());
    flight.buffers = &buffers;
    Piece input;
    if (auto failure = Bring(buffers, flight, &input)) return failure;
    flights_[id] = flight;
    const Held next{.id = id, .op = op, .input = input};
    if (flight.comm != nullptr) return Put(next);
    const abi::NcclResult code = Make(comms_[op.comm]);
    flights_[id].comm = comms_[op.comm].handle;
    if (code != abi::kNcclInProgress) return code == abi::kNcclSuccess ? Put(next) : Check(code, comms_[op.comm].handle);
    held_ = next;
    return std::nullopt;
  }

  std::optional<Failure> EndBatch() override {
    if (held_) {
      held_->ends_batch = true;
      return std::nullopt;
    }
    return Settle(std::exchange(batch_, {}), nccl_.ncclGroupEnd_());
  }

  OpState Poll(uint32_t id, Failure* failure) override {
    std::optional<Failure> error = held_ && held_->id == id ? PollComm() : std::nullopt;
    if (!error && IsAmong(launching_, id)) error = PollLaunch(flights_[id]);
    if (error) {
      *failure = *error;
      return OpState::Failed;
    }
    const bool is_on_device = !(held_ && held_->id == id) && !IsAmong(launching_, id) && !IsAmong(batch_, id);
    return is_on_device ? PollDevice(flights_[id], failure) : OpState::Pending;
  }

  std::string Unsupported(const ScheduledOp& op) const override {
    return IsReduction(op.kind) && op.redop == Redop::Other ? "NCCL has no such reduction" : "";
  }

 private:
  // A group's communicator, and what makes it.
  struct Comm {
    abi::Comm handle = nullptr;
    abi::Stream stream = nullptr;
    abi::UniqueId id;
    uint32_t size = 0;  // 0: this rank is no member
    int rank = 0;
  };

  static bool IsAmong(const std::vector<uint32_t>& ids, uint32_t id) { return std::ranges::find(ids, id) != ids.end(); }

  // Hands an operation to the library, whose call may still be under way behind it. Those of a batch go with its end.
  std::optional<Failure> Put(const Held& next) {
    const bool is_batched = next.op.batch != 0;
    if (is_batched && batch_.empty()) {
      if (auto failure = Check(nccl_.ncclGroupStart_(), nullptr)) return failure;
    }
    const Flight& flight = flights_[next.id];
    const abi::NcclResult code = Launch(next.op, next.input.device, flight.output.device, flight.stream);
    if (!is_batched) return Settle({next.id}, code);
    batch_.push_back(next.id);
    return Check(code, flight.comm);
  }

  std::optional<Failure> Settle(std::vector<uint32_t> ids, abi::NcclResult code) {
    if (code == abi::kNcclInProgress) {
      launching_ = std::move(ids);
      return std::nullopt;
    }
    for (const uint32_t id : ids) {
      if (auto failure = Check(code, flights_[id].comm)) return failure;
      if (auto failure = Complete(flights_[id])) return failure;
    }
    return std::nullopt;
  }

  // Asks whether all members have come to where the communicator is made; then what waited for it goes on.
  std::optional<Failure> PollComm() {
    abi::Comm comm = flights_[held_->id].comm;
    abi::NcclResult code = abi::kNcclSuccess;
    if (auto failure = Check(nccl_.ncclCommGetAsyncError_(comm, &code), comm)) return failure;
    if (code == abi::kNcclInProgress) return std::nullopt;
    if (auto failure = Check(code, comm)) return failure;
    const Held next = *std::exchange(held_, std::nullopt);
    if (auto failure = Put(next)) return failure;
    return next.ends_batch ? EndBatch() : std::nullopt;
  }

  // Puts input and output of an operation on the device, behind what the program issued before.
  std::optional<Failure> Bring(const OpBuffers& buffers, const Flight& flight, Piece* input) {
    abi::Event before = nullptr;
    if (auto failure = Check(cuda_.cuEventCreate_(&before, abi::kEventDisableTiming))) return failure;
    if (auto failure = Check(cuda_.cuEventRecord_(before, program_))) return failure;
    if (auto failure = Check(cuda_.cuStreamWaitEvent_(flight.stream, before, 0))) return failure;
    // A barrier has no input of its own and reduces one element.
    const size_t bytes = std::max(buffers.input.size(), sizeof(float));
    *input = Take(bytes);
    std::fill_n(input->host, bytes, std::byte{0});
    std::copy(buffers.input.begin(), buffers.input.end(), input->host);
    std::copy(buffers.output.begin(), buffers.output.end(), flight.output.host);
    if (auto failure = Check(cuda_.cuMemcpyHtoDAsync_(input->device, input->host, bytes, flight.stream))) return failure;
    return Check(cuda_.cuMemcpyHtoDAsync_(flight.output.device, flight.output.host, buffers.output.size(), flight.stream));
  }

  // Behind the operation, once it is on the stream.
  std::optional<Failure> Complete(const Flight& flight) {
    const size_t bytes = flight.buffers->output.size();
    if (auto failure = Check(cuda_.cuMemcpyDtoHAsync_(flight.output.host, flight.output.device, bytes, flight.stream))) return failure;
    if (auto failure = Check(cuda_.cuEventRecord_(flight.done, flight.stream))) return failure;
    return flight.sync ? Check(cuda_.cuStreamWaitEvent_(program_, flight.done, 0)) : std::nullopt;
  }

  // Asks whether the call has come back meanwhile.
  std::optional<Failure> PollLaunch(const Flight& flight) {
    abi::NcclResult code = abi::kNcclSuccess;
    if (auto failure = Check(nccl_.ncclCommGetAsyncError_(flight.comm, &code), flight.comm)) return failure;
    if (code == abi::kNcclInProgress) return std::nullopt;
    return Settle(std::exchange(launching_, {}), code);
  }

  OpState PollDevice(const Flight& flight, Failure* failure) const {
    const abi::CudaResult code = cuda_.cuEventQuery_(flight.done);
    std::optional<Failure> error = code == abi::kCudaNotReady ? AsynchronousError() : Check(code);
    if (error) {
      *failure = *error;
      return OpState::Failed;
    }
    if (code == abi::kCudaNotReady) return OpState::Pending;
    if (flight.buffers != nullptr) {
      std::copy_n(flight.output.host, flight.buffers->output.size(), flight.buffers->output.begin());
    }
    return OpState::Done;
  }

  std::optional<Failure> Check(abi::CudaResult code) const {
    if (code == abi::kCudaSuccess) return std::nullopt;
    const char *name = nullptr, *words = nullptr;
    cuda_.cuGetErrorName_(code, &name);
    cuda_.cuGetErrorString_(code, &words);
    return Failure{
        code, std::string(name == nullptr ? "CUDA error" : name) + ": " + (words == nullptr ? "" : words)};
  }

  std::optional<Failure> Check(abi::NcclResult code, abi::Comm comm) const {
    if (code == abi::kNcclSuccess || code == abi::kNcclInProgress) return std::nullopt;
    const char* last = nccl_.ncclGetLastError_(comm);
    std::string text = nccl_.ncclGetErrorString_(code);
    if (last != nullptr && *last != '\0') text += std::string(": ") + last;
    return Failure{code, text};
  }

  // A communicator that does not block is ready later; the coordinator's patience ends this.
  std::optional<Failure> AwaitReady(abi::NcclResult code, abi::Comm comm) const {
    constexpr auto kLongest = std::chrono::microseconds(12800);
    for (auto between = std::chrono::microseconds(200); code == abi::kNcclInProgress; between = std::min(between * 2, kLongest)) {
      std::this_thread::sleep_for(between);
      if (auto failure = Check(nccl_.ncclCommGetAsyncError_(comm, &code), comm)) return failure;
    }
    return Check(code, comm);
  }

  std::optional<Failure> AsynchronousError() const {
    for (const Comm& comm : comms_) {
      abi::NcclResult code = abi::kNcclSuccess;
      if (comm.handle == nullptr) continue;
      if (auto failure = Check(nccl_.ncclCommGetAsyncError_(comm.handle, &code), comm.handle)) return failure;
      if (auto failure = Check(code, comm.handle)) return failure;
    }
    return std::nullopt;
  }

  std::optional<Failure> TakeDevice(const RankSetup& setup, Facilities* facilities) {
    int count = 0, driver = 0;
    if (auto failure = Check(cuda_.cuDeviceGetCount_(&count))) return failure;
    cuda_.cuDriverGetVersion_(&driver);
    std::string name;
    if (setup.survey) {
      if (auto failure = Survey(setup, std::max(count, 1), &name, facilities)) return failure;
    } else {
      const int wanted = setup.device >= 0 ? setup.device : static_cast<int>(setup.rank);
      if (auto failure = Enter(setup, wanted % std::max(count, 1), &name)) return failure;
    }
    facilities->description = "NCCL " + VersionText(nccl_.version) + ", " + name + " (" + std::to_string(count) +
                              " device" + (count == 1 ? "" : "s") + "), driver for CUDA " +
                              std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10);
    return Check(cuda_.cuStreamCreate_(&program_, abi::kStreamNonBlocking));
  }

  // All devices that ranks may use; the failure of the first where there is none.
  std::optional<Failure> Survey(const RankSetup& setup, int count, std::string* name, Facilities* facilities) {
    std::optional<Failure> first;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      std::string own;
      std::optional<Failure> failure = Enter(setup, ordinal, &own);
      if (failure && !first) first = failure;
      if (failure) continue;
      if (facilities->devices.empty()) *name = own;
      facilities->devices.push_back(ordinal);
    }
    return facilities->devices.empty() ? first : std::nullopt;
  }

  // Makes a device this process's own, if it will do.
  std::optional<Failure> Enter(const RankSetup& setup, int ordinal, std::string* called) const {
    int major = 0, minor = 0;
    abi::Device device = 0;
    if (auto failure = Check(cuda_.cuDeviceGet_(&device, ordinal))) return failure;
    char name[128] = "";
    cuda_.cuDeviceGetName_(name, sizeof(name), device);
    *called = name;
    cuda_.cuDeviceGetAttribute_(&major, abi::kAttributeCapabilityMajor, device);
    cuda_.cuDeviceGetAttribute_(&minor, abi::kAttributeCapabilityMinor, device);
    if (major < kOldestCapability) {
      return Failure{0, std::string(name) + " has compute capability " + std::to_string(major) + "." +
                            std::to_string(minor) +
                            "; 6.0 or later is needed, so that a waiting kernel lets others run"};
    }
    abi::Context context = nullptr;
    if (auto failure = Check(cuda_.cuDevicePrimaryCtxRetain_(&context, device))) return Explained(*failure, device, name);
    if (auto failure = Check(cuda_.cuCtxSetCurrent_(context))) return failure;
    return RefuseBusyDevice(setup, name);
  }

  // What a context was refused for, where the device's compute mode says it.
  Failure Explained(Failure failure, abi::Device device, const std::string& name) const {
    int mode = 0;
    cuda_.cuDeviceGetAttribute_(&mode, abi::kAttributeComputeMode, device);
    if (mode == abi::kComputeModeExclusive) {
      failure.text = name + " is in exclusive-process mode, so that several ranks cannot share it: `nvidia-smi -c DEFAULT`, or a device a rank";
    }
    if (mode == abi::kComputeModeProhibited) failure.text = name + " is in prohibited mode: `nvidia-smi -c DEFAULT` lets programs use it";
    return failure;
  }

  // Kernels that wait take time from those of others. Asked by the first rank on a device, before others take memory.
  std::optional<Failure> RefuseBusyDevice(const RankSetup& setup, const std::string& name) const {
    size_t left = 0, total = 0;
    if (setup.force || !setup.first_on_device) return std::nullopt;
    if (auto failure = Check(cuda_.cuMemGetInfo_(&left, &total))) return failure;
    if (left >= total / 2) return std::nullopt;
    return Failure{
        0, "more than half of the memory of " + name +
               " is in use: another job runs there, which waiting ranks would slow down; --force runs "
               "all the same"};
  }

  // All that making a communicator takes, so that no rank waits for a text while it makes one.
  std::optional<Failure> Prepare(const RankSetup& setup, Store& store, size_t c) {
    const std::vector<uint32_t>& members = setup.comms[c];
    const auto member = std::find(members.begin(), members.end(), setup.rank);
    if (member == members.end()) return std::nullopt;
    const std::string key = "nccl/" + std::to_string(c);
    abi::UniqueId& id = comms_[c].id;
    if (member == members.begin()) {
      if (auto failure = Check(nccl_.ncclGetUniqueId_(&id), nullptr)) return failure;
      store.Set(key, std::string(id.internal, sizeof(id.internal)));
    } else {
      const std::optional<std::string> text = store.Get(key);
      if (!text || text->size() != sizeof(id.internal)) return Failure{0, "the coordinator is gone"};
      std::memcpy(id.internal, text->data(), sizeof(id.internal));
    }
    comms_[c].size = static_cast<uint32_t>(members.size());
    comms_[c].rank = static_cast<int>(member - members.begin());
    return Check(cuda_.cuStreamCreate_(&comms_[c].stream, abi::kStreamNonBlocking));
  }

  abi::NcclResult Make(Comm& comm) {
    abi::Config config;
    return nccl_.ncclCommInitRankConfig_(&comm.handle, static_cast<int>(comm.size), comm.id, comm.rank, &config);
  }

  Piece Take(size_t bytes) {
    const size_t at = arena_.used;
    arena_.used += Aligned(bytes);
    return {arena_.device + at, arena_.host + at};
  }

  abi::NcclResult Launch(const ScheduledOp& op, abi::DevicePointer from, abi::DevicePointer to, abi::Stream stream) {
    abi::Comm comm = comms_[op.comm].handle;
    void* input = reinterpret_cast<void*>(from);
    void* output = reinterpret_cast<void*>(to);
    const abi::NcclType type = TypeOf(op.dtype);
    const abi::NcclReduction reduction = ReductionOf(op.redop);
    switch (op.kind) {
      case OpKind::AllReduce:
        return nccl_.ncclAllReduce_(input, output, op.count, type, reduction, comm, stream);
      // As PyTorch does it. The result lands on the input, which nobody checks.
      case OpKind::Barrier:
        return nccl_.ncclAllReduce_(input, input, 1, abi::kFloat32, abi::kSum, comm, stream);
      case OpKind::Broadcast:
        return nccl_.ncclBroadcast_(input, output, op.count, type, op.root, comm, stream);
      case OpKind::Reduce:
        return nccl_.ncclReduce_(input, output, op.count, type, reduction, op.root, comm, stream);
      case OpKind::AllGather:
        return nccl_.ncclAllGather_(input, output, op.count, type, comm, stream);
      case OpKind::ReduceScatter:
        return nccl_.ncclReduceScatter_(input, output, op.count, type, reduction, comm, stream);
      case OpKind::Send:
        return nccl_.ncclSend_(input, op.count, type, op.peer, comm, stream);
      case OpKind::Recv:
        return nccl_.ncclRecv_(output, op.count, type, op.peer, comm, stream);
      case OpKind::AllToAll:
        return LaunchAllToAll(op, from, to, stream);
      case OpKind::Wait:
        return abi::kNcclSuccess;
    }
    return abi::kNcclSuccess;
  }

  // A part to each and from each, in one group. ncclAlltoall itself is there from 2.28 on only.
  abi::NcclResult LaunchAllToAll(const ScheduledOp& op, abi::DevicePointer from, abi::DevicePointer to, abi::Stream stream) {
    abi::Comm comm = comms_[op.comm].handle;
    const abi::NcclType type = TypeOf(op.dtype);
    const size_t bytes = size_t{op.count} * BytesOf(op.dtype);
    abi::NcclResult worst = nccl_.ncclGroupStart_();
    const auto note = [&](abi::NcclResult code) {
      if (code != abi::kNcclSuccess && code != abi::kNcclInProgress) worst = code;
    };
    for (uint32_t peer = 0; peer < comms_[op.comm].size; ++peer) {
      const int other = static_cast<int>(peer);
      note(nccl_.ncclSend_(reinterpret_cast<const void*>(from + peer * bytes), op.count, type, other, comm, stream));
      note(nccl_.ncclRecv_(reinterpret_cast<void*>(to + peer * bytes), op.count, type, other, comm, stream));
    }
    const abi::NcclResult code = nccl_.ncclGroupEnd_();
    return worst == abi::kNcclSuccess ? code : worst;
  }

  CudaFunctions cuda_;
  NcclFunctions nccl_;
  std::vector<Comm> comms_;
  abi::Stream program_ = nullptr;
  Arena arena_;
  std::map<uint32_t, Flight> flights_;
  std::vector<uint32_t> launching_;  // whose call has not come back
  std::vector<uint32_t> batch_;      // that go together, as far as they were handed over
  std::optional<Held> held_;         // waits for its communicator
};

}  // namespace

std::unique_ptr<Backend> MakeNcclBackend() { return std::make_unique<NcclBackend>(); }

}  // namespace allranks::verify
