#include "rules/scenario_witness.h"

#include <numeric>

namespace allranks::rules {

witness::Witness ScenarioWitness(const traces::World& world, witness::Effect effect, witness::Scenario scenario) {
  std::vector<uint32_t> ranks(world.size());
  std::iota(ranks.begin(), ranks.end(), 0u);
  witness::Witness out{.finding = "", .world = world.size(), .nodes = world.nodes};
  out.comms.push_back({.id = "world", .ranks = ranks});
  out.classes.push_back({.id = "c0", .ranks = std::move(ranks), .guard = ""});
  out.ops.emplace_back();
  out.effect = effect;
  out.scenario = std::move(scenario);
  return out;
}

traces::World OneNode() { return {.nodes = 1, .per_node = 4, .mesh = {}}; }

uint32_t NumberWithin(const Context& context, variation::ValueId value, uint32_t least, uint32_t most, uint32_t otherwise) {
  if (!value) return otherwise;
  const std::optional<int64_t> number = context.values.Int(value);
  return number && *number >= least && *number <= most ? static_cast<uint32_t>(*number) : otherwise;
}

witness::Place PlaceOf(const Context& context, source::Span span) {
  const source::SourceFile& file = context.files[span.file];
  return {.uri = file.path, .line = source::Locate(file, span.begin).line + 1};
}

}  // namespace allranks::rules
