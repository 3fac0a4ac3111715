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

// How ranks lie along an axis: how many there are, and how far from one to the next.
struct Along {
  uint32_t length = 1;
  uint32_t stride = 1;
  bool operator==(const Along&) const = default;
};

Along AlongAxis(const Mesh& mesh, Axis axis) {
  Along along;
  for (const Dimension& dimension : mesh) {
    if (dimension.axis == axis) return {.length = dimension.length, .stride = along.stride};
    along.stride *= dimension.length;
  }
  return along;
}

// In all jobs that can have both. Of a mesh of unknown sizes it is not known.
bool LieAlike(std::span<const Mesh> some, std::span<const Mesh> others, Axis axis) {
  if (some.empty() || others.empty()) return false;
  return std::ranges::all_of(some, [&](const Mesh& mesh) {
    const auto other = std::ranges::find(others, SizeOf(mesh), SizeOf);
    return other == others.end() || AlongAxis(mesh, axis) == AlongAxis(*other, axis);
  });
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
  unclear_.resize(program.modules.size());
  NoteUnclear();
}

void MeshLayouts::NoteUnclear() {
  for (size_t i = 0; i < layouts_.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      knowledge::Axes unclear;
      for (int axis = 0; axis < knowledge::kAxisCount; ++axis) {
        const auto shared = static_cast<Axis>(axis);
        const bool is_shared = layouts_[i].axes.has(shared) && layouts_[j].axes.has(shared);
        if (is_shared && !LieAlike(layouts_[i].jobs, layouts_[j].jobs, shared)) unclear = unclear | knowledge::Axes::Of(shared);
      }
      for (size_t module = 0; module < unclear_.size() && !unclear.empty(); ++module) {
        if (layouts_[i].users[module] && layouts_[j].users[module]) unclear_[module] = unclear_[module] | unclear;
      }
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
