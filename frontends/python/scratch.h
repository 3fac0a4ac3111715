#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace allranks::python {

// A list that grows while the syntax tree is walked, on top of a vector that all lists of its kind share:
// nested lists nest like calls, so none of them allocates by itself.
template <class T>
class Scratch {
 public:
  explicit Scratch(std::vector<T>* store) : store_(*store), mark_(store->size()) {}
  ~Scratch() { store_.resize(mark_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  void Add(T value) { store_.push_back(value); }
  void Clear() { store_.resize(mark_); }
  size_t size() const { return store_.size() - mark_; }
  bool empty() const { return size() == 0; }
  T& operator[](size_t index) { return store_[mark_ + index]; }
  // Valid until the next list of the kind grows.
  std::span<const T> items() const { return std::span<const T>(store_).subspan(mark_); }

 private:
  std::vector<T>& store_;
  const size_t mark_;
};

}  // namespace allranks::python
