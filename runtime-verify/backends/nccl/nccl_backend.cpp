#include "runtime-verify/backends/nccl/nccl_backend.h"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstring>
#include <map>
#include <thread>

#include "runtime-verify/backends/nccl/libraries.h"

namespace allranks::verify {
namespace {

using witness::Dtype;
using witness::OpKind;
using witness::Redop;
using witness::ScheduledOp;

// From Pascal on a kernel that spins is preempted, so that the ranks that share a device all go on.
constexpr int kOldestCapability = 6;

// The configuration as NCCL 2.17 had it. Later versions append fields, take as many bytes as they are told,
// and reset what is newer than the version they are told: so this one is right for all of them.
constexpr size_t kConfigBytes = 48;
constexpr unsigned kConfigVersion = 21800;
static_assert(offsetof(ncclConfig_t, splitShare) + sizeof(int) <= kConfigBytes);

constexpr size_t kAlignment = 256;
size_t Aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

ncclDataType_t TypeOf(Dtype dtype) {
  switch (dtype) {
    case Dtype::F32:
      return ncclFloat32;
    case Dtype::F16:
      return ncclFloat16;
    case Dtype::Bf16:
      return ncclBfloat16;
    case Dtype::F64:
      return ncclFloat64;
    case Dtype::I32:
      return ncclInt32;
    case Dtype::I64:
      return ncclInt64;
    case Dtype::U8:
      return ncclUint8;
  }
  return ncclFloat32;
}

ncclRedOp_t ReductionOf(Redop redop) {
  switch (redop) {
    case Redop::Product:
      return ncclProd;
    case Redop::Min:
      return ncclMin;
    case Redop::Max:
      return ncclMax;
    case Redop::Average:
      return ncclAvg;
    case Redop::Sum:
    case Redop::Other:
      return ncclSum;
  }
  return ncclSum;
}

// Memory of the device and its pinned image on the host: from other memory a copy would wait for the device.
struct Arena {
  CUdeviceptr device = 0;
  std::byte* host = nullptr;
  size_t size = 0, used = 0;
};

struct Piece {
  CUdeviceptr device = 0;
  std::byte* host = nullptr;
};

struct Flight {
  CUevent done = nullptr;
  Piece output;
  OpBuffers* buffers = nullptr;
};

class NcclBackend : public Backend {
 public:
  std::optional<Failure> Connect(const RankSetup& setup, Store& store, std::string* description) override {
    if (auto failure = LoadCuda(&cuda_)) return failure;
    if (auto failure = LoadNccl(setup.library, &nccl_)) return failure;
    if (auto failure = TakeDevice(setup, description)) return failure;
    comms_.resize(setup.comms.size(), nullptr);
    streams_.resize(setup.comms.size(), nullptr);
    sizes_.resize(setup.comms.size(), 0);
    for (size_t c = 0; c < setup.comms.size(); ++c) {
      if (auto failure = MakeComm(setup, store, c)) return failure;
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

  // As PyTorch does it: the communicator's stream waits for the program's; behind an operation that is `sync`
  // the program's stream waits for the communicator's.
  std::optional<Failure> Issue(uint32_t id, const ScheduledOp& op, uint32_t, OpBuffers& buffers) override {
    CUstream stream = streams_[op.comm];
    Flight flight{.output = Take(buffers.output.size()), .buffers = &buffers};
    if (auto failure = Check(cuda_.cuEventCreate_(&flight.done, CU_EVENT_DISABLE_TIMING))) return failure;
    if (op.kind == OpKind::Wait) {
      Check(cuda_.cuEventRecord_(flight.done, stream));
      flights_[id] = flight;
      return Check(cuda_.cuStreamWaitEvent_(program_, flight.done, 0));
    }
    CUevent before = nullptr;
    if (auto failure = Check(cuda_.cuEventCreate_(&before, CU_EVENT_DISABLE_TIMING))) return failure;
    Check(cuda_.cuEventRecord_(before, program_));
    Check(cuda_.cuStreamWaitEvent_(stream, before, 0));
    const Piece input = Take(std::max(buffers.input.size(), sizeof(float)));
    std::copy(buffers.input.begin(), buffers.input.end(), input.host);
    std::copy(buffers.output.begin(), buffers.output.end(), flight.output.host);
    Check(cuda_.cuMemcpyHtoDAsync_(input.device, input.host, std::max(buffers.input.size(), sizeof(float)),
                                   stream));
    Check(cuda_.cuMemcpyHtoDAsync_(flight.output.device, flight.output.host, buffers.output.size(), stream));
    if (auto failure = Launch(op, input.device, flight.output.device, stream)) return failure;
    Check(cuda_.cuMemcpyDtoHAsync_(flight.output.host, flight.output.device, buffers.output.size(), stream));
    if (auto failure = Check(cuda_.cuEventRecord_(flight.done, stream))) return failure;
    flights_[id] = flight;
    return op.sync ? Check(cuda_.cuStreamWaitEvent_(program_, flight.done, 0)) : std::nullopt;
  }

  OpState Poll(uint32_t id, Failure* failure) override {
    const Flight& flight = flights_[id];
    const CUresult code = cuda_.cuEventQuery_(flight.done);
    if (code == CUDA_ERROR_NOT_READY) {
      if (auto asynchronous = AsynchronousError()) {
        *failure = *asynchronous;
        return OpState::Failed;
      }
      return OpState::Pending;
    }
    if (auto error = Check(code)) {
      *failure = *error;
      return OpState::Failed;
    }
    std::copy_n(flight.output.host, flight.buffers->output.size(), flight.buffers->output.begin());
    return OpState::Done;
  }

  std::string Unsupported(const ScheduledOp& op) const override {
    return IsReduction(op.kind) && op.redop == Redop::Other ? "NCCL has no such reduction" : "";
  }

 private:
  std::optional<Failure> Check(CUresult code) const {
    if (code == CUDA_SUCCESS) return std::nullopt;
    const char *name = nullptr, *words = nullptr;
    cuda_.cuGetErrorName_(code, &name);
    cuda_.cuGetErrorString_(code, &words);
    return Failure{
        code, std::string(name == nullptr ? "CUDA error" : name) + ": " + (words == nullptr ? "" : words)};
  }

  std::optional<Failure> Check(ncclResult_t code, ncclComm_t comm = nullptr) const {
    // A communicator that does not block answers later.
    constexpr auto kBetween = std::chrono::microseconds(50);
    while (code == ncclInProgress && comm != nullptr) {
      std::this_thread::sleep_for(kBetween);
      if (nccl_.ncclCommGetAsyncError_(comm, &code) != ncclSuccess) break;
    }
    if (code == ncclSuccess || code == ncclInProgress) return std::nullopt;
    const char* last = nccl_.ncclGetLastError_(comm);
    std::string text = nccl_.ncclGetErrorString_(code);
    if (last != nullptr && *last != '\0') text += std::string(": ") + last;
    return Failure{code, text};
  }

  std::optional<Failure> AsynchronousError() const {
    for (ncclComm_t comm : comms_) {
      ncclResult_t code = ncclSuccess;
      if (comm == nullptr || nccl_.ncclCommGetAsyncError_(comm, &code) != ncclSuccess) continue;
      if (auto failure = Check(code)) return failure;
    }
    return std::nullopt;
  }

  std::optional<Failure> TakeDevice(const RankSetup& setup, std::string* description) {
    int count = 0, driver = 0, major = 0, minor = 0;
    if (auto failure = Check(cuda_.cuDeviceGetCount_(&count))) return failure;
    cuda_.cuDriverGetVersion_(&driver);
    const int wanted = setup.device >= 0 ? setup.device : static_cast<int>(setup.rank);
    const int ordinal = wanted % std::max(count, 1);
    CUdevice device = 0;
    if (auto failure = Check(cuda_.cuDeviceGet_(&device, ordinal))) return failure;
    char name[128] = "";
    cuda_.cuDeviceGetName_(name, sizeof(name), device);
    cuda_.cuDeviceGetAttribute_(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    cuda_.cuDeviceGetAttribute_(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    if (major < kOldestCapability) {
      return Failure{0, std::string(name) + " has compute capability " + std::to_string(major) + "." +
                            std::to_string(minor) +
                            "; 6.0 or later is needed, so that a waiting kernel lets others run"};
    }
    CUcontext context = nullptr;
    if (auto failure = Check(cuda_.cuDevicePrimaryCtxRetain_(&context, device))) return failure;
    if (auto failure = Check(cuda_.cuCtxSetCurrent_(context))) return failure;
    if (auto failure = RefuseBusyDevice(setup, name)) return failure;
    *description = "NCCL " + VersionText(nccl_.version) + ", " + name + " (" + std::to_string(count) +
                   " device" + (count == 1 ? "" : "s") + "), driver for CUDA " +
                   std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10);
    return Check(cuda_.cuStreamCreate_(&program_, CU_STREAM_NON_BLOCKING));
  }

  // Kernels that wait take time from those of others. Asked by one rank, before the others take memory.
  std::optional<Failure> RefuseBusyDevice(const RankSetup& setup, const std::string& name) const {
    size_t left = 0, total = 0;
    if (setup.force || setup.rank != 0) return std::nullopt;
    if (auto failure = Check(cuda_.cuMemGetInfo_(&left, &total))) return failure;
    if (left >= total / 2) return std::nullopt;
    return Failure{
        0, "more than half of the memory of " + name +
               " is in use: another job runs there, which waiting ranks would slow down; --force runs "
               "all the same"};
  }

  std::optional<Failure> MakeComm(const RankSetup& setup, Store& store, size_t c) {
    const std::vector<uint32_t>& members = setup.comms[c];
    const auto member = std::find(members.begin(), members.end(), setup.rank);
    if (member == members.end()) return std::nullopt;
    const std::string key = "nccl/" + std::to_string(c);
    ncclUniqueId id;
    if (member == members.begin()) {
      if (auto failure = Check(nccl_.ncclGetUniqueId_(&id))) return failure;
      store.Set(key, std::string(id.internal, sizeof(id.internal)));
    } else {
      const std::optional<std::string> text = store.Get(key);
      if (!text || text->size() != sizeof(id.internal)) return Failure{0, "the coordinator is gone"};
      std::memcpy(id.internal, text->data(), sizeof(id.internal));
    }
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.size = kConfigBytes;
    config.version = kConfigVersion;
    config.blocking = 0;
    const auto size = static_cast<int>(members.size());
    const ncclResult_t code = nccl_.ncclCommInitRankConfig_(
        &comms_[c], size, id, static_cast<int>(member - members.begin()), &config);
    if (auto failure = Check(code, comms_[c])) return failure;
    sizes_[c] = static_cast<uint32_t>(size);
    return Check(cuda_.cuStreamCreate_(&streams_[c], CU_STREAM_NON_BLOCKING));
  }

  Piece Take(size_t bytes) {
    const size_t at = arena_.used;
    arena_.used += Aligned(bytes);
    return {arena_.device + at, arena_.host + at};
  }

  std::optional<Failure> Launch(const ScheduledOp& op, CUdeviceptr from, CUdeviceptr to, CUstream stream) {
    ncclComm_t comm = comms_[op.comm];
    const void* input = reinterpret_cast<const void*>(from);
    void* output = reinterpret_cast<void*>(to);
    const ncclDataType_t type = TypeOf(op.dtype);
    const ncclRedOp_t reduction = ReductionOf(op.redop);
    switch (op.kind) {
      case OpKind::AllReduce:
        return Check(nccl_.ncclAllReduce_(input, output, op.count, type, reduction, comm, stream), comm);
      // As PyTorch does it. The result lands on the input, which nobody checks.
      case OpKind::Barrier:
        return Check(
            nccl_.ncclAllReduce_(input, const_cast<void*>(input), 1, ncclFloat32, ncclSum, comm, stream),
            comm);
      case OpKind::Broadcast:
        return Check(nccl_.ncclBroadcast_(input, output, op.count, type, op.root, comm, stream), comm);
      case OpKind::Reduce:
        return Check(nccl_.ncclReduce_(input, output, op.count, type, reduction, op.root, comm, stream),
                     comm);
      case OpKind::AllGather:
        return Check(nccl_.ncclAllGather_(input, output, op.count, type, comm, stream), comm);
      case OpKind::ReduceScatter:
        return Check(nccl_.ncclReduceScatter_(input, output, op.count, type, reduction, comm, stream), comm);
      case OpKind::Send:
        return Check(nccl_.ncclSend_(input, op.count, type, op.peer, comm, stream), comm);
      case OpKind::Recv:
        return Check(nccl_.ncclRecv_(output, op.count, type, op.peer, comm, stream), comm);
      case OpKind::AllToAll:
        return LaunchAllToAll(op, from, to, stream);
      case OpKind::Wait:
        return std::nullopt;
    }
    return std::nullopt;
  }

  // A part to each and from each, in one group. ncclAlltoall itself is there from 2.28 on only.
  std::optional<Failure> LaunchAllToAll(const ScheduledOp& op, CUdeviceptr from, CUdeviceptr to,
                                        CUstream stream) {
    ncclComm_t comm = comms_[op.comm];
    const ncclDataType_t type = TypeOf(op.dtype);
    const size_t bytes = size_t{op.count} * BytesOf(op.dtype);
    if (auto failure = Check(nccl_.ncclGroupStart_())) return failure;
    for (uint32_t peer = 0; peer < sizes_[op.comm]; ++peer) {
      nccl_.ncclSend_(reinterpret_cast<const void*>(from + peer * bytes), op.count, type,
                      static_cast<int>(peer), comm, stream);
      nccl_.ncclRecv_(reinterpret_cast<void*>(to + peer * bytes), op.count, type, static_cast<int>(peer),
                      comm, stream);
    }
    return Check(nccl_.ncclGroupEnd_(), comm);
  }

  CudaFunctions cuda_;
  NcclFunctions nccl_;
  std::vector<ncclComm_t> comms_;
  std::vector<CUstream> streams_;  // by communicator
  std::vector<uint32_t> sizes_;    // of the communicators
  CUstream program_ = nullptr;
  Arena arena_;
  std::map<uint32_t, Flight> flights_;
};

}  // namespace

std::unique_ptr<Backend> MakeNcclBackend() { return std::make_unique<NcclBackend>(); }

}  // namespace allranks::verify
