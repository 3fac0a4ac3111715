// JSON-RPC 2.0: what kind of message a text is, and the texts of answers.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "driver/server/json.h"

namespace allranks::server {

enum class ErrorCode : int {
  ParseError = -32700,
  InvalidRequest = -32600,
  MethodNotFound = -32601,
  InvalidParams = -32602,
  InternalError = -32603,
  ServerNotInitialized = -32002,
  ServerCancelled = -32802,
  ContentModified = -32801,
  RequestCancelled = -32800,
};

// Thrown by what reads a request's parameters; becomes its answer.
class RequestError : public std::runtime_error {
 public:
  RequestError(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

enum class MessageKind { Request, Notification, Response, Invalid };

struct Message {
  MessageKind kind = MessageKind::Invalid;
  Json id;              // Request, Response; of an Invalid one where it can be told, else null
  std::string method;
  Json params;
  Json result;          // Response; null where the other side failed
  ErrorCode code = ErrorCode::InvalidRequest;  // Invalid: why
  std::string problem;
};

Message ParseMessage(std::string_view text);

Json Answer(const Json& id, Json result);
Json Failure(const Json& id, ErrorCode code, std::string_view message);
Json Notification(std::string_view method, Json params);
Json Request(const Json& id, std::string_view method, Json params);

// Names and texts of analysed files may be any bytes: what is no UTF-8 becomes U+FFFD.
std::string Dump(const Json& message);

}  // namespace allranks::server
