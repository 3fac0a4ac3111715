// Copies of a model that are made before DDP sends the weights of rank 0 to all ranks.
//
// The idea: where each rank seeds with its rank, each makes a model with weights of its own. The wrapper makes them alike, but not a copy that
// was taken before: an average of the weights then starts from other ones on each rank.
//
// A copy is what the knowledge base says is one, and what a constructor or a function of the project that is handed the model copies of it.
//
// Not sound: whether the copy is brought into line later by assigning its parameters one by one is not followed.
#include <algorithm>
#include <optional>
#include <vector>

#include "analyzer/ir/walk.h"
#include "analyzer/objects/definitions.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/seed_places.h"
#include "rules/wrapping.h"

namespace allranks::rules {
namespace {

using objects::Definition;
using objects::KnownCall;
using objects::Site;

constexpr std::string_view kAR511 = "AR511";

// A call that copies a model, itself or in what it runs.
struct CopyingCall {
  Site call;
  ir::ExprId model;
};

class EarlyCopies {
 public:
  EarlyCopies(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), definitions_(context.program, context.index), wrappings_(Wrappings(context)), seeds_(SeedPlaces(context)) {}

  void Run() {
    if (wrappings_.empty() || seeds_.empty()) return;
    for (const KnownCall& call : context_.index.known_calls()) {
      const base::NameId param = CopiedBy(*call.entry);
      const ir::ExprId copied = param ? context_.index.ArgExpr(call, context_.program.text(param)) : ir::ExprId::None();
      if (copied) Follow({{call.function, call.expr}, copied}, 0);
    }
  }

 private:
  // The parameter of which it makes a copy, or that it keeps one of; none: it does not.
  static base::NameId CopiedBy(const knowledge::Entry& entry) {
    if (entry.yield.kind == knowledge::YieldKind::Copy) return entry.yield.argument;
    const auto role = std::ranges::find(entry.roles, knowledge::Role::Copies, &knowledge::RoleOf::role);
    return role == entry.roles.end() ? base::NameId::None() : role->param;
  }

  // What is copied of a parameter is copied by those that call the function.
  void Follow(const CopyingCall& copy, int depth) {
    constexpr int kMostHelpers = 3;
    const variation::ValueId value = context_.facts.value(context_.program.funcs[copy.call.function].module, copy.model);
    const bool is_param = value && context_.facts.values_store[value].kind == variation::ValueKind::Param &&
                          context_.facts.values_store[value].function() == copy.call.function;
    if (!is_param || depth == kMostHelpers) return Visit(copy);
    const uint32_t param = context_.facts.values_store[value].param_index();
    for (const Site& caller : context_.index.CallersOf(copy.call.function)) {
      const ir::ExprId passed = context_.index.PassedFor(caller, copy.call.function, param);
      if (passed) Follow({caller, passed}, depth + 1);
    }
    Visit(copy);
  }

  void Visit(const CopyingCall& copy) {
    const std::optional<Site> made = MadeBefore(copy);
    const KnownCall* wrapping = WrappingBehind(copy);
    const SeedPlace* seed = made && wrapping != nullptr ? LastSeedBefore(*made) : nullptr;
    if (seed != nullptr && CountsRanks(context_, seed->seed)) Report(copy, *seed, *wrapping);
  }

  const ir::Module& ModuleOf(const Site& site) const { return context_.program.module_of(site.function); }
  bool ComesBefore(const Site& first, const Site& then) const {
    return first.function == then.function && ModuleOf(first)[first.expr].end <= ModuleOf(then)[then.expr].begin;
  }

  bool IsSameVariable(const Site& one, const Site& other) const {
    if (one.function != other.function) return false;
    const ir::Expr& a = ModuleOf(one)[one.expr];
    const ir::Expr& b = ModuleOf(other)[other.expr];
    if (a.kind == ir::ExprKind::Name && b.kind == ir::ExprKind::Name) return ir::NameOf(a) == ir::NameOf(b);
    const base::NameId field = objects::FieldOfSelf(context_.program, one);
    return field && field == objects::FieldOfSelf(context_.program, other);
  }

  // `model = model.cuda()`, `model, optimizer = amp.initialize(model, optimizer)`: the model that it was.
  bool IsHandedOn(const Site& variable, const Definition& definition) const {
    const ir::Module& module = ModuleOf(variable);
    if (!definition.value || module[definition.value].kind != ir::ExprKind::Call) return false;
    return ir::AnyPart(module, definition.value, [&](ir::ExprId part) { return IsSameVariable({variable.function, part}, variable); });
  }

  // The call that makes the model of a variable, where one does on every way to the copy.
  std::optional<Site> MadeBefore(const CopyingCall& copy) const {
    const Site variable{copy.call.function, copy.model};
    std::optional<Site> made;
    for (const Definition& each : definitions_.To(variable.function, variable.expr)) {
      const bool is_before = each.value && ComesBefore({variable.function, each.value}, copy.call);
      if (!is_before || IsHandedOn(variable, each)) continue;
      if (ModuleOf(variable)[each.value].kind != ir::ExprKind::Call) return std::nullopt;
      made = Site{variable.function, each.value};
    }
    return made;
  }

  // One that stands behind the copy, in a block around it, and is handed the same model.
  const KnownCall* WrappingBehind(const CopyingCall& copy) const {
    const Site variable{copy.call.function, copy.model};
    for (const KnownCall& wrapping : wrappings_) {
      const ir::ExprId model = context_.index.ArgExpr(wrapping, "module");
      const Site site{wrapping.function, wrapping.expr};
      if (!model || !ComesBefore(copy.call, site) || !IsSameVariable({wrapping.function, model}, variable) || AreTwoArms(copy.call, site)) continue;
      if (IsKept(variable, copy.call, site)) return &wrapping;
    }
    return nullptr;
  }

  bool IsKept(const Site& variable, const Site& from, const Site& to) const {
    return std::ranges::all_of(definitions_.To(variable.function, variable.expr), [&](const Definition& each) {
      if (!each.value) return false;
      const Site value{variable.function, each.value};
      const bool is_between = ComesBefore(from, value) && ComesBefore(value, to);
      return !is_between || IsHandedOn(variable, each);
    });
  }

  // Whether only one of the two is ever run: their tests exclude one another.
  bool AreTwoArms(const Site& one, const Site& other) const {
    const std::vector<objects::Guard> guards = context_.guards.Of(one);
    return std::ranges::any_of(context_.guards.Of(other), [&](const objects::Guard& guard) {
      return std::ranges::any_of(guards, [&](const objects::Guard& each) { return each.test == guard.test && each.holds != guard.holds; });
    });
  }

  const SeedPlace* LastSeedBefore(const Site& made) const {
    const SeedPlace* last = nullptr;
    for (const SeedPlace& seed : seeds_) {
      if (!ComesBefore(seed.site, made)) continue;
      if (last == nullptr || ComesBefore(last->site, seed.site)) last = &seed;
    }
    return last;
  }

  void Report(const CopyingCall& copy, const SeedPlace& seed, const KnownCall& wrapping) {
    const std::string model = Quoted(context_, {copy.call.function, copy.model});
    Finding finding = FindingAt(context_, kAR511, Severity::Warning, Confidence::Likely, copy.call,
                                {"each rank copies its own weights: DDP gives all ranks the same weights of `{}` only after this", {model}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"the copy keeps what this rank drew", {}});
    AddLabel(finding, SpanOf(context_, seed.site), LabelRole::Why, {"each rank is seeded differently before it creates the model", {}});
    AddLabel(finding, SpanOf(context_, {wrapping.function, wrapping.expr}), LabelRole::Note, {"sends the weights of rank 0 to all ranks", {}});
    finding.help = {"copy the model from the wrapper's `module`, or add the rank to the seed only after the wrapping", {}};
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  FindingSink& sink_;
  objects::Definitions definitions_;
  std::vector<KnownCall> wrappings_;
  std::vector<SeedPlace> seeds_;
};

void CheckCopiedBeforeWrap(const Context& context, FindingSink& sink) { EarlyCopies(context, sink).Run(); }

}  // namespace

extern const Rule CopiedBeforeWrap = {
    .code = kAR511,
    .name = "copied-before-wrap",
    .severity = Severity::Warning,
    .on_by_default = false,
    .preview = kTooFewWereRead,
    .languages = "Python",
    .summary = "copy of a model that is made before DDP gives all ranks the same weights",
    .explanation = R"md(
## What it finds

A copy of a model, most often an average of its weights (EMA), that is created before the model is wrapped in
`DistributedDataParallel`, in a program that seeds each rank differently before it creates the model.

## Why it hurts

Each rank draws its own initial weights. The wrapper sends those of rank 0 to the others, but the copy was
taken before that and keeps what its rank drew. With a decay of 0.9999, the difference lasts for tens of
thousands of steps: ranks evaluate different averages, and which one is saved is arbitrary.

## Wrong

```python
torch.manual_seed(args.seed + rank)
model = create_model().cuda()
ema = copy.deepcopy(model)
model = DistributedDataParallel(model)
```

## Right

```python
torch.manual_seed(args.seed + rank)
model = DistributedDataParallel(create_model().cuda())
ema = copy.deepcopy(model.module)
```

## When it is silent

* All ranks are seeded alike before the model is created, or no seed is set there.
* The copy is made from the wrapped model.
* Model, copy and wrapper are not created in the same function.

## Fix

There is none: the place of the copy also decides other things, such as its device.

## Proof

There is nothing to replay.
)md",
    .check = CheckCopiedBeforeWrap};

}  // namespace allranks::rules
