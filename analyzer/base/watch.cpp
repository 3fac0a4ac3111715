#include "analyzer/base/watch.h"

#include <utility>

#include "analyzer/platform/platform.h"

namespace allranks::base {
Watch::Watch(Bounds bounds, std::function<bool()> is_stopped)
    : bounds_(bounds), is_stopped_(std::move(is_stopped)), since_(Clock::now()) {}

bool Watch::IsFull() const { return bounds_.memory_bytes > 0 && (is_full_ || platform::MemoryNow() > bounds_.memory_bytes / 100 * bounds_.percent); }

std::string Watch::FullText() const { return "memory of more than " + std::to_string(bounds_.memory_bytes >> 20) + " MiB"; }

std::string Watch::LargeText() const { return "memory of more than " + std::to_string(bounds_.memory_per_file >> 20) + " MiB for this file"; }

bool Watch::IsLate() const {
  return bounds_.per_file.count() > 0 && file_ < spent_.size() && spent_[file_] + (Clock::now() - since_) > bounds_.per_file;
}

bool Watch::IsLarge() const {
  if (bounds_.memory_per_file == 0 || file_ >= grown_by_.size()) return false;
  const uint64_t now = platform::MemoryNow();
  return grown_by_[file_] + (now > memory_before_ ? now - memory_before_ : 0) > bounds_.memory_per_file;
}

void Watch::LookAtFile() const {
  if (IsLate()) throw Cut{CutKind::Time};
  if (IsLarge()) throw Cut{CutKind::FileMemory};
}

void Watch::Look() {
  if (IsStopped()) throw Cut{CutKind::Stopped};
  is_full_ = IsFull();
  if (is_full_) throw Cut{CutKind::Memory};
  LookAtFile();
}

uint32_t Watch::GoOnWith(uint32_t file) {
  if (file != kNoFile && file >= spent_.size()) {
    spent_.resize(file + 1);
    grown_by_.resize(file + 1);
  }
  const Clock::time_point now = Clock::now();
  if (file_ != kNoFile) spent_[file_] += now - since_;
  since_ = now;
  if (bounds_.memory_per_file > 0) {
    const uint64_t memory = platform::MemoryNow();
    if (file_ != kNoFile && memory > memory_before_) grown_by_[file_] += memory - memory_before_;
    memory_before_ = memory;
  }
  return std::exchange(file_, file);
}

Watch::Turn::Turn(Watch* watch, uint32_t file) : watch_(watch) {
  if (watch_ == nullptr) return;
  // The memory that is held does not become less.
  if (watch_->is_full_) throw Cut{CutKind::Memory};
  if (watch_->bounds_.per_file.count() == 0 && watch_->bounds_.memory_per_file == 0) {
    watch_ = nullptr;
    return;
  }
  outer_ = watch_->GoOnWith(file);
  try {
    watch_->LookAtFile();
  } catch (const Cut&) {
    watch_->GoOnWith(outer_);
    throw;
  }
}

Watch::Turn::~Turn() {
  if (watch_ != nullptr) watch_->GoOnWith(outer_);
}

}  // namespace allranks::base
