#include "analyzer/variation/equal_shares.h"

#include <algorithm>
#include <cmath>

#include "analyzer/variation/comparison.h"

namespace allranks::variation {
namespace {

constexpr int kDeepestShare = 24;

// How many numbers `range(begin, end, step)` yields; none if it has no step.
std::optional<int64_t> CountOf(int64_t begin, int64_t end, int64_t step) {
  if (step == 0) return std::nullopt;
  const int64_t way = step > 0 ? end - begin : begin - end;
  return way <= 0 ? 0 : (way + std::abs(step) - 1) / std::abs(step);
}

// Whether a number came out of a collective.
bool IsReduced(const ValueStore& store, ValueId number) {
  while (number && store[number].kind == ValueKind::Derived && store[number].kid_count > 0) number = store.Kids(number)[0];
  return number && (store[number].flags & kReduced) != 0;
}

}  // namespace

bool EqualShares::IsAsLong(ValueId sequence) {
  return IsEqual([&] { return Length(sequence, 0); });
}

template <class Ask>
bool EqualShares::IsEqual(Ask ask) {
  constexpr int64_t kMostRanks = 5;
  constexpr uint64_t kTries = 4;
  for (ranks_ = 2; ranks_ <= kMostRanks; ++ranks_) {
    for (seed_ = 0; seed_ < kTries; ++seed_) {
      rank_ = 0;
      const auto first = ask();
      if (!first) return false;
      for (rank_ = 1; rank_ < ranks_; ++rank_) {
        if (ask() != first) return false;
      }
    }
  }
  return true;
}

std::optional<double> EqualShares::Number(ValueId given, int depth) {
  if (!given || depth > kDeepestShare) return std::nullopt;
  const ValueId id = store_[given].kind == ValueKind::Param ? LookThrough(tables_, given) : given;
  const Value& value = store_[id];
  const auto kids = store_.Kids(id);
  switch (value.kind) {
    case ValueKind::Int:
    case ValueKind::Bool:
      return static_cast<double>(*value.integer());
    case ValueKind::Coordinate:
      return OfCoordinate(value);
    case ValueKind::Binary:
      return OfBinary(value.binary_op(), kids[0], kids[1], depth);
    case ValueKind::Unary: {
      const std::optional<double> inner = Number(kids[0], depth + 1);
      if (!inner) return std::nullopt;
      const auto op = value.unary_op();
      return op == ir::UnaryOp::Minus ? std::optional(-*inner) : op == ir::UnaryOp::Not ? std::optional<double>(*inner == 0) : std::nullopt;
    }
    case ValueKind::Compare: {
      const std::optional<double> left = Number(kids[0], depth + 1);
      const std::optional<double> right = left ? Number(kids[1], depth + 1) : std::nullopt;
      return right ? CompareNumbers(value.compare_op(), *left, *right) : std::nullopt;
    }
    case ValueKind::Select: {
      const std::optional<double> chosen = Number(kids[0], depth + 1);
      return chosen ? Number(kids[*chosen != 0 ? 1 : 2], depth + 1) : std::nullopt;
    }
    case ValueKind::Derived:
      return OfCall(id, depth);
    case ValueKind::Unknown:
    case ValueKind::Param:
      return value.axes.empty() ? std::optional<double>(static_cast<double>(MadeUp(id, 1, 9))) : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<double> EqualShares::OfBinary(ir::BinaryOp op, ValueId left_id, ValueId right_id, int depth) {
  const std::optional<double> left = Number(left_id, depth + 1);
  const std::optional<double> right = left ? Number(right_id, depth + 1) : std::nullopt;
  if (!right) return std::nullopt;
  switch (op) {
    case ir::BinaryOp::Add:
      return *left + *right;
    case ir::BinaryOp::Sub:
      return *left - *right;
    case ir::BinaryOp::Mul:
      return *left * *right;
    case ir::BinaryOp::Div:
      return *right == 0 ? std::nullopt : std::optional(*left / *right);
    case ir::BinaryOp::FloorDiv:
      return *right == 0 ? std::nullopt : std::optional(std::floor(*left / *right));
    case ir::BinaryOp::Mod:
      return *right == 0 ? std::nullopt : std::optional(*left - std::floor(*left / *right) * *right);
    default:
      return std::nullopt;
  }
}

// Of whatever group: a rank of it, and how many there are.
std::optional<double> EqualShares::OfCoordinate(const Value& value) const {
  using knowledge::Coordinate;
  switch (value.coordinate()) {
    case Coordinate::Rank:
    case Coordinate::AxisRank:
    case Coordinate::GroupRank:
      return static_cast<double>(rank_);
    case Coordinate::WorldSize:
    case Coordinate::AxisSize:
    case Coordinate::GroupSize:
      return static_cast<double>(ranks_);
    default:
      return std::nullopt;
  }
}

std::optional<double> EqualShares::OfCall(ValueId call, int depth) {
  const Value& value = store_[call];
  const auto kids = store_.Kids(call);
  if (store_.IsLength(value.symbol()) && kids.size() == 1) {
    const std::optional<int64_t> length = Length(kids[0], depth + 1);
    return length ? std::optional<double>(static_cast<double>(*length)) : std::nullopt;
  }
  const auto rounded = [&](double (*round)(double)) -> std::optional<double> {
    const std::optional<double> inner = kids.size() == 1 ? Number(kids[0], depth + 1) : std::nullopt;
    return inner ? std::optional(round(*inner)) : std::nullopt;
  };
  if (Is(call, "math.ceil") || Is(call, "numpy.ceil")) return rounded([](double number) { return std::ceil(number); });
  if (Is(call, "math.floor") || Is(call, "numpy.floor")) return rounded([](double number) { return std::floor(number); });
  const bool is_least = Is(call, "builtins.min");
  if ((is_least || Is(call, "builtins.max")) && kids.size() > 1) {
    std::optional<double> result;
    for (const ValueId kid : kids) {
      const std::optional<double> number = Number(kid, depth + 1);
      if (!number) return std::nullopt;
      result = !result ? *number : is_least ? std::min(*result, *number) : std::max(*result, *number);
    }
    return result;
  }
  return value.axes.empty() ? std::optional<double>(static_cast<double>(MadeUp(call, 1, 9))) : std::nullopt;
}

std::optional<int64_t> EqualShares::Length(ValueId given, int depth) {
  if (!given || depth > kDeepestShare) return std::nullopt;
  const ValueId id = store_[given].kind == ValueKind::Param ? LookThrough(tables_, given) : given;
  const Value& value = store_[id];
  const auto kids = store_.Kids(id);
  if (value.kind == ValueKind::Tuple) return value.kid_count;
  if (value.is_binary(ir::BinaryOp::Mul)) return OfRepeated(kids[0], kids[1], depth);
  if (value.is_binary(ir::BinaryOp::Add)) {
    if (const ValueId filled = store_.FilledUpTo(kids[0], kids[1])) {
      const std::optional<double> number = Number(filled, depth + 1);
      return number ? std::optional(static_cast<int64_t>(*number)) : std::nullopt;
    }
    const std::optional<int64_t> left = Length(kids[0], depth + 1);
    const std::optional<int64_t> right = left ? Length(kids[1], depth + 1) : std::nullopt;
    return right ? std::optional(*left + *right) : std::nullopt;
  }
  if (value.kind == ValueKind::Select) {
    const std::optional<double> chosen = Number(kids[0], depth + 1);
    return chosen ? Length(kids[*chosen != 0 ? 1 : 2], depth + 1) : std::nullopt;
  }
  if (value.kind == ValueKind::Derived && !kids.empty()) {
    if (Is(id, "[]") && kids.size() == 2 && kids[1] && Is(kids[1], "[:]")) return OfSlice(kids[0], store_.Kids(kids[1]), depth);
    if (Is(id, "itertools.islice") && kids.size() == 2) {
      const ValueId parts[] = {store_.NoneValue(), kids[1], store_.NoneValue()};
      return OfSlice(kids[0], parts, depth);
    }
    if (Is(id, "itertools.islice") && kids.size() > 2 && kids[1] && kids[2]) {
      const ValueId parts[] = {kids[1], kids[2], kids.size() > 3 ? kids[3] : store_.NoneValue()};
      return OfSlice(kids[0], parts, depth);
    }
    if (Is(id, "builtins.range")) return OfRange(id, depth);
    for (const std::string_view copy : {"builtins.list", "builtins.tuple", "builtins.sorted", "builtins.reversed",
                                        "builtins.enumerate", "tolist", "copy"}) {
      if (Is(id, copy)) return Length(kids[0], depth + 1);
    }
  }
  const bool is_unknown = value.kind == ValueKind::Unknown || value.kind == ValueKind::Derived || value.kind == ValueKind::Param;
  const bool is_ragged = value.mark && value.mark == tables_.RaggedMark();
  // What the items are may differ, as long as there are as many.
  if (!is_unknown || is_ragged || !Without(value.axes, knowledge::kSoftAxes).empty()) return std::nullopt;
  // Long enough for the share of each of the ranks that are tried to have more items than a number that is made up.
  return MadeUp(id, 60, 150);
}

// `[item] * times`: nothing where that is less than one.
std::optional<int64_t> EqualShares::OfRepeated(ValueId sequence, ValueId times, int depth) {
  const std::optional<int64_t> length = Length(sequence, depth + 1);
  const std::optional<double> number = length ? Number(times, depth + 1) : std::nullopt;
  return number ? std::optional(*length * std::max<int64_t>(0, static_cast<int64_t>(*number))) : std::nullopt;
}

// As Python cuts: what lies beyond the end is not there.
std::optional<int64_t> EqualShares::OfSlice(ValueId sequence, std::span<const ValueId> parts, int depth) {
  constexpr int64_t kLongEnough = int64_t{1} << 40;
  if (parts.size() != 3) return std::nullopt;
  // What is cut at the least of the lengths is that long, whatever its own length is. Any other number that ranks agreed on may be more
  // than some have.
  const bool is_least = store_.IsAgreed(parts[1]);
  if (!is_least && IsReduced(store_, parts[1])) return std::nullopt;
  const std::optional<int64_t> length = is_least ? kLongEnough : Length(sequence, depth + 1);
  if (!length) return std::nullopt;
  const auto given = [&](size_t i) { return store_[parts[i]].kind != ValueKind::None; };
  const auto bound = [&](size_t i, int64_t otherwise) -> std::optional<int64_t> {
    if (!given(i)) return otherwise;
    const std::optional<double> number = Number(parts[i], depth + 1);
    if (!number) return std::nullopt;
    const auto at = static_cast<int64_t>(*number);
    return std::clamp<int64_t>(at < 0 ? at + *length : at, 0, *length);
  };
  const std::optional<double> step = given(2) ? Number(parts[2], depth + 1) : std::optional<double>(1);
  const std::optional<int64_t> begin = bound(0, 0);
  const std::optional<int64_t> end = bound(1, *length);
  if (!step || *step < 1 || !begin || !end) return std::nullopt;
  return CountOf(*begin, *end, static_cast<int64_t>(*step));
}

std::optional<int64_t> EqualShares::OfRange(ValueId range, int depth) {
  std::vector<int64_t> ends;
  for (const ValueId kid : store_.Kids(range)) {
    const std::optional<double> number = Number(kid, depth + 1);
    if (!number) return std::nullopt;
    ends.push_back(static_cast<int64_t>(*number));
  }
  if (ends.size() == 1) return CountOf(0, ends[0], 1);
  if (ends.size() == 2) return CountOf(ends[0], ends[1], 1);
  return ends.size() == 3 ? CountOf(ends[0], ends[1], ends[2]) : std::nullopt;
}

bool EqualShares::Is(ValueId id, std::string_view operation) const {
  return store_[id].is_derived(tables_.NameSymbol(operation));
}

// The same for a value wherever it is asked, and another one in each try.
int64_t EqualShares::MadeUp(ValueId id, int64_t least, int64_t most) const {
  uint64_t mixed = (uint64_t{id.index} + 1) * 0x9e3779b97f4a7c15u + seed_ * 0xbf58476d1ce4e5b9u;
  mixed ^= mixed >> 29;
  mixed *= 0x94d049bb133111ebu;
  mixed ^= mixed >> 32;
  return least + static_cast<int64_t>(mixed % static_cast<uint64_t>(most - least + 1));
}

}  // namespace allranks::variation
