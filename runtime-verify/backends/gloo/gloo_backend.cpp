#include "runtime-verify/backends/gloo/gloo_backend.h"

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/config.h>
#include <gloo/reduce.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <thread>

#include "runtime-verify/backends/payload.h"

namespace allranks::verify {
namespace {

using witness::OpKind;
using witness::Redop;
using witness::ScheduledOp;

// Gloo has no reduce_scatter of this style. It is made of an all_reduce whose tags no real all_reduce has.
constexpr uint32_t kReduceScatterTag = 0x80000000u;
// What the point-to-point calls of PyTorch use unless told otherwise.
constexpr uint64_t kPointToPointSlot = 0;

// Gloo's view of our store; each communicator has keys of its own.
class GlooStore : public gloo::rendezvous::Store {
 public:
  GlooStore(verify::Store& store, std::string prefix) : store_(store), prefix_(std::move(prefix)) {}
  void set(const std::string& key, const std::vector<char>& data) override {
    store_.Set(prefix_ + key, std::string(data.begin(), data.end()));
  }
  std::vector<char> get(const std::string& key) override {
    const std::optional<std::string> value = store_.Get(prefix_ + key);
    if (!value) throw std::runtime_error("the coordinator is gone");
    return {value->begin(), value->end()};
  }
  void wait(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) get(key);
  }
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) override { wait(keys); }

 private:
  verify::Store& store_;
  std::string prefix_;
};

// An operation on its way; its thread outlives our interest in it.
struct Job {
  std::shared_ptr<gloo::rendezvous::Context> context;
  ScheduledOp op;
  uint32_t tag = 0;
  OpBuffers* buffers = nullptr;
  std::vector<std::byte> scratch;
  std::atomic<OpState> state = OpState::Pending;
  Failure failure;
};

template <class T>
class Runner {
 public:
  explicit Runner(Job& job) : job_(job) {}

  void Run() {
    switch (job_.op.kind) {
      case OpKind::AllReduce:
        return AllReduce(job_.tag, output(), job_.op.count);
      case OpKind::ReduceScatter:
        return ReduceScatter();
      case OpKind::Broadcast:
        return Broadcast();
      case OpKind::Reduce:
        return Reduce();
      case OpKind::AllGather:
        return Gather<gloo::AllgatherOptions>(&gloo::allgather, job_.op.count);
      case OpKind::AllToAll:
        return Gather<gloo::AlltoallOptions>(&gloo::alltoall, size_t{job_.op.count} * size());
      case OpKind::Send:
        return Send();
      case OpKind::Recv:
        return Recv();
      case OpKind::Barrier:
        return Barrier();
      case OpKind::Wait:
        return;
    }
  }

 private:
  T* input() { return reinterpret_cast<T*>(job_.buffers->input.data()); }
  T* output() { return reinterpret_cast<T*>(job_.buffers->output.data()); }
  T* scratch(size_t elements) {
    job_.scratch.resize(elements * sizeof(T));
    return reinterpret_cast<T*>(job_.scratch.data());
  }
  size_t size() const { return static_cast<size_t>(job_.context->size); }

  auto Function() const {
    return [dtype = job_.op.dtype, redop = job_.op.redop](void* result, const void* a, const void* b,
                                                          size_t count) {
      ReduceElements(dtype, redop, static_cast<std::byte*>(result), static_cast<const std::byte*>(a),
                     static_cast<const std::byte*>(b), count);
    };
  }

  void AllReduce(uint32_t tag, T* to, size_t count) {
    gloo::AllreduceOptions options(job_.context);
    options.setInput(input(), count);
    options.setOutput(to, count);
    options.setReduceFunction(Function());
    options.setTag(tag);
    gloo::allreduce(options);
  }

  void ReduceScatter() {
    const size_t count = job_.op.count;
    T* all = scratch(count * size());
    AllReduce(job_.tag | kReduceScatterTag, all, count * size());
    std::copy_n(all + count * static_cast<size_t>(job_.context->rank), count, output());
  }

  void Broadcast() {
    gloo::BroadcastOptions options(job_.context);
    if (job_.context->rank == job_.op.root) options.setInput(input(), job_.op.count);
    options.setOutput(output(), job_.op.count);
    options.setRoot(job_.op.root);
    options.setTag(job_.tag);
    gloo::broadcast(options);
  }

  void Reduce() {
    gloo::ReduceOptions options(job_.context);
    options.setInput(input(), job_.op.count);
    options.setOutput(job_.context->rank == job_.op.root ? output() : scratch(job_.op.count), job_.op.count);
    options.setRoot(job_.op.root);
    options.setReduceFunction(Function());
    options.setTag(job_.tag);
    gloo::reduce(options);
  }

  template <class Options>
  void Gather(void (*gather)(Options&), size_t sent) {
    Options options(job_.context);
    options.setInput(input(), sent);
    options.setOutput(output(), size_t{job_.op.count} * size());
    options.setTag(job_.tag);
    gather(options);
  }

  void Barrier() {
    gloo::BarrierOptions options(job_.context);
    options.setTag(job_.tag);
    gloo::barrier(options);
  }

  void Send() {
    const auto buffer = job_.context->createUnboundBuffer(input(), job_.op.count * sizeof(T));
    buffer->send(job_.op.peer, kPointToPointSlot);
    buffer->waitSend(job_.context->getTimeout());
  }

  void Recv() {
    const auto buffer = job_.context->createUnboundBuffer(output(), job_.op.count * sizeof(T));
    buffer->recv(job_.op.peer, kPointToPointSlot);
    buffer->waitRecv(job_.context->getTimeout());
  }

  Job& job_;
};

void RunJob(Job& job) {
  switch (BytesOf(job.op.dtype)) {
    case 1:
      return Runner<uint8_t>(job).Run();
    case 2:
      return Runner<uint16_t>(job).Run();
    case 4:
      return Runner<uint32_t>(job).Run();
    default:
      return Runner<uint64_t>(job).Run();
  }
}

std::string Version() {
  return std::to_string(GLOO_VERSION_MAJOR) + "." + std::to_string(GLOO_VERSION_MINOR) + "." +
         std::to_string(GLOO_VERSION_PATCH);
}

class GlooBackend : public Backend {
 public:
  std::optional<Failure> Connect(const RankSetup& setup, Store& store, Facilities* facilities) override {
    try {
      gloo::transport::tcp::attr attributes(setup.address.c_str());
      if (const char* interface = std::getenv(kInterfaceVariable)) attributes.iface = interface;
      std::shared_ptr<gloo::transport::Device> device = gloo::transport::tcp::CreateDevice(attributes);
      contexts_.resize(setup.comms.size());
      for (size_t c = 0; c < setup.comms.size(); ++c) {
        const std::vector<uint32_t>& members = setup.comms[c];
        const auto member = std::find(members.begin(), members.end(), setup.rank);
        if (member == members.end()) continue;
        auto context = std::make_shared<gloo::rendezvous::Context>(static_cast<int>(member - members.begin()),
                                                                   static_cast<int>(members.size()));
        context->setTimeout(setup.timeout);
        GlooStore own(store, "comm" + std::to_string(c) + "/");
        context->connectFullMesh(own, device);
        contexts_[c] = std::move(context);
      }
    } catch (const std::exception& error) {
      return Failure{.code = 0, .text = error.what()};
    }
    facilities->description = "Gloo " + Version() + " over TCP";
    return std::nullopt;
  }

  bool RunsAhead() const override { return false; }
  std::optional<Failure> Reserve(size_t, size_t) override { return std::nullopt; }

  std::optional<Failure> Issue(uint32_t id, const ScheduledOp& op, uint32_t tag,
                               OpBuffers& buffers) override {
    auto job = std::make_shared<Job>();
    job->context = contexts_[op.comm];
    job->op = op;
    job->tag = tag;
    job->buffers = &buffers;
    jobs_[id] = job;
    std::thread([job] {
      OpState state = OpState::Done;
      try {
        RunJob(*job);
      } catch (const std::exception& error) {
        job->failure.text = error.what();
        state = OpState::Failed;
      }
      job->state = state;
    }).detach();
    return std::nullopt;
  }

  OpState Poll(uint32_t id, Failure* failure) override {
    const Job& job = *jobs_[id];
    const OpState state = job.state;
    if (state == OpState::Failed) *failure = job.failure;
    return state;
  }

  std::string Unsupported(const ScheduledOp& op) const override {
    if (!IsReduction(op.kind) || (op.redop != Redop::Average && op.redop != Redop::Other)) return "";
    return "Gloo has no such reduction (" + std::string(NameOf(op.redop)) + ")";
  }

 private:
  std::vector<std::shared_ptr<gloo::rendezvous::Context>> contexts_;
  std::map<uint32_t, std::shared_ptr<Job>> jobs_;
};

}  // namespace

std::unique_ptr<Backend> MakeGlooBackend() { return std::make_unique<GlooBackend>(); }

}  // namespace allranks::verify
