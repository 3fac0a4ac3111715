#include "analyzer/objects/one_node.h"

#include <algorithm>

#include "analyzer/base/folder.h"
#include "analyzer/ir/walk.h"
#include "analyzer/objects/launch.h"
#include "analyzer/objects/test_files.h"

namespace allranks::objects {
namespace {

constexpr std::string_view kVisibleDevices = "CUDA_VISIBLE_DEVICES";

}  // namespace

OneNodeJobs::OneNodeJobs(const binding::Program& program, const knowledge::Knowledge& knowledge,
                         const variation::Facts& facts, const ProgramIndex& index)
    : program_(program), facts_(facts), index_(index), values_(program, knowledge, facts), neighbourhood_(program) {
  for (const KnownCall& call : index.known_calls()) {
    const bool is_init = call.entry->has_operation && call.entry->operation.op_class == knowledge::OpClass::Init;
    const ir::ModuleId module = program.funcs[call.function].module;
    if (is_init && !IsTestFile(program, module)) inits_.push_back({module, IsOfOneNode(call)});
  }
}

bool OneNodeJobs::IsOfOneNode(const KnownCall& call) const {
  const auto has = [&](std::string_view param, knowledge::Coordinate coordinate, uint8_t flag) {
    const ValueId value = index_.Arg(call, param);
    return value && std::ranges::any_of(values_.Leaves(value), [&](ValueId leaf) {
             const variation::Value& node = facts_.values_store[leaf];
             return variation::IsCoordinate(node, coordinate) && (node.flags & flag) == flag;
           });
  };
  return has("world_size", knowledge::Coordinate::LocalWorldSize, 0) || has("rank", knowledge::Coordinate::Rank, variation::kOneNode) ||
         has("rank", knowledge::Coordinate::LocalRank, 0) || MeetsHere(call);
}

// `os.environ["MASTER_ADDR"] = "localhost"`, whatever the launcher has set: the ranks of a second node would look for rank 0 at home.
bool OneNodeJobs::MeetsHere(const KnownCall& call) const {
  const ir::ModuleId module_id = program_.funcs[call.function].module;
  const ir::Module& module = program_.modules[module_id];
  for (uint32_t s = 0; s < module.stmts.size(); ++s) {
    const ir::StmtId id{s};
    const std::string_view address = values_.Str(Stored(module_id, id, "MASTER_ADDR"));
    const bool is_here = address == "localhost" || address == "127.0.0.1";
    if (is_here && index_.FunctionOf(module_id, id) == call.function && IsUnconditional(module_id, id)) return true;
  }
  return false;
}

bool OneNodeJobs::IsUnconditional(ir::ModuleId module_id, ir::StmtId id) const {
  const ir::Tree& tree = index_.tree(module_id);
  for (ir::StmtId at = tree.Parent(id); at; at = tree.Parent(at)) {
    const ir::StmtKind kind = program_.modules[module_id][at].kind;
    if (kind != ir::StmtKind::With) return false;
  }
  return true;
}

// What the statement stores as this variable of the environment: `os.environ[key] = value`.
ValueId OneNodeJobs::Stored(ir::ModuleId module_id, ir::StmtId id, std::string_view key) const {
  const ir::Module& module = program_.modules[module_id];
  const ir::Stmt& stmt = module[id];
  if (stmt.kind != ir::StmtKind::Assign) return ValueId::None();
  for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
    if (module[target].kind != ir::ExprKind::Subscript) continue;
    const bool is_environment = values_.External(facts_.value(module_id, ir::LeftOf(module[target]))) == "os.environ";
    if (is_environment && values_.Str(facts_.value(module_id, ir::RightOf(module[target]))) == key) return facts_.value(module_id, ir::AssignedOf(stmt));
  }
  return ValueId::None();
}

bool OneNodeJobs::Has(ir::ModuleId module) const {
  const auto is_own = [&](const Init& init) { return init.module == module; };
  if (std::ranges::any_of(inits_, is_own)) {
    return std::ranges::all_of(inits_, [&](const Init& init) { return init.is_one_node || !is_own(init); });
  }
  const std::vector<ir::ModuleId> files = neighbourhood_.Of(module);
  const auto is_near = [&](const Init& init) { return std::ranges::count(files, init.module) > 0; };
  const bool has_near = std::ranges::any_of(inits_, is_near);
  return !inits_.empty() && std::ranges::all_of(inits_, [&](const Init& init) {
    return init.is_one_node || (has_near && !is_near(init));
  });
}

bool OneNodeJobs::HidesDevices(ir::ModuleId module_id) const {
  const ir::Module& module = program_.modules[module_id];
  for (uint32_t s = 0; s < module.stmts.size(); ++s) {
    const ValueId devices = Stored(module_id, ir::StmtId{s}, kVisibleDevices);
    if (devices && !facts_.values_store.axes(devices).empty()) return true;
  }
  return false;
}

// `Popen([sys.executable, "train.py"], env={"CUDA_VISIBLE_DEVICES": str(i), ...})` in a loop, in whatever file names the program.
bool OneNodeJobs::IsStartedOnOwnDevice(ir::ModuleId module) const {
  for (uint32_t m = 0; m < program_.modules.size(); ++m) {
    if (ir::ModuleId{m} != module && NamesFile(ir::ModuleId{m}, program_.infos[module].path) && GivesOwnDevices(ir::ModuleId{m})) return true;
  }
  return false;
}

// By its path from the root, or from the folder of the file that names it.
bool OneNodeJobs::NamesFile(ir::ModuleId module_id, std::string_view path) const {
  const ir::Module& module = program_.modules[module_id];
  const std::string_view folder = base::FolderOf(program_.infos[module_id].path);
  const std::string_view beside = base::IsBelow(path, folder) ? path.substr(folder.empty() ? 0 : folder.size() + 1) : std::string_view();
  return std::ranges::any_of(index_.ExprsOf(module_id, ir::ExprKind::Constant), [&](ir::ExprId expr) {
    if (ir::ConstantKindOf(module[expr]) != ir::ConstantKind::Str || !ir::TextOf(module[expr])) return false;
    const std::string_view text = program_.text(ir::TextOf(module[expr]));
    return text == path || (!beside.empty() && text == beside);
  });
}

bool OneNodeJobs::GivesOwnDevices(ir::ModuleId module_id) const {
  const ir::Module& module = program_.modules[module_id];
  for (uint32_t s = 0; s < module.stmts.size(); ++s) {
    const ir::Stmt& stmt = module[ir::StmtId{s}];
    if (stmt.kind != ir::StmtKind::Assign) continue;
    for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
      const bool is_item = module[target].kind == ir::ExprKind::Subscript;
      if (is_item && IsVisibleDevices(module_id, ir::RightOf(module[target])) && IsOfRound(module_id, ir::AssignedOf(stmt))) return true;
    }
  }
  for (const ir::ExprId dict : index_.ExprsOf(module_id, ir::ExprKind::Dict)) {
    for (uint32_t i = 0; i < ir::DictCount(module[dict]); ++i) {
      const ir::DictItem item = ir::DictItemAt(module, module[dict], i);
      if (item.key && IsVisibleDevices(module_id, item.key) && IsOfRound(module_id, item.value)) return true;
    }
  }
  for (const ir::ExprId call : index_.ExprsOf(module_id, ir::ExprKind::Call)) {
    for (uint32_t i = 0; i < ir::ArgCount(module, module[call]); ++i) {
      const ir::Arg arg = ir::ArgAt(module, module[call], i);
      if (arg.kind == ir::ArgKind::Keyword && program_.text(arg.keyword) == kVisibleDevices && IsOfRound(module_id, arg.value)) return true;
    }
  }
  return false;
}

bool OneNodeJobs::IsVisibleDevices(ir::ModuleId module, ir::ExprId key) const { return values_.Str(facts_.value(module, key)) == kVisibleDevices; }

// `str(i)` of a loop around it: one number, and no list of them.
bool OneNodeJobs::IsOfRound(ir::ModuleId module_id, ir::ExprId value) const {
  const ir::Module& module = program_.modules[module_id];
  const ir::StmtId stmt = index_.tree(module_id).StatementOf(value);
  const ir::Expr& callee = module[value].kind == ir::ExprKind::Call ? module[ir::CalleeOf(module[value])] : module[value];
  if (!stmt || (callee.kind == ir::ExprKind::Attribute && program_.text(ir::AttrOf(callee)) == "join")) return false;
  return std::ranges::any_of(index_.LoopsAround(module_id, stmt), [&](ir::StmtId loop) {
    if (module[loop].kind != ir::StmtKind::For) return false;
    const ir::Expr& target = module[ir::ValueOf(module[loop])];
    return target.kind == ir::ExprKind::Name && ir::Mentions(module, value, ir::NameOf(target));
  });
}

bool OneNodeJobs::SeesOwnDevice(ir::ModuleId module, const Launch& launch) const {
  if (launch.GivesOwnDevices(module) || IsStartedOnOwnDevice(module)) return true;
  return std::ranges::any_of(neighbourhood_.UsedBy(module), [&](ir::ModuleId used) { return HidesDevices(used); });
}

}  // namespace allranks::objects
