#include "analyzer/traces/mesh_layouts.h"

#include <algorithm>
#include <optional>

#include "analyzer/binding/neighbourhood.h"
#include "analyzer/knowledge/formula.h"
#include "analyzer/traces/build.h"
#include "analyzer/traces/evaluate.h"

namespace allranks::traces {
namespace {

using variation::ValueId;
using variation::ValueKind;

// How long a dimension is in a job of so many ranks, on however many nodes; 0: that is not known.
uint32_t LengthIn(const variation::ValueStore& values, const knowledge::Knowledge& knowledge, uint32_t size, ValueId length) {
  const auto in = [&](const World& world) {
    const Assignment nothing;
    const Outcome outcome = Evaluator(values, knowledge, world, nothing).Evaluate(length, 0);
    const bool is_known = outcome.kind == OutcomeKind::Number && outcome.number > 0 && outcome.number <= kMostRanks;
    return is_known ? static_cast<uint32_t>(outcome.number) : 0;
  };
  const uint32_t of_one_node = in({.nodes = 1, .per_node = size, .mesh = {}});
  return of_one_node == in({.nodes = size, .per_node = 1, .mesh = {}}) ? of_one_node : 0;
}

// The axes by the names of the dimensions, none where one of them is not known.
std::vector<Axis> AxesOf(const variation::ValueStore& values, const knowledge::Knowledge& knowledge, ValueId names) {
  std::vector<Axis> axes;
  if (!names || values[names].kind != ValueKind::Tuple) return axes;
  for (const ValueId name : values.Kids(names)) {
    const auto axis = values[name].kind == ValueKind::Str ? AxisOfDimension(knowledge, values[name].name()) : std::nullopt;
    if (!axis || std::ranges::count(axes, *axis) > 0) return {};
    axes.push_back(*axis);
  }
  return axes;
}

// The mesh in each job that is as large as its dimensions make it.
std::vector<Mesh> JobsWith(const variation::ValueStore& values, const knowledge::Knowledge& knowledge, std::span<const Axis> axes, ValueId shape) {
  std::vector<Mesh> jobs;
  const auto lengths = values.Kids(shape);
  for (uint32_t size = 2; size <= kMostRanks; ++size) {
    Mesh mesh;
    uint64_t product = 1;
    for (size_t i = axes.size(); i-- > 0;) {
      mesh.emplace_back(axes[i], LengthIn(values, knowledge, size, lengths[i]));
      product *= mesh.back().length;
    }
    if (product == size) jobs.push_back(std::move(mesh));
  }
  return jobs;
}

}  // namespace

MeshLayouts::MeshLayouts(const binding::Program& program, const knowledge::Knowledge& knowledge, variation::Facts& facts) {
  const base::NameId shape_name = knowledge.names().Find("mesh_shape");
  const base::NameId names_name = knowledge.names().Find("mesh_dim_names");
  std::optional<binding::Neighbourhood> neighbourhood;
  for (uint32_t i = 0; i < facts.functions.size(); ++i) {
    const binding::FuncId func{i};
    for (const auto& [expr, call] : facts.functions[func].calls) {
      if (call.kind != variation::CallKind::Known || !shape_name || !names_name) continue;
      const knowledge::Entry& entry = knowledge[call.entry];
      const std::vector<Axis> axes = AxesOf(facts.values_store, knowledge, ParamOf(entry, facts.args(call), names_name));
      if (axes.empty()) continue;
      const ValueId shape = WithPassed(program, facts, func, ParamOf(entry, facts.args(call), shape_name));
      Layout layout{.module = program.funcs[func].module, .axes = {}, .jobs = {}, .users = std::vector<bool>(program.modules.size())};
      for (const Axis axis : axes) layout.axes = layout.axes | knowledge::Axes::Of(axis);
      const bool is_known = shape && facts.values_store[shape].kind == ValueKind::Tuple && facts.values_store.Kids(shape).size() == axes.size();
      // Data parallelism alone is the whole job, and all of its worlds.
      const bool is_whole = axes.size() == 1 && axes[0] == Axis::DataParallel;
      if (is_known && !is_whole) layout.jobs = JobsWith(facts.values_store, knowledge, axes, shape);
      if (!neighbourhood) neighbourhood.emplace(program);
      for (const ir::ModuleId user : neighbourhood->Of(layout.module)) layout.users[user.index] = true;
      layouts_.push_back(std::move(layout));
    }
  }
}

std::span<const Mesh> MeshLayouts::With(knowledge::Axes axes, ir::ModuleId module) const {
  const Layout* found = nullptr;
  for (const Layout& layout : layouts_) {
    const bool has_all = (layout.axes & axes) == axes;
    if (!layout.users[module.index] || !has_all) continue;
    if (found != nullptr && found->jobs != layout.jobs) return {};
    found = &layout;
  }
  return found == nullptr ? std::span<const Mesh>() : std::span<const Mesh>(found->jobs);
}

}  // namespace allranks::traces
