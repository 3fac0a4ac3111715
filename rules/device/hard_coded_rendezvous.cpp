#include <algorithm>

#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using variation::ValueId;

constexpr std::string_view kCode = "AR203";

class Module {
 public:
  Module(const Context& context, ir::ModuleId id, FindingSink& sink)
      : context_(context), id_(id), module_(context.program.modules[id]), sink_(sink) {}

  void Run() {
    for (uint32_t i = 0; i < module_.stmts.size(); ++i) {
      if (module_[ir::StmtId{i}].kind == ir::StmtKind::Assign) VisitAssign(ir::StmtId{i});
    }
  }

 private:
  // `os.environ["MASTER_PORT"] = "12355"`.
  void VisitAssign(ir::StmtId id) {
    const ir::Stmt& stmt = module_[id];
    const ir::ExprId value = ir::AssignedOf(stmt);
    for (const ir::ExprId target : ir::TargetsOf(module_, stmt)) {
      if (!(IsPort(target) || IsNamedPort(target)) || !IsFixed(value)) continue;
      const FuncId function = context_.index.FunctionOf(id_, id);
      const objects::Site site{function, value};
      if (IsOneProcess(function) || (IsPort(target) ? IsAsked(site) : ReadsEnvironment(function))) return;
      Finding finding = FindingAt(context_, kCode, Severity::Warning, Confidence::Likely, site,
                                  {"the port is `{}` in every job, whatever the launcher says: two jobs on one machine meet there",
                                   {Quoted(context_, site)}});
      AddLabel(finding, finding.span, LabelRole::Primary, {"overwrites what the environment says", {}});
      finding.help = {"keep what is there: `os.environ.setdefault(\"MASTER_PORT\", ...)`, or let the system choose a free port", {}};
      sink_.push_back(std::move(finding));
    }
  }

  bool IsPort(ir::ExprId target) const {
    if (module_[target].kind != ir::ExprKind::Subscript) return false;
    const ValueId object = context_.facts.value(id_, ir::LeftOf(module_[target]));
    const ValueId key = context_.facts.value(id_, ir::IndexOf(module_[target]));
    return context_.values.External(object) == "os.environ" && context_.values.Str(key) == "MASTER_PORT";
  }

  // A variable that is named after it, and is handed on.
  bool IsNamedPort(ir::ExprId target) const {
    return module_[target].kind == ir::ExprKind::Name && context_.program.text(ir::NameOf(module_[target])) == "master_port";
  }

  bool ReadsEnvironment(FuncId function) const {
    const ir::Function& node = context_.program.function(function);
    const std::string_view text = TextOf(context_, {module_.file, node.begin, node.end});
    return HoldsWord(text, {"environ.get(\"MASTER_PORT", "environ.get('MASTER_PORT", "getenv(\"MASTER_PORT", "in os.environ"});
  }

  // A number in the program, not one that is chosen or passed. 0 lets the system choose.
  bool IsFixed(ir::ExprId value) const {
    const bool is_text = module_[value].kind == ir::ExprKind::Call && ir::ArgCount(module_, module_[value]) == 1 &&
                         TextOf(context_, id_, ir::CalleeOf(module_[value])) == "str";
    const ir::Expr& expr = module_[is_text ? ir::ArgAt(module_, module_[value], 0).value : value];
    if (expr.kind != ir::ExprKind::Constant) return false;
    const std::string_view text = TextOf(context_, {module_.file, expr.begin, expr.end});
    return text.find_first_of("123456789") != std::string_view::npos;
  }

  // The whole job is this process: nobody is to be met.
  bool IsOneProcess(FuncId function) const {
    for (uint32_t i = 0; i < module_.stmts.size(); ++i) {
      const ir::Stmt& stmt = module_[ir::StmtId{i}];
      if (stmt.kind != ir::StmtKind::Assign || context_.index.FunctionOf(id_, ir::StmtId{i}) != function) continue;
      const std::string_view text = TextOf(context_, module_.span(ir::StmtId{i}));
      if (HoldsWord(text, {"WORLD_SIZE"}) && HoldsWord(text, {"\"1\"", "'1'", "str(1)"})) return true;
    }
    return std::ranges::any_of(context_.index.known_calls(), [&](const objects::KnownCall& call) {
      return call.function == function && context_.values.Int(context_.index.Arg(call, "world_size")) == 1;
    });
  }

  // Only where nothing else is known: under a test of the environment.
  bool IsAsked(const objects::Site& site) const {
    const std::vector<objects::Guard> guards = context_.reach.Guards(site);
    return std::ranges::any_of(guards, [&](const objects::Guard& guard) {
      return HoldsWord(TextWithOrigins(context_, {guard.function, guard.test}), {"MASTER_", "environ", "getenv", "port"});
    });
  }

  const Context& context_;
  ir::ModuleId id_;
  const ir::Module& module_;
  FindingSink& sink_;
};

// `init_method="tcp://localhost:23456"`.
void VisitInit(const Context& context, const objects::KnownCall& call, FindingSink& sink) {
  const ir::ExprId method = context.index.ArgExpr(call, "init_method");
  const ir::Module& module = context.program.module_of(call.function);
  if (!method || module[method].kind != ir::ExprKind::Constant) return;
  const std::string_view text = context.values.Str(context.index.Arg(call, "init_method"));
  const size_t port = text.rfind(':');
  if (!text.starts_with("tcp://") || port < 6 || port + 1 >= text.size() || text.substr(port) == ":0") return;
  if (context.values.Int(context.index.Arg(call, "world_size")) == 1) return;
  const objects::Site site{call.function, method};
  Finding finding = FindingAt(context, kCode, Severity::Warning, Confidence::Likely, site,
                              {"every job meets at {}: the launcher's address and port are not used, and two jobs on one "
                               "machine meet there",
                               {"`" + std::string(text) + "`"}});
  AddLabel(finding, finding.span, LabelRole::Primary, {"written down here", {}});
  finding.help = {"use `env://`, which is the default, or pass the address in", {}};
  sink.push_back(std::move(finding));
}

void Check(const Context& context, FindingSink& sink) {
  for (uint32_t i = 0; i < context.program.modules.size(); ++i) {
    if (context.program.modules[ir::ModuleId{i}].language == ir::Language::Python) Module(context, ir::ModuleId{i}, sink).Run();
  }
  for (const objects::KnownCall& call : context.index.known_calls()) {
    if (context.program.text(call.entry->name) == "torch.distributed.init_process_group") VisitInit(context, call, sink);
  }
}

}  // namespace

extern const Rule HardCodedRendezvous = {
    .code = kCode,
    .name = "hard-coded-rendezvous",
    .severity = Severity::Warning,
    .languages = "Python",
    .summary = "port or address at which the ranks meet, written into the program",
    .explanation = R"md(
## What it finds

`os.environ["MASTER_PORT"]`, or a variable `master_port`, set to a number in the program, and an `init_method`
of the form `tcp://host:port` that is a literal.

## Why it hurts

The number replaces what the launcher, the scheduler or the user said. The second job on the same machine ends
with `EADDRINUSE` or `The server socket has failed to listen`, or, worse, its ranks join the first job and
both hang. After a crash the port stays taken for a while, and the restart fails.

## Wrong

```python
os.environ["MASTER_PORT"] = "12355"
dist.init_process_group("nccl", rank=rank, world_size=world_size)
```

## Right

```python
os.environ.setdefault("MASTER_PORT", "12355")
dist.init_process_group("nccl", rank=rank, world_size=world_size)
```

## When it is silent

* `setdefault`, `get` with a default, or a test of the environment around the assignment.
* The port comes from somewhere: an argument, a configuration, a free port of the system, 0.
* The job has one process.

## Fix

There is none: whether the launcher sets the port is not seen in the program.

## Proof

There is nothing to replay: it takes a second job on the same machine.
)md",
    .check = Check};

}  // namespace allranks::rules
