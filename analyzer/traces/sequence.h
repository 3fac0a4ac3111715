// What one rank issues, as lists of items that share their tails. Every list carries a hash of what it says without
// the places where it says it; the hash of a concatenation follows from those of its parts (a polynomial over a
// prime field), so a call's list is compared without being copied into its callers'.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analyzer/base/number_map.h"
#include "analyzer/traces/evaluate.h"
#include "analyzer/traces/trace.h"

namespace allranks::traces {

using SeqId = base::Id<struct SeqTag>;

enum class ItemKind : uint8_t {
  Op,
  Choice,  // undecided but alike on all ranks: a, b = arms
  Loop,    // a = body
  Sub,     // a call: a = its list
  Rec,
  Break,   // the loop around ends here
  Leave,   // the loops around end, and a = what follows instead
  Unless,  // an undecided choice one arm of which ends this rank by an exception, a = the other; or a loop, b = its body,
           // that issues nothing besides: as good as `a`
  Alike,   // an undecided choice whose arms issue the same, though this rank may end in one of them; a, b = arms: as good as `a`
};

struct Item {
  ItemKind kind = ItemKind::Op;
  bool has_effect = false;  // it, or what follows, issues operations
  bool may_end = false;     // it, or what follows, holds an Unless or an Alike
  TraceId origin;
  SeqId a;
  SeqId b;
  SeqId next;
  SeqId first_op{0};         // in or after it; 0: none
  uint64_t token = 0;        // what it is: kind and group of an operation
  uint64_t detail = 0;       // the same with root and reduce operation
  uint64_t hash = 0;         // of the list from here
  uint64_t detail_hash = 0;
  uint64_t length = 0;       // of the list from here, subroutines counted; those of kLongest may be longer
  uint64_t power = 1;        // the base of the hash to the length
  GroupIndex group = 0;      // Op
  uint64_t rounds = 0;       // Loop: how often, as far as known; part of its token
  bool calm_is_first = false;  // Unless: `a` is the first arm of the choice
  std::optional<int64_t> root;  // known values only
  std::optional<int64_t> count;
  ValueId reduce_op;
  ValueId dtype;
};

// The empty list, and the end of a rank by an exception that nobody catches: it stops the job, so nothing that
// follows can differ.
constexpr SeqId kNothing{0};
constexpr SeqId kRaised{1};

class SequenceStore {
 public:
  SequenceStore();
  const Item& operator[](SeqId id) const { return items_[id.index]; }
  size_t size() const { return items_.size(); }

  SeqId Add(Item item);                       // before item.next
  SeqId Append(SeqId list, SeqId tail);       // a call's list before `tail`
  // The list with `tail` instead of the exit that ends it on every path; none if it does not end so.
  std::optional<SeqId> ReplaceExit(SeqId list, SeqId after);
  bool Raises(SeqId list) const { return items_[list.index].length == kRaisedLength; }
  bool Same(SeqId a, SeqId b) const;
  // Whether a list, as a part of the body of a loop, may leave that loop.
  bool HasExit(SeqId list, int depth = 0) const;
  // Whether it is operations and nothing else.
  bool IsPlain(SeqId list) const;
  // The first operation of a list; none if it has none.
  SeqId FirstOp(SeqId list) const { return items_[list.index].first_op; }
  // What a projection looks at: calls look alike to all projections that look at the same.
  struct Sight {
    uint32_t rank = 0;
    uint32_t groups = 0;
    uint8_t issuing = 0;
    bool with_p2p = false;
    bool with_waits = false;
    uint64_t assumed = 0;    // what choices around a call were taken to be, hashed
    uint64_t settings = 0;   // what it gets of the settings that are tried, hashed
    friend auto operator<=>(const Sight&, const Sight&) = default;
  };
  // Lists of calls by the trace of the callee.
  using Lists = base::NumberMap<SeqId>;
  Lists& Calls(const Sight& sight) { return calls_[sight]; }
  // By trace: whether the node `agreed` is in it.
  std::unordered_map<uint32_t, bool>& Around(TraceId agreed) { return around_[agreed.index]; }
  // Whether the choice `origin` stands in the list, calls included; not looked for far ahead.
  bool Holds(SeqId list, TraceId origin) const;
  // The operations of a list, one round of each loop, the arm that issues something of each choice; at most `limit`.
  void Flatten(SeqId list, size_t limit, std::vector<SeqId>* ops, int depth = 0) const;

 private:
  bool HoldsWithin(SeqId list, TraceId origin, size_t* steps, int depth) const;
  std::optional<SeqId> Shifted(const Item& item);

  static constexpr uint64_t kRaisedLength = ~uint64_t{0};
  // Functions that call one another twice make lists of 2^n operations.
  static constexpr uint64_t kLongest = uint64_t{1} << 62;
  std::vector<Item> items_;
  std::map<Sight, Lists> calls_;
  std::unordered_map<uint32_t, std::unordered_map<uint32_t, bool>> around_;
};

uint64_t Token(uint64_t kind, uint64_t a, uint64_t b);
// The token of an operation with what is known of its root, reduce operation, type and size.
uint64_t DetailToken(const Item& operation);

// A loop of so many rounds before `next`.
Item LoopOf(const SequenceStore& store, TraceId origin, uint64_t rounds, SeqId body, SeqId next);

// Where two lists part. An end is kNothing.
struct Parting {
  SeqId first;
  SeqId second;
  bool same_operation = false;  // alike but for root or reduce operation
  bool in_next_round = false;   // one side may leave a loop where the other goes on with its next round
  uint64_t position = 0;        // how much the lists have in common before it
};
std::optional<Parting> FirstDifference(const SequenceStore& store, SeqId first, SeqId second);

}  // namespace allranks::traces
