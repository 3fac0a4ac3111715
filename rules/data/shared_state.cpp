#include "rules/data/shared_state.h"

#include <algorithm>
#include <optional>

#include "analyzer/ir/walk.h"
#include "analyzer/objects/job_runs.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/seed_places.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;
using variation::ValueId;

class SharedState {
 public:
  SharedState(const Context& context, std::string_view code, FindingSink& sink)
      : context_(context), code_(code), sink_(sink), calls_(context),
        runs_(context.program, context.knowledge, context.facts, context.index, context.launch, context.loading) {}

  void Run() {
    for (const KnownCall& call : context_.index.known_calls()) {
      for (const knowledge::RoleOf& role : call.entry->roles) {
        if (role.role != knowledge::Role::RestoreRandomState) continue;
        const ir::ExprId state = context_.index.ArgExpr(call, context_.program.text(role.param));
        if (state && IsOfFile(call.function, state)) Visit({call.function, call.expr}, call);
      }
    }
  }

 private:
  // `state["torch"]` of `state = torch.load(path)`, and not what this rank has picked for itself.
  bool IsOfFile(FuncId function, ir::ExprId state) const {
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ValueId value = context_.facts.value(module_id, state);
    if (value && CountsRanks(context_, value)) return false;
    return std::ranges::any_of(context_.index.known_calls(), [&](const KnownCall& load) {
      if (load.function != function || !(load.entry->Has(knowledge::Role::LoadTensors) || load.entry->Has(knowledge::Role::ReadFile))) return false;
      const ir::StmtId stmt = context_.index.StatementOf({function, load.expr});
      if (!stmt || module[stmt].kind != ir::StmtKind::Assign || std::ranges::any_of(load.args, [&](ValueId arg) { return arg && CountsRanks(context_, arg); })) return false;
      for (const ir::ExprId target : ir::TargetsOf(module, module[stmt])) {
        if (module[target].kind == ir::ExprKind::Name && ir::Mentions(module, state, ir::NameOf(module[target]))) return true;
      }
      return false;
    });
  }

  void Visit(const Site& site, const KnownCall& call) {
    if (std::ranges::count(reported_, call.function) > 0 || !IsRunByAll(site)) return;
    const ir::ModuleId file = context_.program.funcs[call.function].module;
    const KnownCall* saved = calls_.FindIf(file, [&](const KnownCall& other) { return other.entry->Has(knowledge::Role::KeepRandomState) && IsOfSomeRanks(other); });
    if (saved == nullptr || IsSeededAlike(context_, file, "torch.")) return;
    reported_.push_back(call.function);
    Report(site, {saved->function, saved->expr});
  }

  bool IsRunByAll(const Site& site) const { return runs_.IsRunByRanks(site) && AreAllRanksAt(context_, site); }

  bool IsOfSomeRanks(const KnownCall& call) const {
    const traces::World world = objects::SmallJob(context_.facts.job);
    const traces::RankSet ranks = context_.ranks.At({call.function, call.expr}, world);
    if (!ranks.empty() && ranks != traces::RankSet::All(world.size())) return true;
    // All ranks look, and some write what they have found, without a word to the others.
    if (Communicates(call.function)) return false;
    return std::ranges::any_of(context_.index.KnownCallsIn(call.function), [&](const KnownCall& other) {
      if (!other.entry->Has(knowledge::Role::Write)) return false;
      const traces::RankSet writers = context_.ranks.At({other.function, other.expr}, world);
      return !writers.empty() && writers != traces::RankSet::All(world.size());
    });
  }

  bool Communicates(FuncId function) const {
    return std::ranges::any_of(context_.index.KnownCallsIn(function), [](const KnownCall& call) { return call.entry->has_operation; });
  }

  void Report(const Site& site, const Site& saved) {
    Finding finding = FindingAt(context_, code_, Severity::Warning, Confidence::Likely, site,
                                {"all ranks go on with the random numbers of the rank that saved them, and draw the same from now on", {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"the same state on every rank", {}});
    AddLabel(finding, SpanOf(context_, saved), LabelRole::Why, {"saved by one rank", {}});
    finding.help = {"save the state of each rank, gathered or in a file of its own, and let each put back its own", {}};
    if (!runs_.IsStartedOnRanks(site)) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::OwnJob));
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  std::string_view code_;
  FindingSink& sink_;
  ProgramCalls calls_;
  objects::JobRuns runs_;
  std::vector<FuncId> reported_;
};

}  // namespace

void CheckSharedState(const Context& context, std::string_view code, FindingSink& sink) { SharedState(context, code, sink).Run(); }

}  // namespace allranks::rules
