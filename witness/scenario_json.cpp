#include "witness/scenario_json.h"

#include <cmath>

namespace allranks::witness {
namespace {

constexpr std::string_view kNames[] = {
    "",              "device-ordinal", "epoch-order",       "uneven-batches", "learning-rate", "unused-parameter",
    "sample-shares", "accumulation",   "averaged-gradient", "tensor-memory",  "file-order",
    "launched-ranks"};
constexpr std::string_view kWhere = "scenario";

// Bounds that keep every scenario a matter of milliseconds.
constexpr uint32_t kMostSamples = 1 << 20;
constexpr uint32_t kMostOrdered = 1 << 16;
constexpr uint32_t kMostEpochs = 64;
constexpr uint32_t kMostBuckets = 64;
constexpr uint32_t kMostAccumulation = 4096;
constexpr uint32_t kMostWorkers = 64;
constexpr uint32_t kMostLaunchers = 1024;
constexpr uint32_t kMostRanks = 1 << 16;

void Read(JsonReader& r, const Json& v, const Bounds& bounds, DeviceOrdinal& out) {
  if (!r.Object(v, "scenario", {"name", "devices", "ordinals"})) return;
  r.Integer(v, "scenario", "devices", true, out.devices);
  r.Integers(v, "scenario", "ordinals", bounds.world, out.ordinals);
}

void Read(JsonReader& r, const Json& v, const Bounds&, EpochOrder& out) {
  if (!r.Object(v, "scenario", {"name", "samples", "epochs", "seed", "set_epoch"})) return;
  r.Integer(v, "scenario", "samples", false, out.samples);
  r.Integer(v, "scenario", "epochs", false, out.epochs);
  r.Integer(v, "scenario", "seed", false, out.seed);
  r.Flag(v, "scenario", "set_epoch", out.set_epoch);
}

void Read(JsonReader& r, const Json& v, const Bounds& bounds, UnevenBatches& out) {
  if (!r.Object(v, "scenario", {"name", "samples", "batch", "drop_last", "join"})) return;
  r.Integers(v, "scenario", "samples", bounds.world, out.samples);
  r.Integers(v, "scenario", "batch", bounds.world, out.batch);
  r.Flag(v, "scenario", "drop_last", out.drop_last);
  r.Flag(v, "scenario", "join", out.join);
}

void Read(JsonReader& r, const Json& v, const Bounds&, LearningRate& out) {
  if (!r.Object(v, "scenario", {"name", "batch", "accumulation", "learning_rate", "scaled"})) return;
  r.Integer(v, "scenario", "batch", false, out.batch);
  r.Integer(v, "scenario", "accumulation", false, out.accumulation);
  r.Real(v, "scenario", "learning_rate", false, out.learning_rate);
  r.Flag(v, "scenario", "scaled", out.scaled);
}

void Read(JsonReader& r, const Json& v, const Bounds& bounds, UnusedParameter& out) {
  if (!r.Object(v, "scenario", {"name", "buckets", "unused", "find_unused"})) return;
  r.Integer(v, "scenario", "buckets", false, out.buckets);
  r.Flag(v, "scenario", "find_unused", out.find_unused);
  const Json* unused = r.Array(v, "scenario", "unused", true, bounds.world);
  for (size_t rank = 0; unused != nullptr && rank < unused->size(); ++rank) {
    const std::string where = JsonReader::At("scenario.unused", rank);
    const Json& list = (*unused)[rank];
    if (!list.is_array() || list.size() > kMostBuckets) return r.Fail(where, "a list of buckets is expected");
    std::vector<uint32_t>& buckets = out.unused.emplace_back();
    for (size_t i = 0; i < list.size(); ++i) {
      r.IntegerOf(list[i], JsonReader::At(where, i), buckets.emplace_back());
    }
  }
}

void Read(JsonReader& r, const Json& v, const Bounds& bounds, SampleShares& out) {
  if (!r.Object(v, "scenario", {"name", "samples", "batch", "workers", "by_rank", "by_worker", "seeds"})) return;
  r.Integer(v, "scenario", "samples", false, out.samples);
  r.Integer(v, "scenario", "batch", false, out.batch);
  r.Integer(v, "scenario", "workers", false, out.workers);
  r.Flag(v, "scenario", "by_rank", out.by_rank);
  r.Flag(v, "scenario", "by_worker", out.by_worker);
  if (v.contains("seeds")) r.Integers(v, "scenario", "seeds", bounds.world, out.seeds);
}

void Read(JsonReader& r, const Json& v, const Bounds&, Accumulation& out) {
  if (!r.Object(v, "scenario", {"name", "micro_steps", "buckets", "no_sync"})) return;
  r.Integer(v, "scenario", "micro_steps", false, out.micro_steps);
  r.Integer(v, "scenario", "buckets", false, out.buckets);
  r.Flag(v, "scenario", "no_sync", out.no_sync);
}

void Read(JsonReader& r, const Json& v, const Bounds&, AveragedGradient& out) {
  if (!r.Object(v, "scenario", {"name", "batch", "learning_rate", "divided"})) return;
  r.Integer(v, "scenario", "batch", false, out.batch);
  r.Real(v, "scenario", "learning_rate", false, out.learning_rate);
  r.Flag(v, "scenario", "divided", out.divided);
}

void Read(JsonReader& r, const Json& v, const Bounds&, TensorMemory& out) {
  if (!r.Object(v, "scenario", {"name", "backend", "device"})) return;
  r.Text(v, "scenario", "backend", true, out.backend);
  r.Text(v, "scenario", "device", true, out.device);
}

void Read(JsonReader& r, const Json& v, const Bounds& bounds, FileOrder& out) {
  if (!r.Object(v, "scenario", {"name", "writers"})) return;
  r.Integers(v, "scenario", "writers", bounds.world, out.writers);
}

void Read(JsonReader& r, const Json& v, const Bounds&, LaunchedRanks& out) {
  if (!r.Object(v, "scenario", {"name", "processes", "awaited", "nodes", "places", "numbers"})) return;
  r.Integer(v, "scenario", "processes", true, out.processes);
  r.Integer(v, "scenario", "awaited", true, out.awaited);
  r.Integers(v, "scenario", "nodes", kMostLaunchers, out.nodes);
  r.Integers(v, "scenario", "places", kMostLaunchers, out.places);
  r.Integers(v, "scenario", "numbers", kMostLaunchers, out.numbers);
}

struct Writer {
  Json operator()(const std::monostate&) const { return Json::object(); }
  Json operator()(const DeviceOrdinal& s) const { return {{"devices", s.devices}, {"ordinals", s.ordinals}}; }
  Json operator()(const EpochOrder& s) const {
    return {{"samples", s.samples}, {"epochs", s.epochs}, {"seed", s.seed}, {"set_epoch", s.set_epoch}};
  }
  Json operator()(const UnevenBatches& s) const {
    return {{"samples", s.samples}, {"batch", s.batch}, {"drop_last", s.drop_last}, {"join", s.join}};
  }
  Json operator()(const LearningRate& s) const {
    return {{"batch", s.batch},
            {"accumulation", s.accumulation},
            {"learning_rate", s.learning_rate},
            {"scaled", s.scaled}};
  }
  Json operator()(const UnusedParameter& s) const {
    return {{"buckets", s.buckets}, {"unused", s.unused}, {"find_unused", s.find_unused}};
  }
  Json operator()(const SampleShares& s) const {
    return {{"samples", s.samples}, {"batch", s.batch},         {"workers", s.workers},
            {"by_rank", s.by_rank}, {"by_worker", s.by_worker}, {"seeds", s.seeds}};
  }
  Json operator()(const Accumulation& s) const {
    return {{"micro_steps", s.micro_steps}, {"buckets", s.buckets}, {"no_sync", s.no_sync}};
  }
  Json operator()(const AveragedGradient& s) const {
    return {{"batch", s.batch}, {"learning_rate", s.learning_rate}, {"divided", s.divided}};
  }
  Json operator()(const TensorMemory& s) const { return {{"backend", s.backend}, {"device", s.device}}; }
  Json operator()(const FileOrder& s) const { return {{"writers", s.writers}}; }
  Json operator()(const LaunchedRanks& s) const {
    return {{"processes", s.processes}, {"awaited", s.awaited}, {"nodes", s.nodes}, {"places", s.places}, {"numbers", s.numbers}};
  }
};

// Each sentence names the key, as Check's do.
struct Checker {
  uint32_t world;
  std::string PerRank(std::string_view key, size_t size) const {
    return size == world ? "" : Wrong(key, "needs one entry for each rank");
  }
  static std::string Wrong(std::string_view key, std::string_view what) {
    return std::string(kWhere) + "." + std::string(key) + ": " + std::string(what);
  }
  std::string operator()(const std::monostate&) const { return {}; }
  std::string operator()(const DeviceOrdinal& s) const {
    if (s.devices == 0 || s.devices > 1024) return Wrong("devices", "is outside 1..1024");
    return PerRank("ordinals", s.ordinals.size());
  }
  std::string operator()(const EpochOrder& s) const {
    if (s.samples == 0 || s.samples > kMostOrdered) return Wrong("samples", "is outside 1..65536");
    if (s.epochs < 2 || s.epochs > kMostEpochs) return Wrong("epochs", "is outside 2..64");
    return {};
  }
  std::string operator()(const UnevenBatches& s) const {
    if (std::string error = PerRank("samples", s.samples.size()); !error.empty()) return error;
    if (std::string error = PerRank("batch", s.batch.size()); !error.empty()) return error;
    for (const uint32_t samples : s.samples) {
      if (samples > kMostSamples) return Wrong("samples", "an entry is above 1048576");
    }
    for (const uint32_t batch : s.batch) {
      if (batch == 0) return Wrong("batch", "an entry is 0");
    }
    return {};
  }
  std::string operator()(const LearningRate& s) const {
    if (std::string error = Batch(s.batch); !error.empty()) return error;
    if (s.accumulation == 0 || s.accumulation > kMostAccumulation)
      return Wrong("accumulation", "is outside 1..4096");
    return Rate(s.learning_rate);
  }
  std::string operator()(const UnusedParameter& s) const {
    if (s.buckets == 0 || s.buckets > kMostBuckets) return Wrong("buckets", "is outside 1..64");
    for (const std::vector<uint32_t>& buckets : s.unused) {
      for (const uint32_t bucket : buckets) {
        if (bucket >= s.buckets) return Wrong("unused", "names a bucket that is not there");
      }
    }
    return PerRank("unused", s.unused.size());
  }
  std::string operator()(const SampleShares& s) const {
    if (s.samples == 0 || s.samples > kMostOrdered) return Wrong("samples", "is outside 1..65536");
    if (s.workers == 0 || s.workers > kMostWorkers) return Wrong("workers", "is outside 1..64");
    if (std::string error = Batch(s.batch); !error.empty()) return error;
    return s.seeds.empty() ? "" : PerRank("seeds", s.seeds.size());
  }
  std::string operator()(const Accumulation& s) const {
    if (s.micro_steps == 0 || s.micro_steps > kMostAccumulation) return Wrong("micro_steps", "is outside 1..4096");
    if (s.buckets == 0 || s.buckets > kMostBuckets) return Wrong("buckets", "is outside 1..64");
    return {};
  }
  std::string operator()(const AveragedGradient& s) const {
    if (s.batch == 0 || s.batch > kMostOrdered) return Wrong("batch", "is outside 1..65536");
    return Rate(s.learning_rate);
  }
  std::string operator()(const TensorMemory& s) const {
    if (s.backend.empty()) return Wrong("backend", "is empty");
    if (s.device != "cpu" && s.device != "cuda") return Wrong("device", "is neither cpu nor cuda");
    return {};
  }
  std::string operator()(const FileOrder& s) const {
    if (s.writers.empty() || s.writers.size() >= world) return Wrong("writers", "needs a rank, and leaves one to read");
    for (size_t i = 0; i < s.writers.size(); ++i) {
      if (s.writers[i] >= world) return Wrong("writers", "an entry is not below the world size");
      if (i > 0 && s.writers[i - 1] >= s.writers[i]) return Wrong("writers", "is not in order");
    }
    return {};
  }
  std::string operator()(const LaunchedRanks& s) const {
    if (s.processes == 0 || s.processes > kMostLaunchers) return Wrong("processes", "is outside 1..1024");
    if (s.awaited == 0 || s.awaited > kMostLaunchers) return Wrong("awaited", "is outside 1..1024");
    if (s.processes * s.awaited > kMostRanks) return Wrong("awaited", "makes more than 65536 ranks");
    if (s.nodes.empty()) return Wrong("nodes", "needs one entry for each launcher");
    if (s.places.size() != s.nodes.size()) return Wrong("places", "needs one entry for each launcher");
    if (s.numbers.size() != s.nodes.size()) return Wrong("numbers", "needs one entry for each launcher");
    return {};
  }
  static std::string Batch(uint32_t batch) {
    return batch == 0 || batch > kMostSamples ? Wrong("batch", "is outside 1..1048576") : "";
  }
  static std::string Rate(double rate) {
    return std::isfinite(rate) && rate > 0 ? "" : Wrong("learning_rate", "is not positive");
  }
};

template <size_t kIndex = 1>
void ReadNamed(JsonReader& reader, const Json& value, const Bounds& bounds, const std::string& name,
               Scenario& out) {
  if constexpr (kIndex < std::variant_size_v<Scenario>) {
    if (kNames[kIndex] == name) return Read(reader, value, bounds, out.emplace<kIndex>());
    ReadNamed<kIndex + 1>(reader, value, bounds, name, out);
  } else {
    reader.Fail("scenario.name", "`" + name.substr(0, 80) + "` is not known");
  }
}

}  // namespace

std::string_view ScenarioName(const Scenario& scenario) { return kNames[scenario.index()]; }

void ReadScenario(JsonReader& reader, const Json& value, const Bounds& bounds, Scenario& out) {
  if (!value.is_object()) return reader.Fail("scenario", "an object is expected");
  std::string name;
  reader.Text(value, "scenario", "name", true, name);
  if (reader.error().empty()) ReadNamed(reader, value, bounds, name, out);
}

Json ScenarioJson(const Scenario& scenario) {
  Json json = {{"name", ScenarioName(scenario)}};
  json.update(std::visit(Writer(), scenario));
  return json;
}

std::string CheckScenario(const Scenario& scenario, uint32_t world) {
  return std::visit(Checker{world}, scenario);
}

}  // namespace allranks::witness
