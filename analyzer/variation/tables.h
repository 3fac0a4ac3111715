// What the rounds of the analysis hand to one another: fields, globals, captured variables, parameters.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/base/hash_index.h"
#include "analyzer/binding/neighbourhood.h"
#include "analyzer/binding/program.h"
#include "analyzer/binding/receiver.h"
#include "analyzer/ir/attribute_uses.h"
#include "analyzer/ir/name_places.h"
#include "analyzer/ir/outline.h"
#include "analyzer/knowledge/knowledge.h"
#include "analyzer/variation/effects.h"
#include "analyzer/variation/facts.h"
#include "analyzer/variation/places.h"
#include "analyzer/variation/recording.h"
#include "analyzer/variation/watched.h"

namespace allranks::variation {

// Values by a pair of ids. A round reads what the round before wrote, and what it wrote itself where that has nothing.
class JoinTable {
 public:
  // `flags`: of the unknowns that choose between joined values.
  explicit JoinTable(ValueStore& store, uint8_t flags = 0) : store_(&store), flags_(flags) {}
  void Record(uint32_t owner, uint32_t key, ValueId value);
  ValueId Read(uint32_t owner, uint32_t key) const;
  // Whether different values were recorded: then which of them holds is not known.
  bool IsJoined(uint32_t owner, uint32_t key) const;
  // Ends a round; true if anything differs from the round before.
  bool NextRound();
  // Nothing is recorded any more; what chooses between joined values stays the same unknown.
  void Clear();

 private:
  struct Row {
    uint64_t key = 0;
    ValueId previous;
    ValueId current;
    std::vector<uint32_t> symbols;  // of the unknowns that choose, one for each value that was joined to the first
    uint32_t joined = 0;            // values joined in this round
    bool is_joined = false;
  };
  static uint64_t Key(uint32_t owner, uint32_t key) { return (uint64_t{owner} << 32) | key; }
  uint32_t Find(uint64_t key) const;

  ValueStore* store_;
  uint8_t flags_;
  std::vector<Row> rows_;
  base::HashIndex index_;
};

// The names of a function's own variables.
struct Scope {
  std::unordered_map<NameId, uint32_t> slots;  // parameters first
  std::vector<NameId> names;                   // by slot
  std::vector<NameId> globals;
  std::vector<NameId> nonlocals;
  bool has_nested = false;
  bool built = false;
};

// Owner of the variables that all modules share, in Tables::globals.
constexpr uint32_t kWholeProgram = 0xfffffffeu;

// The operation that makes a container with more items of a container, an item, and how often it is added.
constexpr std::string_view kGrown = "[+]";
// That of a container with fewer items of a container, what is taken out or none, and how often it is.
constexpr std::string_view kShrunk = "[-]";
// That of a container with other items at places that it had, of the container and of such items.
constexpr std::string_view kRefilled = "[=]";
// That of a comprehension: of its element, of what decides how many there are as the last, and between them, where items
// of one list that all ranks share decide, of that list, its variable and the condition.
constexpr std::string_view kComprehended = "for";
// So many are its kids where it is of one list.
constexpr size_t kKnownParts = 5;
// That of how often a loop over a container runs.
constexpr std::string_view kRounds = "[rounds]";

// Under which an object has the table of its fields, and a module that of its members. `vars(x)` is the same table.
constexpr std::string_view kFieldTable = "__dict__";

// Added to the number of a module that owns a row of Tables' `Replaced`: what is stored there in objects of unknown class.
constexpr uint32_t kOfUnknownClass = 0x80000000u;

// Added to the number of a class that owns a row of Tables' `Fields`: functions that are stored in the class itself, in the place of a method.
constexpr uint32_t kInClassItself = 0x40000000u;

struct Override {
  binding::ClassId class_id;
  FuncId method;
};

using DecoratorsId = base::Id<struct DecoratorsTag>;

// What an unknown that stands for a place is: one place may need several.
enum class SiteUse : uint8_t {
  Value,      // what an expression yields
  Statement,  // whether, or in which round, a statement ran
  Handler,    // whether a handler ran
  Interrupt,  // where in the body of a `try` the error struck
  Which,      // which of several items it is
  Reduced,    // what a collective left in a variable
  Unseen,     // nothing is known of it
  Called,     // whether a function that was handed on was called
};

struct Tables {
  Tables(const binding::Program& the_program, const knowledge::Knowledge& the_knowledge, Facts& the_facts);

  const binding::Program& program;
  const knowledge::Knowledge& knowledge;
  Facts& facts;
  ValueStore& store;
  std::vector<Scope> scopes;               // by FuncId
  std::vector<knowledge::EntryId> known_functions;       // by FuncId
  std::vector<knowledge::ClassId> known_classes;         // by project ClassId: itself known to the knowledge base
  std::vector<std::vector<knowledge::ClassId>> known_bases;  // by project ClassId: known classes it derives from
  std::vector<Effects> effects;            // by FuncId: what a call of it leaves behind
  std::vector<uint8_t> calls_to_file;      // by FuncId: how many calls of it lead to a file that is read (failures.h)
  std::vector<uint32_t> round_of;          // by FuncId: the round in which it was last evaluated, or is being so
  MarkId ragged_mark;
  NameId process_group_class;
  knowledge::ClassId module_class;         // of modules whose own base nobody knows
  uint32_t round = 0;
  uint32_t depth = 0;                      // of functions evaluated on demand
  Log* log = nullptr;                      // of the evaluation at hand; none: nothing is recorded
  Recording* recording = nullptr;          // none: all is evaluated in each round

  base::Watch* watch = nullptr;            // over the evaluation; none: it goes on to its end
  std::vector<CutFunction> cut;            // what it made us give up, the first of each file

  void Step() const {
    if (watch != nullptr) watch->Step();
  }

  // Before the rounds begin once more, over a program in which the bodies of functions of `edited` are others.
  void BeginAgain(std::span<const ir::ModuleId> edited);
  // Ends a round; true if anything that was kept differs from the round before.
  bool NextRound();

  // What functions say to one another. While a function is evaluated all of it is noted in `log`.
  ValueId Read(TableId table, uint32_t owner, uint32_t key);
  // What calls pass for a parameter: those in a job or, if there are none, those of a process that is alone.
  ValueId ReadParam(FuncId function, uint32_t index);
  bool IsParamJoined(FuncId function, uint32_t index);
  // Whether different values were recorded, so that which of them holds is not known.
  bool IsJoined(TableId table, uint32_t owner, uint32_t key);
  void Record(TableId table, uint32_t owner, uint32_t key, ValueId value);
  // What the annotation of a parameter says it is: an object of a known or a project class. None if it says nothing.
  ValueId DeclaredParam(FuncId function, uint32_t index);
  void SetDeclared(FuncId function, uint32_t index, ValueId value);
  ValueId DefaultOf(FuncId function, uint32_t index);
  void SetDefault(FuncId function, uint32_t index, ValueId value);
  // What a function's name stands for after decoration; none: itself.
  ValueId Decorated(FuncId function);
  // The decorators of a function that the knowledge base has entries for; equal lists have equal ids.
  DecoratorsId Decorators(std::vector<knowledge::EntryId> entries);
  void SetDecorated(FuncId function, DecoratorsId decorators, ValueId value);
  // The value to assume for a parameter where the function is looked at by itself.
  ValueId AssumedParam(FuncId function, uint32_t index);

  // A symbol for a place (an offset in the file) or a name, the same in every round. `index` tells the symbols of one
  // use of one place apart.
  uint32_t SiteSymbol(FuncId function, uint32_t offset, SiteUse use, uint32_t index = 0);
  uint32_t NameSymbol(NameId name);
  uint32_t NameSymbol(std::string_view name) { return NameSymbol(program.names->Intern(name)); }

  const Scope& ScopeOf(FuncId function);
  MarkId RaggedMark() const { return ragged_mark; }
  // Whether objects of the class differ in some field that each keeps (own_fields.h).
  bool HasOwnFields(binding::ClassId class_id);
  // A torch.nn.Module: calling it runs `forward`.
  bool IsModuleClass(binding::ClassId class_id) const;
  // Methods of subclasses that stand in for the one of `class_id`.
  std::vector<Override> Overrides(binding::ClassId class_id, NameId name) const;
  bool IsAbstract(FuncId method) const;
  // Whether it says which methods objects have that are of other classes: a protocol.
  bool IsInterface(binding::ClassId class_id) const;
  // One that raises, or says that it is abstract: no object has it.
  bool MustBeOverridden(FuncId method) const;
  // `method`, or the one override of it if it is abstract.
  FuncId MostSpecific(binding::ClassId class_id, FuncId method, NameId name) const;
  ValueId HintValue(const knowledge::Hint& hint);
  // `value` without the parameters of `function` and of the functions around it: replaced by what is assumed of them.
  ValueId Close(ValueId value, FuncId function);
  void NoteConditions(ValueId open, const std::function<ValueId(ValueId)>& close);
  // Whether something is not a rank, whatever its name, as its usual value tells: the `rank=4` of a low-rank adapter.
  bool IsNoRank(ValueId usual) const;
  const ir::AttributeUses& AttributeUsesOf(ir::ModuleId module);
  // The names that stand in a function, and in those inside it; some twice.
  std::span<const NameId> NamesIn(FuncId function);
  const ir::CallsOfOverridden& CallsOfOverriddenIn(ir::ModuleId module);
  // A container whose number of items differs from rank to rank.
  bool IsRagged(ValueId value);
  // What one function saw of clock, disk or batch is a fact for its own branches; kept for others it is taken for a
  // setting like any, without the axes in `lost`.
  ValueId Kept(ValueId value, Axes lost);
  ValueId KeptFilledUp(ValueId value, Axes lost);
  // What an annotation says, evaluated where the function is defined.
  ValueId TableOf(FuncId function, ir::ExprId types);
  ValueId AnnotatedValue(FuncId function, ir::ExprId annotation);

 private:
  ValueId TypeNamed(ir::ModuleId module, NameId text);
  ValueId ListOf(ValueId item);
  void Note(const Event& event) {
    if (log != nullptr) log->Note(event);
  }
  // What is read of others: what it was when it was repeated (Log::Repeated), or what it is now.
  template <class Now>
  ValueId NoteRead(Event event, const Now& now) {
    const std::optional<ValueId> repeated = log != nullptr ? log->Repeated(event) : std::nullopt;
    event.value = repeated ? *repeated : now();
    Note(event);
    return event.value;
  }
  template <class Now>
  ValueId ReadOf(EventKind kind, FuncId function, uint32_t key, const Now& now) {
    return NoteRead({.kind = kind, .table = {}, .owner = function.index, .key = key, .value = {}}, now);
  }
  // What is set of a function.
  ValueId Noted(EventKind kind, FuncId function, uint32_t key, ValueId value) {
    Note({.kind = kind, .table = {}, .owner = function.index, .key = key, .value = value});
    return value;
  }
  // What modules of the program of `reader` assigned to an attribute of objects of unknown class. Scripts that have nothing
  // to do with each other mean different objects by `args`.
  ValueId ReadLoose(uint32_t reader, uint32_t attr);
  ValueId ReadReplaced(uint32_t reader, uint32_t attr);
  bool IsOfOneProgram(uint32_t reader, uint32_t writer);
  JoinTable& TableOf(TableId table) { return tables_[static_cast<size_t>(table)]; }
  uint32_t ParamIndex(FuncId function, uint32_t index) const { return first_param_[function.index] + index; }
  ValueId Assume(FuncId function, uint32_t index);
  ValueId HookParam(FuncId function, uint32_t index);

  struct Site {
    uint64_t place = 0;  // function and offset within it
    uint64_t use = 0;    // and index
    bool operator==(const Site&) const = default;
  };
  struct SiteHash {
    size_t operator()(const Site& site) const { return (site.place * 0x9e3779b97f4a7c15ull) ^ (site.use << 7); }
  };
  Places places_;
  std::unordered_map<Site, uint32_t, SiteHash> site_symbols_;
  std::unordered_map<NameId, uint32_t> name_symbols_;
  std::array<JoinTable, kTableCount> tables_;
  binding::Neighbourhood neighbourhood_;
  std::vector<std::vector<bool>> programs_;   // by module: the modules of its program; empty: not asked for yet
  std::unordered_map<uint32_t, std::vector<uint32_t>> loose_writers_;  // by attribute: modules that assign it
  std::vector<std::optional<ir::AttributeUses>> attribute_uses_;  // by module, of those that were asked for
  std::vector<std::optional<ir::NamePlaces>> name_places_;        // the same
  std::vector<std::optional<ir::CallsOfOverridden>> calls_of_overridden_;
  std::vector<uint32_t> first_param_;  // by FuncId: of its parameters in what goes by them
  std::vector<ValueId> declared_;      // by parameter
  std::vector<ValueId> defaults_;      // by parameter
  std::vector<ValueId> decorated_;     // by FuncId
  std::vector<std::vector<knowledge::EntryId>> decorators_;  // by DecoratorsId
  std::unordered_map<ValueId, ValueId> settings_;
  struct Assumption {
    ValueId value;
    uint32_t round = 0;  // in which it was made
  };
  std::vector<Assumption> assumed_;    // by parameter
};

// Sizes the facts of a program that was never looked at, and finds what the knowledge base says of its definitions.
void Prepare(Tables& tables);

// Evaluates all functions, round after round, and ends the facts.
void RunRounds(Tables& tables);

// Evaluates a function if this round has not yet; its results are in `tables.facts` afterwards (unless it is just
// being evaluated further up, as recursion does).
void EvaluateFunction(Tables& tables, FuncId function);

// What is known of a value's kind, looking through parameters and optional values: an object, class, function, group.
// The value itself where nothing better is known.
ValueId LookThrough(Tables& tables, ValueId value);

// A value of the formula of a knowledge entry. `arguments` by the entry's parameters; `receiver` answers `self`.
ValueId FormulaValue(Tables& tables, knowledge::FormulaId formula, const knowledge::Entry* entry,
                     std::span<const ValueId> arguments, ValueId receiver);

}  // namespace allranks::variation
