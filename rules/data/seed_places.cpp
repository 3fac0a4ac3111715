#include "rules/data/seed_places.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;
using variation::ValueId;

constexpr int kMostHelpers = 3;

// All but those that seed another library's generator, or that of a device alone.
bool SeedsNoise(std::string_view entry) {
  return !entry.starts_with("numpy.") && !entry.starts_with("random.") && !entry.starts_with("torch.cuda.");
}

// The place itself, or those that call its function where the seed is a parameter of that. Callers of which the argument is not seen
// (`main(**settings)`) leave it at the place.
void Add(const Context& context, const Site& site, ValueId seed, const Site& helper, int depth, std::vector<SeedPlace>& places) {
  if (!seed) return;
  const variation::Value& value = context.facts.values_store[seed];
  const bool is_handed_on = value.kind == variation::ValueKind::Param && variation::FuncId{value.a} == site.function;
  if (!is_handed_on || depth == kMostHelpers) return places.push_back({site, seed, helper});
  bool is_seen = false;
  for (const Site& caller : context.index.CallersOf(site.function)) {
    const variation::CallFact* call = context.facts.call(caller.function, caller.expr);
    const ValueId passed = call != nullptr && value.b < call->arg_count ? context.facts.args(*call)[value.b] : ValueId::None();
    Add(context, caller, passed, helper, depth + 1, places);
    is_seen = is_seen || passed;
  }
  if (!is_seen) places.push_back({site, seed, helper});
}

}  // namespace

std::vector<SeedPlace> SeedPlaces(const Context& context) {
  std::vector<SeedPlace> places;
  for (const KnownCall& call : context.index.known_calls()) {
    if (!SeedsNoise(context.program.text(call.entry->name))) continue;
    for (const knowledge::RoleOf& role : call.entry->roles) {
      if (role.role != knowledge::Role::Seed) continue;
      const Site site{call.function, call.expr};
      Add(context, site, context.index.Arg(call, context.program.text(role.param)), site, 0, places);
    }
  }
  return places;
}

bool CountsRanks(const Context& context, ValueId seed) {
  return context.values.AnyPart(seed, [&](ValueId part) {
    const knowledge::Axes axes = context.facts.values_store.axes(part);
    return axes.has(knowledge::Axis::Global) || axes.has(knowledge::Axis::Local) || axes.has(knowledge::Axis::Node) ||
           axes.has(knowledge::Axis::DataParallel);
  });
}

}  // namespace allranks::rules
