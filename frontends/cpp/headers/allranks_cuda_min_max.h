// `max(1, size)` in host code of CUDA: of any two types of numbers.
#ifndef ALLRANKS_CUDA_MIN_MAX_H
#define ALLRANKS_CUDA_MIN_MAX_H

template <bool> struct AllranksIf {};
template <> struct AllranksIf<true> { typedef int Yes; };
template <class T, class U, typename AllranksIf<__is_arithmetic(T) && __is_arithmetic(U)>::Yes = 0>
__host__ auto min(T a, U b) -> decltype(a + b) { return a < b ? a : b; }
template <class T, class U, typename AllranksIf<__is_arithmetic(T) && __is_arithmetic(U)>::Yes = 0>
__host__ auto max(T a, U b) -> decltype(a + b) { return a < b ? b : a; }

#endif
