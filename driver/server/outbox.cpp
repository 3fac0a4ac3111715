#include "driver/server/outbox.h"

namespace allranks::server {

void Outbox::Send(const Json& message) {
  const std::string text = Dump(message);
  const std::lock_guard lock(mutex_);
  write_(text);
}

void Outbox::Expect(const Json& id) {
  const std::lock_guard lock(mutex_);
  expected_.insert(Dump(id));
}

void Outbox::Reply(const Json& id, const Json& answer) {
  const std::string text = Dump(answer);
  const std::lock_guard lock(mutex_);
  const auto expected = expected_.find(Dump(id));
  if (expected == expected_.end()) return;
  expected_.erase(expected);
  write_(text);
}

void Outbox::FailAll(ErrorCode code, const std::string& text) {
  const std::lock_guard lock(mutex_);
  for (const std::string& id : expected_) write_(Dump(Failure(Json::parse(id), code, text)));
  expected_.clear();
}

void Outbox::Ask(std::string_view method, Json params, std::function<void(const Json&)> then) {
  int64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    id = next_id_++;
    waiting_.emplace(id, std::move(then));
  }
  Send(Request(id, method, std::move(params)));
}

void Outbox::TakeAnswer(const Message& answer) {
  std::function<void(const Json&)> then;
  {
    const std::lock_guard lock(mutex_);
    const auto waiting = answer.id.is_number_integer() ? waiting_.find(answer.id.get<int64_t>()) : waiting_.end();
    if (waiting == waiting_.end()) return;
    then = std::move(waiting->second);
    waiting_.erase(waiting);
  }
  if (then) then(answer.result);
}

void Outbox::Log(Level level, std::string_view text) {
  Notify("window/logMessage", {{"type", static_cast<int>(level)}, {"message", text}});
}

void Outbox::Show(Level level, std::string_view text) {
  Notify("window/showMessage", {{"type", static_cast<int>(level)}, {"message", text}});
}

}  // namespace allranks::server
