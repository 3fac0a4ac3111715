#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "analyzer/base/ports.h"
#include "analyzer/ir/walk.h"
#include "analyzer/objects/definition_names.h"
#include "analyzer/objects/main_guard.h"
#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

using objects::Guard;
using objects::Site;
using variation::ValueId;
using variation::ValueKind;

constexpr std::string_view kAR203 = "AR203";

// The name of the operation or setting that a value is, `environ:MASTER_PORT`; empty for others.
std::string_view OperationOfValue(const Context& context, ValueId value) {
  const variation::Value& node = context.facts.values_store[value];
  const bool is_named = node.kind == ValueKind::Unknown || node.kind == ValueKind::Derived;
  const base::NameId name = is_named ? context.facts.values_store.OperationOf(node) : base::NameId::None();
  return name ? context.program.text(name) : std::string_view();
}

// A number, or the text of one.
std::optional<int64_t> NumberOf(const Context& context, ValueId value) {
  if (const std::optional<int64_t> number = context.values.Int(value)) return number;
  const std::string_view text = context.values.Str(value);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && !text.empty() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// Of a script, and nothing that is seen calls it or speaks of it.
bool IsLeftOver(const Context& context, FuncId function) {
  const bool is_of_script = static_cast<bool>(objects::MainOf(context.program, context.program.funcs[function].module));
  return is_of_script && context.index.IsCalledByNobody(function) && !objects::IsNamed(context.program, context.index, function);
}

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
      // 0: the system picks one.
      const int64_t port = IsSetting(target, "MASTER_PORT") || IsNamedPort(target) ? PortOf(value).value_or(0) : 0;
      const bool is_word = IsSetting(target, "MASTER_PORT") && IsWord(value);
      if (!is_word && port == 0) continue;
      const FuncId function = context_.index.FunctionOf(id_, id);
      const Site site{function, value};
      if (IsNotLaunched(function) || IsLeftOver(context_, function) || IsWithoutLauncher(site)) return;
      if (IsSetting(target, "MASTER_PORT") ? IsAsked(site) || MeetsElsewhere(function) : ReadsPort(function)) return;
      if (IsSearchedFor(function, id)) return;
      if (is_word) ReportWord(site);
      else Report(site, port);
      return;
    }
  }

  // `while is_taken(port): port += 1`, or another one is set where this one is taken: it is only the first that is tried.
  bool IsSearchedFor(FuncId function, ir::StmtId port) const {
    for (uint32_t i = 0; i < module_.stmts.size(); ++i) {
      const ir::StmtId id{i};
      if (id != port && context_.index.FunctionOf(id_, id) == function && (SetsAnother(id) || Moves(id, port))) return true;
    }
    return false;
  }

  // `os.environ["MASTER_PORT"] = str(free_port())`
  bool SetsAnother(ir::StmtId id) const {
    if (module_[id].kind != ir::StmtKind::Assign || PortOf(ir::AssignedOf(module_[id]))) return false;
    for (const ir::ExprId target : ir::TargetsOf(module_, module_[id])) {
      if (IsSetting(target, "MASTER_PORT")) return true;
    }
    return false;
  }

  // `port += 1`, `port = port + 1`: of a variable that the port is read from or stored in.
  bool Moves(ir::StmtId id, ir::StmtId port) const {
    const bool is_augmented = module_[id].kind == ir::StmtKind::AugAssign;
    if (!is_augmented && module_[id].kind != ir::StmtKind::Assign) return false;
    const ir::ExprId target = is_augmented ? ir::ValueOf(module_[id]) : ir::TargetsOf(module_, module_[id])[0];
    if (module_[target].kind != ir::ExprKind::Name) return false;
    const auto holds = [&](ir::ExprId expr) { return ir::Mentions(module_, expr, ir::NameOf(module_[target])); };
    bool is_port = holds(ir::AssignedOf(module_[port]));
    for (const ir::ExprId set : ir::TargetsOf(module_, module_[port])) is_port = is_port || holds(set);
    return is_port && (is_augmented || holds(ir::AssignedOf(module_[id])));
  }

  void Report(const Site& site, int64_t port) {
    const bool is_possible = port <= base::kLastPort;
    Finding finding = FindingAt(
        context_, kAR203, is_possible ? Severity::Warning : Severity::Error, is_possible ? Confidence::Likely : Confidence::Certain,
        site,
        is_possible ? findings::Text{"the port is `{}` in every job, whatever the launcher says: two jobs on one machine collide",
                                     {std::to_string(port)}}
                    : findings::Text{"no port has the number {}: the last one is 65535", {std::to_string(port)}});
    AddLabel(finding, finding.span, LabelRole::Primary,
             {is_possible ? "overwrites the launcher's value" : "refused when the group is set up", {}});
    finding.help = {"keep what is there: `os.environ.setdefault(\"MASTER_PORT\", ...)`, or let the system choose a free port", {}};
    sink_.push_back(std::move(finding));
  }

  // `os.environ[name]`.
  bool IsSetting(ir::ExprId target, std::string_view name) const {
    if (module_[target].kind != ir::ExprKind::Subscript) return false;
    const ValueId object = context_.facts.value(id_, ir::LeftOf(module_[target]));
    const ValueId key = context_.facts.value(id_, ir::IndexOf(module_[target]));
    return context_.values.External(object) == "os.environ" && context_.values.Str(key) == name;
  }

  // A text without any digit.
  bool IsWord(ir::ExprId expr) const {
    const ValueId value = context_.facts.value(id_, expr);
    const std::string_view text = value ? context_.values.Str(value) : std::string_view();
    return !text.empty() && std::ranges::none_of(text, [](char c) { return c >= '0' && c <= '9'; });
  }

  void ReportWord(const Site& site) {
    Finding finding = FindingAt(context_, kAR203, Severity::Error, Confidence::Certain, site,
                                {"`{}` is not a port number: joining the job fails on every rank",
                                 {std::string(context_.values.Str(context_.facts.value(id_, site.expr)))}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"no number", {}});
    finding.help = {"keep what is there: `os.environ.setdefault(\"MASTER_PORT\", ...)`, or let the system choose a free port", {}};
    sink_.push_back(std::move(finding));
  }

  // A variable that is named after it, and is handed on.
  bool IsNamedPort(ir::ExprId target) const {
    return module_[target].kind == ir::ExprKind::Name && context_.program.text(ir::NameOf(module_[target])) == "master_port";
  }

  // The one number that is written in the program: here, or as the default of a parameter for which no call passes
  // another. None if it is chosen, an option, or read from somewhere.
  std::optional<int64_t> PortOf(ir::ExprId expr) const {
    ValueId value = context_.facts.value(id_, expr);
    if (!value) return std::nullopt;
    if (OperationOfValue(context_, value) == "builtins.str") value = context_.facts.values_store.Kids(value)[0];
    std::optional<int64_t> port;
    for (const ValueId leaf : context_.values.Leaves(value)) {
      const std::optional<int64_t> number = NumberOf(context_, leaf);
      if (!number || (port && *number != *port)) return std::nullopt;
      port = number;
    }
    return port;
  }

  // The ranks that are set up here, or in this file if not in this function, meet at a place of their own or are introduced by MPI, so that
  // nobody reads the port.
  bool MeetsElsewhere(FuncId function) const {
    std::optional<bool> here = MeetElsewhere([&](FuncId other) { return other == function; });
    if (!here) here = MeetElsewhere([&](FuncId other) { return context_.program.funcs[other].module == id_; });
    return here.value_or(false);
  }

  // Nothing: no ranks are set up in these functions.
  template <typename IsAsked>
  std::optional<bool> MeetElsewhere(const IsAsked& is_asked) const {
    std::optional<bool> meets;
    for (const objects::KnownCall& call : context_.index.known_calls()) {
      const std::string_view name = context_.program.text(call.entry->name);
      const bool is_rpc = name == "torch.distributed.rpc.init_rpc";
      if (!is_asked(call.function) || (!is_rpc && name != "torch.distributed.init_process_group")) continue;
      const ValueId method = is_rpc ? context_.values.MadeWith(context_.index.Arg(call, "rpc_backend_options"), "init_method")
                                    : context_.index.Arg(call, "init_method");
      const std::string_view text = context_.values.Str(method);
      const bool is_by_mpi = !is_rpc && context_.values.Str(context_.index.Arg(call, "backend")) == "mpi";
      if (!is_by_mpi && !text.starts_with("tcp://") && !text.starts_with("file://")) return false;
      meets = true;
    }
    return meets;
  }

  bool ReadsPort(FuncId function) const {
    for (const ir::ExprKind kind : {ir::ExprKind::Call, ir::ExprKind::Subscript}) {
      for (const ir::ExprId id : context_.index.ExprsOf(id_, kind)) {
        const ValueId value = context_.facts.value(id_, id);
        if (value && FunctionAround(context_, id_, id) == function && SpeaksOfEnvironment(value)) return true;
      }
    }
    return false;
  }

  bool SpeaksOfEnvironment(ValueId value) const {
    return context_.values.AnyPart(value, [&](ValueId part) {
      return context_.values.External(part) == "os.environ" || OperationOfValue(context_, part).starts_with("environ");
    });
  }

  // No launcher says otherwise: one process is the whole job, and nobody is to be met; a notebook starts its own.
  bool IsNotLaunched(FuncId function) const {
    return context_.launch.Of(function) == objects::RunBy::OneProcess || context_.program.infos[id_].path.ends_with(".ipynb");
  }

  // Where the environment lacks what a launcher sets: `"RANK" in os.environ` was asked, and no rank of a job gets here.
  bool IsWithoutLauncher(const Site& site) const {
    const std::vector<Guard> guards = context_.guards.Of(site);
    const bool asks = std::ranges::any_of(guards, [&](const Guard& guard) {
      const ValueId test = context_.facts.value(context_.program.funcs[guard.function].module, guard.test);
      return test && context_.values.AnyPart(test, [&](ValueId part) {
        const variation::Value& node = context_.facts.values_store[part];
        return variation::IsCoordinate(node, knowledge::Coordinate::Distributed) && node.variable().index != 0;
      });
    });
    return asks && context_.ranks.At(site, objects::SmallJob(context_.facts.job)).empty();
  }

  // Only where nothing else is known: under a test of the environment, or of a port that may be given, or where something has failed.
  bool IsAsked(const Site& site) const {
    if (IsInHandler(context_, site)) return true;
    const std::vector<Guard> guards = context_.guards.Of(site);
    return std::ranges::any_of(guards, [&](const Guard& guard) {
      const ValueId test = context_.facts.value(context_.program.funcs[guard.function].module, guard.test);
      const bool asks_port = test && context_.values.AnyPart(test, [&](ValueId part) {
        return OperationOfValue(context_, part).find("port") != std::string_view::npos;
      });
      return test && (asks_port || SpeaksOfEnvironment(test) || ReadsEnvironment(guard));
    });
  }

  // `"MASTER_PORT" in os.environ`: what the program itself sets somewhere is known to be there, and nothing in the value of
  // the test speaks of it any more.
  bool ReadsEnvironment(const Guard& guard) const {
    const ir::ModuleId module_id = context_.program.funcs[guard.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const auto holds = [&](ir::ExprKind kind, auto wanted) {
      return std::ranges::any_of(context_.index.ExprsOf(module_id, kind), [&](ir::ExprId id) {
        const bool is_inside = module[id].begin >= module[guard.test].begin && module[id].end <= module[guard.test].end;
        return is_inside && wanted(context_.facts.value(module_id, id));
      });
    };
    return holds(ir::ExprKind::Attribute, [&](ValueId value) { return context_.values.External(value) == "os.environ"; }) &&
           holds(ir::ExprKind::Constant, [&](ValueId value) { return context_.values.Str(value) == "MASTER_PORT"; });
  }

  const Context& context_;
  ir::ModuleId id_;
  const ir::Module& module_;
  FindingSink& sink_;
};

// The one text that a value may be, whoever passes it; empty: there are several, or something else.
std::string_view OneText(const Context& context, ValueId value) {
  std::string_view text;
  for (const ValueId leaf : value ? context.values.Leaves(value) : std::vector<ValueId>()) {
    const std::string_view each = context.values.Str(leaf);
    if (each.empty() || (!text.empty() && each != text)) return {};
    text = each;
  }
  return text;
}

// Where a text is written; nothing: not in any function, or in several places.
std::optional<Site> WrittenAt(const Context& context, std::string_view text) {
  std::optional<Site> found;
  for (uint32_t m = 0; m < context.program.modules.size(); ++m) {
    const ir::ModuleId module{m};
    for (const ir::ExprId id : context.index.ExprsOf(module, ir::ExprKind::Constant)) {
      const ValueId value = context.facts.value(module, id);
      if (!value || context.values.Str(value) != text) continue;
      const FuncId function = FunctionAround(context, module, id);
      if (found || !function) return std::nullopt;
      found = Site{function, id};
    }
  }
  return found;
}

// `init_method="tcp://localhost:23456"`, also where callers pass it.
void VisitInit(const Context& context, const objects::KnownCall& call, FindingSink& sink) {
  const ir::ExprId method = context.index.ArgExpr(call, "init_method");
  if (!method) return;
  const bool is_literal = context.program.module_of(call.function)[method].kind == ir::ExprKind::Constant;
  const std::string_view text = OneText(context, context.index.Arg(call, "init_method"));
  const size_t port = text.rfind(':');
  if (!text.starts_with("tcp://") || port < 6 || port + 1 >= text.size() || text.substr(port) == ":0") return;
  if (context.values.Int(context.index.Arg(call, "world_size")) == 1 || IsLeftOver(context, call.function)) return;
  const Site site = is_literal ? Site{call.function, method} : WrittenAt(context, text).value_or(Site{call.function, method});
  Finding finding = FindingAt(context, kAR203, Severity::Warning, Confidence::Likely, site,
                              {"every job meets at {}: the launcher's address and port are not used, and two jobs on one machine collide",
                               {"`" + std::string(text) + "`"}});
  AddLabel(finding, finding.span, LabelRole::Primary, {"hard-coded here", {}});
  finding.help = {"use `env://`, which is the default, or pass the address in", {}};
  sink.push_back(std::move(finding));
}

void CheckHardCodedRendezvous(const Context& context, FindingSink& sink) {
  for (uint32_t i = 0; i < context.program.modules.size(); ++i) {
    if (context.program.modules[ir::ModuleId{i}].language == ir::Language::Python) Module(context, ir::ModuleId{i}, sink).Run();
  }
  for (const objects::KnownCall& call : context.index.known_calls()) {
    if (context.program.text(call.entry->name) == "torch.distributed.init_process_group") VisitInit(context, call, sink);
  }
}

}  // namespace

extern const Rule HardCodedRendezvous = {
    .code = kAR203,
    .name = "hard-coded-rendezvous",
    .severity = Severity::Warning,
    .on_by_default = false,
    .preview = "20 of 28 findings were right while the rule was shown by default for a time, on unseen code, in programs that are seen to be started on ranks",
    .languages = "Python",
    .summary = "port or address at which the ranks meet, written into the program",
    .explanation = R"md(
## What it finds

`os.environ["MASTER_PORT"]`, or a variable `master_port`, that the program sets to a number, including the
default of a parameter for which no call passes another value; and an `init_method` of the form
`tcp://host:port` that is written in the program, in the call or where it is passed from. A number above
65535, or a text without digits, is an error: no port has it.

## Why it hurts

The number overrides what the launcher, the scheduler or the user said. The second job on the same machine
ends with `EADDRINUSE` or `The server socket has failed to listen`. Or, worse, its ranks join the first job
and both hang. After a crash the port stays in use for a while, and the restart fails.

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

* There is `setdefault`, `get` with a default, or a test of the environment around the assignment.
* It is in an exception handler: a second try after joining the job has failed.
* The port comes from somewhere else: an argument, a configuration, a free port of the system, 0.
* It is only the first port that is tried: it is counted up (`while is_taken(port): port += 1`), or the same
  function sets another one.
* The job has one process, or MPI introduces its ranks to each other.
* The function belongs to a script, and nothing calls it.

## Fix

There is none: the program does not show whether the launcher sets the port.

## Proof

There is nothing to replay: the defect needs a second job on the same machine.
)md",
    .check = CheckHardCodedRendezvous};

}  // namespace allranks::rules
