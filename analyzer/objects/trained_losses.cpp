#include "analyzer/objects/trained_losses.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace allranks::objects {

using variation::ValueKind;

// Of one function.
class TrainedLosses::Reader {
 public:
  Reader(const TrainedLosses& losses, FuncId function)
      : program_(losses.program_), facts_(losses.facts_), index_(losses.index_), values_(losses.values_), function_(function),
        module_id_(losses.program_.funcs[function].module), module_(losses.program_.module_of(function)) {
    for (uint32_t i = 0; i < module_.stmts.size(); ++i) {
      const ir::StmtId id{i};
      if (index_.FunctionOf(module_id_, id) == function) AddStatement(module_[id]);
    }
  }

  Origins Of(ir::ExprId expr) {
    Origins origins;
    steps_ = 0;
    Add(expr, origins);
    return origins;
  }

 private:
  // What is assigned to a name, and at which place of a tuple.
  struct Assigned {
    ir::ExprId value;
    std::optional<size_t> item;
  };

  void AddStatement(const ir::Stmt& stmt) {
    if (stmt.kind == ir::StmtKind::Assign) {
      for (const ir::ExprId target : ir::TargetsOf(module_, stmt)) AddTarget(target, ir::AssignedOf(stmt));
    } else if (stmt.kind == ir::StmtKind::AugAssign || stmt.kind == ir::StmtKind::AnnAssign) {
      if (ir::AssignedOf(stmt)) AddTarget(ir::ExprId{stmt.a}, ir::AssignedOf(stmt));
    } else if (stmt.kind == ir::StmtKind::Expr) {
      AddKept(ir::ValueOf(stmt));
    }
  }

  void AddTarget(ir::ExprId target, ir::ExprId value) {
    const ir::Expr& node = module_[target];
    if (node.kind == ir::ExprKind::Name) assigned_[ir::NameOf(node).index].push_back({value, std::nullopt});
    if (node.kind != ir::ExprKind::Tuple) return;
    const auto items = ir::Items(module_, node);
    // `a, b = c, d`
    const bool is_by_item = module_[value].kind == ir::ExprKind::Tuple && ir::Items(module_, module_[value]).size() == items.size();
    for (size_t i = 0; i < items.size(); ++i) {
      if (is_by_item) AddTarget(items[i], ir::Items(module_, module_[value])[i]);
      else if (module_[items[i]].kind == ir::ExprKind::Name) assigned_[ir::NameOf(module_[items[i]]).index].push_back({value, i});
    }
  }

  // `losses.append(loss)`.
  void AddKept(ir::ExprId call) {
    if (module_[call].kind != ir::ExprKind::Call || ir::ArgCount(module_, module_[call]) == 0) return;
    const ir::Expr& callee = module_[ir::CalleeOf(module_[call])];
    if (callee.kind != ir::ExprKind::Attribute || module_[ir::ObjectOf(callee)].kind != ir::ExprKind::Name) return;
    for (uint32_t i = 0; i < ir::ArgCount(module_, module_[call]); ++i) {
      assigned_[ir::NameOf(module_[ir::ObjectOf(callee)]).index].push_back({ir::ArgAt(module_, module_[call], i).value, std::nullopt});
    }
  }

  // Numbers of samples, of ranks and of rounds.
  bool IsNoData(ir::ExprId expr) const {
    const ValueId value = facts_.value(module_id_, expr);
    if (!value || facts_.values_store.has_param(value)) return false;
    const variation::Value& node = facts_.values_store[value];
    const bool is_length = node.kind == ValueKind::Derived && facts_.values_store.IsLength(node.symbol());
    return is_length || node.kind == ValueKind::Int || node.kind == ValueKind::Float || node.kind == ValueKind::Coordinate;
  }

  void Add(ir::ExprId expr, Origins& origins) {
    constexpr int kMostSteps = 4000;
    if (!expr || IsNoData(expr)) return;
    if (++steps_ > kMostSteps) {
      origins.has_other = true;
      return;
    }
    const ir::Expr& node = module_[expr];
    switch (node.kind) {
      case ir::ExprKind::Constant:
        return;
      case ir::ExprKind::Name:
        return AddName(expr, origins);
      case ir::ExprKind::Attribute:
        return AddMember(ir::ObjectOf(node), "." + std::string(program_.text(ir::AttrOf(node))), origins);
      case ir::ExprKind::Subscript: {
        const std::string_view key = values_.Str(facts_.value(module_id_, ir::RightOf(node)));
        return key.empty() ? Add(ir::LeftOf(node), origins) : AddMember(ir::LeftOf(node), "[" + std::string(key) + "]", origins);
      }
      case ir::ExprKind::Binary:
        Add(ir::LeftOf(node), origins);
        return Add(ir::RightOf(node), origins);
      case ir::ExprKind::Unary:
        return Add(ir::OperandOf(node), origins);
      case ir::ExprKind::Tuple:
      case ir::ExprKind::List:
        for (const ir::ExprId item : ir::Items(module_, node)) Add(item, origins);
        return;
      case ir::ExprKind::Call:
        return AddCall(expr, "", origins);
      default:
        origins.has_other = true;
    }
  }

  void AddName(ir::ExprId expr, Origins& origins) {
    const uint32_t name = ir::NameOf(module_[expr]).index;
    const auto found = assigned_.find(name);
    if (found == assigned_.end()) origins.has_other = true;
    if (found == assigned_.end() || !open_.insert(name).second) return;
    for (const Assigned& assigned : found->second) {
      const bool is_call = module_[assigned.value].kind == ir::ExprKind::Call;
      if (!assigned.item) Add(assigned.value, origins);
      else if (is_call) AddCall(assigned.value, "#" + std::to_string(*assigned.item), origins);
      else origins.has_other = true;
    }
    open_.erase(name);
  }

  // Of what a call yielded.
  void AddMember(ir::ExprId object, const std::string& member, Origins& origins) {
    const bool is_name = module_[object].kind == ir::ExprKind::Name;
    const auto found = is_name ? assigned_.find(ir::NameOf(module_[object]).index) : assigned_.end();
    if (found == assigned_.end()) origins.has_other = true;
    if (found == assigned_.end() || !open_.insert(found->first).second) return;
    for (const Assigned& assigned : found->second) {
      if (module_[assigned.value].kind == ir::ExprKind::Call && !assigned.item) AddCall(assigned.value, member, origins);
      else origins.has_other = true;
    }
    open_.erase(found->first);
  }

  void AddCall(ir::ExprId call, const std::string& part, Origins& origins) {
    const ir::Expr& node = module_[call];
    const ir::ExprId callee = ir::CalleeOf(node);
    Origins of_object, of_args;
    const bool is_method = module_[callee].kind == ir::ExprKind::Attribute;
    const std::string_view library = values_.External(facts_.value(module_id_, callee));
    // `loss.item()`
    if (is_method && library.empty()) Add(ir::ObjectOf(module_[callee]), of_object);
    for (uint32_t i = 0; i < ir::ArgCount(module_, node); ++i) Add(ir::ArgAt(module_, node, i).value, of_args);
    const variation::CallFact* fact = facts_.call(function_, call);
    const bool is_own = fact != nullptr && fact->function;
    const bool is_known = !library.empty() || (fact != nullptr && fact->kind == variation::CallKind::Known);
    const bool is_of_object = is_method && library.empty() && !of_object.has_other;
    const bool is_of_args = is_known && ir::ArgCount(module_, node) > 0;
    if (!is_own && !of_args.has_other && (is_of_object || is_of_args)) return Join(is_of_object ? of_object : Origins(), of_args, origins);
    Names names = NamesOf(call, is_own ? fact->function : FuncId::None());
    for (std::string& name : names) name += part;
    origins.calls.insert(std::move(names));
  }

  static void Join(const Origins& a, const Origins& b, Origins& origins) {
    origins.calls.insert(a.calls.begin(), a.calls.end());
    origins.calls.insert(b.calls.begin(), b.calls.end());
    origins.has_other = origins.has_other || a.has_other || b.has_other;
  }

  // What is called, where it has a name of its own; else empty.
  std::string NameOf(const variation::Value& value) const {
    switch (value.kind) {
      case ValueKind::External:
        return "external " + std::string(program_.text(value.name()));
      case ValueKind::Object:
        return "object " + std::string(program_.text(value.name())) + " at " + std::to_string(value.site());
      case ValueKind::Instance:
        return "instance " + std::to_string(value.class_id().index) + " of " + std::to_string(static_cast<int>(value.origin()));
      case ValueKind::Param:
        return "parameter " + std::to_string(value.function().index) + ":" + std::to_string(value.param_index());
      default:
        return {};
    }
  }

  Names NamesOf(ir::ExprId call, FuncId function) const {
    ir::ExprId callee = ir::CalleeOf(module_[call]);
    // `accelerator.unwrap_model(model)(x)` calls what `model(x)` does.
    if (module_[callee].kind == ir::ExprKind::Call && ir::ArgCount(module_, module_[callee]) == 1) callee = ir::ArgAt(module_, module_[callee], 0).value;
    const std::string args = "/" + std::to_string(ir::ArgCount(module_, module_[call]));
    if (function) return {"function " + std::to_string(function.index)};
    Names names;
    for (const ValueId leaf : values_.Leaves(facts_.value(module_id_, callee))) {
      const variation::Value& value = facts_.values_store[leaf];
      if (leaf) names.push_back("value " + std::to_string(leaf.index) + args);
      if (const std::string name = NameOf(value); !name.empty()) names.push_back(name + args);
    }
    const ir::Expr& node = module_[callee];
    if (node.kind == ir::ExprKind::Attribute) names.push_back("." + std::string(program_.text(ir::AttrOf(node))) + args);
    if (node.kind == ir::ExprKind::Name) names.push_back(std::string(program_.text(ir::NameOf(node))) + args);
    return names;
  }

  const binding::Program& program_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  const Values& values_;
  FuncId function_;
  ir::ModuleId module_id_;
  const ir::Module& module_;
  std::unordered_map<uint32_t, std::vector<Assigned>> assigned_;  // by NameId
  std::set<uint32_t> open_;                                       // names that are being looked into
  int steps_ = 0;
};

TrainedLosses::TrainedLosses(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                             const ProgramIndex& index, const Training& training)
    : program_(program), facts_(facts), index_(index), values_(program, knowledge, facts), neighbourhood_(program) {
  for (const Site& backward : training.backwards()) {
    const ir::Module& module = program.module_of(backward.function);
    const ir::Expr& call = module[backward.expr];
    // `loss.backward()`, `accelerator.backward(loss)`
    const bool has_args = ir::ArgCount(module, call) > 0;
    const ir::ExprId loss = has_args ? ir::ArgAt(module, call, 0).value : ir::ObjectOf(module[ir::CalleeOf(call)]);
    for (const Names& names : Reader(*this, backward.function).Of(loss).calls) lowered_[program_.funcs[backward.function].module].insert(names.begin(), names.end());
  }
}

bool TrainedLosses::AreHandedTo(const Site& call) const {
  Reader reader(*this, call.function);
  const std::vector<ir::ModuleId> files = neighbourhood_.Of(program_.funcs[call.function].module);
  const auto lowers = [&](const std::string& name) {
    return std::ranges::any_of(files, [&](ir::ModuleId file) {
      const auto lowered = lowered_.find(file);
      return lowered != lowered_.end() && lowered->second.contains(name);
    });
  };
  bool is_some = false;
  for (const ir::ExprId payload : PayloadsOf(call)) {
    const Origins origins = reader.Of(payload);
    const auto is_lowered = [&](const Names& names) { return std::ranges::any_of(names, lowers); };
    if (origins.has_other || !std::ranges::all_of(origins.calls, is_lowered)) return false;
    is_some = is_some || !origins.calls.empty();
  }
  return is_some;
}

// Of an operation that is known, what it communicates; of a helper, all that it is given.
std::vector<ir::ExprId> TrainedLosses::PayloadsOf(const Site& call) const {
  const auto known = std::ranges::find_if(index_.known_calls(), [&](const KnownCall& each) { return each.function == call.function && each.expr == call.expr; });
  if (known != index_.known_calls().end() && known->entry->has_operation && known->entry->operation.tensor_param) {
    const ir::ExprId tensor = index_.ArgExpr(*known, program_.text(known->entry->operation.tensor_param));
    if (tensor) return {tensor};
  }
  const ir::Module& module = program_.module_of(call.function);
  std::vector<ir::ExprId> args;
  for (uint32_t i = 0; i < ir::ArgCount(module, module[call.expr]); ++i) args.push_back(ir::ArgAt(module, module[call.expr], i).value);
  return args;
}

}  // namespace allranks::objects
