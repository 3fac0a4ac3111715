// Evaluates one function abstractly: statement by statement, with the values of its variables in hand (abstract interpretation,
// Cousot and Cousot 1977, over symbolic values).
//
// The class is the walk: it goes through statements and expressions in the order in which they run, and hands each question to the part
// that answers it. A part has a header that says its idea, what it takes for granted and where it is unsound, and a test of its own.
// None of them knows the walk: they get values and give values.
//
//   part (state that it owns)            answers
//   env.h (variables, heap, effects)     what holds at a point, behind two arms, behind a loop
//   path.h (conditions around a place)   under what a rank comes here
//   returns.h, yields.h (by place)       what the function gives on all ways together
//   broadcasts.h (what was sent)         whether two arms hold one value
//   containers.h, chosen_items.h         what lists and dictionaries hold, and with an item more or less
//   iterations.h                         what a loop goes through, and how often it runs
//   rounds.h, failures.h                 what the text says of loops and handlers
//   process_start.h                      which functions a call starts in other processes, and with what
//   definitions.h, class_members.h       what a name of the program stands for, what a class says of its objects
//   own_fields.h                         what objects of a class have of their own
//   argument_binding.h                   which argument a parameter gets; call_substitution.h puts it in
//   ir/overwritten.h                     which stores nobody reads
//   built_in_results.h, library_results.h, library_groups.h, made_with.h
//                                        what a call yields of which the code is not seen
//
// The walk may ask all of them; of one another they ask those that they are made with. All of them may read and record in Tables.
//
// Invariant: evaluating a function twice with the same tables gives the same facts (recording.h relies on it).
//
// Unsound: three rounds of a loop stand for all (loops.cpp); threads and exceptions out of calls are not followed.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/ir/overwritten.h"
#include "analyzer/variation/argument_binding.h"
#include "analyzer/variation/broadcasts.h"
#include "analyzer/variation/built_in_results.h"
#include "analyzer/variation/call_substitution.h"
#include "analyzer/variation/chosen_items.h"
#include "analyzer/variation/class_members.h"
#include "analyzer/variation/containers.h"
#include "analyzer/variation/definitions.h"
#include "analyzer/variation/effects.h"
#include "analyzer/variation/env.h"
#include "analyzer/variation/iterations.h"
#include "analyzer/variation/library_groups.h"
#include "analyzer/variation/library_results.h"
#include "analyzer/variation/own_fields.h"
#include "analyzer/variation/path.h"
#include "analyzer/variation/returns.h"
#include "analyzer/variation/rounds.h"
#include "analyzer/variation/tables.h"
#include "analyzer/variation/yields.h"

namespace allranks::variation {

// A variable of a module or of a function around: the object it is an attribute of, and where the tables keep it.
struct VariablePlace {
  ValueId object;
  TableId table{};
  uint32_t owner = 0;
  NameId name;
};

// That ranks hold one value behind a collective. `root`: whose, if it was one rank's; `bound`: what it is of what they had before.
struct Agreement {
  Axes lost;
  ValueId root = {};
  DerivedKind bound = DerivedKind::Result;
};

// The variables where a `break` leaves a loop, and the conditions under which a round gets there.
struct BrokenOff {
  ValueId condition;
  std::vector<ValueId> slots;
};

// What a statement raises, by the name of its class, and the condition under which it does; none of the latter in a loop.
struct RaisedHere {
  NameId error;
  ValueId condition;
};

class FunctionEvaluator {
 public:
  FunctionEvaluator(Tables& tables, FuncId function);
  void Run();

 private:
  // statements.cpp, container_changes.cpp
  void EvalBlock(ir::BlockId block);
  void EvalStmt(ir::StmtId stmt);
  void ForgetValuesIn(const ir::Stmt& stmt);
  void ForgetValuesIn(ir::BlockId block);
  void ForgetValuesIn(ir::ExprId expr);
  void EvalIf(const ir::Stmt& stmt);
  void EvalTry(const ir::Stmt& stmt);
  NameId ErrorNamed(ir::ExprId error) const;
  void NoteRaised(NameId error);
  void NoteAsserted(ValueId test);
  ValueId RaisedFor(ir::ExprId handler_type, std::span<const RaisedHere> raised);
  void EvalWith(const ir::Stmt& stmt);
  void EvalMatch(const ir::Stmt& stmt);
  void Capture(ir::ExprId pattern, ValueId subject);
  void EvalAugAssign(const ir::Stmt& stmt);
  void EvalImport(ir::ImportId import);
  // `call`: of the decorator; nullptr: it is none.
  bool LetsAllThrough(const CallFact* call, knowledge::EntryId entry_id);
  void NoteCapture(FuncId inner);
  bool IsCaptured(uint32_t slot) const { return slot < is_captured_.size() && is_captured_[slot]; }
  void EvalFunctionDef(ir::FunctionId function);
  void EvalClassDef(ir::ClassId class_id);
  void EvalClassStmt(binding::ClassId class_id, ir::StmtId stmt);
  ValueId AsDeclared(ValueId value, ir::ExprId annotation);
  void Leave(Axes* exit_axes);
  void Forget(ir::ExprId target);
  void Assign(ir::ExprId target, ValueId value);
  void AssignName(NameId name, ValueId value);
  void AssignOwn(ir::ExprId target, ValueId value);
  ValueId WithRequest(ir::ExprId array, ValueId key, ValueId value);
  void AssignItem(ir::ExprId target, ValueId value);
  void AssignVariable(NameId symbol, ValueId value);
  ValueId Guarded(ValueId value);
  void KeepOnHeap(ValueId object, NameId attr, ValueId value);
  void AssignAttribute(ir::ExprId target, ValueId value);
  ValueId HowOften();
  ValueId RoundsThatAdd();
  bool IsChangedOnce(ir::ExprId target);
  ValueId Condition(ir::ExprId asked);
  void TakeOut(ir::ExprId target, Removal removal, ValueId which, bool is_sure = true);
  void MoveCalls(size_t from, std::vector<std::pair<ir::ExprId, CallFact>>& to);
  void Mutate(ir::ExprId target, ValueId item, bool is_list = false, ValueId key = ValueId::None());
  bool FillsOwnTable(ValueId table);
  void PutIn(ir::ExprId target, ValueId key, ValueId item);
  bool PutDefault(ir::ExprId target, std::span<const CallArgument> args);
  bool PutAllIn(ir::ExprId target, std::span<const CallArgument> args);
  NameId ItemName(ValueId key);
  void Refill(ir::ExprId target, ValueId item);
  void Replace(ir::ExprId target, ValueId old_value, ValueId changed);
  ValueId Unpacked(ValueId value, uint32_t index, const ir::ExprList& targets);
  void MakeUniform(ir::ExprId target, const Agreement& agreement);
  void NoteParamMadeUniform(uint32_t slot);
  void MergeArms(ValueId condition, Env then_env, Env else_env);
  void MergeInterrupted(const Env& other, const ir::Handler& handler);
  ValueId ReturnValue();
  void NoteYield(ir::ExprId site, ValueId value, bool is_one);
  ValueId RoundsOfOneLoop(ir::ExprId site, ValueId item);
  void NoteReturn(ValueId value);
  ValueId HeldBy(uint32_t param) const;
  std::vector<ValueId> StoredValues();

  // loops.cpp
  const LoopSlots& SlotsOf(const ir::Stmt& loop);
  void EvalLoop(const ir::Stmt& stmt);
  ValueId CounterOf(ir::ExprId iterable, ValueId element);
  bool IsCountedIn(std::span<const uint32_t> slots, std::span<const ValueId> carried, ValueId value) const;
  void NoteBreak();
  void MergeBreaks(const ir::Stmt& loop, std::span<const BrokenOff> breaks, bool goes_on, Axes leaving);

  // unread_stores.cpp
  bool IsUnread(ir::ExprId target) const;
  bool RunsOthers(ir::ExprId call) const;
  bool ImportRunsOthers(ir::ImportId import) const;

  // orders.cpp
  std::optional<ValueId> Ordered(ir::ExprId site, std::string_view builtin, NameId name, std::span<const CallArgument> args);
  ValueId KeyOfEach(ir::ExprId site, std::span<const CallArgument> args);
  std::vector<ValueId> FewItems(ValueId list);
  ValueId FirstOfFew(ir::ExprId site, std::string_view builtin, std::span<const CallArgument> args);
  void Reorder(const ir::Expr& callee, std::span<const CallArgument> args);
  std::optional<ValueId> Taken(ir::ExprId site, std::string_view name, NameId symbol, std::span<const CallArgument> args);
  ValueId Answered(ir::ExprId site, ValueId function, ValueId item);

  // effects.cpp
  VariablePlace OuterPlace(NameId name);
  void Put(ValueId object, NameId attr, ValueId value);
  void ChangeName(NameId name, ValueId changed);
  void NoteContents(NameId name, ValueId now);
  void RecordSlot(NameId name, uint32_t slot, ValueId value);
  bool IsKnownByAttributes(ValueId object) const;
  ValueId AsItIsNow(ValueId object);
  ValueId AsItWasMade(ValueId object) const;
  void ChangeSlot(uint32_t slot, ValueId value, ValueId when);
  void TakeOver(const Effect& effect);
  void TakeOver(FuncId function, CallSubstitution& substitution, ValueId when);
  void MayCall(ir::ExprId site, std::span<const CallArgument> args);

  // passed_tests.cpp
  void Learn(ir::ExprId test, bool holds);
  std::optional<bool> Answer(ir::ExprId test) const;
  ValueId QuestionOf(ir::ExprId test) const;
  bool IsOfArguments(ValueId value) const;

  // expressions.cpp
  ValueId Eval(ir::ExprId expr);
  ValueId EvalUncached(ir::ExprId id, const ir::Expr& expr);
  ValueId EvalConstant(const ir::Expr& expr);
  ValueId EvalSubscript(ir::ExprId id, const ir::Expr& expr);
  bool IsMask(ValueId id, int depth = 0) const;
  ValueId EvalCompare(const ir::Expr& expr);
  ValueId EvalBool(const ir::Expr& expr);
  ValueId EvalConditional(const ir::Expr& expr);
  ValueId EvalComprehension(ir::ExprId id, const ir::Expr& expr);
  ValueId Comprehended(ValueId element, const LoopVariable& of, ValueId condition, std::span<const ValueId> count);
  ValueId DictionaryOfFew(const ir::Expr& expr);
  ValueId ListOfFew(const ir::Expr& expr);
  void AssignComprehensionTarget(ir::ExprId target, ValueId value);
  ValueId EvalItems(ir::ExprId id, const ir::Expr& expr);
  ValueId OrValue(std::span<const ValueId> kids);
  ValueId Structural(ir::ExprId site, ValueId value);
  ValueId DefaultOf(ir::ExprId written);
  ValueId ReadName(NameId name);
  ValueId ReadResolved(ir::ExprId id, const ir::Expr& expr);
  ValueId ReadOuter(NameId name);
  ValueId Closed(ValueId value);

  // members.cpp
  ValueId Member(ir::ExprId site, ValueId object, NameId attr);
  knowledge::EntryId MemberOfOwnGroup(ValueId object, ValueId known, NameId attr);
  ValueId OrStoredByOthers(ir::ExprId site, NameId attr, ValueId kept);
  ValueId AppliedForward(ir::ExprId site, ValueId of_class, NameId attr);
  ValueId MemberOfModule(ir::ModuleId module, NameId attr);
  ValueId MemberOfExternal(ir::ExprId site, NameId qualified, NameId attr);
  // `given`: the parameter that is taken for `object`, or `object` itself.
  ValueId MemberOfInstance(ir::ExprId site, ValueId object, ValueId given, NameId attr);
  ValueId MemberOfKnown(ir::ExprId site, ValueId object, knowledge::EntryId entry);
  bool IsRankFormula(ValueId value) const;
  ValueId MemberOfAny(ir::ExprId site, ValueId object, NameId attr);
  const ValueId* HeapValue(ValueId object, NameId attr) const;
  ValueId VirtualMethod(binding::ClassId class_id, FuncId method, NameId name, ir::ExprId site);
  MayBeOf OfObjectAt(binding::ClassId class_id, ir::ExprId site) const;
  bool IsOwnMember(ir::ExprId site) const;
  bool MayRunOn(binding::ClassId subclass) const;

  // construction.cpp
  void StoreAttribute(ValueId object, NameId attr, ValueId value, bool is_made = false);
  ValueId Construct(ir::ExprId site, ValueId callee, binding::ClassId class_id, std::span<const CallArgument> args);
  void NoteAnyReplaced(ValueId object);
  void NoteTableChanged(ir::ExprId table);
  bool IsConstructor() const;
  ValueId OwnObject(binding::ClassId class_id);
  bool IsOwnField(const HeapEntry& entry);
  void TakeOverFields(ir::ExprId site, ValueId callee, FuncId function, std::span<const ValueId> bound);
  Fields FieldsMade(ir::ExprId site, ValueId callee, FuncId function, std::span<const ValueId> bound);
  void HandToConstructor(ir::ExprId site, ValueId made);
  void NoteFieldsMade();
  void NoteRecord(binding::ClassId class_id, const Fields& fields);
  bool HasObject(ValueId value) const;
  ValueId WithOthers(ValueId object, std::span<const CallArgument> args);

  // calls.cpp
  ValueId EvalCall(ir::ExprId id, const ir::Expr& expr);
  void EvalRemoval(const ir::Expr& callee, std::span<const CallArgument> args);
  ValueId Call(ir::ExprId site, ValueId callee, std::span<const CallArgument> args);
  ValueId CallMethod(ir::ExprId site, ir::ExprId name, ValueId callee, std::span<const CallArgument> args);
  void StoreInArguments(FuncId function, CallSubstitution& substitution, bool has_receiver, std::span<const CallArgument> args);
  void Store(ir::ExprId target, ValueId value);
  ValueId CallFunction(ir::ExprId site, ValueId callee, FuncId function, ValueId receiver,
                       std::span<const CallArgument> args, CallKind kind);
  ValueId CallKnown(ir::ExprId site, knowledge::EntryId entry, ValueId receiver, std::span<const CallArgument> args);
  ValueId CallExternal(ir::ExprId site, ValueId callee, NameId name, std::span<const CallArgument> args);
  bool IsToldLater(knowledge::ClassId class_id) const;
  std::optional<ValueId> CallBuiltin(ir::ExprId site, NameId name, std::span<const CallArgument> args);
  std::optional<ValueId> MadeObject(ir::ExprId site, std::string_view name, std::span<const CallArgument> args);
  ValueId CallObject(ir::ExprId site, ValueId object, std::span<const CallArgument> args);
  void NoteOption(const ir::Expr& callee, std::span<const CallArgument> args);
  ValueId CallOneOf(ir::ExprId site, ValueId callee, std::span<const CallArgument> args);
  ValueId Unresolved(ir::ExprId site, ValueId callee, std::span<const CallArgument> args);
  ValueId NewHandle(ir::ExprId site, const knowledge::Entry& entry, std::vector<ValueId>& bound);
  void NoteSignalHandlers(const LibraryCall& call);
  void StoreHandle(const knowledge::Entry& entry, ValueId handle, std::span<const CallArgument> args);
  void ApplyUniform(ir::ExprId site, const LibraryCall& call, ValueId& result);
  void ReplaceOnRoot(ir::ExprId site, const LibraryCall& call);
  void HandToWrapped(const knowledge::Entry& entry, ValueId receiver, std::span<const CallArgument> args);
  LibraryCall CallOf(ir::ExprId site, const knowledge::Entry& entry, std::span<const ValueId> by_param, ValueId receiver,
                     std::span<const CallArgument> args);
  void NoteDeclaredTypes(FuncId function, bool has_receiver, std::span<const CallArgument> args);
  ValueId UniformResult(ir::ExprId site, ValueId value, const Agreement& agreement);
  DerivedKind BoundOf(const LibraryCall& call) const;
  ValueId MemberNamed(ir::ExprId site, ValueId object, ValueId given);
  void StoreNamed(ValueId object, ValueId name, ValueId value);
  bool IsOfRound(ValueId condition);
  ValueId SuperValue(ir::ExprId site);
  ValueId OwnLength(ir::ExprId site, ValueId object);
  CallFact& RecordCall(std::vector<std::pair<ir::ExprId, CallFact>>& list, ir::ExprId site, CallKind kind,
                       std::span<const ValueId> args);
  void StoreThroughAddresses(std::span<const CallArgument> args, std::span<const ValueId> values);
  ValueId UnknownCall(ValueId callee, std::span<const CallArgument> args);
  void ForgetHeap(std::span<const CallArgument> args, ValueId receiver);


  std::vector<ValueId> BindFunction(FuncId function, ValueId receiver, std::span<const CallArgument> args);
  void BindFields(FuncId function, const CallArgument& fields, std::vector<ValueId>& bound);

  // named_members.cpp
  ir::ModuleId ModuleOfMembers(ir::ExprId object) const;
  ValueId OwnerOfTable(ir::ExprId table);
  bool PutFields(ir::ExprId table, std::span<const CallArgument> args);
  std::pair<std::string_view, std::string_view> KnownEnds(ValueId text) const;
  ValueId PickedFrom(ir::ModuleId module, ValueId name);
  ValueId MemberOfLoaded(ValueId loaded, NameId attr);

  // iteration.cpp
  std::optional<Iteration> IterateByRunning(ir::ExprId site, ValueId iterable);
  std::optional<Iteration> IterateByNext(ir::ExprId site, ValueId iterable);
  ValueId NextOf(ir::ExprId site, ir::ExprId iterator, ValueId value);
  ValueId ItemsUntilStop();
  ValueId LengthCountedTo(ValueId condition) const;
  Iteration IterateGenerator(ir::ExprId site, ValueId generator);
  ValueId EvalArgument(ValueId callee, ir::ExprId argument);
  ValueId HasAttribute(ir::ExprId site, std::span<const CallArgument> args);
  bool IsUsedAsMapping(ir::ExprId variable);
  Iteration IterateObject(ir::ExprId site, ValueId iterable, knowledge::EntryId entry);
  ValueId Collated(ir::ExprId site, ValueId collate, ValueId batch);

  // What a callee yields and does to its arguments.
  const FunctionFacts& Evaluated(FuncId callee);
  uint32_t Site(ir::ExprId expr, SiteUse use = SiteUse::Value, uint32_t index = 0) {
    return tables_.SiteSymbol(id_, module_[expr].begin, use, index);
  }
  uint32_t StmtSite(const ir::Stmt& stmt) { return tables_.SiteSymbol(id_, stmt.begin, SiteUse::Statement); }
  // Something of which nothing is known.
  ValueId Unseen(ir::ExprId expr, uint32_t index = 0) { return store_.Symbol(Site(expr, SiteUse::Unseen, index), {}); }
  NameId Intern(std::string_view text) { return tables_.program.names->Intern(text); }
  std::string_view Text(NameId name) const { return tables_.program.text(name); }
  void SetValue(ir::ExprId expr, ValueId value) { tables_.facts.exprs[func_.module.index][expr] = value; }

  Tables& tables_;
  ValueStore& store_;
  const knowledge::Knowledge& knowledge_;
  FuncId id_;
  const binding::Func& func_;
  const ir::Module& module_;
  const ir::Function& function_;
  const Scope& scope_;
  const Definitions definitions_;
  const ClassMembers members_;
  OwnFields own_fields_;
  const Containers containers_;
  const ChosenItems chosen_;
  const ArgumentBinding arguments_;
  const BuiltInResults built_ins_;
  const LibraryResults results_;
  Iterations iterations_;
  Broadcasts broadcasts_;
  Yields yields_;
  Path path_;
  Returns returns_;
  FunctionFacts facts_;
  Env env_;
  std::vector<ir::Position> places_;    // of the statement at hand, with those around it
  bool is_unread_ = false;              // the store at hand is replaced before anybody reads it
  std::vector<const ir::Stmt*> loops_;  // around the statement at hand
  std::vector<BrokenOff> broken_off_;   // of the loop at hand, in the round at hand
  Axes loop_exit_axes_;                 // of the conditions under which the loop at hand is left
  Axes round_exit_axes_;                // of those under which a round of it is cut short
  Axes function_exit_axes_;
  std::unordered_map<ValueId, ValueId> made_as_;  // of objects as they were at a call: as they were made
  std::vector<ValueId> trips_;          // numbers of rounds of the loops around
  std::vector<LoopVariable> going_through_;  // of the loops and comprehensions around
  std::unordered_map<const ir::Stmt*, LoopSlots> slots_in_;  // by loop
  std::unordered_map<const ir::Stmt*, std::vector<Axes>> axes_in_;  // by loop and slot: the axes found so far
  std::vector<bool> is_captured_;       // by slot: a function that was defined inside this one speaks of it
  std::vector<RaisedHere> raised_here_;  // in the `try` at hand
  size_t loops_around_try_ = 0;
  bool touches_data_ = false;           // something evaluated since the `try` at hand began varies along data
  std::vector<binding::ClassId> iterated_;   // classes whose `__iter__` is run to learn what it hands out
  std::vector<ValueId> asked_for_next_;  // how many items there are of each of them, but for those that a `try` is around
  Axes ends_axes_;                      // of how many items there are of what was asked for its next one since then
};

}  // namespace allranks::variation
