// Whether every rank gets as many items as the others: of `items[rank::world]` once `items` was filled up to a multiple of
// the ranks, of `items[rank * each : (rank + 1) * each]`, of `range(begin, end)`, of items filled up to the most of a rank.
//
// Decided by trying. Lengths and numbers that nobody knows take made-up values, the same on all ranks, and what each rank
// of jobs of several sizes gets is counted. What comes out equal in all of them is equal.
// Unsound: numbers so made up that they never tell apart two formulas that differ.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/variation/tables.h"

namespace allranks::variation {

class EqualShares {
 public:
  explicit EqualShares(Tables& tables) : tables_(tables), store_(tables.store) {}
  // Whether a sequence has as many items on each rank.
  bool IsAsLong(ValueId sequence);

 private:
  template <class Ask>
  bool IsEqual(Ask ask);
  std::optional<double> Number(ValueId id, int depth);
  std::optional<double> OfBinary(ir::BinaryOp op, ValueId left, ValueId right, int depth);
  std::optional<double> OfCoordinate(const Value& value) const;
  std::optional<double> OfCall(ValueId call, int depth);
  std::optional<int64_t> Length(ValueId id, int depth);
  std::optional<int64_t> OfRepeated(ValueId sequence, ValueId times, int depth);
  std::optional<int64_t> OfSlice(ValueId sequence, std::span<const ValueId> parts, int depth);
  std::optional<int64_t> OfRange(ValueId range, int depth);
  bool Is(ValueId id, std::string_view operation) const;
  int64_t MadeUp(ValueId id, int64_t least, int64_t most) const;

  Tables& tables_;
  const ValueStore& store_;
  // The job of a try.
  int64_t ranks_ = 0;
  int64_t rank_ = 0;
  uint64_t seed_ = 0;
};

}  // namespace allranks::variation
