#include "runtime-verify/backends/nccl/libraries.h"

#include <dlfcn.h>

namespace allranks::verify {
namespace {

constexpr int kOldestNccl = 21800;

template <class Function>
void Find(void* library, const char* name, Function* function, std::string* missing) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  if (*function == nullptr && missing->empty()) *missing = name;
}

Failure InitFailure(const CudaFunctions& cuda, abi::CudaResult code) {
  switch (code) {
    case abi::kCudaNoDevice:
      return {code, "there is an NVIDIA driver but no device that it can use"};
    case abi::kCudaStubLibrary:
      return {
          code,
          "libcuda.so.1 is the CUDA Toolkit's stub, not a driver: take its folder out of LD_LIBRARY_PATH"};
    case abi::kCudaDriverMismatch:
      return {
          code,
          "libcuda.so.1 and the NVIDIA kernel driver have different versions: reboot, or install them alike"};
    default:
      break;
  }
  const char* words = nullptr;
  cuda.cuGetErrorString_(code, &words);
  return {code,
          std::string("the NVIDIA driver does not start: ") + (words == nullptr ? "unknown error" : words)};
}

}  // namespace

std::optional<Failure> LoadCuda(CudaFunctions* functions) {
  void* library = nullptr;
  // Containers mount the driver there.
  for (const char* name : {"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1"}) {
    if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) {
    return Failure{
        0, "no NVIDIA driver on this machine (libcuda.so.1 cannot be loaded); --backend sim needs none"};
  }
  std::string missing;
#define ALLRANKS_FIND(member, symbol, ...) Find(library, symbol, &functions->member, &missing);
  ALLRANKS_CUDA_FUNCTIONS(ALLRANKS_FIND)
  if (!missing.empty()) return Failure{0, "the NVIDIA driver is too old: it has no " + missing};
  if (const abi::CudaResult code = functions->cuInit_(0); code != abi::kCudaSuccess) return InitFailure(*functions, code);
  return std::nullopt;
}

std::optional<Failure> LoadNccl(const std::string& path, NcclFunctions* functions) {
  if (path.empty()) {
    return Failure{0,
                   "no libnccl.so.2 was found beside PyTorch, in the CUDA Toolkit or in the system; name it "
                   "with --nccl-lib"};
  }
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Failure{0, std::string("NCCL cannot be loaded: ") + dlerror()};
  std::string missing;
  ALLRANKS_NCCL_FUNCTIONS(ALLRANKS_FIND)
#undef ALLRANKS_FIND
  if (functions->ncclGetVersion_ != nullptr) functions->ncclGetVersion_(&functions->version);
  if (functions->version < kOldestNccl) {
    return Failure{0, path + " is NCCL " + VersionText(functions->version) + "; 2.18 or later is needed"};
  }
  if (!missing.empty()) return Failure{0, path + " has no " + missing};
  return std::nullopt;
}

std::string VersionText(int version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace allranks::verify
