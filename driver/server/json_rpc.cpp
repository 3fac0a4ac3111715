#include "driver/server/json_rpc.h"

namespace allranks::server {
namespace {

Message Invalid(ErrorCode code, std::string problem, Json id = nullptr) {
  Message message;
  message.id = std::move(id);
  message.code = code;
  message.problem = std::move(problem);
  return message;
}

// Deeper ones are made to exhaust the stack.
bool IsTooDeep(std::string_view text) {
  constexpr int kDeepest = 256;
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    in_string = c == '"';
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kDeepest) return true;
  }
  return false;
}

bool IsId(const Json& id) { return id.is_number() || id.is_string(); }

}  // namespace

Message ParseMessage(std::string_view text) {
  if (IsTooDeep(text)) return Invalid(ErrorCode::InvalidRequest, "the message is nested too deeply");
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return Invalid(ErrorCode::ParseError, "the message is no JSON");
  if (!json.is_object()) return Invalid(ErrorCode::InvalidRequest, "the message is no JSON object");
  const bool has_id = json.contains("id");
  Json id = At(json, "id");
  if (has_id && !id.is_null() && !IsId(id)) return Invalid(ErrorCode::InvalidRequest, "`id` is neither a number nor a string");
  Message message;
  message.id = id;
  if (!json.contains("method")) {
    const bool answers = has_id && (json.contains("result") || json.contains("error"));
    if (!answers) return Invalid(ErrorCode::InvalidRequest, "the message has no `method`", id);
    message.kind = MessageKind::Response;
    if (json.contains("result")) message.result = std::move(json["result"]);
    return message;
  }
  const Json& method = json["method"];
  Json params = json.contains("params") ? std::move(json["params"]) : Json();
  if (!method.is_string()) return Invalid(ErrorCode::InvalidRequest, "`method` is no string", id);
  message.method = method.get<std::string>();
  if (!params.is_null() && !params.is_structured()) return Invalid(ErrorCode::InvalidRequest, "`params` is neither an object nor an array", id);
  message.kind = has_id && !id.is_null() ? MessageKind::Request : MessageKind::Notification;
  message.params = std::move(params);
  return message;
}

Json Answer(const Json& id, Json result) { return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}}; }

Json Failure(const Json& id, ErrorCode code, std::string_view message) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", static_cast<int>(code)}, {"message", message}}}};
}

Json Notification(std::string_view method, Json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

Json Request(const Json& id, std::string_view method, Json params) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}};
}

std::string Dump(const Json& message) { return message.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace allranks::server
