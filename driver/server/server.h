// The side that reads: the life of the connection, open documents, and what goes on to the worker.
#pragma once

#include <string>
#include <string_view>

#include "driver/server/desk.h"
#include "driver/server/outbox.h"

namespace allranks::server {

class Server {
 public:
  Server(Desk& desk, Outbox& outbox, std::string_view version) : desk_(desk), outbox_(outbox), version_(version) {}

  // One message's text, of any bytes.
  void Receive(std::string_view text);
  // Bytes that were no message.
  void ReceiveMalformed(const std::string& problem);

  bool has_exited() const { return has_exited_; }
  // 0 only after an orderly `shutdown`.
  int exit_code() const { return is_shut_down_ ? 0 : 1; }

 private:
  void ReceiveRequest(Message message);
  void ReceiveNotification(const Message& message);
  void ShutDown(const Json& id);
  Json Initialize(const Json& params);
  void Initialized();
  void Register();
  void AskForSettings();
  void TakeSettings(const Json& json);
  void ChangeFolders(const Json& event);
  void Cancel(const Json& id);
  bool ChangeDocuments(const std::string& method, const Json& params);

  Desk& desk_;
  Outbox& outbox_;
  std::string version_;
  bool is_initialized_ = false;
  bool is_shut_down_ = false;
  bool has_exited_ = false;
};

}  // namespace allranks::server
