#include "analyzer/objects/several_nodes.h"

#include <algorithm>

#include "analyzer/base/option_attribute.h"

namespace allranks::objects {
namespace {

using variation::Value;
using variation::ValueKind;

bool IsCoordinate(const Value& value, knowledge::Coordinate coordinate) {
  return value.kind == ValueKind::Coordinate && static_cast<knowledge::Coordinate>(value.op) == coordinate;
}

// `SLURM_PROCID`, `SLURM_JOB_NODELIST`; and not `SLURM_JOB_ID`, which a job of one process has as well.
bool IsSlurmsWordForNodes(const knowledge::Knowledge& knowledge, base::NameId name, std::string_view text) {
  return text.starts_with("SLURM_") && (text.find("NODE") != std::string_view::npos || knowledge.FindEnvironment(name) != nullptr);
}

bool IsOptionForNodes(std::string_view text) {
  constexpr std::string_view kOptions[] = {"nodes", "nnodes", "n_nodes", "num_nodes", "num_machines", "node_rank", "machine_rank"};
  return text.starts_with("--") && std::ranges::count(kOptions, base::OptionAttribute(text)) > 0;
}

bool SpeaksOfNodes(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::ValueStore& values, ValueId id) {
  const Value& value = values[id];
  if (IsCoordinate(value, knowledge::Coordinate::NodeRank) || IsCoordinate(value, knowledge::Coordinate::NodeCount)) return true;
  if (value.kind == ValueKind::Str) {
    const base::NameId name{value.a};
    return IsSlurmsWordForNodes(knowledge, name, program.text(name)) || IsOptionForNodes(program.text(name));
  }
  const bool is_rest = value.kind == ValueKind::Binary && static_cast<ir::BinaryOp>(value.op) == ir::BinaryOp::Mod;
  return is_rest && IsCoordinate(values[values.Kids(id)[0]], knowledge::Coordinate::Rank) &&
         IsCoordinate(values[values.Kids(id)[1]], knowledge::Coordinate::LocalWorldSize);
}

}  // namespace

SeveralNodes::SeveralNodes(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts, const Launch& launch)
    : facts_(facts), launch_(launch), neighbourhood_(program) {
  for (const auto& exprs : facts.exprs) {
    speaks_of_nodes_.push_back(std::ranges::any_of(exprs, [&](ValueId value) {
      return value && SpeaksOfNodes(program, knowledge, facts.values_store, value);
    }));
  }
}

bool SeveralNodes::Has(ir::ModuleId module) const {
  if (facts_.job.nodes > 1 || launch_.IsOnSeveralNodes(module)) return true;
  const std::vector<ir::ModuleId> files = neighbourhood_.Of(module);
  return std::ranges::any_of(files, [&](ir::ModuleId file) { return speaks_of_nodes_[file.index]; });
}

}  // namespace allranks::objects
