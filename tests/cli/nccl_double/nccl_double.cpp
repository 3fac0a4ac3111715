// An NCCL that matches strictly: the k-th collective of a communicator completes when all ranks are in it with the same kind
// and root; the k-th send to a rank when that receives. A communicator is ready when all its ranks have come. It speaks over sockets to a server thread in the process that made the
// unique id. Point-to-point operations connect when first used: until both sides have called, the call is in progress.
// With `ring=1` collectives run as the simulator's model of NCCL's rings says: they hang, go through, or bring wrong data. It says
// nothing about the real library's way of moving data; it runs every line of our backend. Injected as in cuda_double.cpp:
//   ring=1    rings instead of strict matching
//   async=K   the communicator has an error of its own from the K-th operation on (from 1)
//   init=1    communicators never get ready
//   mark=1    notes beside the library that it was loaded, and with which settings of the environment
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "runtime-verify/backends/payload.h"
#include "tests/cli/nccl_double/monitor.h"
#include "tests/cli/nccl_double/rings.h"

namespace {

using allranks::witness::Dtype;
using allranks::witness::OpKind;
using allranks::witness::Redop;

constexpr int kSuccess = 0, kRemoteError = 6, kInProgress = 7;

struct Header {
  int32_t rank = 0, size = 0, kind = 0, root = 0, type = 0, reduction = 0, peer = 0, pid = 0;
  uint32_t turn = 0;
  uint64_t count = 0, bytes = 0;
};
constexpr int32_t kConnect = 100, kInit = 101;

Dtype TypeOf(int type) {
  switch (type) {
    case 1: return Dtype::U8;
    case 2: return Dtype::I32;
    case 4: return Dtype::I64;
    case 6: return Dtype::F16;
    case 8: return Dtype::F64;
    case 9: return Dtype::Bf16;
    default: return Dtype::F32;
  }
}
Redop ReductionOf(int reduction) {
  switch (reduction) {
    case 1: return Redop::Product;
    case 2: return Redop::Max;
    case 3: return Redop::Min;
    default: return Redop::Sum;
  }
}

long Told(const char* what, long otherwise) {
  const char* list = std::getenv("CUDA_VISIBLE_DEVICES");
  const char* found = list == nullptr ? nullptr : std::strstr(list, what);
  return found == nullptr ? otherwise : std::atol(found + std::strlen(what));
}
bool Injected(const char* what) { return Told(what, -1) >= 0; }

bool Transfer(int socket, void* data, size_t size, bool out) {
  auto* bytes = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t n = out ? send(socket, bytes, size, MSG_NOSIGNAL) : recv(socket, bytes, size, 0);
    if (n <= 0) return false;
    bytes += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

struct Request {
  Header header;
  std::vector<std::byte> data;
};

// One communicator: who has come to which turn, with what.
class Server {
 public:
  explicit Server(int listener) {
    std::thread([this, listener] {
      for (;;) {
        const int socket = accept(listener, nullptr, nullptr);
        if (socket >= 0) std::thread([this, socket] { Serve(socket); }).detach();
      }
    }).detach();
  }

 private:
  using Key = std::tuple<int32_t, int32_t, int32_t, uint32_t>;  // family, from, to, turn

  void Serve(int socket) {
    Request request;
    if (!Transfer(socket, &request.header, sizeof(Header), false)) return;
    request.data.resize(request.header.bytes);
    if (!Transfer(socket, request.data.data(), request.data.size(), false)) return;
    std::vector<std::byte> answer = Await(request);
    uint64_t size = answer.size();
    Transfer(socket, &size, sizeof(size), true);
    Transfer(socket, answer.data(), answer.size(), true);
    close(socket);
  }

  static bool IsPair(int32_t kind) { return kind == static_cast<int32_t>(OpKind::Send) || kind == static_cast<int32_t>(OpKind::Recv); }

  // Both sides of a pair have one key; all ranks of a collective have one.
  static Key KeyOf(const Header& h) {
    if (h.kind == kInit) return {kInit, 0, 0, 0};
    if (h.kind == kConnect) return {kConnect, std::min(h.rank, h.peer), std::max(h.rank, h.peer), 0};
    if (!IsPair(h.kind)) return {0, 0, 0, h.turn};
    const bool sends = h.kind == static_cast<int32_t>(OpKind::Send);
    return {1, sends ? h.rank : h.peer, sends ? h.peer : h.rank, h.turn};
  }

  std::vector<std::byte> Await(const Request& request) {
    const Header& h = request.header;
    const bool pair = IsPair(h.kind) || h.kind == kConnect;
    const bool has_data = h.kind != kConnect && h.kind != kInit;
    const size_t needed = pair ? (h.rank == h.peer ? 1 : 2) : static_cast<size_t>(h.size);
    std::unique_lock<std::mutex> lock(mutex_);
    Note(h);
    std::map<int32_t, Request>& there = turns_[KeyOf(h)];
    // A rank that sends to itself stands on both sides.
    there[IsPair(h.kind) && h.rank == h.peer && h.kind == static_cast<int32_t>(OpKind::Recv) ? h.rank + 1000000 : h.rank] = request;
    came_.notify_all();
    if (has_data && !pair && is_ring_) return AwaitRing(h, there, lock);
    const size_t both = IsPair(h.kind) && h.rank == h.peer ? 2 : needed;
    came_.wait(lock, [&] { return there.size() >= both && (pair || Agree(there)); });
    if (!has_data) return {};
    const bool is_shared = h.kind == static_cast<int32_t>(OpKind::AllReduce) || h.kind == static_cast<int32_t>(OpKind::Barrier);
    if (!is_shared) return Result(h, there);
    // All ranks get the same: of hundreds, each would add up all the others.
    std::vector<std::byte>& sum = sums_[{h.turn, h.count, h.type}];
    if (sum.empty()) sum = Result(h, there);
    return sum;
  }

  void Note(const Header& h) {
    if (h.kind == kInit) allranks::tests::Monitor::Get().AddRank(number_, h.rank, h.pid);
    if (h.kind >= kConnect || IsPair(h.kind)) return;
    static const std::map<OpKind, std::string> kNames = {{OpKind::AllReduce, "AllReduce"}, {OpKind::Barrier, "AllReduce"}, {OpKind::Broadcast, "Broadcast"},
                                                         {OpKind::Reduce, "Reduce"}, {OpKind::AllGather, "AllGather"}, {OpKind::ReduceScatter, "ReduceScatter"}};
    allranks::tests::Monitor::Get().Count(number_, h.rank, kNames.at(static_cast<OpKind>(h.kind)));
  }

  std::vector<std::byte> AwaitRing(const Header& h, const std::map<int32_t, Request>& there, std::unique_lock<std::mutex>& lock) {
    const auto rank = static_cast<uint32_t>(h.rank);
    rings_.Add(static_cast<uint32_t>(h.size), rank,
               {.kind = static_cast<OpKind>(h.kind), .count = static_cast<uint32_t>(h.count), .dtype = TypeOf(h.type), .redop = ReductionOf(h.reduction), .root = h.root});
    came_.notify_all();
    came_.wait(lock, [&] { return rings_.IsDone(rank, h.turn); });
    if (!rings_.IsWrong(rank, h.turn)) return Result(h, there);
    const OpKind kind = static_cast<OpKind>(h.kind);
    const size_t parts = kind == OpKind::AllGather ? static_cast<size_t>(h.size) : kind == OpKind::Reduce && h.rank != h.root ? 0 : 1;
    constexpr std::byte kOfAnotherOperation{0x41};
    return std::vector<std::byte>(parts * h.count * BytesOf(TypeOf(h.type)), kOfAnotherOperation);
  }

  static bool Agree(const std::map<int32_t, Request>& there) {
    const Header& first = there.begin()->second.header;
    return std::all_of(there.begin(), there.end(), [&](const auto& one) {
      return one.second.header.kind == first.kind && one.second.header.root == first.root;
    });
  }

  static std::vector<std::byte> Part(const Request& from, size_t begin, size_t size) {
    std::vector<std::byte> part(size);
    if (begin < from.data.size()) std::copy_n(from.data.begin() + static_cast<ptrdiff_t>(begin), std::min(size, from.data.size() - begin), part.begin());
    return part;
  }

  // As the first rank wants it: others may have asked for something else.
  static std::vector<std::byte> Reduced(const Header& own, const std::map<int32_t, Request>& there, size_t begin) {
    Header h = own;
    h.reduction = there.begin()->second.header.reduction;
    const size_t size = h.count * BytesOf(TypeOf(h.type));
    std::vector<std::byte> sum = Part(there.begin()->second, begin, size);
    for (auto one = std::next(there.begin()); one != there.end(); ++one) {
      const std::vector<std::byte> next = Part(one->second, begin, size);
      allranks::verify::ReduceElements(TypeOf(h.type), ReductionOf(h.reduction), sum.data(), sum.data(), next.data(), h.count);
    }
    constexpr int kAverage = 4;
    if (h.reduction == kAverage) Divide(h, sum, there.size());
    return sum;
  }

  static void Divide(const Header& h, std::vector<std::byte>& sum, size_t by) {
    const Dtype type = TypeOf(h.type);
    for (size_t at = 0; at < sum.size(); at += BytesOf(type)) {
      allranks::verify::StoreElement(type, allranks::verify::LoadElement(type, &sum[at]) / static_cast<double>(by), &sum[at]);
    }
  }

  static std::vector<std::byte> Result(const Header& h, const std::map<int32_t, Request>& there) {
    const size_t size = h.count * BytesOf(TypeOf(h.type));
    switch (static_cast<OpKind>(h.kind)) {
      case OpKind::Barrier:
      case OpKind::AllReduce: return Reduced(h, there, 0);
      case OpKind::Reduce: return h.rank == h.root ? Reduced(h, there, 0) : std::vector<std::byte>();
      case OpKind::ReduceScatter: return Reduced(h, there, static_cast<size_t>(h.rank) * size);
      case OpKind::Broadcast: return Part(there.at(h.root), 0, size);
      case OpKind::AllGather: {
        std::vector<std::byte> all;
        for (const auto& [rank, request] : there) {
          const std::vector<std::byte> part = Part(request, 0, size);
          all.insert(all.end(), part.begin(), part.end());
        }
        return all;
      }
      // Of a message that is larger than its place nobody says what arrives.
      case OpKind::Recv: return there.at(h.peer).data.size() > size ? std::vector<std::byte>(size) : Part(there.at(h.peer), 0, size);
      default: return {};
    }
  }

  std::mutex mutex_;
  std::condition_variable came_;
  std::map<Key, std::map<int32_t, Request>> turns_;
  std::map<std::tuple<uint32_t, uint64_t, int32_t>, std::vector<std::byte>> sums_;  // by turn, count and type
  const bool is_ring_ = Injected("ring=");
  allranks::tests::Rings rings_;
  const size_t number_ = allranks::tests::Monitor::Get().AddCommunicator();
};

struct Comm {
  int rank = 0, size = 0, port = 0;
  std::map<std::tuple<int, int>, uint32_t> turns;
  std::map<int, bool> connected;
  std::atomic<int> connecting{0};
  std::atomic<long> issued{0};
};

// One line a rank into the file `used` beside this library.
void Mark(int rank) {
  Dl_info own;
  dladdr(reinterpret_cast<void*>(&Mark), &own);
  const std::string path = own.dli_fname;
  std::ofstream used(path.substr(0, path.rfind('/')) + "/used", std::ios::app);
  const auto setting = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "-" : value);
  };
  used << "rank " + std::to_string(rank);
  for (const char* name : {"NCCL_SOCKET_IFNAME", "NCCL_SOCKET_FAMILY", "CUDA_MODULE_LOADING", "CUDA_DEVICE_MAX_CONNECTIONS"}) used << " " + setting(name);
  used << "\n";
}

int Dial(int port) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  while (connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) usleep(1000);
  return descriptor;
}

std::vector<std::byte> Ask(int port, Header header, const void* data) {
  const int descriptor = Dial(port);
  Transfer(descriptor, &header, sizeof(header), true);
  if (header.bytes > 0) Transfer(descriptor, const_cast<void*>(data), header.bytes, true);
  uint64_t size = 0;
  Transfer(descriptor, &size, sizeof(size), false);
  std::vector<std::byte> answer(size);
  Transfer(descriptor, answer.data(), size, false);
  close(descriptor);
  return answer;
}

struct Kernel {
  int port = 0;
  Header header;
  const void* from = nullptr;
  void* to = nullptr;
};
thread_local int group_depth = 0;
struct Grouped {
  std::vector<Kernel> kernels;
  Comm* comm = nullptr;
  void* stream = nullptr;
};
thread_local Grouped grouped;

void RunKernel(const Kernel& kernel) {
  const std::vector<std::byte> answer = Ask(kernel.port, kernel.header, kernel.from);
  if (kernel.to != nullptr) std::memcpy(kernel.to, answer.data(), answer.size());
}

// All of a group at once: none waits for another.
void RunKernels(void* argument) {
  auto* kernels = static_cast<std::vector<Kernel>*>(argument);
  std::vector<std::thread> threads;
  for (const Kernel& kernel : *kernels) threads.emplace_back([&kernel] { RunKernel(kernel); });
  for (std::thread& thread : threads) thread.join();
  delete kernels;
}

void Put(void* stream, std::vector<Kernel> kernels) {
  using Launch = void (*)(void*, void (*)(void*), void*);
  static const auto launch = reinterpret_cast<Launch>(dlsym(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), "allranks_double_launch"));
  launch(stream, RunKernels, new std::vector<Kernel>(std::move(kernels)));
}

// On the stream at once, or behind the connections that it uses first.
int Start(Comm* comm, void* stream, std::vector<Kernel> kernels) {
  std::vector<int> peers;
  for (const Kernel& kernel : kernels) {
    const bool pair = kernel.header.kind == static_cast<int32_t>(OpKind::Send) || kernel.header.kind == static_cast<int32_t>(OpKind::Recv);
    if (pair && kernel.header.peer != comm->rank && !comm->connected[kernel.header.peer]) peers.push_back(kernel.header.peer);
  }
  if (peers.empty()) return Put(stream, std::move(kernels)), kSuccess;
  for (const int peer : peers) comm->connected[peer] = true;
  comm->connecting = 1;
  std::thread([comm, stream, kernels, peers] {
    // All at once: in a ring each would wait for the next otherwise.
    std::vector<std::thread> connecting;
    for (const int peer : peers) {
      connecting.emplace_back([comm, peer] {
        Header header;
        header.kind = kConnect;
        header.rank = comm->rank;
        header.peer = peer;
        Ask(comm->port, header, nullptr);
      });
    }
    for (std::thread& one : connecting) one.join();
    Put(stream, kernels);
    comm->connecting = 0;
  }).detach();
  return kInProgress;
}

int Issue(OpKind kind, const void* from, void* to, size_t count, size_t elements, int type, int reduction, int root, int peer, void* handle, void* stream) {
  auto* comm = static_cast<Comm*>(handle);
  if (++comm->issued == Told("async=", 0)) return kSuccess;
  Kernel kernel{.port = comm->port, .header = {}, .from = from, .to = to};
  Header& h = kernel.header;
  h = {.rank = comm->rank, .size = comm->size, .kind = static_cast<int32_t>(kind), .root = root, .type = type, .reduction = reduction, .peer = peer,
       .turn = 0, .count = count, .bytes = elements * BytesOf(TypeOf(type))};
  const bool pair = kind == OpKind::Send || kind == OpKind::Recv;
  h.turn = comm->turns[{pair ? static_cast<int>(kind) : 0, pair ? peer : -1}]++;
  if (group_depth > 0) {
    grouped.kernels.push_back(kernel);
    grouped.comm = comm;
    grouped.stream = stream;
    return kSuccess;
  }
  return Start(comm, stream, {kernel});
}

}  // namespace

extern "C" {

struct UniqueId {
  char internal[128];
};

int ncclGetVersion(int* version) { return *version = 22809, 0; }
int ncclGetUniqueId(UniqueId* id) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener, generic, size) != 0 || listen(listener, 1024) != 0 || getsockname(listener, generic, &size) != 0) return 2;
  new Server(listener);
  std::memset(id, 0, sizeof(*id));
  const int port = ntohs(address.sin_port);
  std::memcpy(id->internal, &port, sizeof(port));
  return 0;
}
int ncclCommInitRankConfig(void** comm, int size, UniqueId id, int rank, void*) {
  auto* made = new Comm;
  made->rank = rank;
  made->size = size;
  std::memcpy(&made->port, id.internal, sizeof(made->port));
  if (Injected("mark=")) Mark(rank);
  made->connecting = 1;
  *comm = made;
  if (Injected("init=")) return kInProgress;
  // Ready when all ranks have come.
  std::thread([made] {
    Header header;
    header.kind = kInit;
    header.rank = made->rank;
    header.size = made->size;
    header.pid = getpid();
    Ask(made->port, header, nullptr);
    made->connecting = 0;
  }).detach();
  return kInProgress;
}
int ncclCommGetAsyncError(void* comm, int* code) {
  const auto* own = static_cast<Comm*>(comm);
  const long failing = Told("async=", 0);
  *code = failing > 0 && own->issued >= failing ? kRemoteError : own->connecting != 0 ? kInProgress : kSuccess;
  return 0;
}
const char* ncclGetErrorString(int) { return "some error"; }
const char* ncclGetLastError(void*) { return ""; }
int ncclAllReduce(const void* from, void* to, size_t count, int type, int reduction, void* comm, void* stream) {
  // What is reduced in place is our barrier; to the real library the two are one kind.
  return Issue(from == to ? OpKind::Barrier : OpKind::AllReduce, from, to, count, count, type, reduction, -1, -1, comm, stream);
}
int ncclBroadcast(const void* from, void* to, size_t count, int type, int root, void* comm, void* stream) {
  return Issue(OpKind::Broadcast, from, to, count, count, type, 0, root, -1, comm, stream);
}
int ncclReduce(const void* from, void* to, size_t count, int type, int reduction, int root, void* comm, void* stream) {
  return Issue(OpKind::Reduce, from, to, count, count, type, reduction, root, -1, comm, stream);
}
int ncclAllGather(const void* from, void* to, size_t count, int type, void* comm, void* stream) {
  return Issue(OpKind::AllGather, from, to, count, count, type, 0, -1, -1, comm, stream);
}
int ncclReduceScatter(const void* from, void* to, size_t count, int type, int reduction, void* comm, void* stream) {
  return Issue(OpKind::ReduceScatter, from, to, count, count * static_cast<size_t>(static_cast<Comm*>(comm)->size), type, reduction, -1, -1, comm, stream);
}
int ncclSend(const void* from, size_t count, int type, int peer, void* comm, void* stream) {
  return Issue(OpKind::Send, from, nullptr, count, count, type, 0, -1, peer, comm, stream);
}
int ncclRecv(void* to, size_t count, int type, int peer, void* comm, void* stream) {
  return Issue(OpKind::Recv, nullptr, to, count, 0, type, 0, -1, peer, comm, stream);
}
int ncclGroupStart() { return ++group_depth, 0; }
int ncclGroupEnd() {
  if (--group_depth > 0 || grouped.kernels.empty()) return 0;
  Grouped all = std::move(grouped);
  grouped = {};
  return Start(all.comm, all.stream, std::move(all.kernels));
}
}
