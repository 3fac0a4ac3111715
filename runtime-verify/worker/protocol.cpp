#include "runtime-verify/worker/protocol.h"

#include <array>
#include <nlohmann/json.hpp>

namespace allranks::verify {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 6> kCommands = {"init", "comm", "op", "run", "value", "quit"};
constexpr std::array<std::string_view, 9> kEvents = {"ready", "set",  "get",    "issued", "returned",
                                                     "done",  "data", "failed", "idle"};
// Texts of libraries can be long; a line cannot. Escaped, a byte takes up to six.
constexpr size_t kLongestText = 600;

std::string Hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

std::string FromHex(std::string_view digits) {
  std::string out;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    out += static_cast<char>(digit(digits[i]) * 16 + digit(digits[i + 1]));
  }
  return out;
}

std::string Line(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n"; }

template <size_t kSize>
size_t IndexOf(const std::array<std::string_view, kSize>& names, const std::string& name) {
  return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

void ReadOp(const Json& json, Command& command) {
  command.op = {.kind = witness::OpKindNamed(json.at("op").get<std::string>()).value(),
                .comm = json.at("comm"),
                .count = json.at("count"),
                .dtype = witness::DtypeNamed(json.at("dtype").get<std::string>()).value(),
                .redop = witness::RedopNamed(json.at("redop").get<std::string>()),
                .root = json.at("root"),
                .peer = json.at("peer"),
                .sync = json.at("sync"),
                .batch = json.at("batch")};
  command.tag = json.at("tag");
}

void ReadInit(const Json& json, RankSetup& setup) {
  setup.rank = json.at("rank");
  setup.device = json.at("device");
  setup.address = json.at("address");
  setup.force = json.at("force");
  setup.first_on_device = json.at("first_on_device");
  setup.at_first_use = json.at("at_first_use");
  setup.survey = json.at("survey");
  setup.timeout = std::chrono::milliseconds(json.at("timeout_ms").get<int64_t>());
}

}  // namespace

std::string Encode(const Command& c) {
  Json json = {{"do", kCommands[static_cast<size_t>(c.kind)]}};
  switch (c.kind) {
    case Command::Kind::Init:
      json.update({{"rank", c.setup.rank},
                   {"device", c.setup.device},
                   {"address", c.setup.address},
                   {"force", c.setup.force},
                   {"first_on_device", c.setup.first_on_device},
                   {"at_first_use", c.setup.at_first_use},
                   {"survey", c.setup.survey},
                   {"timeout_ms", c.setup.timeout.count()}});
      break;
    case Command::Kind::Comm:
      json["ranks"] = c.ranks;
      break;
    case Command::Kind::Op:
      json.update({{"op", NameOf(c.op.kind)},
                   {"comm", c.op.comm},
                   {"count", c.op.count},
                   {"dtype", NameOf(c.op.dtype)},
                   {"redop", NameOf(c.op.redop)},
                   {"root", c.op.root},
                   {"peer", c.op.peer},
                   {"sync", c.op.sync},
                   {"batch", c.op.batch},
                   {"tag", c.tag}});
      break;
    case Command::Kind::Run:
      json.update({{"first", c.first}, {"count", c.count}});
      break;
    case Command::Kind::Value:
      json.update({{"key", Hex(c.key)}, {"value", Hex(c.value)}});
      break;
    case Command::Kind::Quit:
      break;
  }
  return Line(json);
}

std::string Encode(const Event& e) {
  Json json = {{"is", kEvents[static_cast<size_t>(e.kind)]}};
  switch (e.kind) {
    case Event::Kind::Ready:
      json["text"] = e.text.substr(0, kLongestText);
      if (!e.devices.empty()) json["devices"] = e.devices;
      break;
    case Event::Kind::Set:
      json.update({{"key", Hex(e.key)}, {"value", Hex(e.value)}});
      break;
    case Event::Kind::Get:
      json["key"] = Hex(e.key);
      break;
    case Event::Kind::Issued:
    case Event::Kind::Returned:
    case Event::Kind::Done:
      json["op"] = e.op;
      break;
    case Event::Kind::Data:
      json.update(
          {{"op", e.op}, {"bad", e.bad}, {"first", e.first}, {"expected", e.expected}, {"got", e.got}});
      break;
    case Event::Kind::Failed:
      json.update(
          {{"in_op", e.in_op}, {"op", e.op}, {"code", e.code}, {"text", e.text.substr(0, kLongestText)}});
      break;
    case Event::Kind::Idle:
      break;
  }
  return Line(json);
}

std::optional<Command> DecodeCommand(std::string_view line) {
  try {
    const Json json = Json::parse(line);
    const size_t kind = IndexOf(kCommands, json.at("do").get<std::string>());
    if (kind == kCommands.size()) return std::nullopt;
    Command c{.kind = static_cast<Command::Kind>(kind)};
    if (c.kind == Command::Kind::Init) ReadInit(json, c.setup);
    if (c.kind == Command::Kind::Comm) c.ranks = json.at("ranks").get<std::vector<uint32_t>>();
    if (c.kind == Command::Kind::Op) ReadOp(json, c);
    if (c.kind == Command::Kind::Run) {
      c.first = json.at("first");
      c.count = json.at("count");
    }
    if (c.kind == Command::Kind::Value) {
      c.key = FromHex(json.at("key").get<std::string>());
      c.value = FromHex(json.at("value").get<std::string>());
    }
    return c;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::optional<Event> DecodeEvent(std::string_view line) {
  try {
    const Json json = Json::parse(line);
    const size_t kind = IndexOf(kEvents, json.at("is").get<std::string>());
    if (kind == kEvents.size()) return std::nullopt;
    Event e{.kind = static_cast<Event::Kind>(kind)};
    e.in_op = json.value("in_op", false);
    e.op = json.value("op", 0u);
    e.code = json.value("code", 0);
    e.text = json.value("text", "");
    e.devices = json.value("devices", std::vector<int32_t>());
    e.key = FromHex(json.value("key", ""));
    e.value = FromHex(json.value("value", ""));
    e.bad = json.value("bad", uint64_t{0});
    e.first = json.value("first", uint64_t{0});
    // What is no number (NaN, infinity) has no JSON and comes as null.
    const auto number = [&](const char* key) {
      return json.contains(key) && json[key].is_number() ? json[key].get<double>() : 0.0;
    };
    e.expected = number("expected");
    e.got = number("got");
    return e;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

bool LineBuffer::Add(std::string_view bytes) {
  bytes_ += bytes;
  const size_t last = bytes_.rfind('\n');
  return bytes_.size() - (last == std::string::npos ? 0 : last + 1) <= kLongestLine;
}

std::optional<std::string> LineBuffer::Take() {
  const size_t end = bytes_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = bytes_.substr(0, end);
  bytes_.erase(0, end + 1);
  return line;
}

}  // namespace allranks::verify
