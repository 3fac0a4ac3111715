// Two ways to run work on threads. What is computed never depends on how many there are.
#pragma once

#include <cstddef>
#include <functional>

namespace allranks::pipeline {

// How many threads `jobs` means; 0: one a core.
unsigned ThreadCount(unsigned jobs);

// Of the threads that help: the usual one, or one as RunWithDeepStack gives.
enum class Stack { Usual, Deep };

// Calls `work(i)` once for every i below `count`, in any order, on up to `jobs` threads, of which the caller's is one.
void ParallelFor(size_t count, unsigned jobs, const std::function<void(size_t)>& work, Stack stack = Stack::Usual);

// Runs `work` to its end on a thread whose stack is deep enough for recursion along call chains and nested code.
void RunWithDeepStack(const std::function<void()>& work);

}  // namespace allranks::pipeline
