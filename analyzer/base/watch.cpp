#include "analyzer/base/watch.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace allranks::base {
namespace {

// What of the process is in memory now; 0 where that is not to be known.
uint64_t ResidentBytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long long all = 0;
  unsigned long long resident = 0;
  const bool is_read = std::fscanf(file, "%llu %llu", &all, &resident) == 2;
  std::fclose(file);
  return is_read ? resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace

Watch::Watch(Bounds bounds, std::function<bool()> is_stopped)
    : bounds_(bounds), is_stopped_(std::move(is_stopped)), since_(Clock::now()) {}

bool Watch::IsFull() const { return bounds_.memory_bytes > 0 && (is_full_ || ResidentBytes() > bounds_.memory_bytes); }

bool Watch::IsLate() const {
  return bounds_.per_file.count() > 0 && file_ < spent_.size() && spent_[file_] + (Clock::now() - since_) > bounds_.per_file;
}

void Watch::Look() {
  if (IsStopped()) throw Cut{CutKind::Stopped};
  is_full_ = IsFull();
  if (is_full_) throw Cut{CutKind::Memory};
  if (IsLate()) throw Cut{CutKind::Time};
}

uint32_t Watch::GoOnWith(uint32_t file) {
  if (file != kNoFile && file >= spent_.size()) spent_.resize(file + 1);
  const Clock::time_point now = Clock::now();
  if (file_ != kNoFile) spent_[file_] += now - since_;
  since_ = now;
  return std::exchange(file_, file);
}

Watch::Turn::Turn(Watch* watch, uint32_t file) : watch_(watch) {
  if (watch_ == nullptr) return;
  // The memory that is held does not become less.
  if (watch_->is_full_) throw Cut{CutKind::Memory};
  if (watch_->bounds_.per_file.count() == 0) {
    watch_ = nullptr;
    return;
  }
  outer_ = watch_->GoOnWith(file);
  if (!watch_->IsLate()) return;
  watch_->GoOnWith(outer_);
  throw Cut{CutKind::Time};
}

Watch::Turn::~Turn() {
  if (watch_ != nullptr) watch_->GoOnWith(outer_);
}

}  // namespace allranks::base
