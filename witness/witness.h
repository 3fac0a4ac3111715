// The contract between the analyzer and runtime-verify: a schedule of operations that real ranks can replay.
// Plain text and numbers only. JSON schema: witness/witness.schema.json, `allranks.witness/1`.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
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
  std::string op;  // all_reduce broadcast reduce all_gather reduce_scatter all_to_all send recv barrier wait
  std::string comm;       // Communicator::id
  uint32_t count = 1024;  // elements
  std::string dtype = "f32";
  std::string redop;  // "sum", ...; empty where it means nothing
  int32_t root = -1;  // rank in the communicator; -1: a rank outside it, or it means nothing
  int32_t peer = -1;  // of send and recv
  bool sync = true;
  uint32_t batch = 0;  // sends and receives in a row with the same number go together: `batch_isend_irecv`, a group of NCCL; 0: alone
  std::string source;  // what the program calls: "torch.distributed.barrier", "backward of a wrapped model"
  Place at;
  friend bool operator==(const Op&, const Op&) = default;
};

// When PyTorch makes the communicators of groups: in the first operation of each, for which all members must come, or with
// the group, where init_process_group is given a device.
enum class Communicators { Unknown, FirstUse, AtInit };

enum class Effect {
  Deadlock,    // some ranks wait forever
  Corruption,  // all go through, with wrong data
  Error,       // a library refuses
  Semantic,    // all go through, and train on something else than was meant
  Clean,
};

struct Stuck {
  uint32_t rank = 0;
  std::string op;  // Op::id
  friend bool operator==(const Stuck&, const Stuck&) = default;
};

// What a finding leads to that is no mismatch of operations; runtime-verify measures it in numbers. The
// schedule of such a witness is empty, but for UnevenBatches, UnusedParameter and Accumulation, whose `ops` are
// those of one step, and FileOrder, whose `ops` are those between writing and reading.

// AR201: the device that each rank of the job selects, on nodes with so many devices.
struct DeviceOrdinal {
  uint32_t devices = 1;
  std::vector<int32_t> ordinals;  // by rank
  friend bool operator==(const DeviceOrdinal&, const DeviceOrdinal&) = default;
};

// AR301: a shuffling sampler over several epochs, `set_epoch` called or not.
struct EpochOrder {
  uint32_t samples = 64;
  uint32_t epochs = 3;
  uint64_t seed = 0;
  bool set_epoch = false;
  friend bool operator==(const EpochOrder&, const EpochOrder&) = default;
};

// AR303, AR305: batches follow from the samples of each rank; `join`: ranks that are out of data stand
// in.
struct UnevenBatches {
  std::vector<uint32_t> samples;  // by rank
  std::vector<uint32_t> batch;    // by rank: samples a batch
  bool drop_last = false;
  bool join = false;
  friend bool operator==(const UnevenBatches&, const UnevenBatches&) = default;
};

// AR302, AR306, AR308: the samples that the readers of one epoch take, a reader being a worker of the loader of a
// rank.
struct SampleShares {
  uint32_t samples = 64;
  uint32_t batch = 8;             // samples a step of one rank
  uint32_t workers = 1;           // readers a rank
  bool by_rank = false;           // every n-th of the samples, beginning with the rank
  bool by_worker = false;         // of these every n-th, beginning with the worker
  std::vector<uint32_t> seeds;    // by rank: what shuffles the samples before they are dealt out; none: nothing does
  friend bool operator==(const SampleShares&, const SampleShares&) = default;
};

// AR401: `scaled`: the learning rate grows with the number of ranks.
struct LearningRate {
  uint32_t batch = 8;         // samples a rank and micro-step
  uint32_t accumulation = 1;  // micro-steps a step of the optimizer
  double learning_rate = 0.05;
  bool scaled = false;
  friend bool operator==(const LearningRate&, const LearningRate&) = default;
};

// AR403: each micro-step reduces the gradients in so many operations; under `no_sync` the last one alone does.
struct Accumulation {
  uint32_t micro_steps = 4;
  uint32_t buckets = 1;
  bool no_sync = false;
  friend bool operator==(const Accumulation&, const Accumulation&) = default;
};

// AR406: DDP averages the gradients; `divided`: the loss or the gradients are divided by the number of ranks
// as well.
struct AveragedGradient {
  uint32_t batch = 8;  // samples a rank and step
  double learning_rate = 0.05;
  bool divided = false;
  friend bool operator==(const AveragedGradient&, const AveragedGradient&) = default;
};

// AR206: where the tensor of an operation lies, and the backends of its group as init_process_group takes
// them: "nccl", "cpu:gloo,cuda:nccl".
struct TensorMemory {
  std::string backend = "nccl";
  std::string device = "cpu";
  friend bool operator==(const TensorMemory&, const TensorMemory&) = default;
};

// AR804: ranks that write what all others then read.
struct FileOrder {
  std::vector<uint32_t> writers;
  friend bool operator==(const FileOrder&, const FileOrder&) = default;
};

// AR501, AR502: gradients are reduced bucket by bucket, each by one operation; some ranks leave some out.
struct UnusedParameter {
  uint32_t buckets = 2;
  std::vector<std::vector<uint32_t>> unused;  // by rank: buckets without gradients in the first step
  bool find_unused = false;
  friend bool operator==(const UnusedParameter&, const UnusedParameter&) = default;
};

// AR901, AR902, AR907: the launchers that the nodes of a job start, each of which starts its processes and numbers them.
struct LaunchedRanks {
  uint32_t processes = 1;         // that each launcher starts
  uint32_t awaited = 1;           // launchers that are to meet
  std::vector<uint32_t> nodes;    // by launcher: on which it runs
  std::vector<uint32_t> places;   // by launcher: where it looks for the others; who looks in the same place meets
  std::vector<int32_t> numbers;   // by launcher: the node that it is told to be; -1: those that meet agree on it
  friend bool operator==(const LaunchedRanks&, const LaunchedRanks&) = default;
};

using Scenario = std::variant<std::monostate, DeviceOrdinal, EpochOrder, UnevenBatches, LearningRate, UnusedParameter,
                              SampleShares, Accumulation, AveragedGradient, TensorMemory, FileOrder, LaunchedRanks>;

struct Witness {
  std::string finding;  // "AR101/3f9c..."
  uint32_t world = 0;
  uint32_t nodes = 1;  // world is nodes × processes a node
  std::vector<Communicator> comms;
  std::vector<RankClass> classes;
  std::vector<std::vector<Op>> ops;  // by class
  Communicators communicators = Communicators::Unknown;
  bool fence = true;                 // a barrier of all ranks after the schedule
  Effect effect = Effect::Deadlock;
  std::vector<Stuck> stuck;
  Scenario scenario;
  uint32_t quiet_ms = 3000;
  uint32_t total_ms = 60000;
  friend bool operator==(const Witness&, const Witness&) = default;
};

}  // namespace allranks::witness
