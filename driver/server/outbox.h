// What goes to the client, from any thread.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "driver/server/json_rpc.h"

namespace allranks::server {

class Outbox {
 public:
  // `write` gets one message at a time.
  explicit Outbox(std::function<void(const std::string& text)> write) : write_(std::move(write)) {}

  void Send(const Json& message);
  // A request of the client that is answered later. It gets one answer: the first.
  void Expect(const Json& id);
  void Reply(const Json& id, const Json& answer);
  // Fails all requests that still wait for their answer.
  void FailAll(ErrorCode code, const std::string& text);
  void Notify(std::string_view method, Json params) { Send(Notification(method, std::move(params))); }
  // Asks the client; `then` is called with its answer, null where it failed, on the thread that reads.
  void Ask(std::string_view method, Json params, std::function<void(const Json&)> then = {});
  void TakeAnswer(const Message& answer);

  enum class Level { Error = 1, Warning = 2, Info = 3, Log = 4 };
  void Log(Level level, std::string_view text);
  void Show(Level level, std::string_view text);

 private:
  std::mutex mutex_;
  std::function<void(const std::string&)> write_;
  // Ids of the client's requests, as text; a careless client uses one twice.
  std::multiset<std::string> expected_;
  int64_t next_id_ = 1;
  std::map<int64_t, std::function<void(const Json&)>> waiting_;
};

}  // namespace allranks::server
