// The small language that knowledge files use to say on which ranks something holds: `rank == 0`,
// `0 <= local_rank < local_world_size // 2`, `pipeline_rank == pipeline_size - 1`, `not group_rank(group)`.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "analyzer/knowledge/knowledge.h"

namespace allranks::knowledge {

// Appends the formula's nodes to `formulas` and returns the root. `params` are what `arg(x)`, `group_rank(x)`
// and `group_size(x)` may name besides `self`. An error says what is wrong at which column of the formula,
// and the cure.
[[nodiscard]] base::Result<FormulaId> ParseFormula(std::string_view text, std::span<const NameId> params,
                                                   base::Interner& names,
                                                   base::IdVector<FormulaId, Formula>& formulas);

// The axis of a group or of a mesh coordinate by the word that knowledge files use for it: `data`, `tensor`,
// ...
struct NamedAxis {
  std::string_view name;
  Axis axis;
};
std::span<const NamedAxis> GroupAxes();
// The same for what a value may vary along: there `data` is what a rank reads of its own shard.
std::span<const NamedAxis> VariationAxes();
// The axis of a dimension of a mesh by its name: along `tp` `tp_rank` counts. None if that is not known.
std::optional<Axis> AxisOfDimension(const Knowledge& knowledge, NameId name);

}  // namespace allranks::knowledge
