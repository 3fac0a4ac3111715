#include "driver/pipeline/parallel.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace allranks::pipeline {
namespace {

// Address space only: pages are taken as they are used. Smaller sizes are tried where a limit forbids the first.
constexpr size_t kStackSizes[] = {size_t{512} << 20, size_t{128} << 20, size_t{32} << 20};

struct Task {
  const std::function<void()>* work;
  std::exception_ptr failure;
};

void* RunTask(void* argument) {
  Task* task = static_cast<Task*>(argument);
  try {
    (*task->work)();
  } catch (...) {
    task->failure = std::current_exception();
  }
  return nullptr;
}

bool RunOnStackOf(size_t bytes, Task& task) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_t thread;
  const bool started = pthread_attr_setstacksize(&attributes, bytes) == 0 &&
                       pthread_create(&thread, &attributes, RunTask, &task) == 0;
  pthread_attr_destroy(&attributes);
  if (started) pthread_join(thread, nullptr);
  return started;
}

}  // namespace

unsigned ThreadCount(unsigned jobs) {
  constexpr unsigned kMost = 256;
  if (jobs == 0) jobs = std::thread::hardware_concurrency();
  return std::clamp(jobs, 1u, kMost);
}

void ParallelFor(size_t count, unsigned jobs, const std::function<void(size_t)>& work, Stack stack) {
  const size_t threads = std::min<size_t>(ThreadCount(jobs), count);
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  auto drain = [&] {
    try {
      for (size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (failure == nullptr) failure = std::current_exception();
      next = count;
    }
  };
  std::vector<std::thread> helpers;
  helpers.reserve(threads);
  for (size_t i = 1; i < threads; ++i) {
    try {
      if (stack == Stack::Usual) helpers.emplace_back(drain);
      else helpers.emplace_back([&drain] { RunWithDeepStack(drain); });
    } catch (const std::system_error&) {
      // The system gives no more of them: fewer do the same.
      break;
    }
  }
  drain();
  for (std::thread& helper : helpers) helper.join();
  if (failure != nullptr) std::rethrow_exception(failure);
}

void RunWithDeepStack(const std::function<void()>& work) {
  Task task{&work, nullptr};
  const bool started = std::any_of(std::begin(kStackSizes), std::end(kStackSizes),
                                   [&](size_t bytes) { return RunOnStackOf(bytes, task); });
  if (!started) work();
  if (task.failure != nullptr) std::rethrow_exception(task.failure);
}

}  // namespace allranks::pipeline
