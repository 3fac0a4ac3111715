// What a library's function, method, attribute or class means for ranks. Filled from knowledge/*.toml
// (docs/adding-knowledge.md describes the keys) and from the user's own files. Read-only afterwards.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/base/id.h"
#include "analyzer/base/interner.h"
#include "analyzer/base/result.h"

namespace allranks::knowledge {

using base::NameId;
using EntryId = base::Id<struct EntryTag>;
using ClassId = base::Id<struct KnownClassTag>;
using FormulaId = base::Id<struct FormulaTag>;
using MarkId = base::Id<struct MarkTag>;

// ---- Axes: along what a value may differ from rank to rank ---------------------------------------------------------

enum class Axis : uint8_t {
  Global,       // the global rank
  Local,        // the index of the process on its node
  Node,         // the index of the node
  Data,         // what a rank reads of its own shard
  Environment,  // host, process, free memory, what has arrived by now
  Files,        // what a rank finds on its disk
  Clock,
  Chance,       // random numbers that no common seed decides
  HashOrder,    // hashes of texts, and the order of sets of them: salted anew in each process
  Signals,      // which signals a process got by now
  DataParallel,
  TensorParallel,
  PipelineParallel,
  ContextParallel,
  ExpertParallel,
  OtherMesh,    // a dimension of a mesh, or a group, that has no name of its own
};
constexpr int kAxisCount = 16;

// A set of axes; empty: the same on every rank ("uniform").
struct Axes {
  uint16_t bits = 0;
  static constexpr Axes Of(Axis axis) { return {static_cast<uint16_t>(1u << static_cast<unsigned>(axis))}; }
  constexpr bool empty() const { return bits == 0; }
  constexpr bool has(Axis axis) const { return (bits & Of(axis).bits) != 0; }
  friend constexpr Axes operator|(Axes a, Axes b) { return {static_cast<uint16_t>(a.bits | b.bits)}; }
  friend constexpr Axes operator&(Axes a, Axes b) { return {static_cast<uint16_t>(a.bits & b.bits)}; }
  friend constexpr Axes Without(Axes a, Axes b) { return {static_cast<uint16_t>(a.bits & ~b.bits)}; }
  friend constexpr bool operator==(Axes, Axes) = default;
};
std::string_view AxisName(Axis axis);  // "global rank", "data", ...

// What each process finds for itself, whatever its rank is.
constexpr Axes kSurroundings = Axes::Of(Axis::Environment) | Axes::Of(Axis::Files) | Axes::Of(Axis::Clock) |
                               Axes::Of(Axis::Chance) | Axes::Of(Axis::HashOrder) | Axes::Of(Axis::Signals);
// What may differ from rank to rank, or happen to be the same: no test of it tells which rank this is.
constexpr Axes kSoftAxes = Axes::Of(Axis::Data) | kSurroundings;

// A number every rank of a concrete job has. Size coordinates are the same on all ranks.
enum class Coordinate : uint8_t { Rank, LocalRank, NodeRank, AxisRank, GroupRank, WorldSize, LocalWorldSize, NodeCount,
                                  AxisSize, GroupSize,
                                  Distributed };  // whether there is a job of several processes: set up, or about to be

// ---- Formulas: `rank == 0`, `local_rank == 0 and node_rank == 0`, `pipeline_rank == pipeline_size - 1`,
//      `group_rank(group)`, `arg(condition)` ---------------------------------------------------------------------------

enum class FormulaKind : uint8_t { Int, Bool, Coordinate, Param, Not, Negate, Binary, Compare, And, Or };
struct Formula {
  FormulaKind kind = FormulaKind::Int;
  uint8_t op = 0;                 // Binary, Compare: the base::BinaryOp or base::CompareOp
  Coordinate coordinate{};        // Coordinate
  Axis axis{};                    // Coordinate AxisRank, AxisSize
  NameId param;                   // Param, and the group of GroupRank, GroupSize (none: the default group)
  int64_t number = 0;             // Int, Bool
  FormulaId left, right;
};

// ---- Entries ------------------------------------------------------------------------------------------------------

enum class OpClass : uint8_t {
  Collective,   // every rank of the group takes part: all_reduce, barrier, ...
  Send,         // point to point
  Recv,
  GroupCreate,  // every rank must create it, members or not, in the same order
  Init,         // init_process_group and the like
  Destroy,
  Batch,        // opens or closes a set of operations that are issued together: ncclGroupStart, ncclGroupEnd
  Exchange,     // a send and a receive, begun together and ended together: MPI_Sendrecv
  Wait,         // for what was begun before
  Probe,        // waits for a message and leaves it there
  Start,        // issues what was prepared before: MPI_Start
  Cancel,       // gives up what was begun before: MPI_Cancel
  Implicit,     // a framework call with collectives inside: save_state, backward of a DDP module, ...
};

// A message from one rank to another, or one half of it.
constexpr bool IsMessage(OpClass op_class) {
  return op_class == OpClass::Send || op_class == OpClass::Recv || op_class == OpClass::Exchange;
}
// Concerns messages of other calls, and issues none.
constexpr bool IssuesNothing(OpClass op_class) {
  return op_class == OpClass::Wait || op_class == OpClass::Probe || op_class == OpClass::Cancel;
}

// The operation that a call issues.
struct Operation {
  NameId kind;            // "all_reduce", "broadcast", "barrier", "gradient_reduction", ...: what is compared
  OpClass op_class = OpClass::Collective;
  NameId group_param;     // which argument is the group (none given or None passed: the default group)
  bool has_fixed_axis = false;
  Axis axis{};            // the group is the one along this axis, whatever is passed
  NameId root_param;      // `src`, `dst` of a rooted collective
  bool root_is_group_rank = false;
  NameId group_root_param;  // which argument names the root within the group, where root_param is not passed
  NameId tensor_param;    // what is communicated
  NameId count_param;     // how many elements, where ranks must agree on it
  NameId dtype_param;     // of what type they are
  NameId other_dtype_param;  // that of the other buffer, where it must be the same
  NameId peer_param;      // of send and recv
  NameId tag_param;
  NameId from_param;      // Exchange: from whom it receives, and with which tag
  NameId from_tag_param;
  NameId messages_param;  // a list of what goes together: objects that are made with a function (isend) and its arguments
  NameId reduce_op_param;
  NameId async_param;     // True returns a work handle
  bool always_async = false;      // isend, irecv
  bool opens_batch = false;       // Batch
  bool may_buffer = false;        // a send that may return before it is received
  NameId handle_param;            // where the handle is stored, if it is not what the call returns; Wait: what it waits for; Start: what it starts
  bool fixed_shape = false;       // shapes must be equal on all ranks (AR110)
  NameId token_param;             // an id that all ranks must have from one of them (AR115)
  NameId own_rank_param;          // as which rank this process takes part
  NameId ranks_param;             // how many ranks take part; a number that the code fixes leaves open which of the job's ranks they are
  NameId only_if_param;           // issues only if this argument is true (`log(..., sync_dist=True)`)
  NameId local_if_param;          // creates a group on members only if true (`use_local_synchronization`)
  std::vector<NameId> strategies; // the operation is there only under one of these ("FSDP", "DeepSpeed ZeRO-3"); none: always
  bool is_kept = false;           // a group that is created by the first call of this name, and found by later ones
  bool as_context = false;        // issued by entering and leaving it as a context manager (main_process_first)
};

// What a call or attribute yields.
enum class YieldKind : uint8_t {
  Nothing,    // not said: derived from receiver and arguments
  Formula,    // a coordinate, a predicate or a number over coordinates
  Uniform,    // the same on every rank
  Varies,     // differs along `axes`
  Object,     // an object of class `type` (a knowledge class or a project class)
  Argument,   // the argument `argument` itself (a wrapper that hands it through)
  Copy,       // an object like the argument `argument`, and another one
  Arguments,  // each positional argument, as an object of class `type` (accelerator.prepare)
  MadeWith,   // what the receiver was made with: argument `argument` of its class
  Group,      // the process group along `axis`
  NewGroup,   // a created group whose ranks are the argument `argument`, if any
  SplitGroup, // of the operation's own group, one group for each value of `argument` or `formula`; without one a group like it
  SelfGroup,  // a group of this process alone
  SubGroup,   // of the group `of`: the ranks that the first `count` items of the list `argument` name, or all but these
  None,       // nothing: MPI_COMM_NULL, a null pointer
  Prepared,   // a call of `type` with the arguments of these names, which is issued by each start of it
};

struct Yield {
  YieldKind kind = YieldKind::Nothing;
  FormulaId formula;
  Axes axes;
  NameId type;             // of groups: the class whose methods they have; none: the one of torch.distributed
  NameId argument;
  NameId of;               // SubGroup
  NameId count;            // SubGroup
  bool is_rest = false;    // SubGroup: all but these
  bool has_axis = false;
  Axis axis{};
  MarkId mark;             // the result is marked (`gradient_synced`); marks travel with whatever is computed from it
  NameId shape;            // a new tensor: from this argument on they say how large it is
  NameId element_type;     // and this one of what type its elements are
};

// What a call does to files, devices and objects, for the rules that look at calls. `roles` in the TOML files.
enum class Role : uint8_t {
#define ROLE(id, text) id,
#include "analyzer/knowledge/roles.def"
};

struct RoleOf {
  Role role{};
  NameId param;  // which argument it speaks of; none: the call as a whole

  // Whether the argument is what other processes are started to run.
  bool StartsProcesses() const { return role == Role::StartProcesses || role == Role::StartsWithIndex || role == Role::StartsTasks; }
};

struct Entry {
  NameId name;             // qualified: torch.distributed.all_reduce, accelerate.Accelerator.gather
  NameId library;
  std::string docs;        // address of the documentation the entry rests on
  std::vector<NameId> params;  // positional order, without self
  bool bypasses_torch = false;  // its library communicates past torch.distributed, whose tools do not see it
  bool has_operation = false;
  Operation operation;
  Yield yield;
  std::vector<Yield> tuple;         // the call returns a tuple of these (deepspeed.initialize)
  std::vector<NameId> makes_uniform;  // arguments (in place) that are equal on all ranks of the group afterwards;
                                      // "return": the result; "receiver": the object
  bool uniform_on_root_only = false;  // reduce, gather
  std::vector<std::pair<NameId, Yield>> stores;  // what it stores where these arguments point to
  // What a framework passes to an override of this method: `trainer` of a callback's hook is a Trainer.
  std::vector<std::pair<NameId, Yield>> param_types;
  // What it yields varies only if the receiver was made with one of these arguments: a loader with a sampler.
  std::vector<NameId> varies_with;
  FormulaId guard;         // used as decorator or context manager, runs the body only where this holds
  // How many processes take part. One that is written down, or any number for those that set the job up, makes a job
  // of its own.
  NameId size_param;
  bool exits = false;      // ends the process
  bool raises = false;     // always raises
  bool keeps_size = false; // what it gives has as many elements as its first argument
  bool joins_sizes = false; // what it gives is as large as the items of its first argument together
  bool of_one = false;     // its result varies only if it has a single element
  bool changes_type = false;  // what it hands through may be of another element type
  bool is_attribute = false;
  bool aborts = false;     // takes the whole group down (MPI_Abort, destroy of a hung group)
  std::vector<RoleOf> roles;

  bool Has(Role role) const {
    return std::ranges::find(roles, role, &RoleOf::role) != roles.end();
  }
  bool StartsProcesses() const { return std::ranges::any_of(roles, &RoleOf::StartsProcesses); }
};

struct Class {
  NameId name;
  NameId library;
  std::string docs;
  std::vector<NameId> bases;   // knowledge classes
  bool is_group = false;       // a process group or communicator
  bool has_axis = false;       // each object of it is the group along this axis
  Axis axis = {};
  bool is_tensor = false;
  bool is_plain = false;       // a value like a number or a path: what counts is which one it is, and no method of it communicates
  bool is_interface = false;   // what derives from it directly says what methods objects have, and they are of other classes
  bool is_module = false;      // a torch.nn.Module: calling it runs forward
  bool has_parameters = false; // a module or tensor that an optimizer trains
  bool has_buffers = false;    // a module that keeps tensors which are not trained: running means
  NameId applied_by;           // the method that runs forward of a class derived from it; none if there is none
  // A module whose parameters are sharded or whose gradients are reduced: which strategy, for messages.
  NameId strategy;
};

// What a bare name says where nothing better is known: a parameter `local_rank`, an attribute `.is_main_process`.
struct Hint {
  NameId name;
  FormulaId value;   // either a value
  NameId type;       // or an object of a class
  Axes axes;         // or that it differs along these
};

// Whom an exception strikes: the rank whose memory, file or data it is about, or all of them, because it follows from
// the program or its installation.
enum class Strikes : uint8_t { NotKnown, OneRank, AllRanks };

// Who runs a program. Knowledge says of a call that it shows one of the first three ([[launch]]); objects::Launch works it
// out for each function.
enum class RunBy : uint8_t {
  AllRanks,    // a launcher, or the program itself, starts it on every rank
  Workers,     // processes that a controller starts (Ray, RPC)
  OneProcess,  // a web page, a prompt, a model spread over all devices of one process, a job of one
  Tests,
  Unknown,     // whoever calls it was not seen
};

// What a call shows of how its program is run.
struct LaunchSign {
  RunBy run_by{};
  NameId keyword;              // only where this keyword argument ...
  std::vector<NameId> values;  // ... is one of these, as text
  bool starts_ranks = false;   // the call starts the processes itself, where no launcher has
};

// A way of making a job parallel under which some calls communicate (`Operation::strategies` names it), and what shows
// that a program is made for it, or cannot be run under it.
struct Strategy {
  NameId name;                         // "DeepSpeed"
  std::vector<NameId> names;           // functions, classes and packages that a program for it uses
  std::vector<NameId> members;         // keyword arguments and attributes
  std::vector<NameId> options;         // of the command line
  std::vector<NameId> launched_as;     // what configurations of launchers call it
  std::vector<NameId> one_module_in;   // methods that take one module and no more under it
  std::vector<NameId> never_with;      // methods, by name, that do not work under it
  NameId argument;                     // of a call that chooses it, in the code or in settings that the program reads
  std::vector<NameId> argument_values; // with which it does
  std::vector<NameId> configured_in;   // functions that are given a configuration which says whether it is this one
  std::vector<NameId> configured_by;   // in which of their parameters
  std::vector<NameId> configured_at;   // under which key, and which key in that
  std::vector<NameId> configured_as;   // with which numbers it is
};

// What programs do with settings that they have read ([[settings]]).
struct SettingsCalls {
  std::vector<NameId> merges;     // functions that put several together
  std::vector<NameId> changes;    // methods, by name, that change what they are called on, or are given first
  std::vector<NameId> same_file;  // methods, by name, that yield a file or its text for what they are called on
};

class Knowledge {
 public:
  explicit Knowledge(base::Interner& names) : names_(&names) {}

  // Adds the entries of one file; on an error nothing of it is added, and the message names file, line and cure.
  [[nodiscard]] base::Result<bool> Load(std::string_view file_name, std::string_view toml);
  // Call after the last Load: checks references between files and builds the look-up tables.
  [[nodiscard]] base::Result<bool> Finish();

  // By qualified name, aliases (`torch.distributed.distributed_c10d.all_reduce`) included. None if not known.
  EntryId FindEntry(NameId qualified) const;
  ClassId FindClass(NameId qualified) const;
  // A method or attribute of a class or of its bases: FindMember(accelerate.Accelerator, gather). Special names:
  // `__call__`, `__iter__` (what iterating yields), `__len__`, `__enter__`, `__getitem__`, `__init__`.
  EntryId FindMember(ClassId class_id, NameId member) const;
  // A method of whatever carries the mark: FindMarkMember(gradient_synced, backward).
  EntryId FindMarkMember(MarkId mark, NameId member) const;
  // A method that means this on an object of unknown class (`tensor.numel()`): entries named `*.numel`.
  EntryId FindAnyMember(NameId member) const;
  // Environment variables: `RANK`, `LOCAL_RANK`, `SLURM_PROCID`.
  const FormulaId* FindEnvironment(NameId variable) const;
  const std::unordered_map<NameId, FormulaId>& environment() const { return environment_; }
  // The variable in which the launcher that gives a rank in this one gives the local rank; none if it is not known.
  NameId LocalRankBeside(NameId variable) const {
    const auto found = local_ranks_.find(variable);
    return found == local_ranks_.end() ? NameId::None() : found->second;
  }
  const Hint* FindHint(NameId name) const;
  // By the name of an exception without its module.
  Strikes FindException(NameId name) const;
  // Whether what is called by this name (without module or object) can fail on one rank and not on another: it reads
  // files, runs a model, or talks to somebody.
  bool MayFail(NameId called) const { return fallible_.contains(called); }
  // Whether every class of this package whose objects have buffers is described here.
  bool ListsBuffers(NameId package) const { return buffers_listed_.contains(package); }
  // What a call of this name shows of how the program is run; the signs of a package hold for all that is in it.
  std::span<const LaunchSign> LaunchSigns(NameId qualified) const;
  // What this keyword argument shows in any call.
  std::span<const LaunchSign> LaunchSignsOfKeyword(NameId keyword) const;
  // What an option of the command line that the program declares shows.
  std::optional<RunBy> LaunchOption(NameId option) const;
  std::span<const Strategy> strategies() const { return strategies_; }
  const SettingsCalls& settings_calls() const { return settings_calls_; }
  bool IsSubclass(ClassId class_id, ClassId base) const;
  // True if some entry's name starts with `prefix.`: a module or package of a known library.
  bool IsKnownModule(NameId dotted) const;

  const Entry& operator[](EntryId id) const { return entries_[id]; }
  const Class& operator[](ClassId id) const { return classes_[id]; }
  const Formula& operator[](FormulaId id) const { return formulas_[id]; }
  std::string_view MarkName(MarkId id) const;
  // The mark of a name, if some entry uses it.
  MarkId FindMark(NameId name) const;
  size_t class_count() const { return classes_.size(); }
  std::span<const Entry> entries() const { return entries_.all(); }

  // Literals of which at least one occurs in every file that can matter: the prefilter's list, sorted, unique.
  const std::vector<std::string>& literals() const { return literals_; }
  // The same of C, C++ and CUDA files.
  const std::vector<std::string>& cpp_literals() const { return cpp_literals_; }
  base::Interner& names() const { return *names_; }

 private:
  friend class Loader;
  friend class Image;

  enum class ReferenceKind : uint8_t {
    Owner,  // what stands before the last dot of a method's name: a class, `@mark` or `*`
    Type,   // a class that a call returns, that a hint names or that a class derives from
    Call,   // a function that a call prepares
  };
  // A name that must be known once all files are loaded, and the place that says it.
  struct Reference {
    ReferenceKind kind{};
    NameId name;
    uint32_t file = 0;
    uint32_t line = 0;
    uint32_t column = 0;
  };
  bool IsDescribed(const Reference& reference) const;
  // `name` is another name of the module `same_as`.
  struct ModuleAlias {
    NameId name;
    NameId same_as;
  };

  void ApplyModuleAliases();
  void IndexMember(NameId name, EntryId entry);
  void IndexModulesOf(NameId name);
  base::Result<bool> CheckReferences() const;
  base::Result<bool> CheckBases() const;
  bool IsKnownOwner(std::string_view owner) const;

  base::Interner* names_;
  base::IdVector<EntryId, Entry> entries_;
  base::IdVector<ClassId, Class> classes_;
  base::IdVector<FormulaId, Formula> formulas_;
  base::IdVector<MarkId, NameId> marks_;
  std::unordered_map<NameId, EntryId> entry_index_;
  std::unordered_map<NameId, ClassId> class_index_;
  std::unordered_map<uint64_t, EntryId> member_index_;  // (class or mark, member)
  std::unordered_map<NameId, EntryId> any_member_;
  std::unordered_map<NameId, FormulaId> environment_;
  std::unordered_map<NameId, NameId> local_ranks_;
  std::unordered_map<NameId, Hint> hints_;
  std::unordered_map<NameId, Strikes> exceptions_;
  std::unordered_set<NameId> fallible_;
  std::unordered_set<NameId> buffers_listed_;
  std::unordered_set<NameId> known_modules_;
  std::vector<std::string> literals_;
  std::vector<std::string> cpp_literals_;
  // In the order of the files. Later ones win: a user's entry replaces a built-in one.
  std::vector<std::pair<NameId, EntryId>> entry_names_;
  std::vector<std::pair<NameId, ClassId>> class_names_;
  std::vector<ModuleAlias> module_aliases_;
  std::vector<Reference> references_;
  std::vector<std::string> files_;
  std::unordered_map<NameId, std::vector<LaunchSign>> launch_calls_;
  std::unordered_map<NameId, std::vector<LaunchSign>> launch_keywords_;
  std::unordered_map<NameId, RunBy> launch_options_;
  std::vector<Strategy> strategies_;
  SettingsCalls settings_calls_;
};

}  // namespace allranks::knowledge
