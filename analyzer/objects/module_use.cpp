#include "analyzer/objects/module_use.h"

#include <algorithm>
#include <unordered_set>

#include "analyzer/objects/gradient_mode.h"
#include "analyzer/variation/tables.h"

namespace allranks::objects {

using variation::ValueKind;

namespace {

constexpr int kDeepestModule = 4;
// A constructor that calls more functions than this is not read to its end.
constexpr size_t kMostMakers = 200;

}  // namespace

// One walk from `forward` through the methods of the same object.
struct ModuleUses::Visit {
  binding::ClassId class_id;
  ModuleUse* use = nullptr;
  std::vector<FuncId> on_way;
  std::vector<base::NameId> given;    // fields that hold what the constructor was given
  // Fields that hold what a library makes, or lists of modules, of which is not known what is in them, and how much of these runs at most.
  struct Closed {
    base::NameId field;
    bool is_list = false;
    bool is_read = false;
    PartRun run = PartRun::Partly;
  };
  std::vector<Closed> closed;
  bool escapes = false;  // the object itself is handed to code that is not followed
};

// What the constructors of a class make, and the functions that they call.
struct ModuleUses::Made {
  std::vector<binding::ClassId> classes;
  bool has_unknown = false;
  std::unordered_set<uint32_t> functions;
};

bool ModuleUses::IsModule(ValueId value) const {
  if (!value) return false;
  if (values_.IsA(value, "torch.nn.Module")) return true;
  const variation::Value& node = facts_.values_store[value];
  if (node.kind != ValueKind::Instance) return false;
  const auto& bases = program_.classes[node.class_id()].external_bases;
  return std::ranges::any_of(bases, [&](base::NameId base) { return program_.text(base).ends_with("Module"); });
}

bool ModuleUses::HoldsParameters(ValueId value) const {
  std::vector<binding::ClassId> seen;
  return HoldsParameters(value, 0, seen);
}

// A class that was seen adds nothing: a module may hold modules of its own class.
bool ModuleUses::HoldsParameters(ValueId id, int depth, std::vector<binding::ClassId>& seen) const {
  if (!id || depth > kDeepestModule) return false;
  for (const ValueId leaf : values_.Leaves(id)) {
    const variation::Value& value = facts_.values_store[leaf];
    const knowledge::ClassId known = values_.ClassOf(leaf);
    if (value.kind == ValueKind::Object && known) {
      if (knowledge_[known].has_parameters || program_.text(knowledge_[known].name) == "torch.nn.Parameter") return true;
    }
    const bool is_container = value.kind == ValueKind::Tuple || value.kind == ValueKind::Object;
    for (const ValueId kid : is_container ? facts_.values_store.Kids(leaf) : ItemsOf(leaf)) {
      if (HoldsParameters(kid, depth + 1, seen)) return true;
    }
    if (value.kind != ValueKind::Instance || !IsModule(leaf)) continue;
    const binding::ClassId class_id = value.class_id();
    if (std::ranges::find(seen, class_id) != seen.end()) continue;
    seen.push_back(class_id);
    if (std::ranges::any_of(FieldsOf(class_id), [&](const Field& field) { return HoldsParameters(field.value, 0, seen); })) return true;
  }
  return false;
}

// Of `[nn.Linear(8, 8) for _ in range(depth)]`, and of a list to which modules were added in a loop. The other kids say of what it is made, and
// how often.
std::span<const ValueId> ModuleUses::ItemsOf(ValueId list) const {
  const base::NameId made_by = facts_.values_store.DerivedBy(list);
  const std::string_view operation = made_by ? program_.text(made_by) : std::string_view();
  const auto kids = facts_.values_store.Kids(list);
  const size_t items = operation == variation::kComprehended ? 1 : operation == variation::kGrown ? 2 : 0;
  return kids.first(std::min(items, kids.size()));
}

// `self.blocks.append(Block())`
bool ModuleUses::AddsParameters(binding::ClassId class_id, base::NameId list) const {
  const auto adds = [&](FuncId constructor, ir::ExprId call) {
    const ir::ModuleId module_id = program_.funcs[constructor].module;
    const ir::Module& module = program_.modules[module_id];
    if (module[call].kind != ir::ExprKind::Call || ir::ArgCount(module, module[call]) != 1) return false;
    const ir::Expr& callee = module[ir::CalleeOf(module[call])];
    if (callee.kind != ir::ExprKind::Attribute || program_.text(ir::AttrOf(callee)) != "append") return false;
    const ir::Expr& object = module[ir::ObjectOf(callee)];
    const bool is_it = object.kind == ir::ExprKind::Attribute && ir::AttrOf(object) == list && IsSelf(constructor, ir::ObjectOf(object));
    return is_it && HoldsParameters(facts_.value(module_id, ir::ArgAt(module, module[call], 0).value));
  };
  return std::ranges::any_of(program_.classes[class_id].mro, [&](binding::ClassId base) {
    return std::ranges::any_of(program_.classes[base].methods, [&](const auto& method) {
      return program_.text(method.first) == "__init__" &&
             std::ranges::any_of(facts_.functions[method.second].calls, [&](const auto& call) { return adds(method.second, call.first); });
    });
  });
}

bool ModuleUses::IsTensor(ValueId value) const {
  return std::ranges::all_of(values_.Leaves(value), [&](ValueId leaf) { return values_.IsA(leaf, "torch.nn.Parameter"); });
}

// Made by a library of which is not known what is in it: `BertModel.from_pretrained(...)`.
bool ModuleUses::IsOfLibrary(ValueId value) const {
  if (!value) return false;
  return std::ranges::any_of(values_.Leaves(value), [&](ValueId leaf) {
    const variation::Value& node = facts_.values_store[leaf];
    const base::NameId made_by = facts_.values_store.DerivedBy(node);
    return made_by && !program_.text(made_by).starts_with("builtins.");
  });
}

ModuleUse ModuleUses::Of(binding::ClassId class_id) const {
  ModuleUse use;
  use.has_frozen = SpeaksOfRequiresGrad(class_id);
  use.has_unknown = MadeBy(class_id).has_unknown;
  std::vector<base::NameId> given;
  std::vector<Visit::Closed> closed;
  for (const Field& field : FieldsOf(class_id)) {
    const auto is_instance = [&](ValueId leaf) { return facts_.values_store[leaf].kind == ValueKind::Instance; };
    const bool is_list = field.value && (values_.IsA(field.value, "torch.nn.ModuleList") || values_.IsA(field.value, "torch.nn.ModuleDict"));
    const bool holds = HoldsParameters(field.value) || (is_list && field.name && AddsParameters(class_id, field.name));
    if (holds) {
      use.parts.push_back({.field = field.name,
                           .made = field.made,
                           .use = Use::Never,
                           .condition = {},
                           .choice = {},
                           .is_of_project = std::ranges::any_of(values_.Leaves(field.value), is_instance),
                           .is_tensor = IsTensor(field.value),
                           .run = PartRun::Partly});
    }
    if (field.name && IsOfLibrary(field.value)) closed.push_back({.field = field.name, .is_list = false});
    if (field.name && is_list && !holds) closed.push_back({.field = field.name, .is_list = true});
    if (field.value && facts_.values_store[field.value].kind == ValueKind::Param) given.push_back(field.name);
  }
  const base::NameId name = program_.names->Find("forward");
  const FuncId forward = name ? program_.FindMethod(class_id, name) : FuncId::None();
  if (!forward) return use;
  Visit visit{.class_id = class_id, .use = &use, .on_way = {}, .given = std::move(given), .closed = std::move(closed), .escapes = false};
  FollowForward(forward, {}, visit);
  use.has_partly = use.has_partly || std::ranges::any_of(visit.closed, [](const Visit::Closed& each) { return each.is_read && each.run != PartRun::Whole; });
  const auto& bases = program_.classes[class_id].external_bases;
  const bool bases_known = std::ranges::all_of(bases, [&](base::NameId base) {
    const knowledge::ClassId known = knowledge_.FindClass(base);
    return known && program_.text(knowledge_[known].name) == "torch.nn.Module";
  });
  use.is_known = bases_known && !visit.escapes && !RunsText(class_id);
  return use;
}

std::vector<ModuleUses::Field> ModuleUses::FieldsOf(binding::ClassId class_id) const {
  std::vector<Field> fields;
  for (const binding::ClassId base : program_.classes[class_id].mro) {
    for (const auto& [name, method] : program_.classes[base].methods) {
      if (program_.text(name) == "__init__") AddFields(method, fields);
    }
  }
  return fields;
}

// `self.part = nn.Linear(...)`.
void ModuleUses::AddFields(FuncId constructor, std::vector<Field>& fields) const {
  const ir::ModuleId module_id = program_.funcs[constructor].module;
  const ir::Module& module = program_.modules[module_id];
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::Stmt& stmt = module[ir::StmtId{i}];
    if (stmt.kind != ir::StmtKind::Assign || index_.FunctionOf(module_id, ir::StmtId{i}) != constructor) continue;
    for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
      const bool is_field = module[target].kind == ir::ExprKind::Attribute && IsSelf(constructor, ir::ObjectOf(module[target]));
      if (is_field) fields.push_back({ir::AttrOf(module[target]), module.span(target), facts_.value(module_id, ir::AssignedOf(stmt))});
    }
  }
  for (const auto& [expr, fact] : facts_.functions[constructor].calls) AddNamedField(constructor, expr, fields);
}

// `exec("self.head = nn.Linear(8, 8)")`: what the object is made of stands in a text.
bool ModuleUses::RunsText(binding::ClassId class_id) const {
  return std::ranges::any_of(program_.classes[class_id].mro, [&](binding::ClassId base) {
    return std::ranges::any_of(program_.classes[base].methods, [&](const auto& method) {
      return std::ranges::any_of(facts_.functions[method.second].calls, [&](const auto& call) {
        const ir::Module& module = program_.module_of(method.second);
        if (module[call.first].kind != ir::ExprKind::Call) return false;
        const ir::Expr& callee = module[ir::CalleeOf(module[call.first])];
        return callee.kind == ir::ExprKind::Name && program_.text(ir::NameOf(callee)) == "exec";
      });
    });
  });
}

// Some file that a class or one of its bases is written in.
bool ModuleUses::SpeaksOfRequiresGrad(binding::ClassId class_id) const {
  return std::ranges::any_of(program_.classes[class_id].mro, [&](binding::ClassId base) {
    return std::ranges::any_of(program_.modules[program_.classes[base].module].exprs, [&](const ir::Expr& expr) {
      return expr.kind == ir::ExprKind::Attribute && program_.text(ir::AttrOf(expr)).starts_with("requires_grad");
    });
  });
}

// `self.add_module("head", nn.Linear(...))`, `setattr(self, "head", nn.Linear(...))`.
void ModuleUses::AddNamedField(FuncId method, ir::ExprId call, std::vector<Field>& fields) const {
  const ir::ModuleId module_id = program_.funcs[method].module;
  const ir::Module& module = program_.modules[module_id];
  if (module[call].kind != ir::ExprKind::Call) return;
  const ir::Expr& callee = module[ir::CalleeOf(module[call])];
  const bool is_method = callee.kind == ir::ExprKind::Attribute && IsSelf(method, ir::ObjectOf(callee)) &&
                         (program_.text(ir::AttrOf(callee)) == "add_module" || program_.text(ir::AttrOf(callee)) == "register_module");
  const bool is_function = callee.kind == ir::ExprKind::Name && program_.text(ir::NameOf(callee)) == "setattr";
  const uint32_t first = is_function ? 1 : 0;
  if (!(is_method || is_function) || ir::ArgCount(module, module[call]) != first + 2) return;
  if (is_function && !IsSelf(method, ir::ArgAt(module, module[call], 0).value)) return;
  const ir::ExprId part = ir::ArgAt(module, module[call], first + 1).value;
  fields.push_back({NameIn(module_id, ir::ArgAt(module, module[call], first).value), module.span(call), facts_.value(module_id, part)});
}

// The name that a text is; none where it is put together at run time.
base::NameId ModuleUses::NameIn(ir::ModuleId module, ir::ExprId text) const {
  const ValueId value = facts_.value(module, text);
  return value && facts_.values_store[value].kind == ValueKind::Str ? facts_.values_store[value].name() : base::NameId::None();
}

bool ModuleUses::IsSelf(FuncId method, ir::ExprId expr) const {
  const ir::Module& module = program_.module_of(method);
  const ir::Function& function = program_.function(method);
  return module[expr].kind == ir::ExprKind::Name && !function.params.empty() &&
         ir::NameOf(module[expr]) == function.params[0].name;
}

void ModuleUses::FollowForward(FuncId method, const std::vector<Guard>& on_way, Visit& visit) const {
  if (std::ranges::find(visit.on_way, method) != visit.on_way.end()) return;
  visit.on_way.push_back(method);
  const ir::ModuleId module_id = program_.funcs[method].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  const ir::Function& function = program_.function(method);
  for (uint32_t i = 0; i < module.exprs.size(); ++i) {
    const ir::ExprId id{i};
    if (module[id].begin < function.begin || module[id].end > function.end || !tree.StatementOf(id)) continue;
    if (index_.FunctionOf(module_id, tree.StatementOf(id)) != method || !IsSelf(method, id)) continue;
    const ir::ExprId parent = tree.Parent(id);
    const bool is_read = parent && module[parent].kind == ir::ExprKind::Attribute;
    if (is_read && !AreGradientsOff(program_, values_, facts_, index_, {method, id})) NoteRead({method, parent}, ir::AttrOf(module[parent]), on_way, visit);
    else if (!is_read && !NoteNamedRead({method, id}, on_way, visit)) visit.escapes = true;
  }
  // Methods of the same object that run on the way.
  for (const auto& [expr, fact] : facts_.functions[method].calls) {
    const bool is_own = fact.function && fact.receiver &&
                        facts_.values_store[fact.receiver].kind == ValueKind::Instance &&
                        program_.funcs[fact.function].owner;
    if (!is_own || AreGradientsOff(program_, values_, facts_, index_, {method, expr})) continue;
    const auto& mro = program_.classes[visit.class_id].mro;
    if (std::ranges::find(mro, program_.funcs[fact.function].owner) == mro.end()) continue;
    std::vector<Guard> guards = on_way;
    for (const Guard& guard : guards_.Of({method, expr})) guards.push_back(guard);
    FollowForward(fact.function, guards, visit);
  }
  visit.on_way.pop_back();
}

// `getattr(self, "head" + str(i))`.
bool ModuleUses::NoteNamedRead(const Site& self, const std::vector<Guard>& on_way, Visit& visit) const {
  const ir::ModuleId module_id = program_.funcs[self.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::ExprId call = index_.tree(module_id).Parent(self.expr);
  if (!call || module[call].kind != ir::ExprKind::Call || ir::ArgCount(module, module[call]) < 2) return false;
  const ir::Expr& callee = module[ir::CalleeOf(module[call])];
  const bool is_getattr = callee.kind == ir::ExprKind::Name && program_.text(ir::NameOf(callee)) == "getattr";
  if (!is_getattr || ir::ArgAt(module, module[call], 0).value != self.expr) return false;
  const base::NameId field = NameIn(module_id, ir::ArgAt(module, module[call], 1).value);
  // A name that is put together may be that of any field.
  const bool is_clear = field || std::ranges::none_of(visit.use->parts, [](const PartUse& part) { return part.field.has_value(); });
  if (is_clear) NoteRead({self.function, call}, field, on_way, visit);
  return is_clear;
}

// `assert y is not None`, `if y is None: raise`: a forward that is broken off leaves no gradients that are waited for.
bool ModuleUses::FailsOtherwise(const Guard& guard) const {
  const ir::ModuleId module_id = program_.funcs[guard.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::StmtId asks = index_.tree(module_id).StatementOf(guard.test);
  if (!asks || ir::ValueOf(module[asks]) != guard.test) return false;
  if (module[asks].kind == ir::StmtKind::Assert) return true;
  if (module[asks].kind != ir::StmtKind::If) return false;
  const auto other = module.statements(guard.holds ? ir::ElseBlockOf(module[asks]) : ir::BodyOf(module[asks]));
  return !other.empty() && module[other.back()].kind == ir::StmtKind::Raise;
}

void ModuleUses::NoteRead(const Site& read, base::NameId field, const std::vector<Guard>& on_way, Visit& visit) const {
  constexpr std::string_view kAll[] = {"parameters", "named_parameters", "modules", "children", "named_children",
                                       "named_modules", "_modules", "_parameters", "__dict__", "state_dict"};
  if (field && std::ranges::find(kAll, program_.text(field)) != std::end(kAll)) visit.escapes = true;
  const ir::Module& module = program_.module_of(read.function);
  const ir::ExprId call = index_.tree(program_.funcs[read.function].module).Parent(read.expr);
  const bool is_called = call && module[call].kind == ir::ExprKind::Call && ir::CalleeOf(module[call]) == read.expr;
  if (is_called && std::ranges::find(visit.given, field) != visit.given.end()) visit.use->has_given = true;
  for (Visit::Closed& each : visit.closed) {
    if (each.field != field) continue;
    const std::optional<PartRun> run = each.is_list ? std::optional(runs_.Of(read)) : runs_.OfLibrary(read);
    if (!run) continue;
    each.is_read = true;
    const std::vector<Guard> guards = guards_.Of(read);
    const bool is_asked_for = std::ranges::all_of(guards, [&](const Guard& guard) { return FailsOtherwise(guard) || runs_.AsksForField(guard, field); });
    if (is_asked_for) each.run = std::max(each.run, *run);
  }
  for (PartUse& part : visit.use->parts) {
    if (part.field != field || (part.use == Use::Always && part.run == PartRun::Whole)) continue;
    std::vector<Guard> guards = guards_.Of(read);
    guards.insert(guards.end(), on_way.begin(), on_way.end());
    // A test of the part itself (`if self.part is not None`) asks whether it was made; one of an option that nobody
    // sets comes out the same each time.
    std::erase_if(guards, [&](const Guard& guard) {
      if (FailsOtherwise(guard) || (field && guard.function == read.function && runs_.AsksForField(guard, field))) return true;
      const ir::Module& of_guard = program_.module_of(guard.function);
      const ir::Tree& tree = index_.tree(program_.funcs[read.function].module);
      const ValueId test = facts_.value(program_.funcs[guard.function].module, guard.test);
      if (test && (guard.holds ? values_.IsTrue(test) : values_.IsFalse(test))) return true;
      if (guard.function != read.function) return false;
      for (ir::ExprId at = read.expr; at; at = tree.Parent(at)) {
        if (at == guard.test) return true;
      }
      return of_guard[guard.test].kind == ir::ExprKind::Constant;
    });
    if (guards.empty()) {
      const PartRuns::Elements elements = runs_.ElementsOf(read);
      if (elements.are_run && part.use == Use::Always && !elements.choice) part.choice.reset();
      if (elements.are_run && part.use != Use::Always) part.choice = elements.choice;
      part.use = Use::Always;
      part.condition.reset();
      part.run = std::max(part.run, part.is_tensor ? PartRun::Whole : runs_.Of(read));
    } else if (part.use != Use::Always) {
      part.use = Use::Sometimes;
      if (!part.condition) part.condition = guards.front();
    }
  }
}

std::vector<binding::ClassId> ModuleUses::PartClasses(binding::ClassId class_id) const { return MadeBy(class_id).classes; }

ModuleUses::Made ModuleUses::MadeBy(binding::ClassId class_id) const {
  Made made;
  for (const binding::ClassId base : program_.classes[class_id].mro) {
    for (const auto& [name, method] : program_.classes[base].methods) {
      if (program_.text(name) == "__init__") AddMade(method, class_id, made);
    }
  }
  return made;
}

void ModuleUses::AddMade(FuncId function, binding::ClassId owner, Made& made) const {
  if (!made.functions.insert(function.index).second) return;
  if (made.functions.size() > kMostMakers) {
    made.has_unknown = true;
    return;
  }
  for (const auto& [expr, fact] : facts_.functions[function].calls) AddMadeByCall({function, expr}, fact, owner, made);
}

void ModuleUses::AddMadeByCall(const Site& call, const variation::CallFact& fact, binding::ClassId owner, Made& made) const {
  AddClassOf(facts_.value(program_.funcs[call.function].module, call.expr), owner, made);
  if (fact.kind == variation::CallKind::Construct || fact.kind == variation::CallKind::Known) return;
  if (fact.kind == variation::CallKind::Function) {
    const binding::ClassId of = program_.funcs[fact.function].owner;
    const auto& mro = program_.classes[owner].mro;
    if (!of || std::ranges::find(mro, of) != mro.end()) AddMade(fact.function, owner, made);
    return;
  }
  for (const ValueId leaf : fact.callee ? values_.Leaves(fact.callee) : std::vector<ValueId>()) {
    const variation::Value& callee = facts_.values_store[leaf];
    if (callee.kind == ValueKind::Class) AddClass(callee.class_id(), owner, made);
    else if (callee.kind == ValueKind::Function) AddMade(callee.function(), owner, made);
    else if (IsOfUnknownModule(leaf) && !IsDropped(call)) made.has_unknown = true;
  }
}

void ModuleUses::AddClassOf(ValueId value, binding::ClassId owner, Made& made) const {
  for (const ValueId leaf : value ? values_.Leaves(value) : std::vector<ValueId>()) {
    if (facts_.values_store[leaf].kind == ValueKind::Instance && IsModule(leaf)) AddClass(facts_.values_store[leaf].class_id(), owner, made);
  }
}

void ModuleUses::AddClass(binding::ClassId part, binding::ClassId owner, Made& made) {
  if (part != owner && std::ranges::find(made.classes, part) == made.classes.end()) made.classes.push_back(part);
}

// `NonLocalBlock(64)` of a file that was not read: it may have parts that it does not use.
bool ModuleUses::IsOfUnknownModule(ValueId callee) const {
  const variation::Value& value = facts_.values_store[callee];
  return value.kind == ValueKind::External && program_.IsUnread(value.name());
}

// `check(config)`: nobody keeps the result.
bool ModuleUses::IsDropped(const Site& call) const {
  const ir::ModuleId module_id = program_.funcs[call.function].module;
  const ir::Stmt& stmt = program_.modules[module_id][index_.tree(module_id).StatementOf(call.expr)];
  return stmt.kind == ir::StmtKind::Expr && ir::ValueOf(stmt) == call.expr;
}

}  // namespace allranks::objects
