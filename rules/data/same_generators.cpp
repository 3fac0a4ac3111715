#include "rules/data/same_generators.h"

#include <algorithm>
#include <optional>

#include "analyzer/objects/job_runs.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/seed_places.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;
using variation::ValueId;

constexpr std::string_view kGenerator = "generator";

class SameGenerators {
 public:
  SameGenerators(const Context& context, std::string_view code, FindingSink& sink)
      : context_(context), code_(code), sink_(sink), stored_(context),
        runs_(context.program, context.knowledge, context.facts, context.index, context.launch, context.loading) {}

  void Run() {
    for (const KnownCall& call : context_.index.known_calls()) {
      if (!call.entry->Has(knowledge::Role::SeedGenerator)) continue;
      const ValueId seed = context_.index.Arg(call, "seed");
      if (seed && stored_.IsAlike(ModuleOf(call.function), seed)) Visit({call.function, call.expr});
    }
  }

 private:
  void Visit(const Site& seeding) {
    const base::NameId name = NameOf(seeding);
    if (!name || !context_.index.LoopsAround(seeding).empty() || !IsRunByAll(seeding)) return;
    for (const Site& call : CallsIn(context_, seeding.function)) {
      if (!DrawsFrom(call, seeding, name) || !IsRunByAll(call)) continue;
      const std::optional<Site> dealt = DealtOutAround(call);
      if (dealt) return Report(seeding, call, *dealt);
    }
  }

  // `generator = torch.Generator().manual_seed(0)`, or `generator.manual_seed(0)` alone.
  base::NameId NameOf(const Site& seeding) const {
    const ir::Module& module = context_.program.module_of(seeding.function);
    const ir::StmtId stmt = context_.index.StatementOf(seeding);
    if (!stmt) return {};
    ir::ExprId named;
    if (module[stmt].kind == ir::StmtKind::Assign) {
      for (const ir::ExprId target : ir::TargetsOf(module, module[stmt])) named = target;
    } else if (module[stmt].kind == ir::StmtKind::Expr) {
      const ir::Expr& callee = module[ir::CalleeOf(module[seeding.expr])];
      if (callee.kind == ir::ExprKind::Attribute) named = ir::ObjectOf(callee);
    }
    return named && module[named].kind == ir::ExprKind::Name ? ir::NameOf(module[named]) : base::NameId();
  }

  // It is given the generator, and is nothing that makes an order of data with it.
  bool DrawsFrom(const Site& call, const Site& seeding, base::NameId name) const {
    const ir::Module& module = context_.program.module_of(call.function);
    const ir::ExprId given = KeywordOf(context_, ModuleOf(call.function), call.expr, kGenerator);
    if (!given || module[given].kind != ir::ExprKind::Name || ir::NameOf(module[given]) != name) return false;
    const KnownCall* known = context_.index.KnownCallAt(call);
    const bool orders = known != nullptr && (known->entry->Has(knowledge::Role::OwnOrder) || context_.program.text(known->entry->name).starts_with("torch.utils.data."));
    return !orders && module[call.expr].begin >= module[seeding.expr].end;
  }

  bool IsRunByAll(const Site& site) const { return runs_.IsRunByRanks(site) && AreAllRanksAt(context_, site); }

  // What the nearest loop over a share of this rank goes over.
  std::optional<Site> DealtOutAround(const Site& site) const {
    const ir::Module& module = context_.program.module_of(site.function);
    for (const ir::StmtId loop : context_.index.LoopsAround(site)) {
      for (const objects::LoaderLoop& each : context_.loading.loops()) {
        if (each.loop == loop && each.iterable.function == site.function && context_.loading.IsDealtOut(each.loader)) return each.iterable;
      }
      if (module[loop].kind != ir::StmtKind::For) continue;
      const Site items{site.function, ir::AssignedOf(module[loop])};
      const ValueId value = context_.facts.value(ModuleOf(site.function), items.expr);
      if (value && (CountsRanks(context_, value) || IsPrepared(items))) return items;
    }
    return std::nullopt;
  }

  // `loader = accelerator.prepare(loader)`, and `tqdm(enumerate(loader))`.
  bool IsPrepared(const Site& items) const {
    const ir::Module& module = context_.program.module_of(items.function);
    ir::ExprId inner = items.expr;
    while (module[inner].kind == ir::ExprKind::Call && ir::ArgCount(module, module[inner]) > 0) inner = ir::ArgAt(module, module[inner], 0).value;
    const ValueId value = context_.facts.value(ModuleOf(items.function), inner);
    return value && context_.values.IsA(value, "accelerate.Prepared");
  }

  void Report(const Site& seeding, const Site& draw, const Site& dealt) {
    Finding finding = FindingAt(context_, code_, Severity::Warning, Confidence::Likely, seeding,
                                {"each rank draws the same random numbers for its share of the data: this generator is seeded alike on all "
                                 "ranks",
                                 {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"the same number on every rank", {}});
    AddLabel(finding, SpanOf(context_, draw), LabelRole::Call, {"draws from it", {}});
    AddLabel(finding, SpanOf(context_, dealt), LabelRole::Note, {"each rank has others of these", {}});
    finding.help = {"add the rank to the seed", {}};
    if (!runs_.IsStartedOnRanks(seeding)) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::OwnJob));
    sink_.push_back(std::move(finding));
  }

  ir::ModuleId ModuleOf(FuncId function) const { return context_.program.funcs[function].module; }

  const Context& context_;
  std::string_view code_;
  FindingSink& sink_;
  StoredSeeds stored_;
  objects::JobRuns runs_;
};

}  // namespace

void CheckSameGenerators(const Context& context, std::string_view code, FindingSink& sink) { SameGenerators(context, code, sink).Run(); }

}  // namespace allranks::rules
