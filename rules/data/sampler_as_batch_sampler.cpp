#include <algorithm>
#include <optional>

#include "rules/finding_parts.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using variation::ValueId;
using variation::ValueKind;

constexpr std::string_view kAR310 = "AR310";
constexpr std::string_view kParam = "batch_sampler";

// `for i in range(rank, n, world): yield i` in the `__iter__` of a sampler class of the project, and no other `yield`.
bool IteratesOverNumbers(const Context& context, binding::ClassId class_id) {
  const base::NameId name = context.program.names->Find("__iter__");
  const FuncId method = name ? context.program.FindMethod(class_id, name) : FuncId::None();
  if (!method) return false;
  const ir::ModuleId module_id = context.program.funcs[method].module;
  const ir::Module& module = context.program.modules[module_id];
  const ir::Tree& tree = context.index.tree(module_id);
  bool is_any = false;
  for (const ir::ExprId yield : context.index.ExprsOf(module_id, ir::ExprKind::Yield)) {
    const ir::StmtId stmt = tree.StatementOf(yield);
    if (!stmt || context.index.FunctionOf(module_id, stmt) != method) continue;
    const ir::StmtId loop = tree.Parent(stmt);
    const ir::ExprId item = ir::OperandOf(module[yield]);
    if (!loop || !item || module[loop].kind != ir::StmtKind::For || module[item].kind != ir::ExprKind::Name) return false;
    const ir::Expr& target = module[ir::ValueOf(module[loop])];
    const ir::Expr& iterable = module[ir::AssignedOf(module[loop])];
    const bool is_number = target.kind == ir::ExprKind::Name && ir::NameOf(target) == ir::NameOf(module[item]) && iterable.kind == ir::ExprKind::Call &&
                           context.values.External(context.facts.value(module_id, ir::CalleeOf(iterable))) == "builtins.range";
    if (!is_number) return false;
    is_any = true;
  }
  return is_any;
}

// A sampler that yields single indices, on every path.
bool YieldsIndices(const Context& context, ValueId value) {
  const std::vector<ValueId> leaves = context.values.Leaves(value);
  return !leaves.empty() && std::ranges::all_of(leaves, [&](ValueId leaf) {
    if (context.facts.values_store[leaf].kind == ValueKind::Instance) {
      return context.values.IsA(leaf, "torch.utils.data.Sampler") && IteratesOverNumbers(context, context.facts.values_store[leaf].class_id());
    }
    if (context.facts.values_store[leaf].kind != ValueKind::Object) return false;
    const std::string_view name = context.program.text(context.facts.values_store[leaf].name());
    return context.values.IsA(leaf, "torch.utils.data.Sampler") && !name.ends_with("BatchSampler") && !name.ends_with(".Sampler");
  });
}

// The finding at the sampler that a loader gets, or at the call that gets it in a dictionary of options.
Finding MisfitAt(const Context& context, const KnownCall& loader, std::string_view param, findings::Text message, findings::Text label) {
  const ir::ExprId written = context.index.ArgExpr(loader, param);
  const objects::Site site{loader.function, written ? written : loader.expr};
  Finding finding = FindingAt(context, kAR310, Severity::Error, Confidence::Likely, site, std::move(message));
  AddLabel(finding, finding.span, LabelRole::Primary, std::move(label));
  const std::vector<objects::Site> made = context.loading.MadeAt(context.index.Arg(loader, param));
  if (!made.empty()) AddLabel(finding, SpanOf(context, made.front()), LabelRole::Why, {"made here", {}});
  return finding;
}

// `sampler=BatchSampler(...)` beside a batch size: each of the lists counts as one sample.
void CheckBatchSamplerAsSampler(const Context& context, const KnownCall& call, FindingSink& sink) {
  const ValueId sampler = context.index.Arg(call, "sampler");
  const ValueId size = context.index.Arg(call, "batch_size");
  // The default is a batch of one; what is not known may be none.
  const std::optional<int64_t> number = size ? context.values.Int(size) : 1;
  const std::vector<ValueId> leaves = sampler ? context.values.Leaves(sampler) : std::vector<ValueId>();
  const bool is_list = !leaves.empty() && std::ranges::all_of(leaves, [&](ValueId leaf) {
    return context.facts.values_store[leaf].kind == ValueKind::Object && context.values.IsA(leaf, "torch.utils.data.BatchSampler");
  });
  if (!is_list || number.value_or(1) <= 1) return;
  Finding finding = MisfitAt(context, call, "sampler",
                             {"this sampler yields lists of indices, and `sampler` wants single ones: the loader puts {} of its batches "
                              "into each batch",
                              {std::to_string(*number)}},
                             {"yields a batch at a time", {}});
  finding.help = {"pass it as `batch_sampler`, without `batch_size`; or with `batch_size=None`, where the data set takes lists", {}};
  sink.push_back(std::move(finding));
}

void CheckSamplerAsBatchSampler(const Context& context, FindingSink& sink) {
  for (const KnownCall& call : context.loading.made_loaders()) {
    CheckBatchSamplerAsSampler(context, call, sink);
    const ValueId sampler = context.index.Arg(call, kParam);
    if (!sampler || !YieldsIndices(context, sampler)) continue;
    const ir::ModuleId module_id = context.program.funcs[call.function].module;
    const ir::Module& module = context.program.modules[module_id];
    const ir::ExprId written = context.index.ArgExpr(call, kParam);
    Finding finding = MisfitAt(context, call, kParam,
                               {"this sampler yields single indices, but `batch_sampler` wants lists of them: the loader fails in its "
                                "first batch",
                                {}},
                               {"yields one index at a time", {}});
    finding.help = {"pass it as `sampler`, with `batch_size`", {}};
    if (written) {
      const source::Span whole = ArgumentSpan(context, module_id, call.expr, written);
      const bool has_keyword = whole.begin < module[written].begin;
      if (has_keyword) {
        finding.fixes.push_back(MakeFix("pass it as `sampler`", Applicability::Safe,
                                        {Replace(whole, "sampler=" + std::string(TextOf(context, module_id, written)))}));
      }
    }
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule SamplerAsBatchSampler = {
    .code = kAR310,
    .name = "sampler-as-batch-sampler",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooFewWereRead,
    .languages = "Python",
    .summary = "sampler of single indices given to a loader as `batch_sampler`, or one of batches as `sampler`",
    .explanation = R"md(
## What it finds

A `DataLoader` whose `batch_sampler` is a sampler that yields single indices (`DistributedSampler`,
`RandomSampler` and their kin, or a class of the project whose `__iter__` yields the numbers of a `range`),
also by way of a dictionary of options. And the other way round: a `BatchSampler` as `sampler`, beside a
`batch_size` above one.

## Why it hurts

A loader asks its batch sampler for the list of indices of a batch and gets a number:
`TypeError: 'int' object is not iterable`, on every rank. As the distributed branch is often the one
that nobody runs at home, it is found when the job starts.

As `sampler`, a list of indices counts as one sample. A data set that takes lists (`TensorDataset`) yields
batches of batches, with one dimension more and `batch_size` times as large as planned; others fail.

## Wrong

```python
loader = DataLoader(dataset, batch_sampler=DistributedSampler(dataset))
```

## Right

```python
loader = DataLoader(dataset, batch_size=32, sampler=DistributedSampler(dataset))
```

## When it is silent

* The sampler's class is one of the project: what it yields is its own business.
* It is a `BatchSampler`, or may be one on some path.
* A `BatchSampler` is the `sampler` of a loader with `batch_size=None`, which hands its lists to the data set.

## Fix

`--fix` passes it as `sampler`.

## Proof

There is nothing to replay: every rank raises alike.
)md",
    .check = CheckSamplerAsBatchSampler,
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
