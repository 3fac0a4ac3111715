#include "driver/server/worker.h"

#include "driver/pipeline/parallel.h"

namespace allranks::server {

void Worker::Run() {
  pipeline::RunWithDeepStack([&] {
    while (Step(true) != Outcome::Idle) {
    }
  });
}

void Worker::RunPending() {
  pipeline::RunWithDeepStack([&] {
    while (Step(false) != Outcome::Idle) {
    }
  });
}

Worker::Outcome Worker::Step(bool wait) {
  std::optional<Task> task;
  {
    std::unique_lock lock(desk_.mutex);
    while (!desk_.is_over && desk_.tasks.empty()) {
      const bool has_work = desk_.changes.any() && !desk_.is_paused;
      if (!wait) {
        if (has_work) break;
        return Outcome::Idle;
      }
      if (!has_work) {
        desk_.wake.wait(lock);
      } else if (desk_.wake.wait_until(lock, desk_.not_before) == std::cv_status::timeout) {
        break;
      }
    }
    if (desk_.is_over) return Outcome::Idle;
    if (!desk_.tasks.empty()) {
      task = desk_.tasks.front();
      desk_.active = Dump(task->id);
      desk_.is_active_cancelled = false;
      desk_.tasks.pop_front();
    }
  }
  if (task) AnswerTask(*task);
  else Analyse();
  return Outcome::Done;
}

}  // namespace allranks::server
