#include "analyzer/objects/file_uses.h"

#include <algorithm>

#include "analyzer/objects/counters.h"
#include "analyzer/objects/two_arms.h"

namespace allranks::objects {

using knowledge::Role;
using variation::CallFact;
using variation::ValueKind;

namespace {

constexpr size_t kLongestWayToUse = 6;
constexpr size_t kMostUses = 24;
constexpr size_t kMostPartsOfUse = 400;

bool IsOfFiles(Role role) {
  switch (role) {
    case Role::Write:
    case Role::WriteOnce:
    case Role::WriteLog:
    case Role::OpenFile:
    case Role::ReadFile:
    case Role::ListFiles:
    case Role::RemoveFile:
    case Role::MoveFrom:
    case Role::MoveTo:
    case Role::MakeFolder:
      return true;
    default:
      return false;
  }
}

}  // namespace

FileUses::FileUses(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index)
    : program_(program), facts_(facts), index_(index), reader_(program, facts, CountersOf(program, facts, index)), neighbourhood_(program) {
  NoteOptions();
  const auto for_each_role = [&](auto visit) {
    for (const KnownCall& call : index.known_calls()) {
      for (const knowledge::RoleOf& role : call.entry->roles) {
        if (role.param && IsOfFiles(role.role)) visit(call, role);
      }
    }
  };
  for_each_role([&](const KnownCall& call, const knowledge::RoleOf& role) { NoteHandle(call, role); });
  for_each_role([&](const KnownCall& call, const knowledge::RoleOf& role) { Add(call, role); });
}

void FileUses::NoteOptions() {
  for (uint32_t m = 0; m < program_.modules.size(); ++m) {
    const ir::Module& module = program_.modules[ir::ModuleId{m}];
    for (uint32_t s = 0; s < module.stmts.size(); ++s) {
      const ir::Stmt& stmt = module[ir::StmtId{s}];
      if (stmt.kind != ir::StmtKind::Assign) continue;
      const ValueId value = facts_.value(ir::ModuleId{m}, ir::AssignedOf(stmt));
      for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
        const bool is_stored = value && module[target].kind == ir::ExprKind::Attribute;
        if (is_stored) options_[ir::AttrOf(module[target])].push_back({ir::ModuleId{m}, ir::StmtId{s}, value});
      }
    }
  }
}

// `if resumes: args.resume = newest` says nothing of what stands in the `else`.
bool FileUses::IsInOtherArm(const Stored& stored, const Site& read) const {
  const ir::ModuleId module_id = program_.funcs[read.function].module;
  if (stored.module != module_id) return false;
  const ir::Tree& tree = index_.tree(module_id);
  return AreInTwoArms(program_.modules[module_id], tree, stored.stmt, tree.StatementOf(read.expr));
}

// Whether some function comes to both. A function that nobody is seen to call may be called from there.
bool FileUses::IsOfOneRun(const Stored& stored, const FileUse& read) const {
  const FuncId storing = index_.FunctionOf(stored.module, stored.stmt);
  if (!storing || index_.CallersOf(storing).empty()) return true;
  std::vector<Site> reading = index_.WaysTo(read.way.front());
  const std::vector<Site> ways = index_.WaysTo({storing, ir::ExprId::None()});
  // Of very many ways not all are listed.
  if (reading.size() >= ProgramIndex::kMostWays || ways.size() >= ProgramIndex::kMostWays) return true;
  reading.insert(reading.end(), read.way.begin(), read.way.end());
  return std::ranges::any_of(ways, [&](const Site& site) {
    return std::ranges::find(reading, site.function, &Site::function) != reading.end();
  });
}

const std::vector<bool>& FileUses::ProgramOf(ir::ModuleId module) {
  const auto [known, is_new] = programs_.try_emplace(module.index);
  if (is_new) {
    known->second.resize(program_.modules.size());
    for (const ir::ModuleId file : neighbourhood_.Of(module)) known->second[file.index] = true;
  }
  return known->second;
}

// A path that is an option and nothing else may be what the program itself stores there.
std::vector<FilePath> FileUses::PathsOf(const FileUse& use) {
  std::vector<FilePath> paths = reader_.PathsOf(use.value, use.frame);
  const size_t count = paths.size();
  for (size_t i = 0; i < count; ++i) {
    if (paths[i].pieces.size() != 1 || !paths[i].pieces[0].hole) continue;
    const variation::Value& hole = facts_.values_store[paths[i].pieces[0].hole];
    const base::NameId name = hole.kind == ValueKind::Derived && hole.kid_count == 1 ? facts_.values_store.OperationOf(hole) : base::NameId();
    const auto stored = name ? options_.find(name) : options_.end();
    if (stored == options_.end()) continue;
    const std::vector<bool>& program = ProgramOf(program_.funcs[use.site().function].module);
    for (const Stored& one : stored->second) {
      if (!program[one.module.index] || IsInOtherArm(one, use.site()) || !IsOfOneRun(one, use)) continue;
      for (FilePath& path : reader_.PathsOf(one.value, nullptr)) {
        if (path.Name().HasText() && paths.size() < kMostUses) paths.push_back(std::move(path));
      }
    }
  }
  return paths;
}

// `json.dump(x, file)`: the file that was opened is written by this call.
void FileUses::NoteHandle(const KnownCall& call, const knowledge::RoleOf& role) {
  const bool takes_open_file = role.role == Role::Write || role.role == Role::WriteOnce || role.role == Role::ReadFile;
  const ValueId path = takes_open_file ? PathOf(call, role) : ValueId::None();
  if (path) handles_.insert(path.index);
  const ValueId file = facts_.value(program_.funcs[call.function].module, call.expr);
  if (file && role.role == Role::OpenFile && ActOf(call, role.role) == FileAct::WriteLog) appended_.insert(file.index);
}

void FileUses::Add(const KnownCall& call, const knowledge::RoleOf& role) {
  const ir::ModuleId module = program_.funcs[call.function].module;
  const ValueId result = facts_.value(module, call.expr);
  if (role.role == Role::OpenFile && result && handles_.contains(result.index)) return;
  const ValueId path = PathOf(call, role);
  if (!path) return;
  const FileAct act = appended_.contains(path.index) ? FileAct::WriteLog : ActOf(call, role.role);
  FileUse use{.act = act, .is_once = role.role == Role::WriteOnce, .call = &call, .param = role.param,
              .way = {}, .path = {}, .value = path};
  const size_t first = uses_.size();
  size_t added = 0;
  Follow(use, {{call.function, call.expr}}, nullptr, added);
  if (use.act != FileAct::List || !result || facts_.values_store[result].kind != ValueKind::Unknown) return;
  std::vector<size_t>& listing = listings_[facts_.values_store[result].symbol()];
  for (size_t i = first; i < uses_.size(); ++i) listing.push_back(i);
}

// From the call to those who say what its path is.
void FileUses::Follow(FileUse use, std::vector<Site> way, const CallFrame* frame, size_t& added) {
  if (added >= kMostUses) return;
  const FuncId function = way.front().function;
  const auto callers = index_.CallersOf(function);
  bool followed = false;
  const bool is_open = reader_.IsNameOpen(use.value, frame) || reader_.IsChoiceOpen(use.value, frame);
  if (way.size() < kLongestWayToUse && is_open) {
    for (const Site& caller : callers) {
      const CallFact* fact = FactOf(caller, function);
      const bool is_recursive = std::ranges::any_of(way, [&](const Site& site) { return site.function == caller.function; });
      if (fact == nullptr || is_recursive) continue;
      // The innermost frame comes first when a parameter is looked up; each knows who called it.
      std::vector<Site> longer = {caller};
      longer.insert(longer.end(), way.begin(), way.end());
      std::vector<CallFrame> chain;
      for (const CallFrame* at = frame; at != nullptr; at = at->caller) chain.push_back(*at);
      chain.push_back({.function = function, .args = facts_.args(*fact)});
      const CallFrame* outer = nullptr;
      for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
        frames_.push_back({.function = it->function, .args = it->args, .caller = outer});
        outer = &frames_.back();
      }
      Follow(use, std::move(longer), outer, added);
      followed = true;
    }
  }
  if (followed) return;
  use.way = std::move(way);
  use.frame = frame;
  for (FilePath& path : PathsOf(use)) {
    use.path = std::move(path);
    uses_.push_back(use);
    ++added;
  }
}

const CallFact* FileUses::FactOf(const Site& site, FuncId callee) const {
  const variation::FunctionFacts& facts = facts_.functions[site.function];
  for (const auto* list : {&facts.calls, &facts.enters, &facts.iterations, &facts.leaves}) {
    for (const auto& [expr, fact] : *list) {
      if (expr == site.expr && fact.function == callee) return &fact;
    }
  }
  return nullptr;
}

FileAct FileUses::ActOf(const KnownCall& call, Role role) const {
  switch (role) {
    case Role::Write:
    case Role::WriteOnce:
      return FileAct::Write;
    case Role::WriteLog: {
      // `FileHandler(path, mode="w")` empties what the other ranks have written.
      const ValueId mode = index_.Arg(call, "mode") ? index_.Arg(call, "mode") : index_.Arg(call, "filemode");
      const bool empties = mode && facts_.values_store[mode].kind == ValueKind::Str && program_.text(facts_.values_store[mode].name()).starts_with("w");
      return empties ? FileAct::Write : FileAct::WriteLog;
    }
    case Role::ListFiles:
      return FileAct::List;
    case Role::RemoveFile:
      return FileAct::Remove;
    case Role::MoveFrom:
      return FileAct::MoveFrom;
    case Role::MoveTo:
      return FileAct::MoveTo;
    case Role::MakeFolder:
      return FileAct::MakeFolder;
    case Role::OpenFile: {
      FileAct act = FileAct::Read;
      for (const FilePath& mode : reader_.PathsOf(index_.Arg(call, "mode"), nullptr)) {
        if (mode.Spelled().find_first_of("wx") != std::string::npos && mode.IsText()) act = FileAct::Write;
        else if (act != FileAct::Write && mode.Spelled().starts_with("a")) act = FileAct::WriteLog;
      }
      return act;
    }
    default:
      return FileAct::Read;
  }
}

ValueId FileUses::PathOf(const KnownCall& call, const knowledge::RoleOf& role) const {
  return program_.text(role.param) == "self" ? call.receiver : index_.Arg(call, program_.text(role.param));
}

namespace {

// `self.file = open(path, "w")`: the field.
base::NameId FieldOfOpened(const ir::Module& module, ir::StmtId id, ir::ExprId opened) {
  if (!id || module[id].kind != ir::StmtKind::Assign || ir::AssignedOf(module[id]) != opened) return {};
  const auto targets = ir::TargetsOf(module, module[id]);
  const bool is_field = targets.size() == 1 && module[targets[0]].kind == ir::ExprKind::Attribute;
  return is_field ? ir::AttrOf(module[targets[0]]) : base::NameId();
}

}  // namespace

std::vector<Site> FileUses::WritesInto(const FileUse& use) const {
  const Site site = use.site();
  const ir::ModuleId module_id = program_.funcs[site.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::StmtId opening = index_.StatementOf(site);
  const base::NameId file = NameOfOpened(module, opening, site.expr);
  const binding::ClassId owner = program_.funcs[site.function].owner;
  const base::NameId field = file || !owner ? base::NameId() : FieldOfOpened(module, opening, site.expr);
  std::vector<Site> writes;
  if (!file && !field) return writes;
  const auto is_file = [&](ir::ExprId expr) {
    if (file) return module[expr].kind == ir::ExprKind::Name && ir::NameOf(module[expr]) == file;
    return module[expr].kind == ir::ExprKind::Attribute && ir::AttrOf(module[expr]) == field;
  };
  // A variable is open from here on, for as long as a `with` lasts, and a field in all methods of the class.
  const auto may_be_open = [&](FuncId function, ir::StmtId stmt) {
    if (field) return program_.funcs[function].owner == owner;
    const bool is_in = module[opening].kind != ir::StmtKind::With || index_.tree(module_id).Holds(opening, stmt);
    return function == site.function && is_in && module[stmt].begin >= module[opening].begin;
  };
  for (const ir::ExprId call : index_.ExprsOf(module_id, ir::ExprKind::Call)) {
    const ir::StmtId stmt = index_.tree(module_id).StatementOf(call);
    const FuncId function = stmt ? index_.FunctionOf(module_id, stmt) : FuncId::None();
    if (!function || !may_be_open(function, stmt)) continue;
    const ir::ExprId callee = ir::CalleeOf(module[call]);
    const bool is_method = module[callee].kind == ir::ExprKind::Attribute && is_file(ir::ObjectOf(module[callee]));
    const std::string_view method = is_method ? program_.text(ir::AttrOf(module[callee])) : std::string_view();
    // What flushes a field puts nothing in.
    const bool writes_by_it = is_method && method != "close" && (file || method != "flush");
    bool is_given = false;
    for (uint32_t i = 0; i < ir::ArgCount(module, module[call]); ++i) {
      is_given = is_given || is_file(ir::ArgAt(module, module[call], i).value);
    }
    if (writes_by_it || is_given) writes.push_back({function, call});
  }
  return writes;
}

// `with open(path) as file`, `file = open(path)`.
base::NameId FileUses::NameOfOpened(const ir::Module& module, ir::StmtId id, ir::ExprId opened) {
  if (!id) return {};
  const ir::Stmt& stmt = module[id];
  ir::ExprId target;
  if (stmt.kind == ir::StmtKind::Assign && ir::AssignedOf(stmt) == opened && ir::TargetsOf(module, stmt).size() == 1) {
    target = ir::TargetsOf(module, stmt)[0];
  }
  if (stmt.kind == ir::StmtKind::With) {
    for (const ir::WithItem& item : ir::WithItemsOf(module, stmt)) {
      if (item.context == opened) target = item.target;
    }
  }
  return target && module[target].kind == ir::ExprKind::Name ? ir::NameOf(module[target]) : base::NameId();
}

std::vector<FilePath> FileUses::ListingsOf(const FileUse& use) const {
  std::vector<FilePath> patterns;
  for (const PathPiece& piece : use.path.pieces) {
    for (FilePath& pattern : ListingsOf(use, piece)) patterns.push_back(std::move(pattern));
  }
  return patterns;
}

std::vector<FilePath> FileUses::ListingsOf(const FileUse& use, const PathPiece& piece) const {
  std::vector<FilePath> patterns;
  std::vector<ValueId> work = {piece.hole};
  for (size_t seen = 0; !work.empty() && seen < kMostPartsOfUse; ++seen) {
    const ValueId at = reader_.Resolved(work.back(), use.frame);
    work.pop_back();
    if (!at) continue;
    const variation::Value& value = facts_.values_store[at];
    const auto kids = facts_.values_store.Kids(at);
    work.insert(work.end(), kids.begin(), kids.end());
    const auto listing = value.kind == ValueKind::Unknown ? listings_.find(value.symbol()) : listings_.end();
    if (listing == listings_.end()) continue;
    for (const size_t i : listing->second) patterns.push_back(uses_[i].path);
  }
  return patterns;
}

}  // namespace allranks::objects
