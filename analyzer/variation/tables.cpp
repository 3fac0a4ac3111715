#include "analyzer/variation/tables.h"

#include <algorithm>

#include <fmt/format.h>

#include "analyzer/ir/bindings.h"

namespace allranks::variation {
namespace {

// Values joined into one field or parameter beyond this are only an unknown with the axes that all have.
constexpr int kMostJoined = 6;

constexpr std::string_view kStructural[] = {
    "[]", "[:]", "{}", "f-string", "for", kGrown, kShrunk, kRefilled, kRounds, "how often", "element", "key", "items", "keys", "values", "copy", "tolist", "split",
    "builtins.len", "builtins.list", "builtins.tuple", "builtins.set", "builtins.sorted", "builtins.reversed",
    "builtins.iter", "builtins.enumerate", "builtins.zip", "builtins.range", "builtins.min", "builtins.max",
    "builtins.sum", "builtins.abs", "builtins.any", "builtins.all", "builtins.str", "itertools.islice", "itertools.chain",
    "itertools.product", "itertools.takewhile", "itertools.dropwhile"};

uint64_t HashOf(uint64_t key) { return (key ^ (key >> 32)) * 0x9e3779b97f4a7c15ull; }

int SelectDepth(const ValueStore& store, ValueId id) {
  int depth = 0;
  while (store[id].kind == ValueKind::Select) {
    id = store.ArmsOf(id).else_value;
    ++depth;
  }
  return depth;
}

bool Holds(const ValueStore& store, ValueId joined, ValueId value) {
  while (true) {
    if (joined == value) return true;
    if (store[joined].kind != ValueKind::Select) return false;
    const Arms arms = store.ArmsOf(joined);
    if (arms.then_value == value) return true;
    joined = arms.else_value;
  }
}

// Parameters first, then what the body binds, but for what it declares to be of another scope.
void BuildScope(const ir::Module& module, const ir::Function& function, base::Interner& names, Scope& scope) {
  const auto add = [&](NameId name) {
    if (!name || std::ranges::count(scope.globals, name) || std::ranges::count(scope.nonlocals, name)) return;
    const auto [it, added] = scope.slots.emplace(name, static_cast<uint32_t>(scope.names.size()));
    if (added) scope.names.push_back(name);
  };
  for (const ir::Param& param : function.params) add(param.name);
  ir::ForEachStmtIn(module, function.body, [&](const ir::Stmt& stmt) {
    if (stmt.kind != ir::StmtKind::Global && stmt.kind != ir::StmtKind::Nonlocal) return;
    auto& declared = stmt.kind == ir::StmtKind::Global ? scope.globals : scope.nonlocals;
    for (const uint32_t word : ir::NamesOf(module, stmt)) declared.push_back(NameId{word});
  });
  ir::ForEachBindingIn(module, function.body, [&](const ir::Binding& binding) {
    add(binding.import ? ir::BoundName(module.imports[binding.import], names) : binding.name);
  });
  scope.built = true;
}

}  // namespace

uint32_t JoinTable::Find(uint64_t key) const {
  return index_.Find(HashOf(key), [&](uint32_t row) { return rows_[row].key == key; });
}

void JoinTable::Record(uint32_t owner, uint32_t key, ValueId value) {
  if (!value) return;
  const uint64_t both = Key(owner, key);
  uint32_t at = Find(both);
  if (at == base::HashIndex::kNotFound) {
    at = static_cast<uint32_t>(rows_.size());
    rows_.push_back({.key = both});
    index_.Add(HashOf(both), at);
  }
  Row& row = rows_[at];
  if (!row.current) row.current = value;
  // Of objects of one class it is known that they are of that class.
  if (row.current != value) {
    const ValueId both_are = store_->SomeObject(value);
    row.is_joined = row.is_joined || both_are != value;
    row.current = store_->SomeObject(row.current);
    value = both_are;
  }
  if (row.current == value || Holds(*store_, row.current, value)) return;
  row.is_joined = true;
  if (row.symbols.size() == row.joined) row.symbols.push_back(store_->NewSymbol());
  if (SelectDepth(*store_, row.current) >= kMostJoined) {
    // Of so many, what one of them varies by says little of the one at hand.
    row.current = store_->Symbol(row.symbols[0], store_->axes(row.current) & store_->axes(value), flags_);
    return;
  }
  // Which of the assignments holds is unknown but, as far as is known, the same on every rank. A choice of its own for
  // each: with one for all, the second of three values could never be the one that holds.
  row.current = store_->Select(store_->Symbol(row.symbols[row.joined++], {}, flags_), value, row.current);
}

ValueId JoinTable::Read(uint32_t owner, uint32_t key) const {
  const uint32_t at = Find(Key(owner, key));
  if (at == base::HashIndex::kNotFound) return ValueId::None();
  return rows_[at].previous ? rows_[at].previous : rows_[at].current;
}

bool JoinTable::IsJoined(uint32_t owner, uint32_t key) const {
  const uint32_t at = Find(Key(owner, key));
  return at != base::HashIndex::kNotFound && rows_[at].is_joined;
}

bool JoinTable::NextRound() {
  bool changed = false;
  for (Row& row : rows_) {
    changed = changed || row.current != row.previous;
    row.previous = std::exchange(row.current, ValueId::None());
    row.joined = 0;
  }
  return changed;
}

void JoinTable::Clear() {
  for (Row& row : rows_) row = {.key = row.key, .symbols = std::move(row.symbols)};
}

Tables::Tables(const binding::Program& the_program, const knowledge::Knowledge& the_knowledge, Facts& the_facts)
    : program(the_program),
      knowledge(the_knowledge),
      facts(the_facts),
      store(facts.values_store),
      scopes(program.funcs.size()),
      known_functions(program.funcs.size()),
      known_classes(program.classes.size()),
      known_bases(program.classes.size()),
      effects(program.funcs.size()),
      calls_to_file(program.funcs.size(), kNoFile),
      round_of(program.funcs.size(), 0),
      places_(the_program),
      tables_{JoinTable(store, kOfSomeObject), JoinTable(store), JoinTable(store), JoinTable(store),
              JoinTable(store, kOfSomeObject), JoinTable(store, kOfSomeObject), JoinTable(store, kOfSomeObject), JoinTable(store), JoinTable(store), JoinTable(store)},
      neighbourhood_(program),
      programs_(program.modules.size()),
      attribute_uses_(program.modules.size()),
      name_places_(program.modules.size()),
      calls_of_overridden_(program.modules.size()),
      decorated_(program.funcs.size()) {
  for (const std::string_view name : {"[]", "[:]", "*.abs", "*.to", "torch.cat", "torch.stack"}) {
    store.SetKeepsShape(NameSymbol(name));
  }
  for (const char* asks_for_class : {"isinstance", "hasattr"}) store.SetUniform(NameSymbol(asks_for_class));
  store.SetLength(NameSymbol("builtins.len"), NameSymbol(kRounds));
  store.SetKey(NameSymbol("key"), {NameSymbol("{}"), NameSymbol(kGrown), NameSymbol(kShrunk), NameSymbol(kRefilled), NameSymbol(kComprehended)});
  store.SetOperations({.environment = NameSymbol("environment"), .element = NameSymbol("element"), .item = NameSymbol("[]"), .get = NameSymbol("get"), .pop = NameSymbol("pop")},
                      *program.names);
  store.SetTexts(NameSymbol("builtins.str"), NameSymbol("f-string"));
  for (const std::string_view name : kStructural) store.SetStructural(NameSymbol(name));
  uint32_t param_count = 0;
  for (uint32_t f = 0; f < program.funcs.size(); ++f) {
    first_param_.push_back(param_count);
    param_count += static_cast<uint32_t>(program.function(FuncId{f}).params.size());
    if (const FuncId parent = program.funcs[FuncId{f}].parent) scopes[parent.index].has_nested = true;
  }
  declared_.resize(param_count);
  defaults_.resize(param_count);
  assumed_.resize(param_count);
}

void Tables::BeginAgain(std::span<const ir::ModuleId> edited) {
  for (JoinTable& table : tables_) table.Clear();
  std::ranges::fill(declared_, ValueId::None());
  std::ranges::fill(defaults_, ValueId::None());
  std::ranges::fill(decorated_, ValueId::None());
  std::ranges::fill(effects, Effects());
  std::ranges::fill(calls_to_file, kNoFile);
  std::ranges::fill(round_of, 0);
  std::ranges::fill(assumed_, Assumption{});
  for (const ir::ModuleId module : edited) {
    places_.Forget(module);
    attribute_uses_[module.index].reset();
    name_places_[module.index].reset();
    calls_of_overridden_[module.index].reset();
    for (uint32_t i = 0; i < program.modules[module].functions.size(); ++i) {
      Scope& scope = scopes[program.func(module, ir::FunctionId{i}).index];
      scope = {.slots = {}, .names = {}, .globals = {}, .nonlocals = {}, .has_nested = scope.has_nested};
    }
  }
}

bool Tables::NextRound() {
  bool changed = false;
  for (JoinTable& table : tables_) changed = table.NextRound() || changed;
  return changed;
}

ValueId Tables::Read(TableId table, uint32_t owner, uint32_t key) {
  return NoteRead({.kind = EventKind::Read, .table = table, .owner = owner, .key = key, .value = {}}, [&] {
    const bool is_of_unknown = table == TableId::Replaced && (owner & kOfUnknownClass) != 0;
    return table == TableId::LooseFields ? ReadLoose(owner, key) : is_of_unknown ? ReadReplaced(owner, key) : TableOf(table).Read(owner, key);
  });
}

ValueId Tables::ReadLoose(uint32_t reader, uint32_t attr) {
  const auto writers = loose_writers_.find(attr);
  if (writers == loose_writers_.end()) return {};
  ValueId joined;
  int choices = 0;
  for (const uint32_t writer : writers->second) {
    const ValueId value = IsOfOneProgram(reader, writer) ? TableOf(TableId::LooseFields).Read(writer, attr) : ValueId();
    if (!value || (joined && Holds(store, joined, value))) continue;
    const uint32_t whose = NameSymbol(fmt::format("whose {} {}", program.text(NameId{attr}), choices));
    if (!joined) {
      joined = value;
      continue;
    }
    ++choices;
    if (SelectDepth(store, joined) < kMostJoined) joined = store.Select(store.Symbol(whose, {}), value, joined);
    else joined = store.Symbol(whose, store.axes(joined) & store.axes(value));
  }
  return joined;
}

ValueId Tables::ReadReplaced(uint32_t reader, uint32_t attr) {
  const auto writers = loose_writers_.find(attr);
  if (writers == loose_writers_.end()) return {};
  const bool is_replaced = std::ranges::any_of(writers->second, [&](uint32_t writer) {
    return TableOf(TableId::Replaced).Read(writer | kOfUnknownClass, attr) && IsOfOneProgram(reader & ~kOfUnknownClass, writer);
  });
  return is_replaced ? store.True() : ValueId();
}

bool Tables::IsOfOneProgram(uint32_t reader, uint32_t writer) {
  std::vector<bool>& known = programs_[reader];
  if (known.empty()) {
    known.resize(program.modules.size());
    for (const ir::ModuleId module : neighbourhood_.Of(ir::ModuleId{reader})) known[module.index] = true;
  }
  return known[writer];
}

bool Tables::IsJoined(TableId table, uint32_t owner, uint32_t key) {
  const Event event{.kind = EventKind::IsJoined, .table = table, .owner = owner, .key = key, .value = {}};
  return NoteRead(event, [&] { return store.Bool(TableOf(table).IsJoined(owner, key)); }) == store.True();
}

ValueId Tables::ReadParam(FuncId function, uint32_t index) {
  const ValueId of_job = Read(TableId::Params, function.index, index);
  return of_job ? of_job : Read(TableId::AloneParams, function.index, index);
}

bool Tables::IsParamJoined(FuncId function, uint32_t index) {
  const bool is_of_job = Read(TableId::Params, function.index, index).has_value();
  return IsJoined(is_of_job ? TableId::Params : TableId::AloneParams, function.index, index);
}

void Tables::Record(TableId table, uint32_t owner, uint32_t key, ValueId value) {
  const Event event{.kind = EventKind::Record, .table = table, .owner = owner, .key = key, .value = value};
  if (log != nullptr && log->NoteRecord(event)) return;
  if (table == TableId::LooseFields) {
    // In order of modules, so that the order of evaluation changes nothing.
    std::vector<uint32_t>& writers = loose_writers_[key];
    const auto place = std::ranges::lower_bound(writers, owner);
    if (place == writers.end() || *place != owner) writers.insert(place, owner);
  }
  TableOf(table).Record(owner, key, value);
}

ValueId Tables::DeclaredParam(FuncId function, uint32_t index) {
  return ReadOf(EventKind::Declared, function, index, [&] { return declared_[ParamIndex(function, index)]; });
}

void Tables::SetDeclared(FuncId function, uint32_t index, ValueId value) {
  declared_[ParamIndex(function, index)] = Noted(EventKind::SetDeclared, function, index, value);
}

ValueId Tables::DefaultOf(FuncId function, uint32_t index) {
  return ReadOf(EventKind::Default, function, index, [&] { return defaults_[ParamIndex(function, index)]; });
}

void Tables::SetDefault(FuncId function, uint32_t index, ValueId value) {
  defaults_[ParamIndex(function, index)] = Noted(EventKind::SetDefault, function, index, value);
}

ValueId Tables::Decorated(FuncId function) {
  return ReadOf(EventKind::Decorated, function, 0, [&] { return decorated_[function.index]; });
}

// Few lists occur in a program, whatever its size.
DecoratorsId Tables::Decorators(std::vector<knowledge::EntryId> entries) {
  const auto known = std::ranges::find(decorators_, entries);
  const auto id = static_cast<uint32_t>(known - decorators_.begin());
  if (known == decorators_.end()) decorators_.push_back(std::move(entries));
  return DecoratorsId{id};
}

bool Tables::HasOwnFields(binding::ClassId class_id) {
  const NameId any = program.names->Intern(kFieldTable);
  return std::ranges::any_of(program.classes[class_id].mro, [&](binding::ClassId base) {
    return Read(TableId::Made, base.index, any.index).has_value();
  });
}

void Tables::SetDecorated(FuncId function, DecoratorsId decorators, ValueId value) {
  decorated_[function.index] = Noted(EventKind::SetDecorated, function, decorators.index, value);
  facts.functions[function].decorators = decorators_[decorators.index];
}

ValueId Tables::AssumedParam(FuncId function, uint32_t index) {
  return ReadOf(EventKind::Assumed, function, index, [&] {
    // What it asks in turn follows from what is asked.
    Log* asking = std::exchange(log, nullptr);
    const ValueId value = Assume(function, index);
    log = asking;
    return value;
  });
}

uint32_t Tables::SiteSymbol(FuncId function, uint32_t offset, SiteUse use, uint32_t index) {
  const Site site{.place = (uint64_t{function.index} << 32) | places_.Within(function, offset),
                  .use = (uint64_t{index} << 8) | static_cast<uint8_t>(use)};
  const auto [it, added] = site_symbols_.emplace(site, 0);
  if (added) it->second = store.NewSymbol();
  return it->second;
}

const ir::AttributeUses& Tables::AttributeUsesOf(ir::ModuleId module) {
  std::optional<ir::AttributeUses>& uses = attribute_uses_[module.index];
  if (!uses) uses = ir::AttributeUsesIn(program.modules[module], *program.names);
  return *uses;
}

std::span<const NameId> Tables::NamesIn(FuncId function) {
  const ir::ModuleId module = program.funcs[function].module;
  std::optional<ir::NamePlaces>& places = name_places_[module.index];
  if (!places) places.emplace(program.modules[module]);
  return places->In(program.function(function));
}

const ir::CallsOfOverridden& Tables::CallsOfOverriddenIn(ir::ModuleId module) {
  std::optional<ir::CallsOfOverridden>& calls = calls_of_overridden_[module.index];
  if (!calls) calls.emplace(program.modules[module], *program.names);
  return *calls;
}

uint32_t Tables::NameSymbol(NameId name) {
  const auto [it, added] = name_symbols_.emplace(name, 0);
  if (added) {
    it->second = store.NewSymbol();
    store.SetOperation(it->second, name);
  }
  return it->second;
}

const Scope& Tables::ScopeOf(FuncId function) {
  Scope& scope = scopes[function.index];
  if (!scope.built) BuildScope(program.module_of(function), program.function(function), *program.names, scope);
  return scope;
}

}  // namespace allranks::variation
