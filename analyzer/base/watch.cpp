#include "analyzer/base/watch.h"

#include <utility>

#include "analyzer/platform/platform.h"

namespace allranks::base {
Watch::Watch(Bounds bounds, std::function<bool()> is_stopped)
    : bounds_(bounds), is_stopped_(std::move(is_stopped)), since_(Clock::now()) {}

bool Watch::IsFull() const { return bounds_.memory_bytes > 0 && (is_full_ || platform::MemoryNow() > bounds_.memory_bytes / 100 * bounds_.percent); }

std::string Watch::FullText() const { return "memory of more than " + std::to_string(bounds_.memory_bytes >> 20) + " MiB"; }

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
