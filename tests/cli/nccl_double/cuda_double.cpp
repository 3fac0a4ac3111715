// A CUDA driver whose streams are threads of this process: what is put on a stream happens in order, and a kernel is whatever
// nccl_double.cpp puts there. What a run injects stands in CUDA_VISIBLE_DEVICES, which workers are given: "exclusive,devices=2".
//   exclusive     devices that one process may use
//   devices=N     so many (1)
//   busy=A,       devices that another job uses: each ends with a comma ("busy=0,busy=2,")
//   memory        no memory for arenas
//   slow=MS       the driver takes its time to start
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <fcntl.h>
#include <functional>
#include <mutex>
#include <string>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace {

bool Injected(const char* what) {
  const char* list = std::getenv("CUDA_VISIBLE_DEVICES");
  return list != nullptr && std::strstr(list, what) != nullptr;
}

long Told(const char* what, long otherwise) {
  const char* list = std::getenv("CUDA_VISIBLE_DEVICES");
  const char* found = list == nullptr ? nullptr : std::strstr(list, what);
  return found == nullptr ? otherwise : std::atol(found + std::strlen(what));
}

// Of the context that is current: its device. A context is a number behind that of its device.
thread_local long current_device = 0;

class Stream {
 public:
  Stream() { std::thread([this] { Run(); }).detach(); }
  void Put(std::function<void()> work) {
    const std::lock_guard<std::mutex> lock(mutex_);
    work_.push_back(std::move(work));
    changed_.notify_one();
  }

 private:
  void Run() {
    for (;;) {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return !work_.empty(); });
      const std::function<void()> work = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      work();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
};

struct Event {
  std::atomic<long> recorded{0}, reached{0};
};

constexpr int kModeAttribute = 20;
constexpr int kExclusive = 3;
constexpr int kDeviceUnavailable = 46;
constexpr int kOutOfMemory = 2;
constexpr int kNotReady = 600;

}  // namespace

extern "C" {

// For nccl_double.cpp: a kernel.
void allranks_double_launch(void* stream, void (*kernel)(void*), void* argument) {
  static_cast<Stream*>(stream)->Put([kernel, argument] { kernel(argument); });
}

int cuInit(unsigned) { return usleep(static_cast<unsigned>(Told("slow=", 0)) * 1000), 0; }
int cuDriverGetVersion(int* version) { return *version = 13000, 0; }
int cuDeviceGetCount(int* count) { return *count = static_cast<int>(Told("devices=", 1)), 0; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, ordinal < Told("devices=", 1) ? 0 : 101; }
int cuDeviceGetName(char* name, int, int) { return std::strcpy(name, "Double"), 0; }
int cuDeviceGetAttribute(int* value, int attribute, int) {
  return *value = attribute == kModeAttribute ? (Injected("exclusive") ? kExclusive : 0) : 9, 0;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = reinterpret_cast<void*>(static_cast<intptr_t>(device) + 1);
  if (!Injected("exclusive")) return 0;
  // The first process that uses this copy of the library has it until it ends: tests run side by side.
  Dl_info own{};
  dladdr(reinterpret_cast<void*>(&cuInit), &own);
  const std::string path = std::string(own.dli_fname) + "." + std::to_string(device);
  const int lock = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  return flock(lock, LOCK_EX | LOCK_NB) == 0 ? 0 : kDeviceUnavailable;
}
int cuCtxSetCurrent(void* context) { return current_device = reinterpret_cast<intptr_t>(context) - 1, 0; }
int cuMemGetInfo_v2(size_t* left, size_t* total) {
  const bool busy = Injected(("busy=" + std::to_string(current_device) + ",").c_str());
  return *left = busy ? 10 : 90, *total = 100, 0;
}
int cuMemAlloc_v2(unsigned long long* pointer, size_t size) {
  if (Injected("memory")) return kOutOfMemory;
  return *pointer = reinterpret_cast<unsigned long long>(std::calloc(1, size)), 0;
}
int cuMemHostAlloc(void** pointer, size_t size, unsigned) { return *pointer = std::calloc(1, size), 0; }
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, size_t size, void* stream) {
  return static_cast<Stream*>(stream)->Put([=] { std::memcpy(reinterpret_cast<void*>(to), from, size); }), 0;
}
int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, size_t size, void* stream) {
  return static_cast<Stream*>(stream)->Put([=] { std::memcpy(to, reinterpret_cast<const void*>(from), size); }), 0;
}
int cuStreamCreate(void** stream, unsigned) { return *stream = new Stream, 0; }
int cuEventCreate(void** event, unsigned) { return *event = new Event, 0; }
int cuEventRecord(void* event, void* stream) {
  auto* e = static_cast<Event*>(event);
  const long turn = ++e->recorded;
  return static_cast<Stream*>(stream)->Put([e, turn] {
    e->reached = turn;
    e->reached.notify_all();
  }), 0;
}
int cuStreamWaitEvent(void* stream, void* event, unsigned) {
  auto* e = static_cast<Event*>(event);
  const long turn = e->recorded;
  static_cast<Stream*>(stream)->Put([e, turn] {
    for (long reached = e->reached; reached < turn; reached = e->reached) e->reached.wait(reached);
  });
  return 0;
}
int cuEventQuery(void* event) {
  const auto* e = static_cast<Event*>(event);
  return e->reached >= e->recorded ? 0 : kNotReady;
}
int cuGetErrorName(int, const char** name) { return *name = "CUDA_ERROR", 0; }
int cuGetErrorString(int, const char** words) { return *words = "some error", 0; }
}
