#include <algorithm>
#include <utility>

#include "analyzer/base/option_attribute.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"

namespace allranks::rules {
namespace {

using knowledge::Coordinate;
using objects::KnownCall;
using objects::Site;
using variation::ValueId;

constexpr std::string_view kAR209 = "AR209";

// `args.rank`: the variable and its field.
struct Field {
  base::NameId object, name;
  bool operator==(const Field&) const = default;
};

class RanksOfEnvironment {
 public:
  RanksOfEnvironment(const Context& context, const KnownCall& init, FindingSink& sink)
      : context_(context), init_(init), module_id_(context.program.funcs[init.function].module), module_(context.program.modules[module_id_]), sink_(sink) {}

  void Run() {
    rank_ = FieldOf(context_.index.ArgExpr(init_, "rank"));
    size_ = FieldOf(context_.index.ArgExpr(init_, "world_size"));
    if (!rank_.name || !size_.name || !KeepsOneByDefault() || IsSetElsewhere()) return;
    std::vector<ir::StmtId> with, without;
    for (uint32_t i = 0; i < module_.stmts.size(); ++i) {
      const ir::StmtId stmt{i};
      if (Sets(stmt, rank_) && IsHere(stmt) && TakesRankOfEnvironment(stmt)) (SetsSizeAround(stmt) ? with : without).push_back(stmt);
    }
    if (with.empty()) return;
    for (const ir::StmtId stmt : without) Report(stmt, with.front());
  }

 private:
  Field FieldOf(ir::ExprId expr) const {
    if (!expr || module_[expr].kind != ir::ExprKind::Attribute) return {};
    const ir::Expr& object = module_[ir::ObjectOf(module_[expr])];
    return object.kind == ir::ExprKind::Name ? Field{ir::NameOf(object), ir::AttrOf(module_[expr])} : Field{};
  }

  bool IsHere(ir::StmtId stmt) const { return module_[stmt].begin < module_[init_.expr].begin && context_.index.FunctionOf(module_id_, stmt) == init_.function; }

  bool Sets(ir::StmtId stmt, const Field& field) const {
    if (module_[stmt].kind != ir::StmtKind::Assign) return false;
    for (const ir::ExprId target : ir::TargetsOf(module_, module_[stmt])) {
      if (FieldOf(target) == field) return true;
    }
    return false;
  }

  // `args.rank = int(os.environ["SLURM_PROCID"])`
  bool TakesRankOfEnvironment(ir::StmtId stmt) const {
    const ValueId value = context_.facts.value(module_id_, ir::AssignedOf(module_[stmt]));
    return value && context_.values.Is(value, Coordinate::Rank);
  }

  // In its block, or in one of those around it.
  bool SetsSizeAround(ir::StmtId stmt) const {
    const ir::Tree& tree = context_.index.tree(module_id_);
    for (ir::StmtId at = stmt; at; at = tree.Parent(at)) {
      const auto beside = module_.statements(tree.BlockOf(at));
      if (std::ranges::any_of(beside, [&](ir::StmtId other) { return Sets(other, size_); })) return true;
    }
    return false;
  }

  // `parser.add_argument("--world_size", default=1)`, of which no command of the project gives another number.
  bool KeepsOneByDefault() const {
    bool is_one = false;
    for (uint32_t m = 0; m < context_.program.modules.size(); ++m) {
      const ir::Module& module = context_.program.modules[ir::ModuleId{m}];
      for (const ir::ExprId call : context_.index.ExprsOf(ir::ModuleId{m}, ir::ExprKind::Call)) {
        if (!Declares(module, call)) continue;
        const ir::ExprId usual = KeywordOf(context_, ir::ModuleId{m}, call, "default");
        const ValueId value = usual ? context_.facts.value(ir::ModuleId{m}, usual) : ValueId::None();
        if (!value || context_.values.Int(value) != 1) return false;
        is_one = true;
      }
    }
    return is_one && std::ranges::none_of(context_.launch.lines(), [&](const objects::LaunchLine& line) {
      return std::ranges::any_of(line.options, [&](const objects::GivenOption& given) { return IsNameOfSize(given.name); });
    });
  }

  bool Declares(const ir::Module& module, ir::ExprId call) const {
    const ir::Expr& callee = module[ir::CalleeOf(module[call])];
    if (callee.kind != ir::ExprKind::Attribute || context_.program.text(ir::AttrOf(callee)) != "add_argument") return false;
    if (ir::ArgCount(module, module[call]) == 0) return false;
    const ir::Expr& first = module[ir::ArgAt(module, module[call], 0).value];
    const bool is_text = first.kind == ir::ExprKind::Constant && ir::ConstantKindOf(first) == ir::ConstantKind::Str;
    return is_text && IsNameOfSize(context_.program.text(ir::TextOf(first)));
  }

  bool IsNameOfSize(std::string_view option) const { return base::OptionAttribute(option) == context_.program.text(size_.name); }

  // A launcher of the project (`args.world_size = job.num_tasks`) may have set it before.
  bool IsSetElsewhere() const {
    for (uint32_t m = 0; m < context_.program.modules.size(); ++m) {
      const ir::Module& module = context_.program.modules[ir::ModuleId{m}];
      for (uint32_t i = 0; i < module.stmts.size(); ++i) {
        const ir::Stmt& stmt = module[ir::StmtId{i}];
        if (stmt.kind != ir::StmtKind::Assign || (ir::ModuleId{m} == module_id_ && context_.index.FunctionOf(module_id_, ir::StmtId{i}) == init_.function)) continue;
        for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
          if (module[target].kind == ir::ExprKind::Attribute && ir::AttrOf(module[target]) == size_.name) return true;
        }
      }
    }
    return false;
  }

  void Report(ir::StmtId stmt, ir::StmtId other) {
    // Who starts it without torchrun is mostly not written down.
    const bool is_started_so = context_.launch.LeavesOthers(module_id_);
    Finding finding = FindingAt(context_, kAR209, Severity::Error, is_started_so ? Confidence::Likely : Confidence::Possible, init_.function, stmt,
                                {"the rank is taken from the environment here, but `{}` stays 1: every rank except rank 0 is too large for that number of ranks",
                                 {Quoted(context_, {init_.function, context_.index.ArgExpr(init_, "world_size")})}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"sets the rank alone", {}});
    AddLabel(finding, HeadOf(context_, module_id_, other), LabelRole::Note, {"the number of ranks is set beside this one", {}});
    AddLabel(finding, SpanOf(context_, {init_.function, init_.expr}), LabelRole::Call, {"`ValueError` on the ranks from 1 on", {}});
    finding.help = {"set the number of ranks as well: Slurm gives it as `SLURM_NTASKS`", {}};
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  const KnownCall& init_;
  const ir::ModuleId module_id_;
  const ir::Module& module_;
  FindingSink& sink_;
  Field rank_, size_;
};

void CheckRankWithoutWorldSize(const Context& context, FindingSink& sink) {
  for (const KnownCall& call : context.index.known_calls()) {
    const bool is_init = call.entry->has_operation && call.entry->operation.op_class == knowledge::OpClass::Init;
    if (is_init) RanksOfEnvironment(context, call, sink).Run();
  }
}

}  // namespace

extern const Rule RankWithoutWorldSize = {
    .code = kAR209,
    .name = "rank-without-world-size",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooFewWereRead,
    .languages = "Python",
    .summary = "rank taken from a launcher's variables, but the number of ranks from none",
    .explanation = R"md(
## What it finds

A function that joins the job with `rank=args.rank, world_size=args.world_size` and reads both from the
variables of a launcher in one branch, but only the rank in another branch, mostly the one for Slurm. The
number of ranks is then the value of the option, which is 1 by default.

## Why it hurts

Under plain `srun`, each task has its own rank and assumes that it is in a job of one. Rank 0 starts and
trains alone. The others stop with `ValueError: rank should be less than world_size`, or wait for a rendezvous
that is over.

## Wrong

```python
elif "SLURM_PROCID" in os.environ:
    args.rank = int(os.environ["SLURM_PROCID"])
    args.gpu = args.rank % torch.cuda.device_count()
```

## Right

```python
elif "SLURM_PROCID" in os.environ:
    args.rank = int(os.environ["SLURM_PROCID"])
    args.world_size = int(os.environ["SLURM_NTASKS"])
    args.gpu = args.rank % torch.cuda.device_count()
```

## When it is silent

* The number is set in the branch, around it, or anywhere else in the program, for example by a script that
  submits the job.
* The default of the option is not 1, or a command of the project passes the option.
* No branch sets both: the numbers come from elsewhere.

The finding is *possible*, and hidden by default, if no command of the project starts the program with `srun`.

## Fix

There is none: which variable holds the number depends on the launcher.

## Proof

There is nothing to replay: the ranks never meet.
)md",
    .check = CheckRankWithoutWorldSize};

}  // namespace allranks::rules
