#include "analyzer/objects/several_nodes.h"

#include <algorithm>

#include "analyzer/base/option_attribute.h"

namespace allranks::objects {
namespace {

using variation::IsCoordinate;
using variation::Value;
using variation::ValueKind;

// `SLURM_PROCID`, `SLURM_JOB_NODELIST`; and not `SLURM_JOB_ID`, which a job of one process has as well.
bool IsSlurmsWordForNodes(const knowledge::Knowledge& knowledge, base::NameId name, std::string_view text) {
  return text.starts_with("SLURM_") && (text.find("NODE") != std::string_view::npos || knowledge.FindEnvironment(name) != nullptr);
}

bool IsOptionForNodes(std::string_view text) {
  constexpr std::string_view kOptions[] = {"nodes", "nnodes", "n_nodes", "num_nodes", "num_machines", "node_rank", "machine_rank"};
  return text.starts_with("--") && std::ranges::count(kOptions, base::OptionAttribute(text)) > 0;
}

// The number of nodes or this node's own among them, and options that take one.
bool AsksForNodes(const binding::Program& program, const variation::ValueStore& values, ValueId id) {
  const Value& value = values[id];
  if (IsCoordinate(value, knowledge::Coordinate::NodeRank) || IsCoordinate(value, knowledge::Coordinate::NodeCount)) return true;
  return value.kind == ValueKind::Str && IsOptionForNodes(program.text(value.name()));
}

// What Slurm says of ranks, and `rank % torch.cuda.device_count()`: people copy both from one project to the next.
bool CountsWithNodes(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::ValueStore& values, ValueId id) {
  const Value& value = values[id];
  if (value.kind == ValueKind::Str) return IsSlurmsWordForNodes(knowledge, value.name(), program.text(value.name()));
  const bool is_rest = value.is_binary(ir::BinaryOp::Mod);
  return is_rest && IsCoordinate(values[values.OperandsOf(id).left], knowledge::Coordinate::Rank) &&
         IsCoordinate(values[values.OperandsOf(id).right], knowledge::Coordinate::LocalWorldSize);
}

}  // namespace

SeveralNodes::SeveralNodes(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts, const Launch& launch)
    : facts_(facts), launch_(launch), neighbourhood_(program) {
  for (const auto& exprs : facts.exprs) {
    asks_for_nodes_.push_back(std::ranges::any_of(exprs, [&](ValueId value) { return value && AsksForNodes(program, facts.values_store, value); }));
    counts_with_nodes_.push_back(std::ranges::any_of(exprs, [&](ValueId value) {
      return value && CountsWithNodes(program, knowledge, facts.values_store, value);
    }));
  }
}

bool SeveralNodes::Has(ir::ModuleId module) const {
  if (facts_.job.nodes > 1 || launch_.IsOnSeveralNodes(module)) return true;
  const std::vector<ir::ModuleId> files = neighbourhood_.Of(module);
  if (std::ranges::any_of(files, [&](ir::ModuleId file) { return asks_for_nodes_[file.index]; })) return true;
  return !IsStartedOnOne(module) && std::ranges::any_of(files, [&](ir::ModuleId file) { return counts_with_nodes_[file.index]; });
}

// All lines that start the program, or any program of the project if none starts this one.
bool SeveralNodes::IsStartedOnOne(ir::ModuleId module) const {
  if (!launch_.LinesFor(module).empty()) return launch_.IsOnOneNode(module);
  bool is_started = false;
  for (const LaunchLine& line : launch_.lines()) {
    if (!line.starts_ranks) continue;
    if (line.nodes != 1) return false;
    is_started = true;
  }
  return is_started;
}

}  // namespace allranks::objects
