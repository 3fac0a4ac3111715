#include "rules/seed_places.h"

#include <algorithm>

#include "analyzer/objects/open_params.h"
#include "analyzer/objects/process_starts.h"
#include "analyzer/objects/rank_words.h"
#include "rules/program_calls.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;
using variation::ValueId;

constexpr int kMostHelpers = 3;

// What has a generator of its own on the host.
constexpr std::string_view kNoise = "torch.";
constexpr std::string_view kGenerators[] = {kNoise, "numpy.", "random."};

// Of that library, or of all at once; not that of a device alone.
bool Seeds(std::string_view entry, std::string_view library) {
  if (entry.starts_with("torch.cuda.")) return false;
  return std::ranges::none_of(kGenerators, [&](std::string_view each) { return each != library && entry.starts_with(each); });
}

class Places {
 public:
  explicit Places(const Context& context) : context_(context), starts_(context.program, context.facts, context.index) {}

  // The place itself, or those that call its function where the seed is a parameter of that. Callers of which the argument is not seen
  // (`main(**settings)`) leave it at the place, and so does one that starts a process for each rank (`mp.spawn(main, args=(seed,))`).
  void Add(const Site& site, ValueId seed, const Site& helper, int depth) {
    if (!seed) return;
    const variation::Value& value = context_.facts.values_store[seed];
    const bool is_handed_on = value.kind == variation::ValueKind::Param && value.function() == site.function;
    if (!is_handed_on || depth == kMostHelpers) return found_.push_back({site, seed, helper});
    bool is_seen = false;
    for (const Site& caller : context_.index.CallersOf(site.function)) {
      const ValueId passed = context_.index.PassedBy(caller, site.function, value.param_index());
      Add(caller, passed, helper, depth + 1);
      is_seen = is_seen || passed;
    }
    if (!is_seen || IsSpawned(site.function)) found_.push_back({site, seed, helper});
  }

  std::vector<SeedPlace> Taken() { return std::move(found_); }

 private:
  // All the processes get the same arguments, beside their index.
  bool IsSpawned(variation::FuncId function) const {
    return std::ranges::any_of(starts_.starts(), [&](const objects::ProcessStart& start) {
      const variation::CallFact* call = context_.facts.call(start.site.function, start.site.expr);
      return start.started == function && call != nullptr && call->entry && context_.knowledge[call->entry].Has(knowledge::Role::StartsWithIndex);
    });
  }

  const Context& context_;
  objects::ProcessStarts starts_;
  std::vector<SeedPlace> found_;
};

std::vector<SeedPlace> PlacesOf(const Context& context, std::string_view library) {
  Places places(context);
  for (const KnownCall& call : context.index.known_calls()) {
    if (!Seeds(context.program.text(call.entry->name), library)) continue;
    for (const knowledge::RoleOf& role : call.entry->roles) {
      if (role.role != knowledge::Role::Seed) continue;
      const Site site{call.function, call.expr};
      places.Add(site, context.index.Arg(call, context.program.text(role.param)), site, 0);
    }
  }
  return places.Taken();
}

}  // namespace

std::vector<SeedPlace> SeedPlaces(const Context& context) { return PlacesOf(context, kNoise); }

bool IsSeededAlike(const Context& context, ir::ModuleId module, std::string_view draw) {
  const auto library = std::ranges::find_if(kGenerators, [&](std::string_view each) { return draw.starts_with(each); });
  if (library == std::end(kGenerators)) return false;
  ProgramCalls calls(context);
  bool is_seeded = false;
  for (const SeedPlace& place : PlacesOf(context, *library)) {
    if (!calls.IsOneProgram(module, context.program.funcs[place.site.function].module)) continue;
    const KnownCall* seeding = context.index.KnownCallAt(place.helper);
    const bool is_of_device = seeding != nullptr && context.index.Arg(*seeding, "device_specific");
    if (is_of_device || !context.facts.values_store.axes(place.seed).empty() || CountsRanks(context, place.seed)) return false;
    is_seeded = true;
  }
  return is_seeded;
}

bool CountsRanks(const Context& context, ValueId seed) {
  return context.values.AnyPart(seed, [&](ValueId part) {
    const variation::Value& value = context.facts.values_store[part];
    const base::NameId name = value.kind == variation::ValueKind::Param ? objects::NameOfOpenParam(context.program, context.facts, part) : base::NameId::None();
    if (name && objects::RankWords::IsWord(context.program.text(name))) return true;
    const knowledge::Axes axes = context.facts.values_store.axes(part);
    return axes.has(knowledge::Axis::Global) || axes.has(knowledge::Axis::Local) || axes.has(knowledge::Axis::Node) ||
           axes.has(knowledge::Axis::DataParallel);
  });
}

StoredSeeds::StoredSeeds(const Context& context) : context_(context), calls_(context) {
  for (uint32_t m = 0; m < context.program.modules.size(); ++m) {
    const ir::ModuleId module_id{m};
    const ir::Module& module = context.program.modules[module_id];
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::Stmt& stmt = module[ir::StmtId{i}];
      const bool is_store = stmt.kind == ir::StmtKind::Assign || stmt.kind == ir::StmtKind::AugAssign;
      const ValueId stored = is_store ? context.facts.value(module_id, ir::AssignedOf(stmt)) : ValueId::None();
      if (!stored || !(CountsRanks(context, stored) || context.facts.values_store.axes(stored).has(knowledge::Axis::Chance))) continue;
      const auto add = [&](ir::ExprId target) {
        if (module[target].kind == ir::ExprKind::Attribute) stores_.push_back({module_id, ir::AttrOf(module[target])});
      };
      if (stmt.kind == ir::StmtKind::AugAssign) {
        add(ir::ValueOf(stmt));
      } else {
        for (const ir::ExprId target : ir::TargetsOf(module, stmt)) add(target);
      }
    }
  }
}

bool StoredSeeds::IsAlike(ir::ModuleId module, ValueId seed) {
  const bool varies = context_.values.AnyPart(seed, [&](ValueId part) { return !context_.facts.values_store[part].axes.empty(); });
  return !varies && !CountsRanks(context_, seed) && !IsStored(module, seed);
}

bool StoredSeeds::IsStored(ir::ModuleId module, ValueId seed) {
  return context_.values.AnyPart(seed, [&](ValueId part) {
    const variation::Value& value = context_.facts.values_store[part];
    if (value.kind != variation::ValueKind::Derived || value.kid_count != 1) return false;
    const base::NameId field = context_.facts.values_store.OperationOf(value);
    return field && std::ranges::any_of(stores_, [&](const Store& store) { return store.field == field && calls_.IsOneProgram(module, store.module); });
  });
}

}  // namespace allranks::rules
