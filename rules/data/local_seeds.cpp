#include "rules/data/local_seeds.h"

#include <algorithm>

#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/seed_places.h"

namespace allranks::rules {
namespace {

using variation::ValueId;

// The number of a process on its node goes into it, in a job that may have several, and its global rank does not.
bool CountsWithinNode(const Context& context, ValueId seed) {
  const auto is_local = [&](ValueId part) {
    const variation::Value& node = context.values[part];
    return variation::IsCoordinate(node, knowledge::Coordinate::LocalRank) && (node.flags & (variation::kOneNode | variation::kByNameOnly)) == 0;
  };
  return context.values.AnyPart(seed, is_local) && !context.values.Mentions(seed, knowledge::Coordinate::Rank) &&
         !context.values.Mentions(seed, knowledge::Coordinate::NodeRank);
}

bool TrainsOnShares(const Context& context, const std::vector<ir::ModuleId>& files) {
  return std::ranges::any_of(context.loading.loops(), [&](const objects::LoaderLoop& loop) {
    const bool is_here = std::ranges::count(files, context.program.funcs[loop.iterable.function].module) > 0;
    return is_here && context.loading.IsDealtOut(loop.loader) && context.training.TrainsOn(loop);
  });
}

}  // namespace

void CheckLocalSeeds(const Context& context, std::string_view code, FindingSink& sink) {
  ProgramCalls calls(context);
  for (const SeedPlace& place : SeedPlaces(context)) {
    if (!CountsWithinNode(context, place.seed) || !AreAllRanksAt(context, place.site)) continue;
    if (!TrainsOnShares(context, calls.FilesOf(context.program.funcs[place.site.function].module))) continue;
    Finding finding = FindingAt(context, code, Severity::Warning, Confidence::Likely, place.site,
                                {"ranks of two nodes that have the same local rank draw the same random numbers", {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"counts the ranks of one node", {}});
    findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::SeveralNodes));
    finding.help = {"use the global rank in the seed instead of the local one", {}};
    sink.push_back(std::move(finding));
  }
}

}  // namespace allranks::rules
