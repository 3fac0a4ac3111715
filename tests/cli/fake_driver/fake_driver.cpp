// A CUDA driver that has no device behind it, for the sentences that say what a machine lacks. What it pretends stands in
// CUDA_VISIBLE_DEVICES, which workers are given: "init=100", "devices=0", "capability=5", "free=10".
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace {

long Told(const char* what, long otherwise) {
  const char* text = std::getenv("CUDA_VISIBLE_DEVICES");
  const char* found = text == nullptr ? nullptr : std::strstr(text, what);
  return found == nullptr ? otherwise : std::atol(found + std::strlen(what) + 1);
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return static_cast<int>(Told("init", 0)); }
int cuDriverGetVersion(int* version) { return *version = 13000, 0; }
int cuDeviceGetCount(int* count) { return *count = static_cast<int>(Told("devices", 1)), 0; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, ordinal < Told("devices", 1) ? 0 : 101; }
int cuDeviceGetName(char* name, int, int) { return std::strcpy(name, "Fake GPU"), 0; }
int cuDeviceGetAttribute(int* value, int, int) { return *value = static_cast<int>(Told("capability", 9)), 0; }
int cuDevicePrimaryCtxRetain(void** context, int) { return *context = nullptr, 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuMemGetInfo_v2(size_t* left, size_t* total) { return *left = static_cast<size_t>(Told("free", 90)), *total = 100, 0; }
int cuMemAlloc_v2(void*, size_t) { return 2; }
int cuMemHostAlloc(void**, size_t, unsigned) { return 2; }
int cuMemcpyHtoDAsync_v2() { return 2; }
int cuMemcpyDtoHAsync_v2() { return 2; }
int cuStreamCreate(void** stream, unsigned) { return *stream = nullptr, 0; }
int cuStreamWaitEvent() { return 0; }
int cuEventCreate(void** event, unsigned) { return *event = nullptr, 0; }
int cuEventRecord() { return 0; }
int cuEventQuery() { return 600; }
int cuGetErrorName(int, const char** name) { return *name = "CUDA_ERROR", 0; }
int cuGetErrorString(int code, const char** words) { return *words = code == 101 ? "invalid device ordinal" : "some error", 0; }
}
