#include "rules/device/local_rank_name.h"

#include <algorithm>
#include <optional>
#include <set>

#include "analyzer/binding/neighbourhood.h"
#include "rules/finding_parts.h"
#include "rules/source_edits.h"

namespace allranks::rules {

using objects::KnownCall;
using objects::Site;
using variation::ValueId;

// At one place.
class LocalRank {
 public:
  LocalRank(const Context& context, LocalRankNames& names, const Site& place)
      : context_(context), names_(names), place_(place), module_id_(context.program.funcs[place.function].module), module_(context.program.modules[module_id_]) {}

  LocalRankText Text() const {
    if (const std::string variable = Variable(); !variable.empty()) return {variable, {}};
    if (module_.language != ir::Language::Python) return {};
    if (const std::string index = IndexOfProcess(); !index.empty()) return {index, {}};
    if (names_.IsStarted(place_.function)) return {};
    const std::optional<Site> source = SourceOf(place_);
    if (const std::string called = source ? Beside(*source) : std::string(); !called.empty()) return {called, {}};
    const std::string variable = FromLauncher(source);
    if (variable.empty()) return {};
    return {"int(os.environ[\"" + variable + "\"])", variable};
  }

 private:
  // On every way to the place: an earlier statement of a block around it.
  bool IsBefore(ir::StmtId id) const {
    const ir::Tree& tree = context_.index.tree(module_id_);
    if (module_[id].end > module_[place_.expr].begin || context_.index.FunctionOf(module_id_, id) != place_.function) return false;
    for (ir::StmtId at = tree.StatementOf(place_.expr); at; at = tree.Parent(at)) {
      if (tree.BlockOf(at) == tree.BlockOf(id)) return true;
    }
    return false;
  }

  std::string Variable() const {
    for (const ir::StmtId id : names_.AssignedIn(module_id_)) {
      if (IsBefore(id)) return std::string(context_.program.text(ir::NameOf(module_[ir::TargetsOf(module_, module_[id])[0]])));
    }
    return {};
  }

  // `def run(i, args)` of `mp.spawn(run, args=(args,))`.
  std::string IndexOfProcess() const {
    for (const KnownCall* call : names_.with_index_) {
      for (const knowledge::RoleOf& role : call->entry->roles) {
        if (role.role != knowledge::Role::StartsWithIndex) continue;
        const ValueId started = context_.index.Arg(*call, context_.program.text(role.param));
        const bool is_this = started && context_.facts.values_store[started].function() == place_.function;
        const std::vector<ir::Param>& params = context_.program.function(place_.function).params;
        const size_t first = is_this && context_.facts.values_store.ReceiverOf(started) ? 1 : 0;
        if (is_this && first < params.size() && !IsAssigned(params[first].name)) return std::string(context_.program.text(params[first].name));
      }
    }
    return {};
  }

  bool IsAssigned(base::NameId name) const {
    for (uint32_t i = 0; i < module_.stmts.size(); ++i) {
      const ir::Stmt& stmt = module_[ir::StmtId{i}];
      const bool assigns = stmt.kind == ir::StmtKind::Assign || stmt.kind == ir::StmtKind::AugAssign;
      if (!assigns || context_.index.FunctionOf(module_id_, ir::StmtId{i}) != place_.function) continue;
      if (stmt.kind == ir::StmtKind::AugAssign && IsName(ir::ValueOf(stmt), name)) return true;
      if (stmt.kind != ir::StmtKind::Assign) continue;
      for (const ir::ExprId target : ir::TargetsOf(module_, stmt)) {
        if (IsName(target, name)) return true;
      }
    }
    return false;
  }

  bool IsName(ir::ExprId expr, base::NameId name) const {
    return module_[expr].kind == ir::ExprKind::Name && ir::NameOf(module_[expr]) == name;
  }

  // Where the number comes from.
  std::optional<Site> SourceOf(const Site& number) const {
    constexpr size_t kLongest = 64;
    const std::vector<variation::WhyStep> steps =
        variation::ExplainVariation(context_.program, context_.knowledge, context_.facts, number.function, number.expr, kLongest);
    if (steps.empty()) return std::nullopt;
    return Site{steps.back().function, steps.back().expr};
  }

  // `hvd.local_rank()` beside `hvd.rank()`, `accelerator.local_process_index` beside `accelerator.process_index`, where the same name stands for
  // the library or the object at the place.
  std::string Beside(const Site& source) const {
    if (source.function != place_.function && context_.program.funcs[source.function].module != module_id_) return {};
    const bool is_call = module_[source.expr].kind == ir::ExprKind::Call;
    const ir::ExprId member = is_call ? ir::CalleeOf(module_[source.expr]) : source.expr;
    const KnownCall* known = context_.index.KnownCallAt(source);
    if (known == nullptr || module_[member].kind != ir::ExprKind::Attribute) return {};
    const ir::ExprId object = ir::ObjectOf(module_[member]);
    const bool is_here = source.function == place_.function || IsOfFile(object);
    const std::string local = "local_" + std::string(context_.program.text(ir::AttrOf(module_[member])));
    if (module_[object].kind != ir::ExprKind::Name || !is_here || !Exists(*known, local)) return {};
    return std::string(context_.program.text(ir::NameOf(module_[object]))) + "." + local + (is_call ? "()" : "");
  }

  // A module that the file imports.
  bool IsOfFile(ir::ExprId object) const {
    const ValueId value = context_.facts.value(module_id_, object);
    return value && !context_.values.External(value).empty();
  }

  bool Exists(const KnownCall& call, std::string_view local) const {
    const std::string_view name = context_.program.text(call.entry->name);
    const std::string beside = std::string(name.substr(0, name.rfind('.') + 1)) + std::string(local);
    const base::NameId found = context_.program.names->Find(beside);
    if (found && context_.knowledge.FindEntry(found)) return true;
    const base::NameId owner = context_.program.names->Find(name.substr(0, std::min(name.rfind('.'), name.size())));
    const base::NameId member = context_.program.names->Find(local);
    const knowledge::ClassId known = owner ? context_.knowledge.FindClass(owner) : knowledge::ClassId::None();
    return known && member && context_.knowledge.FindMember(known, member);
  }

  // The variable of the launcher that says the rank, which the program reads itself (`SLURM_PROCID`), hands to the group (`rank=...`) or leaves
  // to the group to read (`RANK`).
  std::string FromLauncher(const std::optional<Site>& source) const {
    const std::string read = source ? BesideVariable(*source) : std::string();
    if (!read.empty()) return read;
    if (names_.inits_.empty()) return {};
    std::set<std::string> found;
    const std::vector<ir::ModuleId> files = binding::Neighbourhood(context_.program).Of(module_id_);
    for (const KnownCall* call : names_.inits_) {
      if (std::ranges::count(files, context_.program.funcs[call->function].module) > 0) found.insert(OfGroup(*call));
    }
    return found.size() == 1 ? *found.begin() : std::string();
  }

  std::string OfGroup(const KnownCall& init) const {
    const bool takes_rank = std::ranges::any_of(init.entry->params, [&](base::NameId param) { return context_.program.text(param) == "rank"; });
    const ir::ExprId rank = context_.index.ArgExpr(init, "rank");
    if (!rank) return takes_rank ? "LOCAL_RANK" : std::string();
    const std::optional<Site> source = SourceOf({init.function, rank});
    return source ? BesideVariable(*source) : std::string();
  }

  // The variable that is named there.
  std::string BesideVariable(const Site& source) const {
    const ir::ModuleId module = context_.program.funcs[source.function].module;
    const source::Span span = SpanOf(context_, source);
    for (const ir::ExprId expr : context_.index.ExprsBeginningIn(module, span.begin, span.end)) {
      const ir::Expr& node = context_.program.modules[module][expr];
      if (node.kind != ir::ExprKind::Constant || ir::ConstantKindOf(node) != ir::ConstantKind::Str) continue;
      if (const base::NameId local = context_.knowledge.LocalRankBeside(ir::TextOf(node))) return std::string(context_.program.text(local));
    }
    return {};
  }

  const Context& context_;
  LocalRankNames& names_;
  const Site place_;
  const ir::ModuleId module_id_;
  const ir::Module& module_;
};

LocalRankNames::LocalRankNames(const Context& context) : context_(context) {
  for (const KnownCall& call : context.index.known_calls()) {
    if (call.entry->Has(knowledge::Role::StartsWithIndex)) with_index_.push_back(&call);
    if (call.entry->has_operation && call.entry->operation.op_class == knowledge::OpClass::Init) inits_.push_back(&call);
  }
}

LocalRankText LocalRankNames::At(const Site& rank) { return LocalRank(context_, *this, rank).Text(); }

const std::vector<ir::StmtId>& LocalRankNames::AssignedIn(ir::ModuleId id) {
  const auto [known, is_new] = assigned_.try_emplace(id.index);
  if (!is_new) return known->second;
  const ir::Module& module = context_.program.modules[id];
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::Stmt& stmt = module[ir::StmtId{i}];
    if (stmt.kind != ir::StmtKind::Assign) continue;
    const ir::ExprList targets = ir::TargetsOf(module, stmt);
    if (targets.size() != 1 || module[targets[0]].kind != ir::ExprKind::Name) continue;
    const ValueId value = context_.facts.value(id, targets[0]);
    const bool is_local = value && variation::IsCoordinate(context_.facts.values_store[value], knowledge::Coordinate::LocalRank);
    if (is_local) known->second.push_back(ir::StmtId{i});
  }
  return known->second;
}

bool LocalRankNames::IsStarted(variation::FuncId function) {
  if (!starts_) starts_.emplace(context_.program, context_.facts, context_.index);
  return starts_->IsStarted(function);
}

}  // namespace allranks::rules
