#include "analyzer/objects/launch_signs.h"

#include <algorithm>
#include <string>

#include "analyzer/objects/switches.h"
#include "analyzer/objects/values.h"

namespace allranks::objects {
namespace {

using knowledge::RunBy;
using variation::ValueKind;

constexpr std::string_view kTrainer = "lightning.pytorch.Trainer.";
// Arguments by which a trainer is told of several devices.
constexpr std::string_view kTellOfMore[] = {"devices", "gpus", "num_nodes", "strategy"};

class Finder {
 public:
  Finder(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
         const ProgramIndex& index)
      : program_(program), knowledge_(knowledge), facts_(facts), index_(index), values_(program, knowledge, facts),
        signs_(program.funcs.size()) {}

  std::vector<LaunchSigns> Run() {
    for (const KnownCall& call : index_.known_calls()) VisitKnown(call);
    for (uint32_t m = 0; m < program_.modules.size(); ++m) VisitModule(ir::ModuleId{m});
    for (const KnownCall& call : index_.known_calls()) VisitSpawnOfOne(call);
    for (LaunchSigns& signs : signs_) {
      // Who says `WORLD_SIZE=1` and then makes a group makes one of this process alone.
      if ((signs & kAsksForOne) != 0) signs &= static_cast<LaunchSigns>(~(kMakesJob | kJoinsJob));
    }
    return std::move(signs_);
  }

 private:
  void Add(FuncId function, LaunchSigns signs) { signs_[function.index] |= signs; }

  bool IsOff(FuncId function, ir::ExprId expr) const { return IsSwitchedOff(program_, facts_, index_, {function, expr}); }

  void VisitKnown(const KnownCall& call) {
    const knowledge::Entry& entry = *call.entry;
    if (IsOff(call.function, call.expr)) return;
    if (entry.Has(knowledge::Role::StartsWithIndex)) Add(call.function, kMakesJob);
    if (entry.StartsProcesses()) Add(call.function, kStartsRanks);
    const bool asks = entry.yield.kind == knowledge::YieldKind::Formula && !entry.is_attribute && !CountsDevices(entry);
    if (entry.has_operation || asks) Add(call.function, kSpeaksToRanks);
    if (!entry.has_operation || entry.operation.op_class != knowledge::OpClass::Init) return;
    const bool is_alone = (entry.size_param && values_.Int(index_.Arg(call, program_.text(entry.size_param))) == 1) ||
                          IsOneRank(index_.Arg(call, "rank"));
    Add(call.function, is_alone ? kJobOfOne : kMakesJob | kMakesGroup);
  }

  // `torch.cuda.device_count()` asks the machine, and no other process.
  bool CountsDevices(const knowledge::Entry& entry) const {
    const knowledge::Formula& formula = knowledge_[entry.yield.formula];
    return formula.kind == knowledge::FormulaKind::Coordinate && formula.coordinate == knowledge::Coordinate::LocalWorldSize;
  }

  // `mp.spawn(work, nprocs=1)`: the group that the one process makes is its own, unless others start it as well.
  void VisitSpawnOfOne(const KnownCall& call) {
    if (!StartsOne(call) || IsOff(call.function, call.expr)) return;
    signs_[call.function.index] &= static_cast<LaunchSigns>(~(kMakesJob | kStartsRanks));
    for (const knowledge::RoleOf& role : call.entry->roles) {
      const ValueId started = role.role == knowledge::Role::StartsWithIndex ? index_.Arg(call, program_.text(role.param)) : ValueId::None();
      if (!started || facts_.values_store[started].kind != ValueKind::Function) continue;
      const FuncId function = facts_.values_store[started].function();
      const bool is_alone = index_.CallersOf(function).empty() && std::ranges::none_of(index_.known_calls(), [&](const KnownCall& other) {
        return Starts(other, function) && !StartsOne(other);
      });
      if (!is_alone) continue;
      for (const FuncId run : index_.RunBy({function})) signs_[run.index] &= static_cast<LaunchSigns>(~kMakesJob);
      Add(function, kJobOfOne | kAsksForOne);
    }
  }

  bool StartsOne(const KnownCall& call) const {
    return std::ranges::any_of(call.entry->roles, [&](const knowledge::RoleOf& role) {
      return role.role == knowledge::Role::ProcessCount && call.entry->Has(knowledge::Role::StartsWithIndex) &&
             values_.Int(index_.Arg(call, program_.text(role.param))) == 1;
    });
  }

  bool Starts(const KnownCall& call, FuncId function) const {
    return std::ranges::any_of(call.entry->roles, [&](const knowledge::RoleOf& role) {
      if (!role.StartsProcesses()) return false;
      const ValueId started = index_.Arg(call, program_.text(role.param));
      return started && facts_.values_store[started].kind == ValueKind::Function && facts_.values_store[started].function() == function;
    });
  }

  void VisitModule(ir::ModuleId module_id) {
    const ir::Module& module = program_.modules[module_id];
    for (const ir::ExprId call : index_.ExprsOf(module_id, ir::ExprKind::Call)) {
      const FuncId function = FunctionAt(module_id, call);
      if (!function || IsOff(function, call)) continue;
      VisitCall(function, module_id, call);
      const ir::ExprId callee = ir::CalleeOf(module[call]);
      const std::string_view name = NameOf(module_id, callee);
      if (name == "os.getenv" || name == "os.environ.get") VisitVariable(function, FirstArg(module, call));
    }
    for (const ir::ExprId read : index_.ExprsOf(module_id, ir::ExprKind::Subscript)) {
      const FuncId function = FunctionAt(module_id, read);
      const bool is_environment = function && NameOf(module_id, ir::LeftOf(module[read])) == "os.environ" && !IsOff(function, read);
      if (is_environment) VisitVariable(function, ir::RightOf(module[read]));
    }
    for (uint32_t i = 0; i < module.stmts.size(); ++i) VisitStore(module_id, ir::StmtId{i});
    for (uint32_t f = program_.first_func[module_id.index]; f < program_.first_func[module_id.index] + module.functions.size(); ++f) VisitOwner(FuncId{f});
  }

  // A method of a class whose base is of a service, which calls it: `class Predictor(cog.BasePredictor)`.
  void VisitOwner(FuncId function) {
    const binding::ClassId owner = program_.funcs[function].owner;
    if (!owner) return;
    for (const base::NameId base : program_.classes[owner].external_bases) {
      for (const knowledge::LaunchSign& sign : knowledge_.LaunchSigns(base)) {
        if (sign.run_by == RunBy::OneProcess && !sign.keyword) Add(function, kOneByHabit);
      }
    }
  }

  // By name of what is called, and by its arguments.
  void VisitCall(FuncId function, ir::ModuleId module_id, ir::ExprId call) {
    const ir::Module& module = program_.modules[module_id];
    const variation::CallFact* fact = facts_.call(function, call);
    LaunchSigns signs = 0;
    if (fact != nullptr && fact->kind == variation::CallKind::Known) {
      signs |= SignsOf(module_id, call, knowledge_.LaunchSigns(knowledge_[fact->entry].name), fact->receiver);
    }
    const ValueId callee = facts_.value(module_id, ir::CalleeOf(module[call]));
    if (callee && facts_.values_store[callee].kind == ValueKind::External) {
      signs |= SignsOf(module_id, call, knowledge_.LaunchSigns(facts_.values_store[callee].name()));
    }
    if ((signs & kStartsRanks) != 0 && TakesOneDevice(function, call)) signs &= static_cast<LaunchSigns>(~kStartsRanks);
    // `Trainer(devices=1)` makes a job of one, and another call beside it perhaps a larger one.
    if ((signs & kJobOfOne) != 0) signs &= static_cast<LaunchSigns>(~(kMakesJob | kJoinsJob));
    Add(function, signs);
    for (uint32_t i = 0; i < ir::ArgCount(module, module[call]); ++i) {
      const ir::Arg arg = ir::ArgAt(module, module[call], i);
      if (arg.kind == ir::ArgKind::Keyword) Add(function, SignsOf(module_id, call, knowledge_.LaunchSignsOfKeyword(arg.keyword)));
      const std::optional<RunBy> option = OptionOf(module, arg.value);
      if (option) Add(function, SignOf(*option, false));
      VisitTable(function, facts_.value(module_id, arg.value));
    }
  }

  // In a notebook a trainer of Lightning takes one device, unless it is told of more where it is made.
  bool TakesOneDevice(FuncId function, ir::ExprId call) const {
    const ir::Module& module = program_.module_of(function);
    if (!program_.infos[program_.funcs[function].module].path.ends_with(".ipynb")) return false;
    const KnownCall* known = index_.KnownCallAt({function, call});
    if (known == nullptr || !program_.text(known->entry->name).starts_with(kTrainer)) return false;
    return !known->entry->size_param || IsToldNothing(module, call);
  }

  bool IsToldNothing(const ir::Module& module, ir::ExprId call) const {
    for (uint32_t i = 0; i < ir::ArgCount(module, module[call]); ++i) {
      const ir::Arg arg = ir::ArgAt(module, module[call], i);
      if (arg.kind != ir::ArgKind::Keyword || std::ranges::count(kTellOfMore, program_.text(arg.keyword)) > 0) return false;
    }
    return true;
  }

  // `start({"world_size": 1})`: options that are handed over in a table.
  void VisitTable(FuncId function, ValueId table) {
    if (!table || facts_.values_store[table].kind != ValueKind::Dict) return;
    const auto kids = facts_.values_store.Kids(table);
    for (size_t i = 0; i + 1 < kids.size(); i += 2) {
      if (!kids[i] || facts_.values_store[kids[i]].kind != ValueKind::Str) continue;
      for (const knowledge::LaunchSign& sign : knowledge_.LaunchSignsOfKeyword(facts_.values_store[kids[i]].name())) {
        if (IsOneOf(sign, kids[i + 1])) Add(function, SignOf(sign.run_by, true) | kAsksForOne);
      }
    }
  }

  // Whichever way it comes about: `devices=1 if torch.cuda.is_available() else None`, a parameter that all callers set to 1.
  bool IsOneOf(const knowledge::LaunchSign& sign, ValueId value) const {
    if (sign.values.empty()) return true;
    if (!value || (values_[value].kind == ValueKind::Param && index_.CallersOf(values_[value].function()).empty())) return false;
    const auto is_it = [&](ValueId leaf) {
      const std::optional<int64_t> number = values_.CountGiven(leaf);
      const std::string text = number ? std::to_string(*number) : std::string(values_.Str(leaf));
      return std::ranges::any_of(sign.values, [&](base::NameId each) { return program_.text(each) == text; });
    };
    const std::vector<ValueId> leaves = values_.Leaves(value);
    return std::ranges::any_of(leaves, is_it) && std::ranges::all_of(leaves, [&](ValueId leaf) { return is_it(leaf) || values_.IsNone(leaf); });
  }

  // `parser.add_argument("--local_rank")`.
  std::optional<RunBy> OptionOf(const ir::Module& module, ir::ExprId value) const {
    const ir::Expr& expr = module[value];
    const bool is_text = expr.kind == ir::ExprKind::Constant && ir::ConstantKindOf(expr) == ir::ConstantKind::Str && ir::TextOf(expr);
    return is_text ? knowledge_.LaunchOption(ir::TextOf(expr)) : std::nullopt;
  }

  // A method of an object says what the object was made with.
  LaunchSigns SignsOf(ir::ModuleId module, ir::ExprId call, std::span<const knowledge::LaunchSign> signs, ValueId receiver = {}) const {
    LaunchSigns found = 0;
    for (const knowledge::LaunchSign& sign : signs) {
      if (sign.keyword && !Passes(module, call, sign) && !IsMadeWith(receiver, sign)) continue;
      const bool joins = sign.run_by == RunBy::AllRanks && !sign.keyword && !sign.starts_ranks;
      found |= joins ? kJoinsJob : SignOf(sign.run_by, sign.keyword.has_value());
      if (sign.starts_ranks) found |= kStartsRanks;
      if (sign.run_by == RunBy::AllRanks && !sign.keyword) found |= kMakesGroup;
    }
    return found;
  }

  static LaunchSigns SignOf(RunBy run_by, bool of_argument) {
    if (run_by == RunBy::AllRanks) return kMakesJob;
    if (run_by == RunBy::Workers) return kHasController;
    return of_argument ? kJobOfOne : kOneByHabit;
  }

  bool IsMadeWith(ValueId receiver, const knowledge::LaunchSign& sign) const {
    const ValueId value = receiver ? values_.MadeWith(receiver, program_.text(sign.keyword)) : ValueId::None();
    return value && IsOneOf(sign, value);
  }

  bool Passes(ir::ModuleId module_id, ir::ExprId call, const knowledge::LaunchSign& sign) const {
    const ir::Module& module = program_.modules[module_id];
    for (uint32_t i = 0; i < ir::ArgCount(module, module[call]); ++i) {
      const ir::Arg arg = ir::ArgAt(module, module[call], i);
      if (arg.kind != ir::ArgKind::Keyword || arg.keyword != sign.keyword) continue;
      return IsOneOf(sign, facts_.value(module_id, arg.value));
    }
    return false;
  }

  // One number wherever it comes from: no two processes of a job can be that rank.
  bool IsOneRank(ValueId rank) const {
    const std::vector<ValueId> leaves = values_.Leaves(AsNumber(rank));
    return !leaves.empty() && std::ranges::all_of(leaves, [&](ValueId leaf) { return leaf == leaves[0] && IsNumber(leaf); });
  }

  // `rank` of `str(rank)`.
  ValueId AsNumber(ValueId value) const {
    if (!value || facts_.values_store[value].kind != ValueKind::Derived) return value;
    const base::NameId operation = facts_.values_store.OperationOf(facts_.values_store[value]);
    const bool is_text = operation && program_.text(operation) == "builtins.str" && facts_.values_store[value].kid_count == 1;
    return is_text ? facts_.values_store.Kids(value)[0] : value;
  }

  bool IsNumber(ValueId value) const {
    const std::string_view text = values_.Str(value);
    const bool is_digits = !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
    return is_digits || values_.Int(value).value_or(-1) >= 0;
  }

  // `os.environ["WORLD_SIZE"] = "1"`, `os.environ["RANK"] = str(0)`.
  void VisitStore(ir::ModuleId module_id, ir::StmtId id) {
    const ir::Module& module = program_.modules[module_id];
    const ir::Stmt& stmt = module[id];
    if (stmt.kind != ir::StmtKind::Assign) return;
    for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
      if (module[target].kind != ir::ExprKind::Subscript || NameOf(module_id, ir::LeftOf(module[target])) != "os.environ") continue;
      const std::string_view key = values_.Str(facts_.value(module_id, ir::RightOf(module[target])));
      const ValueId stored = facts_.value(module_id, ir::AssignedOf(stmt));
      const bool is_alone = (key == "WORLD_SIZE" && values_.Str(stored) == "1") || (key == "RANK" && IsOneRank(stored));
      if (is_alone) Add(index_.FunctionOf(module_id, id), kJobOfOne | kAsksForOne);
    }
  }

  void VisitVariable(FuncId function, ir::ExprId key) {
    if (!key) return;
    const ValueId value = facts_.value(program_.funcs[function].module, key);
    const bool is_text = value && facts_.values_store[value].kind == ValueKind::Str;
    if (is_text && knowledge_.FindEnvironment(facts_.values_store[value].name()) != nullptr) Add(function, kReadsRanks);
  }

  static ir::ExprId FirstArg(const ir::Module& module, ir::ExprId call) {
    return ir::ArgCount(module, module[call]) > 0 ? ir::ArgAt(module, module[call], 0).value : ir::ExprId::None();
  }

  FuncId FunctionAt(ir::ModuleId module, ir::ExprId expr) const {
    const ir::StmtId stmt = index_.tree(module).StatementOf(expr);
    return stmt ? index_.FunctionOf(module, stmt) : FuncId::None();
  }
  std::string_view NameOf(ir::ModuleId module, ir::ExprId expr) const { return values_.External(facts_.value(module, expr)); }

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  Values values_;
  std::vector<LaunchSigns> signs_;
};

}  // namespace

std::vector<LaunchSigns> FindLaunchSigns(const binding::Program& program, const knowledge::Knowledge& knowledge,
                                         const variation::Facts& facts, const ProgramIndex& index) {
  return Finder(program, knowledge, facts, index).Run();
}

}  // namespace allranks::objects
