#include "analyzer/variation/tables.h"

#include <algorithm>

namespace allranks::variation {
namespace {

// Values joined into one field or parameter beyond this are only an unknown with the axes that all have.
constexpr int kMostJoined = 6;

constexpr std::string_view kStructural[] = {
    "[]", "[:]", "{}", "for", kGrown, kRefilled, "how often", "element", "key", "items", "keys", "values", "copy", "tolist", "split",
    "builtins.len", "builtins.list", "builtins.tuple", "builtins.set", "builtins.sorted", "builtins.reversed",
    "builtins.iter", "builtins.enumerate", "builtins.zip", "builtins.range", "builtins.min", "builtins.max",
    "builtins.sum", "builtins.abs", "itertools.islice"};

uint64_t HashOf(uint64_t key) { return (key ^ (key >> 32)) * 0x9e3779b97f4a7c15ull; }

int SelectDepth(const ValueStore& store, ValueId id) {
  int depth = 0;
  while (store[id].kind == ValueKind::Select) {
    id = store.Kids(id)[2];
    ++depth;
  }
  return depth;
}

bool Holds(const ValueStore& store, ValueId joined, ValueId value) {
  while (true) {
    if (joined == value) return true;
    if (store[joined].kind != ValueKind::Select) return false;
    const auto kids = store.Kids(joined);
    if (kids[1] == value) return true;
    joined = kids[2];
  }
}

class ScopeBuilder {
 public:
  ScopeBuilder(const ir::Module& module, Scope& scope, base::Interner& names)
      : module_(module), scope_(scope), names_(names) {}

  void Build(const ir::Function& function) {
    for (const ir::Param& param : function.params) Add(param.name);
    FindDeclarations(function.body);
    Visit(function.body);
    scope_.built = true;
  }

 private:
  void Add(NameId name) {
    if (!name || std::ranges::count(scope_.globals, name) || std::ranges::count(scope_.nonlocals, name)) return;
    const auto [it, added] = scope_.slots.emplace(name, static_cast<uint32_t>(scope_.names.size()));
    if (added) scope_.names.push_back(name);
  }

  void AddTarget(ir::ExprId id) {
    if (!id) return;
    const ir::Expr& expr = module_[id];
    switch (expr.kind) {
      case ir::ExprKind::Name:
        if ((expr.flags & ir::kResolvedName) == 0) Add(ir::NameOf(expr));
        break;
      case ir::ExprKind::Tuple:
      case ir::ExprKind::List:
        for (const ir::ExprId item : ir::Items(module_, expr)) AddTarget(item);
        break;
      case ir::ExprKind::Starred:
        AddTarget(ir::OperandOf(expr));
        break;
      default:
        break;
    }
  }

  // Captures of a pattern are Walrus nodes somewhere below it.
  void AddPattern(ir::ExprId id) {
    if (!id) return;
    const ir::Expr& expr = module_[id];
    switch (expr.kind) {
      case ir::ExprKind::Walrus:
        AddTarget(ir::LeftOf(expr));
        AddPattern(ir::RightOf(expr));
        break;
      case ir::ExprKind::Tuple:
      case ir::ExprKind::List:
      case ir::ExprKind::Set:
      case ir::ExprKind::Opaque:
        for (const ir::ExprId item : ir::Items(module_, expr)) AddPattern(item);
        break;
      default:
        break;
    }
  }

  void FindDeclarations(ir::BlockId block) {
    for (const ir::StmtId id : module_.statements(block)) {
      const ir::Stmt& stmt = module_[id];
      if (stmt.kind == ir::StmtKind::Global || stmt.kind == ir::StmtKind::Nonlocal) {
        auto& names = stmt.kind == ir::StmtKind::Global ? scope_.globals : scope_.nonlocals;
        for (const uint32_t word : ir::NamesOf(module_, stmt)) names.push_back(NameId{word});
      }
      ForEachBlock(stmt, [this](ir::BlockId inner) { FindDeclarations(inner); });
    }
  }

  template <class Visitor>
  void ForEachBlock(const ir::Stmt& stmt, Visitor visit) {
    switch (stmt.kind) {
      case ir::StmtKind::If:
      case ir::StmtKind::For:
      case ir::StmtKind::While:
        visit(ir::BodyOf(stmt));
        visit(ir::ElseBlockOf(stmt));
        break;
      case ir::StmtKind::With:
        visit(ir::BodyOf(stmt));
        break;
      case ir::StmtKind::Try:
        visit(ir::BlockId{stmt.a});
        for (const ir::Handler& handler : ir::HandlersOf(module_, stmt)) visit(handler.body);
        visit(ir::BlockId{stmt.c});
        visit(ir::BlockId{stmt.d});
        break;
      case ir::StmtKind::Match:
        for (const ir::MatchCase& match_case : ir::CasesOf(module_, stmt)) visit(match_case.body);
        break;
      default:
        break;
    }
  }

  void Visit(ir::BlockId block) {
    for (const ir::StmtId id : module_.statements(block)) VisitStmt(module_[id]);
  }

  void VisitStmt(const ir::Stmt& stmt) {
    switch (stmt.kind) {
      case ir::StmtKind::Assign:
        for (const ir::ExprId target : ir::TargetsOf(module_, stmt)) AddTarget(target);
        break;
      case ir::StmtKind::AugAssign:
      case ir::StmtKind::AnnAssign:
      case ir::StmtKind::For:
        AddTarget(ir::ValueOf(stmt));
        break;
      case ir::StmtKind::With:
        for (const ir::WithItem& item : ir::WithItemsOf(module_, stmt)) AddTarget(item.target);
        break;
      case ir::StmtKind::Try:
        for (const ir::Handler& handler : ir::HandlersOf(module_, stmt)) Add(handler.name);
        break;
      case ir::StmtKind::Match:
        for (const ir::MatchCase& match_case : ir::CasesOf(module_, stmt)) AddPattern(match_case.pattern);
        break;
      case ir::StmtKind::Import:
        for (uint32_t i = 0; i < stmt.c; ++i) AddImport(module_.imports[ir::ImportId{stmt.a + i}]);
        break;
      case ir::StmtKind::FunctionDef:
        Add(module_.functions[ir::FunctionOf(stmt)].name);
        break;
      case ir::StmtKind::ClassDef:
        Add(module_.classes[ir::ClassOf(stmt)].name);
        break;
      default:
        break;
    }
    ForEachBlock(stmt, [this](ir::BlockId inner) { Visit(inner); });
  }

  void AddImport(const ir::Import& import) {
    if (import.star) return;
    Add(BoundName(import));
  }

  NameId BoundName(const ir::Import& import) {
    if (import.as_name) return import.as_name;
    if (import.name) return import.name;
    const std::string_view dotted = names_.View(import.module);
    return names_.Intern(dotted.substr(0, dotted.find('.')));
  }

  const ir::Module& module_;
  Scope& scope_;
  base::Interner& names_;
};

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
  if (row.current == value || Holds(*store_, row.current, value)) return;
  row.is_joined = true;
  if (row.symbol == 0) row.symbol = store_->NewSymbol();
  if (SelectDepth(*store_, row.current) >= kMostJoined) {
    // Of so many, what one of them varies by says little of the one at hand.
    row.current = store_->Symbol(row.symbol, store_->axes(row.current) & store_->axes(value), flags_);
    return;
  }
  // Which of the assignments holds is unknown but, as far as is known, the same on every rank.
  row.current = store_->Select(store_->Symbol(row.symbol, {}, flags_), value, row.current);
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
  }
  return changed;
}

void JoinTable::Clear() {
  for (Row& row : rows_) row = {.key = row.key, .symbol = row.symbol};
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
      round_of(program.funcs.size(), 0),
      places_(the_program),
      tables_{JoinTable(store, kOfSomeObject), JoinTable(store), JoinTable(store), JoinTable(store),
              JoinTable(store, kOfSomeObject)},
      decorated_(program.funcs.size()) {
  for (const std::string_view name : {"[]", "[:]", "*.abs", "*.to", "torch.cat", "torch.stack"}) {
    store.SetKeepsShape(NameSymbol(name));
  }
  store.SetUniform(NameSymbol("isinstance"));
  store.SetLength(NameSymbol("builtins.len"));
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
  std::ranges::fill(round_of, 0);
  std::ranges::fill(assumed_, Assumption{});
  for (const ir::ModuleId module : edited) {
    places_.Forget(module);
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
  const ValueId value = TableOf(table).Read(owner, key);
  Note({.kind = EventKind::Read, .table = table, .owner = owner, .key = key, .value = value});
  return value;
}

bool Tables::IsJoined(TableId table, uint32_t owner, uint32_t key) {
  const bool is_joined = TableOf(table).IsJoined(owner, key);
  Note({.kind = EventKind::IsJoined, .table = table, .owner = owner, .key = key, .value = store.Bool(is_joined)});
  return is_joined;
}

void Tables::Record(TableId table, uint32_t owner, uint32_t key, ValueId value) {
  const Event event{.kind = EventKind::Record, .table = table, .owner = owner, .key = key, .value = value};
  if (log != nullptr && log->NoteRecord(event)) return;
  TableOf(table).Record(owner, key, value);
}

ValueId Tables::DeclaredParam(FuncId function, uint32_t index) {
  const ValueId value = declared_[ParamIndex(function, index)];
  Note({.kind = EventKind::Declared, .table = {}, .owner = function.index, .key = index, .value = value});
  return value;
}

void Tables::SetDeclared(FuncId function, uint32_t index, ValueId value) {
  declared_[ParamIndex(function, index)] = value;
  Note({.kind = EventKind::SetDeclared, .table = {}, .owner = function.index, .key = index, .value = value});
}

ValueId Tables::DefaultOf(FuncId function, uint32_t index) {
  const ValueId value = defaults_[ParamIndex(function, index)];
  Note({.kind = EventKind::Default, .table = {}, .owner = function.index, .key = index, .value = value});
  return value;
}

void Tables::SetDefault(FuncId function, uint32_t index, ValueId value) {
  defaults_[ParamIndex(function, index)] = value;
  Note({.kind = EventKind::SetDefault, .table = {}, .owner = function.index, .key = index, .value = value});
}

ValueId Tables::Decorated(FuncId function) {
  const ValueId value = decorated_[function.index];
  Note({.kind = EventKind::Decorated, .table = {}, .owner = function.index, .key = 0, .value = value});
  return value;
}

void Tables::SetDecorated(FuncId function, ValueId decorators, ValueId value) {
  decorated_[function.index] = value;
  std::vector<knowledge::EntryId>& entries = facts.functions[function].decorators;
  entries.clear();
  for (const ValueId entry : store.Kids(decorators)) entries.push_back(knowledge::EntryId{store[entry].a});
  Note({.kind = EventKind::SetDecorated, .table = {}, .owner = function.index, .key = decorators.index, .value = value});
}

ValueId Tables::AssumedParam(FuncId function, uint32_t index) {
  // What it asks in turn follows from what is asked.
  Log* asking = std::exchange(log, nullptr);
  const ValueId value = Assume(function, index);
  log = asking;
  Note({.kind = EventKind::Assumed, .table = {}, .owner = function.index, .key = index, .value = value});
  return value;
}

uint32_t Tables::SiteSymbol(FuncId function, uint32_t offset, SiteUse use, uint32_t index) {
  const Site site{.place = (uint64_t{function.index} << 32) | places_.Within(function, offset),
                  .use = (uint64_t{index} << 8) | static_cast<uint8_t>(use)};
  const auto [it, added] = site_symbols_.emplace(site, 0);
  if (added) it->second = store.NewSymbol();
  return it->second;
}

uint32_t Tables::NameSymbol(NameId name) {
  const auto [it, added] = name_symbols_.emplace(name, 0);
  if (added) it->second = store.NewSymbol();
  return it->second;
}

const Scope& Tables::ScopeOf(FuncId function) {
  Scope& scope = scopes[function.index];
  if (!scope.built) ScopeBuilder(program.module_of(function), scope, *program.names).Build(program.function(function));
  return scope;
}

}  // namespace allranks::variation
