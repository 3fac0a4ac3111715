// What the rounds of the analysis hand to one another: fields, globals, captured variables, parameters.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/base/hash_index.h"
#include "analyzer/binding/program.h"
#include "analyzer/knowledge/knowledge.h"
#include "analyzer/variation/facts.h"

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

 private:
  struct Row {
    uint64_t key = 0;
    ValueId previous;
    ValueId current;
    uint32_t symbol = 0;  // of the unknown that chooses between joined values; 0: none yet
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

struct Override {
  binding::ClassId class_id;
  FuncId method;
};

// What the first parameter of a method is.
enum class ReceiverKind : uint8_t { None, Instance, Class };

struct Tables {
  Tables(const binding::Program& the_program, const knowledge::Knowledge& the_knowledge, Facts& the_facts);

  const binding::Program& program;
  const knowledge::Knowledge& knowledge;
  Facts& facts;
  ValueStore& store;
  JoinTable fields;        // (project class, attribute)
  JoinTable loose_fields;  // (0, attribute): assigned to objects of unknown class
  JoinTable globals;       // (module, name)
  JoinTable captured;      // (function, name): variables that nested functions read
  JoinTable params;        // (function, parameter): arguments of all calls
  std::vector<Scope> scopes;               // by FuncId
  std::vector<ValueId> decorated;          // by FuncId: what its name stands for after decoration; none: itself
  std::vector<knowledge::EntryId> known_functions;       // by FuncId
  std::vector<knowledge::ClassId> known_classes;         // by project ClassId: itself known to the knowledge base
  std::vector<std::vector<knowledge::ClassId>> known_bases;  // by project ClassId: known classes it derives from
  std::vector<uint32_t> round_of;          // by FuncId: the round in which it was last evaluated, or is being so
  MarkId ragged_mark;
  NameId process_group_class;
  uint32_t round = 0;
  uint32_t depth = 0;                      // of functions evaluated on demand

  // A symbol for a place or a name, the same in every round.
  uint32_t SiteSymbol(ir::ModuleId module, uint32_t offset);
  uint32_t NameSymbol(NameId name);
  uint32_t NameSymbol(std::string_view name) { return NameSymbol(program.names->Intern(name)); }

  const Scope& ScopeOf(FuncId function);
  MarkId RaggedMark() const { return ragged_mark; }
  ReceiverKind ReceiverOf(const ir::Function& function, ir::ModuleId module) const;
  // A torch.nn.Module: calling it runs `forward`.
  bool IsModuleClass(binding::ClassId class_id) const;
  // Methods of subclasses that stand in for the one of `class_id`.
  std::vector<Override> Overrides(binding::ClassId class_id, NameId name) const;
  bool IsAbstract(FuncId method) const;
  // `method`, or the one override of it if it is abstract.
  FuncId MostSpecific(binding::ClassId class_id, FuncId method, NameId name) const;
  ValueId HintValue(const knowledge::Hint& hint);
  // `value` without the parameters of `function` and of the functions around it: replaced by what is assumed of them.
  ValueId Close(ValueId value, FuncId function);
  // Whether something is not a rank, whatever its name, as its usual value tells: the `rank=4` of a low-rank adapter.
  bool IsNoRank(ValueId usual) const;
  // A container whose number of items differs from rank to rank.
  bool IsRagged(ValueId value);
  // What one function saw of clock, disk or batch is a fact for its own branches; kept for others it is taken for a
  // setting like any, without the axes in `lost`.
  ValueId Kept(ValueId value, Axes lost);
  // What the annotation of a parameter says it is: an object of a known or a project class. None if it says nothing.
  ValueId DeclaredParam(FuncId function, uint32_t index);
  // The value to assume for a parameter where the function is looked at by itself.
  ValueId AssumedParam(FuncId function, uint32_t index);

 private:
  std::unordered_map<uint64_t, uint32_t> site_symbols_;
  std::unordered_map<NameId, uint32_t> name_symbols_;
  ValueId AnnotatedValue(FuncId function, ir::ExprId annotation);
  ValueId HookParam(FuncId function, uint32_t index);

  std::unordered_map<ValueId, ValueId> settings_;
  std::unordered_map<uint64_t, ValueId> assumed_;
  uint32_t assumed_round_ = 0;
};

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
