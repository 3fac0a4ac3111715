// What a function issues, as a hash-consed tree: equal traces have equal ids. A trace is parametric like the values
// in it; `Instantiate` replaces parameters by arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/base/hash_index.h"
#include "analyzer/base/id.h"
#include "analyzer/base/number_map.h"
#include "analyzer/traces/condition_memo.h"
#include "analyzer/traces/made_once.h"
#include "analyzer/traces/questions.h"
#include "analyzer/variation/facts.h"

namespace allranks::traces {

using TraceId = base::Id<struct TraceTag>;
using SiteId = base::Id<struct SiteTag>;
using OperationId = base::Id<struct OperationTag>;
using TryId = base::Id<struct TryTag>;

enum class TraceKind : uint8_t {
  Empty,
  Op,      // payload = OperationId; value = its group
  Seq,     // kids
  Choice,  // value = condition; kids = then, else
  Loop,    // payload = LoopKind; value = how often, or its condition; kids = body
  Exit,    // payload = ExitKind; op = 1: written as a `goto`
  Scope,   // a call: returns inside lead to its end; payload = FuncId of the callee; kids = its trace
  Try,     // payload = TryId; kids = kTryBody, kTryElse, kTryFinally, then one for each handler from kTryHandlers on
  Call,    // callee not known before parameters are: value = callee; payload = start of its arguments
  Rec,     // payload = FuncId: a recursive call, equal to itself; value = its arguments that decide something, if they change (recursion.h)
  Yield,   // where a generator hands over
  Opaque,  // a call that could issue operations and does not resolve
  Keep,    // value = the Made of a place (made_once.h); payload = Filling: it is filled, or emptied, here
  Mode,    // value = a module, and whether it trains from here on (module_mode.h); payload = 1: it is made here
};

constexpr size_t kTryBody = 0;
constexpr size_t kTryElse = 1;
constexpr size_t kTryFinally = 2;
constexpr size_t kTryHandlers = 3;

// `for` has a number of rounds. `while` asks its condition in each: where that is a matter of the world, it never ends by itself.
enum class LoopKind : uint8_t { Counted, While };

enum class ExitKind : uint8_t { Return, Break, Continue, Raise, Process };

// What may be said of a trace without walking it.
constexpr uint16_t kLeavesReturn = 1;  // an exit of this kind leads out of the trace
constexpr uint16_t kLeavesBreak = 2;
constexpr uint16_t kLeavesContinue = 4;
constexpr uint16_t kLeavesRaise = 8;
constexpr uint16_t kLeavesProcess = 16;
constexpr uint16_t kLeavesMask = 31;
constexpr uint16_t kHasOp = 32;        // operations, or calls that may turn out to be
constexpr uint16_t kOpenParams = 64;   // mentions parameters
constexpr uint16_t kVarying = 128;     // something in it may differ between ranks
constexpr uint16_t kHasYield = 256;
constexpr uint16_t kHasTry = 512;
constexpr uint16_t kIssues = 2048;     // as kHasOp, without recursive calls
constexpr uint16_t kKeeps = 4096;      // fills a place that keeps what is made once, or asks for it; so for modes; leaves the job
constexpr uint16_t kSetsMode = 8192;   // puts a module into a mode
constexpr uint16_t kHasRec = 16384;    // recursive calls
constexpr uint16_t kSettled = 1024;    // of this node: reported, or proven to agree; ranks decide it alike

constexpr uint16_t LeavesBit(ExitKind kind) { return static_cast<uint16_t>(1u << static_cast<unsigned>(kind)); }

struct Trace {
  TraceKind kind = TraceKind::Empty;
  uint8_t op = 0;
  uint16_t flags = 0;
  SiteId site;
  ValueId value;
  uint32_t payload = 0;
  uint32_t kids = 0;
  uint32_t kid_count = 0;
  uint32_t size = 1;    // nodes when shared ones are counted each time, saturating
  uint16_t height = 0;  // of the tree below
};

// Where something stands.
struct Site {
  FuncId function;
  ir::ExprId expr;     // of the call or condition; none for statements
  source::Span span;
  friend bool operator==(const Site&, const Site&) = default;
};

// What an operation says besides its place.
// Messages that are handed over together, in the order of the list.
enum class Batched : uint8_t { Alone, First, Later };

struct Operation {
  knowledge::EntryId entry;
  ValueId group;      // none: the default group
  ValueId root;
  ValueId reduce_op;
  ValueId tensor;
  ValueId peer;
  ValueId dtype;
  ValueId other_dtype;  // of the other buffer, where that must be the same
  ValueId count;      // of elements, where ranks must agree on it
  ValueId members;    // of the group that it creates: the list of ranks
  ValueId tag;
  ValueId from;       // Exchange: the other peer
  ValueId from_tag;
  ValueId handle;     // of what is begun here, or waited for
  Batched batched = Batched::Alone;
  bool root_in_group = false;  // the root counts within the group
  friend bool operator==(const Operation&, const Operation&) = default;
};

// How much of the exceptions of one rank a handler catches.
enum class Breadth : uint8_t { Uniform, Narrow, Broad };

struct HandlerInfo {
  source::Span span;   // of its head
  Breadth breadth = Breadth::Broad;
  ValueId failed = {};  // the unknown that is true on the ranks that came here; none if not known
  friend bool operator==(const HandlerInfo&, const HandlerInfo&) = default;
};

struct TryInfo {
  std::vector<HandlerInfo> handlers;
  bool fallible = false;  // the body does what can fail on one rank: forward, loading, I/O
  bool fallible_before_op = false;  // and an operation of the body comes after it
};

class TraceStore {
 public:
  explicit TraceStore(const knowledge::Knowledge& knowledge, variation::ValueStore& values);

  const Trace& operator[](TraceId id) const { return traces_[id.index]; }
  std::span<const TraceId> Kids(TraceId id) const {
    return std::span(kids_).subspan(traces_[id.index].kids, traces_[id.index].kid_count);
  }
  const Site& site(SiteId id) const { return sites_[id.index]; }
  const Operation& operation(TraceId id) const { return operations_[traces_[id.index].payload]; }
  const TryInfo& try_info(TraceId id) const { return tries_[traces_[id.index].payload]; }
  const knowledge::Entry& entry(TraceId id) const { return (*knowledge_)[operation(id).entry]; }
  size_t size() const { return traces_.size(); }
  // Whether an operation that needs equal shapes gets a tensor whose size is each rank's own.
  bool IsRagged(TraceId op) const;
  // Whether it is given no buffer of its own: type and count beside it mean nothing.
  bool IsInPlace(TraceId op) const;
  // Whether what is sent and what is received are of different types, both known.
  bool HasOtherType(TraceId op) const { return HasOtherType(operation(op)); }

  SiteId AddSite(const Site& site);
  TryId AddTry(TryInfo info);

  TraceId Empty() const { return empty_; }
  TraceId Op(SiteId site, const Operation& operation, bool settled = false);
  TraceId Seq(std::span<const TraceId> parts);
  TraceId Seq(TraceId first, TraceId second);
  TraceId Choice(SiteId site, ValueId condition, TraceId then_trace, TraceId else_trace, bool settled = false);
  TraceId Loop(SiteId site, ValueId trips, TraceId body, bool settled = false, LoopKind kind = LoopKind::Counted);
  TraceId Exit(SiteId site, ExitKind kind, bool is_jump = false);
  TraceId Scope(SiteId site, FuncId callee, TraceId body);
  TraceId Try(SiteId site, TryId info, std::span<const TraceId> parts, bool settled = false);
  TraceId Call(SiteId site, ValueId callee, std::span<const ValueId> args);
  TraceId Rec(SiteId site, FuncId callee, ValueId args = {});
  TraceId Yield(SiteId site);
  TraceId Keep(SiteId site, ValueId made, Filling filling);
  TraceId Mode(SiteId site, ValueId module, ValueId trains, bool is_made);
  TraceId Opaque(SiteId site, ValueId callee);
  // The same node over other parts, simplified where that is possible now.
  TraceId Rebuild(TraceId id, ValueId value, std::span<const TraceId> kids, bool settled);

  std::span<const ValueId> Args(TraceId call) const;
  const variation::ValueStore& values() const { return *values_; }
  ConditionMemo& conditions() const { return conditions_; }
  // What the choices in a trace ask.
  QuestionSet QuestionsIn(TraceId id) const;

 private:
  TraceId Intern(Trace trace, std::span<const TraceId> kids);
  bool ValueFlags(ValueId value, uint16_t* flags) const;
  bool Demands(TraceId id) const;
  bool RanksMatter(const Operation& operation) const;
  bool IsRagged(const Operation& operation) const;
  bool HasOtherType(const Operation& operation) const;

  const knowledge::Knowledge* knowledge_;
  variation::ValueStore* values_;
  mutable ConditionMemo conditions_;
  mutable base::NumberMap<QuestionSet> questions_;   // by TraceId
  knowledge::MarkId ragged_;
  knowledge::MarkId in_place_;
  std::vector<Trace> traces_;
  std::vector<TraceId> kids_;
  std::vector<Site> sites_;
  std::vector<Operation> operations_;
  std::vector<TryInfo> tries_;
  std::vector<std::vector<ValueId>> call_args_;
  base::HashIndex index_;
  base::HashIndex site_index_;
  TraceId empty_;
};

}  // namespace allranks::traces
