#include "analyzer/objects/settings_places.h"

#include <algorithm>
#include <iterator>

#include "analyzer/base/folder.h"
#include "analyzer/objects/hydra_main.h"

namespace allranks::objects {

using variation::ValueKind;

namespace {

constexpr int kDeepestSettings = 12;
constexpr size_t kMostPlaces = 8;

// What Python itself yields of settings in another form.
constexpr std::string_view kSameMapping[] = {"builtins.dict", "builtins.vars", "copy.copy", "copy.deepcopy"};

template <class Names, class Name>
bool IsIn(const Names& names, Name name) { return std::ranges::find(names, name) != std::end(names); }

bool Begins(std::span<const std::string> keys, std::span<const std::string> with) {
  return with.size() <= keys.size() && std::ranges::equal(keys.first(with.size()), with);
}

// Either, if both are known.
template <class T>
std::optional<std::vector<T>> Both(std::optional<std::vector<T>> a, std::optional<std::vector<T>> b) {
  if (!a || !b || a->size() + b->size() > kMostPlaces) return std::nullopt;
  std::ranges::move(*b, std::back_inserter(*a));
  return a;
}

}  // namespace

SettingsPlaces::SettingsPlaces(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                               const ProgramIndex& index, const LaunchedOptions& options)
    : program_(program), knowledge_(knowledge), facts_(facts), index_(index), options_(options), paths_(program, facts) {
  AddReaders();
  AddHydra();
  std::ranges::stable_sort(reads_, {}, &SettingsRead::source);
  if (reads_.empty()) return;
  for (uint32_t m = 0; m < program.modules.size(); ++m) AddStores(ir::ModuleId{m});
}

void SettingsPlaces::AddReaders() {
  for (const KnownCall& call : index_.known_calls()) {
    if (!call.entry->Has(knowledge::Role::Settings) || !call.entry->Has(knowledge::Role::ReadFile)) continue;
    const ir::ModuleId module = program_.funcs[call.function].module;
    const Places places = Read(module, facts_.value(module, call.expr), 0);
    if (!places || places->empty()) continue;
    for (const SettingsPlace& place : *places) reads_.push_back({place.source, module});
  }
}

void SettingsPlaces::AddHydra() {
  for (uint32_t f = 0; f < program_.funcs.size(); ++f) {
    if (program_.function(FuncId{f}).decorators.empty()) continue;
    const std::optional<HydraConfig> config = HydraConfigOf(program_, facts_, FuncId{f});
    if (!config) continue;
    const ir::ModuleId module = program_.funcs[FuncId{f}].module;
    reads_.push_back({{std::string(base::FolderOf(program_.infos[module].path)), config->folder, config->name}, module});
  }
}

// `cfg.trainer.devices = 4`
void SettingsPlaces::AddStores(ir::ModuleId module_id) {
  const ir::Module& module = program_.modules[module_id];
  for (const ir::Stmt& stmt : module.stmts) {
    if (stmt.kind == ir::StmtKind::Assign) {
      for (const ir::ExprId target : ir::TargetsOf(module, stmt)) AddStore(module_id, target);
    } else if (stmt.kind == ir::StmtKind::AugAssign) {
      AddStore(module_id, ir::ValueOf(stmt));
    }
  }
  for (const ir::ExprId call : index_.ExprsOf(module_id, ir::ExprKind::Call)) AddUpdate(module_id, call);
}

void SettingsPlaces::AddStore(ir::ModuleId module_id, ir::ExprId target) {
  const ir::Module& module = program_.modules[module_id];
  const ir::Expr& expr = module[target];
  const bool is_attribute = expr.kind == ir::ExprKind::Attribute;
  // `cfg.a, cfg.b = 1, 2`
  if (expr.kind == ir::ExprKind::Tuple || expr.kind == ir::ExprKind::List) {
    for (const ir::ExprId item : ir::Items(module, expr)) AddStore(module_id, item);
  }
  if (expr.kind == ir::ExprKind::Starred) return AddStore(module_id, ir::OperandOf(expr));
  if (!is_attribute && expr.kind != ir::ExprKind::Subscript) return;
  const ir::ExprId object = ir::ObjectOf(expr);
  const std::string_view key = is_attribute ? program_.text(ir::AttrOf(expr)) : TextOf(facts_.value(module_id, ir::IndexOf(expr)));
  for (SettingsPlace& place : Of(module_id, facts_.value(module_id, object))) {
    // Any key, where it is not known which.
    if (!key.empty()) place.keys.emplace_back(key);
    stored_.insert(std::move(place));
  }
}

// `cfg.trainer.update(...)`
void SettingsPlaces::AddUpdate(ir::ModuleId module_id, ir::ExprId call) {
  const ir::Module& module = program_.modules[module_id];
  const ir::Expr& callee = module[ir::CalleeOf(module[call])];
  if (callee.kind != ir::ExprKind::Attribute || !IsIn(knowledge_.settings_calls().changes, ir::AttrOf(callee))) return;
  std::vector<ir::ExprId> changed = {ir::ObjectOf(callee)};
  // `OmegaConf.update(cfg, "devices", 4)`
  if (ir::ArgCount(module, module[call]) > 0) changed.push_back(ir::ArgAt(module, module[call], 0).value);
  const ValueId object = facts_.value(module_id, changed[0]);
  const bool is_of_library = object && facts_.values_store[object].kind == ValueKind::External;
  const ir::ExprId whole = is_of_library ? changed.back() : changed[0];
  for (SettingsPlace& place : Of(module_id, facts_.value(module_id, whole))) stored_.insert(std::move(place));
}

std::vector<SettingsPlace> SettingsPlaces::Of(ir::ModuleId module, ValueId value) const {
  return reads_.empty() ? std::vector<SettingsPlace>() : Read(module, value, 0).value_or(std::vector<SettingsPlace>());
}

bool SettingsPlaces::IsSetElse(ir::ModuleId module, const SettingsPlace& place, std::string_view text) const {
  const bool is_stored = std::ranges::any_of(stored_, [&](const SettingsPlace& stored) {
    return stored.source == place.source && (Begins(place.keys, stored.keys) || Begins(stored.keys, place.keys));
  });
  return is_stored || options_.GivesElse(module, place.keys, text);
}

SettingsPlaces::Places SettingsPlaces::Read(ir::ModuleId module, ValueId value, int depth) const {
  if (!value || depth > kDeepestSettings) return std::nullopt;
  const variation::Value& node = facts_.values_store[value];
  const auto kids = facts_.values_store.Kids(value);
  switch (node.kind) {
    case ValueKind::Param:
      return ReadParam(value, depth);
    case ValueKind::Select:
      return Both(Read(module, kids[1], depth + 1), Read(module, kids[2], depth + 1));
    case ValueKind::Derived:
      return ReadDerived(module, value, depth);
    default:
      return std::nullopt;
  }
}

SettingsPlaces::Places SettingsPlaces::ReadParam(ValueId value, int depth) const {
  const variation::Value& node = facts_.values_store[value];
  const FuncId function = node.function();
  if (const std::optional<HydraConfig> config = HydraConfigOf(program_, facts_, function)) {
    const std::string folder(base::FolderOf(program_.infos[program_.funcs[function].module].path));
    return std::vector<SettingsPlace>{{.source = {folder, config->folder, config->name}, .keys = {}}};
  }
  Places all = std::vector<SettingsPlace>();
  const auto passed = Passed(function, node.param_index());
  for (const auto& [module, given] : passed) {
    // One that is not known settles it; asking on would follow each circle of calls again and again.
    if (!all) break;
    all = Both(std::move(all), Read(module, given, depth + 1));
  }
  return passed.empty() ? std::nullopt : all;
}

// What each caller hands over, and where; the default, where there is none.
std::vector<std::pair<ir::ModuleId, ValueId>> SettingsPlaces::Passed(FuncId function, uint32_t param) const {
  std::vector<std::pair<ir::ModuleId, ValueId>> passed;
  for (const Site& caller : index_.CallersOf(function)) {
    passed.emplace_back(program_.funcs[caller.function].module, index_.PassedBy(caller, function, param));
  }
  const ValueId assumed = passed.empty() ? facts_.param(function, param) : ValueId();
  if (assumed) passed.emplace_back(program_.funcs[function].module, assumed);
  return passed;
}

SettingsPlaces::Places SettingsPlaces::ReadDerived(ir::ModuleId module, ValueId value, int depth) const {
  const auto kids = facts_.values_store.Kids(value);
  const std::string_view operation = OperationOf(value);
  if (const knowledge::Entry* entry = EntryOf(value)) return ReadEntry(module, *entry, value, depth);
  if (kids.empty()) return std::nullopt;
  if (IsIn(knowledge_.settings_calls().merges, OperationNameOf(value))) return Merged(module, kids, depth);
  if (IsIn(kSameMapping, operation)) return Read(module, kids[0], depth + 1);
  const bool is_item = operation == "[]" || operation == "get";
  if (is_item && kids.size() >= 2) return WithKey(Read(module, kids[0], depth + 1), TextOf(kids[1]));
  const bool is_attribute = kids.size() == 1 && !operation.empty() && operation.find_first_of(".[") == std::string_view::npos;
  return is_attribute ? WithKey(Read(module, kids[0], depth + 1), operation) : std::nullopt;
}

SettingsPlaces::Places SettingsPlaces::WithKey(Places places, std::string_view key) const {
  if (!places || key.empty()) return std::nullopt;
  for (SettingsPlace& place : *places) place.keys.emplace_back(key);
  return places;
}

// What a known function reads, or hands on in another form.
SettingsPlaces::Places SettingsPlaces::ReadEntry(ir::ModuleId module, const knowledge::Entry& entry, ValueId value, int depth) const {
  const auto kids = facts_.values_store.Kids(value);
  if (!entry.Has(knowledge::Role::Settings) || kids.empty()) return std::nullopt;
  if (!entry.Has(knowledge::Role::ReadFile)) {
    const bool hands_on = std::ranges::any_of(entry.roles, [](const knowledge::RoleOf& role) { return role.role == knowledge::Role::Settings && role.param; });
    return hands_on ? Read(module, kids[0], depth + 1) : std::nullopt;
  }
  const Names names = NamesOf(module, kids[0], depth + 1);
  if (!names || names->empty()) return std::nullopt;
  std::vector<SettingsPlace> places;
  for (const Named& named : *names) places.push_back({.source = {named.folder, named.path, ""}, .keys = {}});
  return places;
}

// Settings beside what the command line says.
SettingsPlaces::Places SettingsPlaces::Merged(ir::ModuleId module, std::span<const ValueId> parts, int depth) const {
  ValueId base;
  for (const ValueId part : parts) {
    if (IsOfCommandLine(part)) continue;
    if (base) return std::nullopt;
    base = part;
  }
  return Read(module, base, depth + 1);
}

bool SettingsPlaces::IsOfCommandLine(ValueId value) const {
  const knowledge::Entry* entry = value ? EntryOf(value) : nullptr;
  if (entry == nullptr || entry->Has(knowledge::Role::ReadFile)) return false;
  return std::ranges::any_of(entry->roles, [](const knowledge::RoleOf& role) { return role.role == knowledge::Role::Settings && !role.param; });
}

// How the program names a file that it opens.
SettingsPlaces::Names SettingsPlaces::NamesOf(ir::ModuleId module, ValueId value, int depth) const {
  if (!value || depth > kDeepestSettings) return std::nullopt;
  const variation::Value& node = facts_.values_store[value];
  const auto kids = facts_.values_store.Kids(value);
  if (node.kind == ValueKind::Param) {
    Names all = std::vector<Named>();
    const auto passed = Passed(node.function(), node.param_index());
    for (const auto& [from, given] : passed) {
      if (!all) break;
      all = Both(std::move(all), NamesOf(from, given, depth + 1));
    }
    return passed.empty() ? std::nullopt : all;
  }
  if (node.kind == ValueKind::Select) return Both(NamesOf(module, kids[1], depth + 1), NamesOf(module, kids[2], depth + 1));
  const knowledge::Entry* entry = EntryOf(value);
  const bool opens = entry != nullptr && entry->Has(knowledge::Role::OpenFile) && !kids.empty();
  if (opens || (!kids.empty() && IsIn(knowledge_.settings_calls().same_file, OperationNameOf(value)))) return NamesOf(module, kids[0], depth + 1);
  if (options_.IsOption(module, value)) {
    std::vector<Named> names;
    for (std::string& text : options_.TextsOf(module, value)) names.push_back({std::string(base::FolderOf(program_.infos[module].path)), std::move(text)});
    return names.empty() ? std::nullopt : std::optional(names);
  }
  return NamesOfPaths(module, value);
}

SettingsPlaces::Names SettingsPlaces::NamesOfPaths(ir::ModuleId module, ValueId value) const {
  const std::string folder(base::FolderOf(program_.infos[module].path));
  std::vector<Named> names;
  for (const FilePath& path : paths_.PathsOf(value, nullptr)) {
    if (path.IsText()) {
      names.push_back({folder, path.Spelled()});
      continue;
    }
    // `Path(__file__).parent / "conf.yaml"`
    const bool is_below_hole = path.pieces.size() == 2 && path.pieces[0].hole && !path.pieces[1].hole && path.pieces[1].text.starts_with('/');
    const std::optional<std::string> place = is_below_hole ? FolderIn(module, path.pieces[0].hole) : std::nullopt;
    if (!place) return std::nullopt;
    names.push_back({*place, path.pieces[1].text.substr(1)});
  }
  return names.empty() || names.size() > kMostPlaces ? std::nullopt : std::optional(names);
}

// The folder that stands some steps above the module's own file.
std::optional<std::string> SettingsPlaces::FolderIn(ir::ModuleId module_id, ValueId value) const {
  const ir::Module& module = program_.modules[module_id];
  int steps = 0;
  for (int depth = 0; value && depth < kDeepestSettings; ++depth) {
    const bool is_file = std::ranges::any_of(index_.ExprsOf(module_id, ir::ExprKind::Name), [&](ir::ExprId name) {
      return program_.text(ir::NameOf(module[name])) == "__file__" && facts_.value(module_id, name) == value;
    });
    if (is_file) break;
    const std::string_view operation = OperationOf(value);
    const auto kids = facts_.values_store.Kids(value);
    if (kids.empty()) return std::nullopt;
    if (operation == "os.path.dirname" || operation == "parent") ++steps;
    else if (operation != "os.path.abspath" && operation != "os.path.realpath" && operation != "resolve" && operation != "absolute" &&
             facts_.values_store[value].kind != ValueKind::Object) return std::nullopt;
    value = kids[0];
  }
  std::string folder = program_.infos[module_id].path;
  for (; steps > 0 && !folder.empty(); --steps) folder = std::string(base::FolderOf(folder));
  return steps == 0 && folder != program_.infos[module_id].path ? std::optional(folder) : std::nullopt;
}

const knowledge::Entry* SettingsPlaces::EntryOf(ValueId value) const {
  const variation::Value& node = facts_.values_store[value];
  if (node.kind != ValueKind::Derived) return nullptr;
  const base::NameId name = facts_.values_store.OperationOf(node);
  const knowledge::EntryId entry = name ? knowledge_.FindEntry(name) : knowledge::EntryId();
  return entry ? &knowledge_[entry] : nullptr;
}

base::NameId SettingsPlaces::OperationNameOf(ValueId value) const {
  const variation::Value& node = facts_.values_store[value];
  return facts_.values_store.DerivedBy(node);
}

std::string_view SettingsPlaces::OperationOf(ValueId value) const {
  const base::NameId name = OperationNameOf(value);
  return name ? program_.text(name) : std::string_view();
}

std::string_view SettingsPlaces::TextOf(ValueId value) const {
  const bool is_text = value && facts_.values_store[value].kind == ValueKind::Str;
  return is_text ? program_.text(facts_.values_store[value].name()) : std::string_view();
}

}  // namespace allranks::objects
