// Declarations of CUDA's cooperative groups for machines without the toolkit; device code only.
#ifndef ALLRANKS_COOPERATIVE_GROUPS_H
#define ALLRANKS_COOPERATIVE_GROUPS_H

#include <cuda_runtime.h>

#if defined(__CUDA__) && defined(__cplusplus)
namespace cooperative_groups {
struct thread_group {
  __device__ void sync() const;
  __device__ unsigned long long size() const;
  __device__ unsigned long long num_threads() const;
  __device__ unsigned long long thread_rank() const;
  __device__ bool is_valid() const;
};
struct thread_block : thread_group {
  __device__ dim3 group_index() const;
  __device__ dim3 thread_index() const;
};
struct grid_group : thread_group {};
struct cluster_group : thread_group {};
struct multi_grid_group : thread_group {};
struct coalesced_group : thread_group {
  template <class T> __device__ T shfl(T value, int rank) const;
};
template <unsigned Size, class Parent = void>
struct thread_block_tile : thread_group {
  __device__ unsigned meta_group_rank() const;
  __device__ unsigned meta_group_size() const;
  template <class T> __device__ T shfl(T value, int rank) const;
  template <class T> __device__ T shfl_xor(T value, int mask) const;
  template <class T> __device__ T shfl_down(T value, unsigned delta) const;
  template <class T> __device__ T shfl_up(T value, unsigned delta) const;
  __device__ int any(int predicate) const;
  __device__ int all(int predicate) const;
  __device__ unsigned ballot(int predicate) const;
};
__device__ thread_block this_thread_block();
__device__ grid_group this_grid();
__device__ cluster_group this_cluster();
__device__ multi_grid_group this_multi_grid();
__device__ coalesced_group coalesced_threads();
template <unsigned Size, class Group> __device__ thread_block_tile<Size, Group> tiled_partition(const Group &group);
template <class Group> __device__ void sync(const Group &group);
template <class T> struct plus { __device__ T operator()(T a, T b) const; };
template <class T> struct less { __device__ T operator()(T a, T b) const; };
template <class T> struct greater { __device__ T operator()(T a, T b) const; };
template <class Group, class T, class Op> __device__ T reduce(const Group &group, T value, Op op);
template <class Group, class T, class Op> __device__ T inclusive_scan(const Group &group, T value, Op op);
template <class Group, class T, class Op> __device__ T exclusive_scan(const Group &group, T value, Op op);
}  // namespace cooperative_groups
#endif
#endif
