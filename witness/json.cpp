#include "witness/json.h"

#include <algorithm>

#include "witness/json_reader.h"
#include "witness/scenario_json.h"

namespace allranks::witness {
namespace {

constexpr std::string_view kSchema = "allranks.witness/1";
constexpr int kDeepest = 8;
// `ops` has one for each class; each key is compared with all before it.
constexpr size_t kMostKeys = 1024;

constexpr std::string_view kEffects[] = {"deadlock", "corruption", "error", "semantic", "clean"};
constexpr std::string_view kCommunicators[] = {"unknown", "first_use", "at_init"};

void ReadComms(JsonReader& reader, const Json& root, const Bounds& bounds, Witness& out) {
  const Json* comms = reader.Array(root, "", "comms", true, bounds.comms);
  for (size_t i = 0; comms != nullptr && i < comms->size(); ++i) {
    const std::string where = JsonReader::At("comms", i);
    Communicator& comm = out.comms.emplace_back();
    if (!reader.Object((*comms)[i], where, {"id", "ranks"})) return;
    reader.Text((*comms)[i], where, "id", true, comm.id);
    reader.Integers((*comms)[i], where, "ranks", bounds.world, comm.ranks);
  }
}

void ReadClasses(JsonReader& reader, const Json& root, const Bounds& bounds, Witness& out) {
  const Json* classes = reader.Array(root, "", "classes", true, bounds.world);
  for (size_t i = 0; classes != nullptr && i < classes->size(); ++i) {
    const std::string where = JsonReader::At("classes", i);
    RankClass& one = out.classes.emplace_back();
    if (!reader.Object((*classes)[i], where, {"id", "ranks", "guard"})) return;
    reader.Text((*classes)[i], where, "id", true, one.id);
    reader.Integers((*classes)[i], where, "ranks", bounds.world, one.ranks);
    reader.Text((*classes)[i], where, "guard", false, one.guard);
  }
}

void ReadOp(JsonReader& reader, const Json& value, const std::string& where, Op& op) {
  if (!reader.Object(
          value, where,
          {"id", "op", "comm", "count", "dtype", "redop", "root", "peer", "sync", "batch", "source", "at"})) {
    return;
  }
  reader.Text(value, where, "id", true, op.id);
  reader.Text(value, where, "op", true, op.op);
  reader.Text(value, where, "comm", true, op.comm);
  reader.Integer(value, where, "count", false, op.count);
  reader.Text(value, where, "dtype", false, op.dtype);
  reader.Text(value, where, "redop", false, op.redop);
  reader.Integer(value, where, "root", false, op.root);
  reader.Integer(value, where, "peer", false, op.peer);
  reader.Flag(value, where, "sync", op.sync);
  reader.Integer(value, where, "batch", false, op.batch);
  reader.Text(value, where, "source", false, op.source);
  const Json* at = reader.Member(value, where, "at", false);
  if (at == nullptr || !reader.Object(*at, where + ".at", {"uri", "line"})) return;
  reader.Text(*at, where + ".at", "uri", true, op.at.uri);
  reader.Integer(*at, where + ".at", "line", true, op.at.line);
}

void ReadOps(JsonReader& reader, const Json& root, const Bounds& bounds, Witness& out) {
  const Json* ops = reader.Member(root, "", "ops", true);
  if (ops == nullptr) return;
  if (!ops->is_object()) return reader.Fail("ops", "an object is expected");
  out.ops.resize(out.classes.size());
  for (const auto& member : ops->items()) {
    size_t index = 0;
    while (index < out.classes.size() && out.classes[index].id != member.key()) ++index;
    if (index == out.classes.size()) {
      return reader.Fail("ops", "there is no class `" + member.key().substr(0, 80) + "`");
    }
    const Json* list = reader.Array(*ops, "ops", member.key().c_str(), true, bounds.ops_per_class);
    for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
      ReadOp(reader, (*list)[i], JsonReader::At("ops." + member.key(), i), out.ops[index].emplace_back());
    }
  }
}

void ReadExpect(JsonReader& reader, const Json& root, const Bounds& bounds, Witness& out) {
  const Json* expect = reader.Member(root, "", "expect", true);
  if (expect == nullptr || !reader.Object(*expect, "expect", {"effect", "stuck"})) return;
  std::string effect;
  reader.Text(*expect, "expect", "effect", true, effect);
  size_t index = 0;
  while (index < std::size(kEffects) && kEffects[index] != effect) ++index;
  if (index == std::size(kEffects))
    return reader.Fail("expect.effect", "`" + effect.substr(0, 80) + "` is not known");
  out.effect = static_cast<Effect>(index);
  const Json* stuck = reader.Array(*expect, "expect", "stuck", false, bounds.world);
  for (size_t i = 0; stuck != nullptr && i < stuck->size(); ++i) {
    const std::string where = JsonReader::At("expect.stuck", i);
    Stuck& one = out.stuck.emplace_back();
    if (!reader.Object((*stuck)[i], where, {"rank", "op"})) return;
    reader.Integer((*stuck)[i], where, "rank", true, one.rank);
    reader.Text((*stuck)[i], where, "op", true, one.op);
  }
}

void ReadCommunicators(JsonReader& reader, const Json& root, Witness& out) {
  std::string name(kCommunicators[0]);
  reader.Text(root, "", "communicators", false, name);
  const auto found = std::ranges::find(kCommunicators, std::string_view(name));
  if (found == std::end(kCommunicators)) return reader.Fail("communicators", "`" + name.substr(0, 80) + "` is not known");
  out.communicators = static_cast<Communicators>(found - std::begin(kCommunicators));
}

void ReadRest(JsonReader& reader, const Json& root, Witness& out) {
  if (const Json* after = reader.Member(root, "", "after", false)) {
    if (reader.Object(*after, "after", {"fence"})) reader.Flag(*after, "after", "fence", out.fence);
  }
  if (const Json* limits = reader.Member(root, "", "limits", false)) {
    if (!reader.Object(*limits, "limits", {"quiet_ms", "total_ms"})) return;
    reader.Integer(*limits, "limits", "quiet_ms", false, out.quiet_ms);
    reader.Integer(*limits, "limits", "total_ms", false, out.total_ms);
  }
}

void ReadRoot(JsonReader& reader, const Json& root, const Bounds& bounds, Witness& out) {
  if (!reader.Object(root, "",
                     {"schema", "finding", "world", "nodes", "comms", "classes", "communicators", "ops", "after", "expect",
                      "scenario", "limits"})) {
    return;
  }
  std::string schema;
  reader.Text(root, "", "schema", true, schema);
  if (schema != kSchema) return reader.Fail("schema", "`" + std::string(kSchema) + "` is expected");
  reader.Text(root, "", "finding", true, out.finding);
  reader.Integer(root, "", "world", true, out.world);
  reader.Integer(root, "", "nodes", false, out.nodes);
  ReadComms(reader, root, bounds, out);
  ReadClasses(reader, root, bounds, out);
  ReadOps(reader, root, bounds, out);
  ReadExpect(reader, root, bounds, out);
  ReadCommunicators(reader, root, out);
  ReadRest(reader, root, out);
  if (const Json* scenario = reader.Member(root, "", "scenario", false)) {
    ReadScenario(reader, *scenario, bounds, out.scenario);
  }
}

// Refuses what the parser would silently accept: a key that stands twice, and nesting no witness has.
bool Keep(int depth, Json::parse_event_t event, Json& parsed, std::vector<std::vector<std::string>>& keys,
          std::string& error) {
  using Event = Json::parse_event_t;
  // What is wrong is known: the rest of a long text costs no more than its reading.
  if (!error.empty()) return false;
  if (depth > kDeepest) error = "nesting deeper than " + std::to_string(kDeepest) + " levels";
  if (event == Event::object_start) keys.emplace_back();
  if (event == Event::object_end && !keys.empty()) keys.pop_back();
  if (event == Event::key && !keys.empty()) {
    const std::string& key = parsed.get_ref<const std::string&>();
    if (std::find(keys.back().begin(), keys.back().end(), key) != keys.back().end()) {
      error = "key `" + key.substr(0, 80) + "` stands there twice";
    }
    keys.back().push_back(key);
    if (keys.back().size() > kMostKeys && error.empty())
      error = "more than " + std::to_string(kMostKeys) + " keys";
  }
  return error.empty();
}

Json OpJson(const Op& op) {
  Json json = {{"id", op.id}, {"op", op.op}, {"comm", op.comm}, {"count", op.count}, {"dtype", op.dtype}};
  if (!op.redop.empty()) json["redop"] = op.redop;
  if (op.root >= 0) json["root"] = op.root;
  if (op.peer >= 0) json["peer"] = op.peer;
  json["sync"] = op.sync;
  if (op.batch != 0) json["batch"] = op.batch;
  if (!op.source.empty()) json["source"] = op.source;
  json["at"] = {{"uri", op.at.uri}, {"line", op.at.line}};
  return json;
}

}  // namespace

std::string_view EffectName(Effect effect) { return kEffects[static_cast<size_t>(effect)]; }

ReadResult ReadJson(std::string_view text, const Bounds& bounds) {
  if (text.size() > bounds.file_bytes)
    return {{}, "larger than " + std::to_string(bounds.file_bytes) + " bytes"};
  JsonReader reader;
  Witness witness;
  std::string structural;
  try {
    std::vector<std::vector<std::string>> keys;
    const Json root = Json::parse(text, [&](int depth, Json::parse_event_t event, Json& parsed) {
      return Keep(depth, event, parsed, keys, structural);
    });
    if (!structural.empty()) return {{}, structural};
    ReadRoot(reader, root, bounds, witness);
  } catch (const Json::exception& error) {
    if (!structural.empty()) return {{}, structural};
    return {{}, "not valid JSON: " + JsonProblem(error.what())};
  }
  if (!reader.error().empty()) return {{}, reader.error()};
  if (std::string error = Check(witness, bounds); !error.empty()) return {{}, error};
  return {std::move(witness), ""};
}

std::string WriteJson(const Witness& witness) {
  Json comms = Json::array(), classes = Json::array(), ops = Json::object(), stuck = Json::array();
  for (const Communicator& comm : witness.comms) comms.push_back({{"id", comm.id}, {"ranks", comm.ranks}});
  for (size_t i = 0; i < witness.classes.size(); ++i) {
    const RankClass& one = witness.classes[i];
    Json json = {{"id", one.id}, {"ranks", one.ranks}};
    if (!one.guard.empty()) json["guard"] = one.guard;
    classes.push_back(std::move(json));
    Json list = Json::array();
    if (i < witness.ops.size()) {
      for (const Op& op : witness.ops[i]) list.push_back(OpJson(op));
    }
    ops[one.id] = std::move(list);
  }
  for (const Stuck& one : witness.stuck) stuck.push_back({{"rank", one.rank}, {"op", one.op}});
  Json root = {{"schema", kSchema},
               {"finding", witness.finding},
               {"world", witness.world},
               {"nodes", witness.nodes},
               {"comms", std::move(comms)},
               {"classes", std::move(classes)},
               {"ops", std::move(ops)},
               {"after", {{"fence", witness.fence}}},
               {"expect", {{"effect", EffectName(witness.effect)}, {"stuck", std::move(stuck)}}}};
  if (witness.communicators != Communicators::Unknown) root["communicators"] = kCommunicators[static_cast<size_t>(witness.communicators)];
  if (witness.scenario.index() != 0) root["scenario"] = ScenarioJson(witness.scenario);
  root["limits"] = {{"quiet_ms", witness.quiet_ms}, {"total_ms", witness.total_ms}};
  // In ASCII: names of files hold what could steer a terminal.
  return root.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string JsonProblem(std::string_view what) {
  constexpr size_t kLongest = 160;
  // "[json.exception.parse_error.101] parse error at line 1, column 10: ..."
  if (const size_t end = what.find("] "); what.starts_with('[') && end != std::string_view::npos) what.remove_prefix(end + 2);
  return what.size() <= kLongest ? std::string(what) : std::string(what.substr(0, kLongest)) + "...";
}

}  // namespace allranks::witness
