// The result of comparing what ranks do: differences, which rules turn into findings, and the ledger of every
// collective site.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/findings/finding.h"
#include "analyzer/source/source_file.h"
#include "analyzer/traces/world.h"
#include "analyzer/variation/facts.h"

namespace allranks::traces {

enum class DifferenceKind : uint8_t {
  Guard,         // a rank condition decides who reaches the operation          AR101, AR102 if implied
  EarlyExit,     // an exit on a rank condition skips it                        AR103
  DataBranch,    // a rank's own data or environment decides                    AR104
  TripCount,     // a loop runs a different number of times                     AR105
  Mismatch,      // all issue something, but not the same                       AR106
  Handler,       // an error is swallowed on one rank                           AR107
  GroupCreation, // a group is created by some ranks only                       AR108
  NotMember,     // the caller is not in the group, or names a wrong rank       AR109
  PointToPoint,  // sends and receives that wait for each other, or for no partner             AR111
  Shape,         // fixed shapes, but the size varies                           AR110
};

// In what the operations of a difference differ.
enum class Detail : uint8_t {
  None,
  Kind,             // they are different operations
  Order,            // also of sends and receives that wait for each other
  Group,
  Count,            // of operations: some ranks issue one more
  Root,             // the roots differ, or the root is not in the group
  ReduceOperation,
  Dtype,
  OtherDtype,       // of what is sent and what is received
  ElementCount,
  Member,           // the caller is not in the group
  Unmatched,        // a send or receive without the other half
  Buffered,         // as Order, unless the message is small enough to be buffered
};

// How a statement is written that leaves a function, a loop or the process.
enum class ExitWord : uint8_t { Return, Break, Continue, Raise, Goto, Process };

// "return", "break"; of the process: "sys.exit".
std::string_view ToString(ExitWord word);

struct Exit {
  source::Span span;         // empty: nothing leaves
  ExitWord word{};
  knowledge::EntryId call;   // of a library, which ends the process; none: not a call, or one of the project
};

// On which group an operation is. Equal ones have the same name.
struct OpGroup {
  variation::GroupKind kind = variation::GroupKind::World;
  knowledge::Axis axis{};    // of an AxisGroup
  bool is_default() const { return kind == variation::GroupKind::World; }
  friend auto operator<=>(const OpGroup&, const OpGroup&) = default;
};

// "the default group", "the tensor parallel group"
std::string NameOf(const OpGroup& group);

// Where an operation of a difference stands, and what it is.
struct OpPlace {
  variation::FuncId function;
  ir::ExprId expr;          // the call
  source::Span span;
  knowledge::EntryId entry; // of what is called
  OpGroup group;
  std::vector<source::Span> call_chain;  // calls from the reported function to the operation, outermost first
};

struct Difference {
  DifferenceKind kind{};
  findings::Assumptions assumptions;  // what it rests on
  std::vector<source::Span> settings;  // tests and loops on the way that settings of unknown value decide
  variation::FuncId function;      // innermost function whose own trace shows it
  source::Span place;              // the finding's own place (traces.md, section 5)
  OpPlace culprit;                 // what one side issues and the other lacks or has differently
  bool has_victim = false;
  OpPlace victim;                  // what the other side issues next on those groups
  std::vector<base::NameId> strategies;  // it shows only under these; empty: whatever the strategy
  source::Span condition;          // the test, loop head or handler that parts them; empty if none
  ir::ExprId condition_expr;       // in `condition_function`
  variation::FuncId condition_function;
  variation::ValueId condition_value;  // a predicate of the rank (`rank == 0`); none: it merely varies
  knowledge::Axes axes;            // along which the condition varies
  Exit exit;                       // what skips the operation, if anything does
  bool is_own = false;             // each rank decides for itself: which ranks do what is not known
  bool asks_for_job = false;       // a test on the way asks whether the process has joined a job: `is_initialized()`
  World world;                     // on which it shows
  RankSet reached;                 // the ranks that issue the culprit
  RankSet not_reached;
  Detail detail{};
  witness::Witness witness;
};

// Whether both are issued by calls of the same kind: "barrier", "all_reduce".
bool AreOfOneKind(const knowledge::Knowledge& knowledge, const OpPlace& a, const OpPlace& b);

// "rank 0", "all other ranks", "some ranks": those that issue the culprit, and those that do not.
std::string NameOfReached(const Difference& difference);
std::string NameOfNotReached(const Difference& difference);
// Whether those that do not issue the culprit are all ranks but a few that have a name.
bool OthersDoNotReach(const Difference& difference);

// What is known of a site. Proven: all ranks agree on it in every world tried, and nothing was assumed on any way to it.
// Aligned: no rank was found to differ, but something was assumed. Differs: a difference of some confidence names it.
enum class SiteVerdict : uint8_t { Proven, Aligned, Differs, Unknown };

// One collective site of the program.
struct LedgerEntry {
  source::Span span;
  variation::FuncId function;
  std::string name;
  SiteVerdict verdict{};
  findings::Assumptions assumptions;     // Aligned, Differs: what that rests on
  std::string reason;  // Unknown: "unresolved call `x`", "bound reached"
};

// A function left unanalysed because a bound was reached: AR003.
struct LimitHit {
  variation::FuncId function;
  std::string bound;      // "trace of more than 10000 operations"
  bool is_given = false;  // a bound of the whole run that somebody gave: time, memory
};

// An operation that a function issues on the default group, itself or through what it calls.
struct Issued {
  std::vector<source::Span> path;  // the call in the function itself first, the operation last
  std::string name;
  bool is_implied = false;         // the call is there for something else, and communicates beside it
};

struct Analysis {
  std::vector<Difference> differences;
  std::vector<LedgerEntry> ledger;     // by file and place
  std::vector<LimitHit> limits;
  std::unordered_map<variation::FuncId, Issued> issued;  // the first of each function that certainly issues one
};

// Facts gain values (arguments put into traces), nothing that they hold changes.
Analysis Analyze(const binding::Program& program, const knowledge::Knowledge& knowledge, variation::Facts& facts,
                 const source::SourceFiles& files);

// The traces of a module's functions, or of the one called `function` ("Trainer.save"), before anything is compared:
//   if rank == 0 [global rank]:  @11
//     all_reduce(the default group)  @12
std::string PrintTrace(const binding::Program& program, const knowledge::Knowledge& knowledge, variation::Facts& facts,
                       const source::SourceFiles& files, ir::ModuleId module, std::string_view function);

}  // namespace allranks::traces
