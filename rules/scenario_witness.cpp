#include "rules/scenario_witness.h"

#include <algorithm>
#include <numeric>

#include "analyzer/base/decimal.h"

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

double RateOr(const Context& context, variation::ValueId value, double otherwise) {
  const std::vector<variation::ValueId> leaves = value ? context.values.Leaves(value) : std::vector<variation::ValueId>();
  if (leaves.size() != 1 || context.values[leaves[0]].kind != variation::ValueKind::Float) return otherwise;
  const std::string_view text = context.program.text(context.values[leaves[0]].name());
  const std::optional<double> number = base::DecimalOf(text);
  return number && *number > 0 ? *number : otherwise;
}

uint32_t SamplesFor(uint32_t batch, const traces::World& world) {
  constexpr uint32_t kFewSteps = 4, kMostSamples = 1 << 16;
  return std::min(kFewSteps * batch * static_cast<uint32_t>(world.size()), kMostSamples);
}

void AddOperation(const Context& context, std::string kind, std::string source, source::Span span,
                  witness::Witness* witness) {
  const bool is_reduction = kind == "all_reduce";
  witness->ops[0].push_back({.id = "step",
                             .op = std::move(kind),
                             .comm = "world",
                             .redop = is_reduction ? "sum" : "",
                             .source = std::move(source),
                             .at = PlaceOf(context, span)});
}

witness::Place PlaceOf(const Context& context, source::Span span) {
  const source::SourceFile& file = context.files[span.file];
  return {.uri = file.path, .line = source::Locate(file, span.begin).line + 1};
}

}  // namespace allranks::rules
