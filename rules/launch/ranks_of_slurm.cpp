#include "rules/launch/ranks_of_slurm.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "analyzer/ir/walk.h"
#include "analyzer/launch/job.h"
#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

constexpr std::string_view kGroupOfSlurm = "torch.distributed.init_process_group";
constexpr std::string_view kRankOfSlurm = "SLURM_PROCID";

// An attribute of a variable, `args.rank`.
struct FieldOf {
  base::NameId variable;
  base::NameId name;
  bool operator==(const FieldOf&) const = default;
};

class RanksOfSlurm {
 public:
  RanksOfSlurm(const Context& context, std::string_view code, FindingSink& sink) : context_(context), code_(code), sink_(sink) {}

  void Visit(const objects::KnownCall& call) {
    const ir::Module& module = context_.program.module_of(call.function);
    const FieldOf rank = FieldAt(module, ArgumentNamed(module, call.expr, "rank"));
    const FieldOf all = FieldAt(module, ArgumentNamed(module, call.expr, "world_size"));
    if (!rank.name || !all.name || IsSetByOthers(call.function, all.name) || IsGivenByCommand(all.name)) return;
    const std::vector<ir::StmtId> sizes = StoresOf(call.function, all);
    for (const ir::StmtId store : StoresOf(call.function, rank)) {
      if (!sizes.empty() && ReadsSlurm(module, module[store]) && !AnyIsOfSameRun(call.function, store, sizes)) return Report(call, store, all.name);
    }
  }

 private:
  FieldOf FieldAt(const ir::Module& module, ir::ExprId id) const {
    if (!id || module[id].kind != ir::ExprKind::Attribute) return {};
    const ir::Expr& object = module[ir::ObjectOf(module[id])];
    return object.kind == ir::ExprKind::Name ? FieldOf{ir::NameOf(object), ir::AttrOf(module[id])} : FieldOf{};
  }

  ir::ExprId ArgumentNamed(const ir::Module& module, ir::ExprId call, std::string_view name) const {
    for (uint32_t i = 0; i < ir::ArgCount(module, module[call]); ++i) {
      const ir::Arg arg = ir::ArgAt(module, module[call], i);
      if (arg.keyword && context_.program.text(arg.keyword) == name) return arg.value;
    }
    return ir::ExprId::None();
  }

  // The assignments to a field in a function.
  std::vector<ir::StmtId> StoresOf(FuncId function, const FieldOf& field) const {
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    const ir::Module& module = context_.program.modules[module_id];
    std::vector<ir::StmtId> stores;
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::StmtId id{i};
      if (module[id].kind != ir::StmtKind::Assign || context_.index.FunctionOf(module_id, id) != function) continue;
      for (const ir::ExprId target : ir::TargetsOf(module, module[id])) {
        if (FieldAt(module, target) == field) stores.push_back(id);
      }
    }
    return stores;
  }

  bool ReadsSlurm(const ir::Module& module, const ir::Stmt& store) const {
    return ir::AnyPart(module, ir::AssignedOf(store), [&](ir::ExprId id) {
      const ir::Expr& expr = module[id];
      const bool is_text = expr.kind == ir::ExprKind::Constant && ir::ConstantKindOf(expr) == ir::ConstantKind::Str;
      return is_text && context_.program.text(ir::TextOf(expr)) == kRankOfSlurm;
    });
  }

  // Whether a run may come to one of these and to a statement: they are not in two arms of one test.
  bool AnyIsOfSameRun(FuncId function, ir::StmtId store, const std::vector<ir::StmtId>& others) const {
    const ir::Tree& tree = context_.index.tree(context_.program.funcs[function].module);
    const auto stand_in_one_block = [&](ir::StmtId first, ir::StmtId second) {
      for (ir::StmtId a = first; a; a = tree.Parent(a)) {
        for (ir::StmtId b = second; b; b = tree.Parent(b)) {
          if (a != b && tree.BlockOf(a) == tree.BlockOf(b)) return true;
        }
      }
      return false;
    };
    return std::ranges::any_of(others, [&](ir::StmtId other) { return stand_in_one_block(store, other); });
  }

  // Another function of the project gives the field its value. Copies of the same function are none of these.
  bool IsSetByOthers(FuncId function, base::NameId field) const {
    const base::NameId name = context_.program.function(function).name;
    for (uint32_t m = 0; m < context_.program.modules.size(); ++m) {
      const ir::ModuleId module_id{m};
      const ir::Module& module = context_.program.modules[module_id];
      for (uint32_t i = 0; i < module.stmts.size(); ++i) {
        const ir::Stmt& stmt = module[ir::StmtId{i}];
        if (stmt.kind != ir::StmtKind::Assign) continue;
        bool sets = false;
        for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
          sets = sets || (module[target].kind == ir::ExprKind::Attribute && ir::AttrOf(module[target]) == field);
        }
        const FuncId around = sets ? context_.index.FunctionOf(module_id, ir::StmtId{i}) : FuncId();
        if (around && around != function && context_.program.function(around).name != name) return true;
      }
    }
    return false;
  }

  // `srun python train.py --world_size 8`
  bool IsGivenByCommand(base::NameId field) const {
    const std::string option = "--" + std::string(context_.program.text(field));
    return AnyJob([&](const launch::Job& job) {
      return std::ranges::any_of(job.args, [&](const launch::Word& arg) { return arg.text().substr(0, arg.text().find('=')) == option; });
    });
  }

  template <class IsWanted>
  bool AnyJob(IsWanted is_wanted) const {
    return std::ranges::any_of(context_.launches.files, [&](const launch::LaunchFile& file) { return std::ranges::any_of(file.jobs, is_wanted); });
  }

  void Report(const objects::KnownCall& call, ir::StmtId store, base::NameId size) {
    const ir::ModuleId module_id = context_.program.funcs[call.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const std::string_view name = context_.program.text(size);
    if (!told_.insert(std::string(context_.program.text(context_.program.function(call.function).name))).second) return;
    const bool is_of_slurm = AnyJob([](const launch::Job& job) { return job.Find("srun") != nullptr; });
    Finding finding = FindingAt(context_, code_, Severity::Error, is_of_slurm ? Confidence::Likely : Confidence::Possible, call.function, store,
                                {"ranks that Slurm starts get their numbers here, and `{}` is not set as it is for other launchers: ranks from 1 on are refused, or rank 0 waits", {std::string(name)}});
    AddLabel(finding, module.span(call.expr), LabelRole::Note, {"the process group is made with it", {}});
    finding.help = {"read `SLURM_NTASKS` into `{}`", {std::string(name)}};
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  std::string_view code_;
  FindingSink& sink_;
  std::set<std::string> told_;  // names of functions: a copy is no other finding
};

}  // namespace

void FindRanksOfSlurm(const Context& context, std::string_view code, FindingSink& sink) {
  RanksOfSlurm ranks(context, code, sink);
  for (const objects::KnownCall& call : context.index.known_calls()) {
    if (context.program.text(call.entry->name) == kGroupOfSlurm) ranks.Visit(call);
  }
}

}  // namespace allranks::rules
