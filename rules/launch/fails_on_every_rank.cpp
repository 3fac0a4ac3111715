#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/binding/neighbourhood.h"
#include "analyzer/ir/bindings.h"
#include "analyzer/objects/every_way.h"
#include "analyzer/objects/job_runs.h"
#include "analyzer/objects/meetings.h"
#include "analyzer/objects/test_files.h"
#include "rules/finding_parts.h"
#include "rules/sure_ends.h"

namespace allranks::rules {
namespace {

using objects::Failure;
using objects::FailureKind;
using objects::Misfit;
using objects::Site;

// What fails, and what Python raises.
struct EndReason {
  findings::Text text;
  std::string_view raises;
};

class SureEnds {
 public:
  SureEnds(const Context& context, const objects::SureFailures& failures, FindingSink& sink)
      : context_(context), failures_(failures), sink_(sink), runs_(context.program, context.knowledge, context.facts, context.index, context.launch, context.loading),
        neighbourhood_(context.program), world_(objects::SmallJob(context.facts.job)),
        meetings_(context.program, context.knowledge, context.facts, context.index, context.guards, context.ranks, context.launch, world_) {}

  void Run() {
    for (uint32_t m = 0; m < context_.program.modules.size(); ++m) {
      const ir::ModuleId module_id{m};
      const ir::Module& module = context_.program.modules[module_id];
      const bool is_notebook = context_.program.infos[module_id].path.ends_with(".ipynb");
      // A file of imports alone has no place that could be asked about.
      if (module.language != ir::Language::Python || module.exprs.empty() || is_notebook || objects::IsTestFile(context_.program, module_id)) continue;
      for (uint32_t i = 0; i < module.stmts.size(); ++i) {
        const FuncId function = context_.index.FunctionOf(module_id, ir::StmtId{i});
        if (function && !context_.index.tree(module_id).IsInClass(ir::StmtId{i})) Visit(function, ir::StmtId{i});
      }
    }
  }

 private:
  void Visit(FuncId function, ir::StmtId stmt) {
    const Failure failure = failures_.At(function, stmt);
    // AR505 tells of the model inside a wrapper.
    if (!failure.IsCause() || failure.kind == FailureKind::MemberOfWrapped || IsTried(function, stmt)) return;
    const Site site = SiteOf(function, stmt, failure);
    if (!IsOfJob(WhereRanksFail(site, failure))) return;
    const bool is_of_all = context_.ranks.At(site, world_) == traces::RankSet::All(world_.size());
    const std::optional<objects::Meeting> meeting = is_of_all ? std::nullopt : meetings_.After(site);
    if (!is_of_all && (!meeting || IsTriedOnEveryWay(function, stmt))) return;
    if (AsksForAttributeBefore(context_, site) || !failures_.IsFirst(function, stmt)) return;
    if (!told_.insert({context_.program.funcs[function].module.index, failure.kind, NameOf(function, stmt, failure)}).second) return;
    if (is_of_all) {
      sink_.push_back(FindingOf(site, stmt, failure, kFailsOnEveryRank, "every rank"));
    } else {
      ReportOnSome(site, stmt, failure, *meeting);
    }
  }

  // The process that starts the ranks is none: where it hands them too little, they fail as they begin.
  Site WhereRanksFail(const Site& site, const Failure& failure) const {
    const bool is_start = failure.called && context_.index.KnownCallAt(site) != nullptr;
    return is_start ? Site{failure.called, ir::ExprId{0}} : site;
  }

  // The others come to where they wait for these.
  void ReportOnSome(const Site& site, ir::StmtId stmt, const Failure& failure, const objects::Meeting& meeting) {
    const bool is_first = meeting.on_way == traces::RankSet::Of(0);
    Finding finding = FindingOf(site, stmt, failure, kFailureOnOneRank, is_first ? "rank 0" : "not every rank, but some ranks");
    const ir::ModuleId waiting = context_.program.funcs[meeting.function].module;
    AddLabel(finding, HeadOf(context_, waiting, meeting.stmt), LabelRole::Victim, {"the other ranks wait here", {}});
    finding.is_in_preview = BelongsInPreview(context_, site.function, finding);
    sink_.push_back(std::move(finding));
  }

  // `who`: the ranks that fail.
  Finding FindingOf(const Site& site, ir::StmtId stmt, const Failure& failure, std::string_view code, std::string_view who) const {
    const EndReason reason = ReasonOf(site.function, stmt, failure);
    const Site ranks = WhereRanksFail(site, failure);
    const bool is_sure = runs_.IsSharedWork({&ranks, 1}) && runs_.IsStartedOnRanks(ranks);
    Finding finding = FindingAt(context_, code, Severity::Error, is_sure ? Confidence::Likely : Confidence::Possible, site, {"{} fails here: {}", {std::string(who), findings::Render(reason.text)}});
    const ir::ModuleId module_id = context_.program.funcs[site.function].module;
    if (failure.import) finding.span = ImportSpan(module_id, failure.import);
    else if (!failure.expr) finding.span = HeadOf(context_, module_id, stmt);
    if (!context_.guards.Of(site.function, stmt).empty()) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::SettingUnknown));
    AddLabel(finding, finding.span, LabelRole::Primary, {"raises `{}`", {std::string(reason.raises)}});
    if (failure.called) AddLabel(finding, HeadOfFunction(failure.called), LabelRole::Note, {"defined here", {}});
    AddCalls(site, finding);
    return finding;
  }

  // From the function around to where the program starts, by the first caller of each.
  void AddCalls(const Site& site, Finding& finding) const {
    constexpr size_t kMostCalls = 6;
    std::vector<FuncId> seen = {site.function};
    while (seen.size() <= kMostCalls) {
      const auto callers = context_.index.CallersOf(seen.back());
      if (callers.empty() || std::ranges::count(seen, callers[0].function) > 0) return;
      AddLabel(finding, SpanOf(context_, callers[0]), LabelRole::Call, {"called here", {}});
      seen.push_back(callers[0].function);
    }
  }

  EndReason ReasonOf(FuncId function, ir::StmtId stmt, const Failure& failure) const {
    const std::string name = NameOf(function, stmt, failure);
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    switch (failure.kind) {
      case FailureKind::UnboundName:
        return {{"nothing defines or imports `{}`", {name}}, "NameError"};
      case FailureKind::LateName:
        return {{"`{}` is read before it has a value", {name}}, context_.program.funcs[function].function == ir::kTopLevel ? "NameError" : "UnboundLocalError"};
      case FailureKind::MissingImport:
        return ReasonOfImport(module_id, failure.import);
      case FailureKind::NumberInEnvironment:
        return {{"a variable of the environment is given something else than a text", {}}, "TypeError"};
      case FailureKind::UnpackedPairs:
        return {{"`enumerate` hands out pairs, and another number of parts is taken of each", {}}, "ValueError"};
      case FailureKind::UnpackedResult:
        return {{"`{}` returns another number of values than is taken here", {context_.program.FunctionName(failure.called)}}, "ValueError"};
      case FailureKind::WrongArguments:
        return ReasonOfArguments(context_.program.FunctionName(failure.called), failure.misfit);
      case FailureKind::RefusedArgument:
        return ReasonOfArguments(Quoted(context_, {function, ir::CalleeOf(context_.program.modules[module_id][failure.expr])}), failure.misfit);
      case FailureKind::OptionAgain:
        return {{"the parser has this option already", {}}, "ArgumentError"};
      case FailureKind::MissingOption:
        return {{"no parser has an option for `{}`", {Quoted(context_, {function, failure.expr})}}, "AttributeError"};
      case FailureKind::MemberOfDictionary:
        return {{"`{}` is asked of a dictionary, which has no such attribute", {name}}, "AttributeError"};
      case FailureKind::MissingField:
        return {{"nothing gives `{}` of this class", {Quoted(context_, {function, failure.expr})}}, "AttributeError"};
      case FailureKind::SecondGroup:
        return {{"the process group has been made before", {}}, "ValueError"};
      case FailureKind::NoScheme:
        return {{"`init_method` does not say what it is the address of, as `tcp://` does", {}}, "RuntimeError"};
      case FailureKind::SamplerAndShuffle:
        return {{"a loader takes either a sampler or `shuffle=True`, but not both", {}}, "ValueError"};
      default:
        return {};
    }
  }

  EndReason ReasonOfArguments(const std::string& called, const Misfit& misfit) const {
    const std::string name = misfit.name ? std::string(context_.program.text(misfit.name)) : std::string();
    switch (misfit.kind) {
      case Misfit::Kind::Lacks:
        return {{"`{}` needs an argument `{}`, which is not given", {called, name}}, "TypeError"};
      case Misfit::Kind::Unknown:
        return {{"`{}` takes no argument `{}`", {called, name}}, "TypeError"};
      case Misfit::Kind::Twice:
        return {{"`{}` is given its argument `{}` twice", {called, name}}, "TypeError"};
      default:
        return {{"`{}` is given more arguments than it takes", {called}}, "TypeError"};
    }
  }

  EndReason ReasonOfImport(ir::ModuleId module_id, ir::ImportId import_id) const {
    const ir::Import& import = context_.program.modules[module_id].imports[import_id];
    const binding::Target& target = context_.program.import_targets[module_id.index][import_id.index];
    const std::string from = std::string(import.level, '.') + std::string(context_.program.text(import.module));
    const bool is_found = target.kind == binding::TargetKind::Variable && target.module != module_id && import.name;
    if (is_found) return {{"`{}` has no `{}`", {context_.program.infos[target.module].path, std::string(context_.program.text(import.name))}}, "ImportError"};
    return {{"the project has no `{}`", {from}}, "ModuleNotFoundError"};
  }

  // What the failure is about: the same name in several places of a file is one cause.
  std::string NameOf(FuncId function, ir::StmtId stmt, const Failure& failure) const {
    const ir::Module& module = context_.program.module_of(function);
    if (failure.kind == FailureKind::UnboundName || failure.kind == FailureKind::LateName) return std::string(context_.program.text(ir::NameOf(module[failure.expr])));
    if (failure.import || !failure.expr) return std::to_string(module[stmt].begin);
    return Quoted(context_, {function, failure.expr});
  }

  Site SiteOf(FuncId function, ir::StmtId stmt, const Failure& failure) const {
    if (failure.expr) return {function, failure.expr};
    const ir::Module& module = context_.program.module_of(function);
    Site site{function, ir::ExprId{0}};
    bool is_first = true;
    ir::ForEachExpr(module, module[stmt], [&](ir::ExprId expr) {
      if (std::exchange(is_first, false)) site.expr = expr;
    });
    return site;
  }

  source::Span ImportSpan(ir::ModuleId module_id, ir::ImportId import) const {
    const ir::Module& module = context_.program.modules[module_id];
    return {module.file, module.imports[import].begin, module.imports[import].end};
  }

  source::Span HeadOfFunction(FuncId function) const {
    const ir::Function& info = context_.program.function(function);
    return {context_.program.module_of(function).file, info.name_begin, info.name_end};
  }

  // A handler stands around it, or it is in one, or in `with suppress(...)`.
  bool IsTried(FuncId function, ir::StmtId stmt) const {
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Tree& tree = context_.index.tree(module_id);
    ir::StmtId inner = stmt;
    for (ir::StmtId at = tree.Parent(stmt); at; inner = at, at = tree.Parent(at)) {
      if (module[at].kind == ir::StmtKind::With && Suppresses(module, module[at])) return true;
      if (module[at].kind != ir::StmtKind::Try || ir::HandlersOf(module, module[at]).empty()) continue;
      // What stands in a handler is for ranks that have failed before.
      if (tree.BlockOf(inner) != ir::TryElseOf(module[at]) && tree.BlockOf(inner) != ir::FinallyOf(module[at])) return true;
    }
    return false;
  }

  // There, or around a call on the way there.
  bool IsTriedOnEveryWay(FuncId function, ir::StmtId stmt) const {
    return objects::IsOnEveryWay(context_.index, function, stmt, [&](FuncId at, ir::StmtId call) { return IsTried(at, call); });
  }

  bool Suppresses(const ir::Module& module, const ir::Stmt& with) const {
    return std::ranges::any_of(ir::WithItemsOf(module, with), [&](const ir::WithItem& item) {
      if (module[item.context].kind != ir::ExprKind::Call) return false;
      const ir::Expr& callee = module[ir::CalleeOf(module[item.context])];
      const base::NameId name = callee.kind == ir::ExprKind::Name ? ir::NameOf(callee) : callee.kind == ir::ExprKind::Attribute ? ir::AttrOf(callee) : base::NameId();
      return name && context_.program.text(name) == "suppress";
    });
  }

  // What the top of a file does is done by each program that imports it.
  bool IsOfJob(const Site& site) {
    const binding::Func& func = context_.program.funcs[site.function];
    if (func.function != ir::kTopLevel) return runs_.IsRunByRanks(site);
    const auto [known, is_new] = of_job_.try_emplace(func.module.index, false);
    if (is_new) known->second = std::ranges::any_of(neighbourhood_.UsersOf(func.module), [&](ir::ModuleId user) { return HasFunctionOfJob(user); });
    return known->second;
  }

  bool HasFunctionOfJob(ir::ModuleId module_id) const {
    const ir::Module& module = context_.program.modules[module_id];
    for (uint32_t f = 0; f < module.functions.size() && !module.exprs.empty(); ++f) {
      if (runs_.IsRunByRanks(Site{context_.program.func(module_id, ir::FunctionId{f}), ir::ExprId{0}})) return true;
    }
    return false;
  }

  const Context& context_;
  const objects::SureFailures& failures_;
  FindingSink& sink_;
  objects::JobRuns runs_;
  binding::Neighbourhood neighbourhood_;
  traces::World world_;
  objects::Meetings meetings_;
  std::map<uint32_t, bool> of_job_;  // by ModuleId: some program that imports it is a job
  std::set<std::tuple<uint32_t, FailureKind, std::string>> told_;  // by ModuleId: causes
};

}  // namespace

void CheckSureEnds(const Context& context, const objects::SureFailures& failures, FindingSink& sink) { SureEnds(context, failures, sink).Run(); }

extern const Rule FailsOnEveryRank = {
    .code = "AR915",
    .name = "fails-on-every-rank",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = "of 14 findings on 90 repositories that it met for the first time 7 were right: the others stand where no run comes",
    .languages = "Python",
    .summary = "statement of a job that raises whenever it runs",
    .explanation = R"md(
## What it finds

Statements of a program of several ranks that raise whichever rank comes to them, and whatever it is given:

* a name that nothing defines, or that is read before anything is assigned to it;
* an import of a file or a name that the project does not have;
* an option that no parser of the program has (`args.distributed`), one that is added twice, or an
  attribute of a dictionary (`args = vars(args)`, then `args.epochs`);
* a call of a function, method or class of the project with arguments that it does not take, also where
  `mp.spawn` makes it, or of one of a library by a name that it does not know;
* a field that nothing gives an object of a class of the project;
* another number of variables than a function returns values, or than `enumerate` hands out;
* a second `init_process_group` in one process, and a variable of the environment that is set to a number.

Each cause is told once in a file, at the statement that fails.

## Why it hurts

The job waits in the queue, starts on all its nodes, loads the model and the data, perhaps trains for an
epoch, and ends with a traceback of each rank, one over the other. What a mistake like this hides in is
what few runs come to: the code for several ranks, the evaluation behind the first epoch, the way back from
a checkpoint.

## Wrong

```python
def main():
    dist.init_process_group("nccl")
    model = DDP(build(args))
    for epoch in range(args.epochs):
        train(model, loader, epoch)
        evaluate(model, val_loader)   # def evaluate(model, loader, device)
```

## Right

```python
        evaluate(model, val_loader, device)
```

## When it is silent

* A handler stands around the statement, or it is in one, or a test by `hasattr` is in front of it.
* Something fails before it on every way: that is what is told.
* Nothing in the project runs the function on several ranks, or it is a test or a notebook.
* Names may be made while the program runs: `exec`, `globals()`, `setattr`, `from x import *` of what is
  not read.
* The library that an import asks for may be installed.

## Fix

There is none: what was meant is yours to say.

## Proof

There is nothing to replay: every rank raises alike.
)md"};

}  // namespace allranks::rules
