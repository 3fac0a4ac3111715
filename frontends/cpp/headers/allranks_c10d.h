// Declarations of libtorch's c10d for machines without it: process groups, their work, and stores.
#ifndef ALLRANKS_C10D_H
#define ALLRANKS_C10D_H

#include <allranks_torch.h>
#include <chrono>

namespace c10d {

inline constexpr std::chrono::milliseconds kUnsetTimeout(-1);

class Store : public torch::CustomClassHolder {
 public:
  void set(const std::string &key, const std::string &value);
  void set(const std::string &key, const std::vector<uint8_t> &value);
  std::vector<uint8_t> get(const std::string &key);
  int64_t add(const std::string &key, int64_t value);
  void wait(const std::vector<std::string> &keys);
  void wait(const std::vector<std::string> &keys, const std::chrono::milliseconds &timeout);
};
struct TCPStoreOptions {
  uint16_t port = 29500;
  bool isServer = false;
  std::optional<size_t> numWorkers;
  bool waitWorkers = true;
  std::chrono::milliseconds timeout;
  bool multiTenant = false;
};
class TCPStore : public Store {
 public:
  TCPStore(std::string host, const TCPStoreOptions &opts = {});
};
class FileStore : public Store {
 public:
  FileStore(std::string path, int numWorkers);
};
class HashStore : public Store {};
class PrefixStore : public Store {
 public:
  PrefixStore(std::string prefix, c10::intrusive_ptr<Store> store);
};

struct ReduceOp : torch::CustomClassHolder {
  enum RedOpType : uint8_t { SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM, UNUSED };
  ReduceOp() = default;
  ReduceOp(RedOpType op);
};
struct BroadcastOptions {
  int64_t rootRank = 0;
  int64_t rootTensor = 0;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};
struct AllreduceOptions {
  ReduceOp reduceOp = ReduceOp::SUM;
  std::chrono::milliseconds timeout = kUnsetTimeout;
};
struct AllreduceCoalescedOptions : AllreduceOptions {};
struct ReduceOptions {
  ReduceOp reduceOp = ReduceOp::SUM;
  int64_t rootRank = 0;
  int64_t rootTensor = 0;
  std::chrono::milliseconds timeout = kUnsetTimeout;
};
struct AllgatherOptions {
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};
struct GatherOptions {
  int64_t rootRank = 0;
  std::chrono::milliseconds timeout = kUnsetTimeout;
};
struct ScatterOptions {
  int64_t rootRank = 0;
  std::chrono::milliseconds timeout = kUnsetTimeout;
};
struct ReduceScatterOptions {
  ReduceOp reduceOp = ReduceOp::SUM;
  std::chrono::milliseconds timeout = kUnsetTimeout;
};
struct AllToAllOptions {
  std::chrono::milliseconds timeout = kUnsetTimeout;
};
struct BarrierOptions {
  std::vector<int64_t> device_ids;
  std::chrono::milliseconds timeout = kUnsetTimeout;
};

class Work : public torch::CustomClassHolder {
 public:
  virtual ~Work();
  virtual bool isCompleted();
  virtual bool isSuccess() const;
  virtual int sourceRank() const;
  virtual std::vector<at::Tensor> result();
  virtual void synchronize();
  virtual bool wait(std::chrono::milliseconds timeout = kUnsetTimeout);
  virtual void abort();
};

// ProcessGroup and Backend offer the same operations.
#define ALLRANKS_C10D_OPERATIONS                                                                                                  \
  int getRank() const;                                                                                                            \
  int getSize() const;                                                                                                            \
  virtual const std::string getBackendName() const;                                                                              \
  virtual void startCoalescing();                                                                                                 \
  virtual c10::intrusive_ptr<Work> endCoalescing();                                                                               \
  virtual c10::intrusive_ptr<Work> broadcast(std::vector<at::Tensor> &tensors, const BroadcastOptions &opts = {});                \
  virtual c10::intrusive_ptr<Work> allreduce(std::vector<at::Tensor> &tensors, const AllreduceOptions &opts = {});                \
  virtual c10::intrusive_ptr<Work> allreduce_coalesced(std::vector<at::Tensor> &tensors,                                          \
                                                       const AllreduceCoalescedOptions &opts = {});                               \
  virtual c10::intrusive_ptr<Work> reduce(std::vector<at::Tensor> &tensors, const ReduceOptions &opts = {});                      \
  virtual c10::intrusive_ptr<Work> allgather(std::vector<std::vector<at::Tensor>> &outputs, std::vector<at::Tensor> &inputs,      \
                                             const AllgatherOptions &opts = {});                                                  \
  virtual c10::intrusive_ptr<Work> _allgather_base(at::Tensor &output, at::Tensor &input, const AllgatherOptions &opts = {});     \
  virtual c10::intrusive_ptr<Work> allgather_coalesced(std::vector<std::vector<at::Tensor>> &outputs,                             \
                                                       std::vector<at::Tensor> &inputs, const AllgatherOptions &opts = {});       \
  virtual c10::intrusive_ptr<Work> gather(std::vector<std::vector<at::Tensor>> &outputs, std::vector<at::Tensor> &inputs,         \
                                          const GatherOptions &opts = {});                                                        \
  virtual c10::intrusive_ptr<Work> scatter(std::vector<at::Tensor> &outputs, std::vector<std::vector<at::Tensor>> &inputs,        \
                                           const ScatterOptions &opts = {});                                                      \
  virtual c10::intrusive_ptr<Work> reduce_scatter(std::vector<at::Tensor> &outputs,                                               \
                                                  std::vector<std::vector<at::Tensor>> &inputs,                                   \
                                                  const ReduceScatterOptions &opts = {});                                         \
  virtual c10::intrusive_ptr<Work> _reduce_scatter_base(at::Tensor &output, at::Tensor &input,                                    \
                                                        const ReduceScatterOptions &opts = {});                                   \
  virtual c10::intrusive_ptr<Work> alltoall_base(at::Tensor &output, at::Tensor &input, std::vector<int64_t> &outputSplitSizes,   \
                                                 std::vector<int64_t> &inputSplitSizes, const AllToAllOptions &opts = {});        \
  virtual c10::intrusive_ptr<Work> alltoall(std::vector<at::Tensor> &outputs, std::vector<at::Tensor> &inputs,                    \
                                            const AllToAllOptions &opts = {});                                                    \
  virtual c10::intrusive_ptr<Work> send(std::vector<at::Tensor> &tensors, int dstRank, int tag);                                  \
  virtual c10::intrusive_ptr<Work> recv(std::vector<at::Tensor> &tensors, int srcRank, int tag);                                  \
  virtual c10::intrusive_ptr<Work> recvAnysource(std::vector<at::Tensor> &tensors, int tag);                                      \
  virtual c10::intrusive_ptr<Work> barrier(const BarrierOptions &opts = {});

class Backend : public torch::CustomClassHolder {
 public:
  struct Options : torch::CustomClassHolder {
    std::chrono::milliseconds timeout;
  };
  explicit Backend(int rank, int size);
  virtual ~Backend();
  ALLRANKS_C10D_OPERATIONS
};
class ProcessGroup : public torch::CustomClassHolder {
 public:
  explicit ProcessGroup(int rank, int size);
  explicit ProcessGroup(c10::intrusive_ptr<Store> store, int rank, int size);
  virtual ~ProcessGroup();
  ALLRANKS_C10D_OPERATIONS
  virtual void monitoredBarrier(const BarrierOptions &opts, bool wait_all_ranks = false);
  c10::intrusive_ptr<Backend> getBackend(c10::DeviceType type);
};
#undef ALLRANKS_C10D_OPERATIONS

class ProcessGroupNCCL : public Backend {
 public:
  struct Options : Backend::Options {
    static c10::intrusive_ptr<Options> create(bool is_high_priority_stream = false);
    bool is_high_priority_stream;
  };
  ProcessGroupNCCL(c10::intrusive_ptr<Store> store, int rank, int size, c10::intrusive_ptr<Options> options = Options::create());
};
class ProcessGroupGloo : public Backend {
 public:
  struct Options : Backend::Options {
    static c10::intrusive_ptr<Options> create(std::chrono::milliseconds timeout = kUnsetTimeout);
    int threads;
  };
  ProcessGroupGloo(c10::intrusive_ptr<Store> store, int rank, int size, c10::intrusive_ptr<Options> options = Options::create());
};
class ProcessGroupMPI : public Backend {
 public:
  static c10::intrusive_ptr<ProcessGroupMPI> createProcessGroupMPI(std::vector<int> ranks = {});
};

}  // namespace c10d

#endif
