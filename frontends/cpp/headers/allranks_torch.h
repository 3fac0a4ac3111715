// Declarations of libtorch for machines without it: the parts that say which ranks do what on which device.
#ifndef ALLRANKS_TORCH_H
#define ALLRANKS_TORCH_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#ifndef TORCH_CHECK
#define TORCH_CHECK(condition, ...)              \
  do {                                           \
    if (!(condition)) throw c10::Error();        \
  } while (0)
#define TORCH_INTERNAL_ASSERT(condition, ...) TORCH_CHECK(condition)
#define C10_CUDA_CHECK(call)                     \
  do {                                           \
    if ((call) != 0) throw c10::Error();         \
  } while (0)
#define AT_CUDA_CHECK(call) C10_CUDA_CHECK(call)
#define C10D_NCCL_CHECK(call, ...) C10_CUDA_CHECK(call)
#endif

namespace c10 {

struct Error {
  const char *what() const noexcept;
};

template <class T>
class intrusive_ptr {
 public:
  intrusive_ptr() = default;
  intrusive_ptr(std::nullptr_t) {}
  template <class U>
  intrusive_ptr(const intrusive_ptr<U> &other);
  T *get() const;
  T *operator->() const;
  T &operator*() const;
  explicit operator bool() const;
  void reset();
};
template <class T, class U>
bool operator==(const intrusive_ptr<T> &a, const intrusive_ptr<U> &b);
template <class T, class... Args>
intrusive_ptr<T> make_intrusive(Args &&...args);
template <class T, class U>
intrusive_ptr<T> dynamic_intrusive_pointer_cast(const intrusive_ptr<U> &p);
template <class T, class U>
intrusive_ptr<T> static_intrusive_pointer_cast(const intrusive_ptr<U> &p);
class intrusive_ptr_target {};

template <class T>
class ArrayRef {
 public:
  ArrayRef() = default;
  ArrayRef(const T &item);
  ArrayRef(const std::vector<T> &items);
  ArrayRef(std::initializer_list<T> items);
  const T *begin() const;
  const T *end() const;
  size_t size() const;
  const T &operator[](size_t i) const;
  std::vector<T> vec() const;
};
using IntArrayRef = ArrayRef<int64_t>;
template <class T>
using optional = std::optional<T>;
inline constexpr std::nullopt_t nullopt = std::nullopt;
using string_view = std::string_view;

enum class DeviceType : signed char { CPU, CUDA, HIP, XPU, MPS };
using DeviceIndex = signed char;
inline constexpr DeviceType kCPU = DeviceType::CPU;
inline constexpr DeviceType kCUDA = DeviceType::CUDA;
class Device {
 public:
  Device(DeviceType type, DeviceIndex index = -1);
  Device(const std::string &text);
  DeviceType type() const;
  DeviceIndex index() const;
  bool is_cuda() const;
  bool is_cpu() const;
  bool operator==(const Device &other) const;
};

enum class ScalarType : signed char { Byte, Char, Short, Int, Long, Half, Float, Double, Bool, BFloat16 };
inline constexpr ScalarType kByte = ScalarType::Byte, kInt = ScalarType::Int, kLong = ScalarType::Long, kHalf = ScalarType::Half,
                            kFloat = ScalarType::Float, kDouble = ScalarType::Double, kBool = ScalarType::Bool,
                            kBFloat16 = ScalarType::BFloat16, kInt32 = ScalarType::Int, kInt64 = ScalarType::Long,
                            kFloat16 = ScalarType::Half, kFloat32 = ScalarType::Float, kFloat64 = ScalarType::Double;
class Scalar {
 public:
  template <class T>
  Scalar(T value);
  template <class T>
  T to() const;
};

struct TensorOptions {
  TensorOptions() = default;
  TensorOptions(ScalarType type);
  TensorOptions(Device device);
  TensorOptions(DeviceType type);
  TensorOptions dtype(ScalarType type) const;
  TensorOptions device(Device device) const;
  TensorOptions device(DeviceType type, DeviceIndex index = -1) const;
  TensorOptions requires_grad(bool on = true) const;
};

template <class K, class V>
class Dict {
 public:
  void insert(const K &key, const V &value);
};
struct IValue {
  template <class T>
  IValue(const T &value);
};

namespace cuda {
DeviceIndex device_count() noexcept;
DeviceIndex current_device();
void set_device(DeviceIndex device);
void device_synchronize();
class CUDAStream {
 public:
  void *stream() const;
  operator struct CUstream_st *() const;
  void synchronize() const;
  DeviceIndex device_index() const;
};
CUDAStream getCurrentCUDAStream(DeviceIndex device = -1);
CUDAStream getStreamFromPool(bool high_priority = false, DeviceIndex device = -1);
class CUDAGuard {
 public:
  explicit CUDAGuard(DeviceIndex device);
  explicit CUDAGuard(Device device);
  ~CUDAGuard();
  void set_index(DeviceIndex device);
};
class OptionalCUDAGuard {
 public:
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(Device device);
  ~OptionalCUDAGuard();
  void set_index(DeviceIndex device);
};
class CUDAStreamGuard {
 public:
  explicit CUDAStreamGuard(CUDAStream stream);
  ~CUDAStreamGuard();
};
}  // namespace cuda
}  // namespace c10

namespace at {
using namespace c10;

class Tensor {
 public:
  Tensor() = default;
  bool defined() const;
  int64_t dim() const;
  int64_t numel() const;
  int64_t nbytes() const;
  int64_t size(int64_t dim) const;
  IntArrayRef sizes() const;
  size_t element_size() const;
  ScalarType scalar_type() const;
  ScalarType dtype() const;
  Device device() const;
  TensorOptions options() const;
  DeviceIndex get_device() const;
  bool is_cuda() const;
  bool is_cpu() const;
  bool is_contiguous() const;
  bool is_sparse() const;
  bool requires_grad() const;
  Tensor &set_requires_grad(bool on);
  Tensor &requires_grad_(bool on = true);
  void *data_ptr() const;
  template <class T>
  T *data_ptr() const;
  template <class T>
  T *mutable_data_ptr() const;
  template <class T>
  T item() const;
  Scalar item() const;
  void backward() const;
  const Tensor &grad() const;
  Tensor &mutable_grad() const;
  Tensor data() const;
  Tensor detach() const;
  Tensor clone() const;
  Tensor contiguous() const;
  Tensor cpu() const;
  Tensor cuda() const;
  template <class... Args>
  Tensor to(Args &&...args) const;
  Tensor view(IntArrayRef sizes) const;
  Tensor reshape(IntArrayRef sizes) const;
  Tensor flatten(int64_t from = 0, int64_t to = -1) const;
  Tensor squeeze() const;
  Tensor unsqueeze(int64_t dim) const;
  Tensor slice(int64_t dim, int64_t from, int64_t to, int64_t step = 1) const;
  Tensor narrow(int64_t dim, int64_t from, int64_t length) const;
  Tensor select(int64_t dim, int64_t index) const;
  Tensor index_select(int64_t dim, const Tensor &index) const;
  Tensor nonzero() const;
  Tensor masked_select(const Tensor &mask) const;
  std::vector<Tensor> chunk(int64_t count, int64_t dim = 0) const;
  std::vector<Tensor> split(int64_t size, int64_t dim = 0) const;
  Tensor sum() const;
  Tensor mean() const;
  Tensor max() const;
  Tensor min() const;
  Tensor norm() const;
  Tensor argmax(int64_t dim) const;
  Tensor eq(const Tensor &other) const;
  Tensor isnan() const;
  Tensor any() const;
  Tensor all() const;
  Tensor &zero_() const;
  Tensor &fill_(Scalar value) const;
  Tensor &copy_(const Tensor &source, bool non_blocking = false) const;
  Tensor &add_(const Tensor &other) const;
  Tensor &mul_(Scalar value) const;
  Tensor &mul_(const Tensor &other) const;
  Tensor &div_(Scalar value) const;
  Tensor &div_(const Tensor &other) const;
  Tensor operator[](int64_t i) const;
  Tensor operator[](const Tensor &index) const;
  Tensor &operator+=(const Tensor &other);
  Tensor &operator/=(Scalar value);
  Tensor &operator*=(Scalar value);
};
Tensor operator+(const Tensor &a, const Tensor &b);
Tensor operator-(const Tensor &a, const Tensor &b);
Tensor operator*(const Tensor &a, const Tensor &b);
Tensor operator/(const Tensor &a, const Tensor &b);
Tensor operator+(const Tensor &a, Scalar b);
Tensor operator*(const Tensor &a, Scalar b);
Tensor operator/(const Tensor &a, Scalar b);
Tensor operator==(const Tensor &a, const Tensor &b);

Tensor empty(IntArrayRef sizes, TensorOptions options = {});
Tensor zeros(IntArrayRef sizes, TensorOptions options = {});
Tensor ones(IntArrayRef sizes, TensorOptions options = {});
Tensor full(IntArrayRef sizes, Scalar value, TensorOptions options = {});
Tensor rand(IntArrayRef sizes, TensorOptions options = {});
Tensor randn(IntArrayRef sizes, TensorOptions options = {});
Tensor arange(Scalar end, TensorOptions options = {});
Tensor empty_like(const Tensor &other);
Tensor zeros_like(const Tensor &other);
Tensor ones_like(const Tensor &other);
Tensor cat(const std::vector<Tensor> &tensors, int64_t dim = 0);
Tensor stack(const std::vector<Tensor> &tensors, int64_t dim = 0);
template <class T>
Tensor tensor(T value, TensorOptions options = {});
template <class T>
Tensor tensor(std::initializer_list<T> values, TensorOptions options = {});
Tensor from_blob(void *data, IntArrayRef sizes, TensorOptions options = {});
TensorOptions device(Device device);
TensorOptions dtype(ScalarType type);
void manual_seed(uint64_t seed);
namespace cuda {
using namespace c10::cuda;
}
}  // namespace at

namespace torch {
using namespace at;
using at::Tensor;
class CustomClassHolder : public c10::intrusive_ptr_target {};
struct NoGradGuard {
  NoGradGuard();
  ~NoGradGuard();
};
template <class T>
void save(const T &value, const std::string &path);
template <class T>
void load(T &value, const std::string &path);
namespace cuda {
size_t device_count();
bool is_available();
void synchronize(int64_t device = -1);
}  // namespace cuda
namespace autograd {
using Variable = at::Tensor;
using variable_list = std::vector<Variable>;
}  // namespace autograd
}  // namespace torch

#endif
