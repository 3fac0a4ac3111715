#include "rules/data/own_weights.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/reductions.h"
#include "rules/seed_places.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;
using variation::ValueId;

class OwnWeights {
 public:
  OwnWeights(const Context& context, std::string_view code, FindingSink& sink) : context_(context), calls_(context), code_(code), sink_(sink) {}

  void Run() {
    const std::vector<SeedPlace> places = SeedPlaces(context_);
    for (const SeedPlace& place : places) {
      if (!CountsRanks(context_, place.seed) || !AreAllRanksAt(context_, place.site)) continue;
      const std::optional<Site> step = StepBehind(place.site);
      const std::optional<Site> model = step ? ModelBetween(place.site, *step) : std::nullopt;
      if (!model || IsSeededAgain(places, place.site, *model) || AreWeightsShared(place.site.function)) continue;
      Report(place.site, *model, *step);
    }
  }

 private:
  uint32_t BeginOf(const Site& site) const { return context_.program.module_of(site.function)[site.expr].begin; }
  ir::ModuleId ModuleOf(const Site& site) const { return context_.program.funcs[site.function].module; }

  // Where the function that seeds comes to the reduction of gradients, by itself or through what it calls in a loop that trains.
  std::optional<Site> StepBehind(const Site& seed) const {
    for (const KnownCall& call : context_.index.known_calls()) {
      const Site site{call.function, call.expr};
      if (!ReducesAttribute(context_, call, "grad")) continue;
      for (const Site& way : context_.index.WaysTo(site)) {
        const bool is_here = way.function == seed.function && BeginOf(way) > BeginOf(seed);
        if (is_here && IsInTraining(way)) return way;
      }
      if (site.function == seed.function && BeginOf(site) > BeginOf(seed) && IsInTraining(site)) return site;
    }
    return std::nullopt;
  }

  bool IsInTraining(const Site& site) const {
    return std::ranges::any_of(context_.index.LoopsAround(site), [&](ir::StmtId loop) { return context_.training.Trains(ModuleOf(site), loop); });
  }

  // A call that makes a model, with weights that it draws.
  std::optional<Site> ModelBetween(const Site& seed, const Site& step) const {
    const ir::ModuleId module_id = ModuleOf(seed);
    const ir::Module& module = context_.program.modules[module_id];
    for (const ir::ExprId id : context_.index.ExprsOf(module_id, ir::ExprKind::Call)) {
      const bool is_between = module[id].begin > BeginOf(seed) && module[id].begin < BeginOf(step) && FunctionAround(context_, module_id, id) == seed.function;
      if (!is_between || !context_.index.LoopsAround({seed.function, id}).empty()) continue;
      const ValueId made = context_.facts.value(module_id, id);
      if (made && context_.values.IsA(made, "torch.nn.Module")) return Site{seed.function, id};
    }
    return std::nullopt;
  }

  bool IsSeededAgain(const std::vector<SeedPlace>& places, const Site& seed, const Site& model) const {
    return std::ranges::any_of(places, [&](const SeedPlace& other) {
      return other.site.function == seed.function && BeginOf(other.site) > BeginOf(seed) && BeginOf(other.site) < BeginOf(model);
    });
  }

  // Whether the program somewhere sends tensors from one rank, averages others than gradients, or reads weights from a file.
  bool AreWeightsShared(FuncId function) {
    const std::vector<ir::ModuleId>& files = calls_.FilesOf(context_.program.funcs[function].module);
    return std::ranges::any_of(context_.index.known_calls(), [&](const KnownCall& call) {
      if (std::ranges::count(files, context_.program.funcs[call.function].module) == 0) return false;
      if (call.entry->Has(knowledge::Role::LoadTensors) || call.entry->Has(knowledge::Role::RestoreTensors)) return true;
      if (!call.entry->has_operation) return false;
      const std::string_view kind = context_.program.text(call.entry->operation.kind);
      return kind.find("broadcast") != std::string_view::npos || kind == "scatter" || (kind != "gradient_reduction" && ReducesAttribute(context_, call, "data") && !ReducesAttribute(context_, call, "grad"));
    });
  }

  void Report(const Site& seed, const Site& model, const Site& step) {
    Finding finding = FindingAt(context_, code_, Severity::Warning, Confidence::Likely, model,
                                {"each rank begins with weights of its own: it draws them under a seed of its own, and nothing sends those of one rank to the others", {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"draws other weights on each rank", {}});
    AddLabel(finding, SpanOf(context_, seed), LabelRole::Why, {"seeds each rank with another number", {}});
    AddLabel(finding, SpanOf(context_, step), LabelRole::Note, {"only gradients are made alike", {}});
    finding.help = {"broadcast the parameters from rank 0 before training, wrap the model in DDP, or make it before the ranks are seeded apart", {}};
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  ProgramCalls calls_;
  const std::string_view code_;
  FindingSink& sink_;
};

}  // namespace

void CheckOwnWeights(const Context& context, std::string_view code, FindingSink& sink) { OwnWeights(context, code, sink).Run(); }

}  // namespace allranks::rules
