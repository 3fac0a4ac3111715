#include "rules/share_uses.h"

namespace allranks::rules {

bool IsReached(const Context& context, const objects::ShareResults& results, const objects::ShareUse& use) {
  const traces::World world = objects::SmallJob(context.facts.job);
  const objects::ShareLoop& loop = results.loops()[use.loop];
  const traces::RankSet ranks = context.ranks.At(loop.iterable, world);
  // What only one rank has is no share of it.
  const bool is_shared = loop.loader || loop.is_prepared || ranks == traces::RankSet::All(world.size());
  return is_shared && ranks.count() > 0 && context.ranks.At(use.place, world).count() > 0 && !context.job_places.IsApart({&use.place, 1});
}

const objects::ShareUse& LastLike(const Context& context, const objects::ShareResults& results, const objects::ShareUse& first) {
  const objects::ShareUse* last = &first;
  for (const objects::ShareUse& use : results.uses()) {
    const bool is_like = use.kind == first.kind && use.loop == first.loop && use.place.function == first.place.function;
    if (is_like && IsReached(context, results, use)) last = &use;
  }
  return *last;
}

bool IsStartedElsewhere(const Context& context, const objects::Site& site) {
  return context.launch.IsLaunchUnseen(context.program.funcs[site.function].module);
}

void AddReturn(const Context& context, const objects::ShareResults& results, const objects::ShareUse& use, Finding& finding) {
  const objects::ShareLoop& loop = results.loops()[use.loop];
  const FuncId function = loop.iterable.function;
  if (use.place.function == function) return;
  const ir::ModuleId module_id = context.program.funcs[function].module;
  const ir::Module& module = context.program.modules[module_id];
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::Stmt& stmt = module[ir::StmtId{i}];
    const bool is_behind = stmt.kind == ir::StmtKind::Return && ir::ValueOf(stmt) && stmt.begin > module[loop.loop].end;
    if (!is_behind || context.index.FunctionOf(module_id, ir::StmtId{i}) != function) continue;
    AddLabel(finding, SpanOf(context, {function, ir::ValueOf(stmt)}), LabelRole::Note, {"returned here", {}});
    return;
  }
}

std::string_view WhoseShare(const Context& context, const objects::Site& site) {
  const traces::RankSet ranks = context.ranks.At(site, objects::SmallJob(context.facts.job));
  return ranks.count() == 1 && ranks.has(0) ? "rank 0's" : "one rank's";
}

}  // namespace allranks::rules
