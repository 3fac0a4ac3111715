#include "rules/data/reseeding.h"

#include <algorithm>

#include "rules/seed_places.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"

namespace allranks::rules {
namespace {

class Reseeding {
 public:
  Reseeding(const Context& context, std::string_view code, FindingSink& sink)
      : context_(context), code_(code), sink_(sink), places_(SeedPlaces(context)) {}

  void Run() {
    for (const SeedPlace& place : places_) {
      const ir::StmtId loop = TrainingLoopAround(place);
      if (!loop || CountsRanks(context_, place.seed) || !AreAllRanksAt(context_, place.site) || IsSeededByRankIn(place, loop)) continue;
      const SeedPlace* first = SeededByRankBefore(place, loop);
      if (first != nullptr && !RestoresState(place.site.function)) Report(place, *first);
    }
  }

 private:
  ir::StmtId TrainingLoopAround(const SeedPlace& place) const {
    const ir::ModuleId module = context_.program.funcs[place.site.function].module;
    const std::vector<ir::StmtId> loops = context_.index.LoopsAround(place.site);
    const auto loop = std::ranges::find_if(loops, [&](ir::StmtId each) { return context_.training.Trains(module, each); });
    return loop == loops.end() ? ir::StmtId::None() : *loop;
  }

  bool IsIn(const SeedPlace& place, ir::StmtId loop) const {
    const ir::Module& module = context_.program.module_of(place.site.function);
    return module[loop].begin <= module[place.site.expr].begin && module[place.site.expr].end <= module[loop].end;
  }

  bool IsSeededByRankIn(const SeedPlace& place, ir::StmtId loop) const {
    return std::ranges::any_of(places_, [&](const SeedPlace& other) {
      return other.site.function == place.site.function && IsIn(other, loop) && CountsRanks(context_, other.seed);
    });
  }

  const SeedPlace* SeededByRankBefore(const SeedPlace& place, ir::StmtId loop) const {
    const ir::Module& module = context_.program.module_of(place.site.function);
    const auto first = std::ranges::find_if(places_, [&](const SeedPlace& other) {
      return other.site.function == place.site.function && module[other.site.expr].end <= module[loop].begin &&
             CountsRanks(context_, other.seed);
    });
    return first == places_.end() ? nullptr : &*first;
  }

  // What the ranks drew from is put back after what they draw alike.
  bool RestoresState(FuncId function) const {
    return std::ranges::any_of(CallsIn(context_, function), [&](const objects::Site& call) {
      const std::string_view method = MethodOf(context_, call);
      return method == "set_rng_state" || method == "setstate" || method == "fork_rng";
    });
  }

  void Report(const SeedPlace& place, const SeedPlace& first) {
    const source::Span span = SpanOf(context_, place.site);
    if (std::ranges::count(seen_, span) > 0) return;
    seen_.push_back(span);
    Finding finding = FindingAt(context_, code_, Severity::Warning, Confidence::Likely, place.site,
                                {"all ranks seed alike here, in each round of training: the seed of each rank is undone, and all "
                                 "draw the same from now on",
                                 {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"the same number on every rank", {}});
    AddLabel(finding, SpanOf(context_, first.site), LabelRole::Why, {"each rank had one of its own", {}});
    finding.help = {"draw what must agree from a generator of its own (`torch.Generator().manual_seed(...)`)", {}};
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  std::string_view code_;
  FindingSink& sink_;
  std::vector<SeedPlace> places_;
  std::vector<source::Span> seen_;
};

}  // namespace

void CheckReseeding(const Context& context, std::string_view code, FindingSink& sink) { Reseeding(context, code, sink).Run(); }

}  // namespace allranks::rules
