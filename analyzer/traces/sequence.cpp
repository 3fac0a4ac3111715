#include "analyzer/traces/sequence.h"

#include <algorithm>

namespace allranks::traces {
namespace {

// Arithmetic modulo the Mersenne prime 2^61 - 1: fast, and wide enough that no two lists of a program meet by chance.
constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;
constexpr uint64_t kBase = 0x1234567890abcdfull;

__extension__ using Wide = unsigned __int128;

uint64_t Multiply(uint64_t a, uint64_t b) {
  const Wide product = static_cast<Wide>(a) * b;
  const uint64_t sum = static_cast<uint64_t>(product & kPrime) + static_cast<uint64_t>(product >> 61);
  return sum >= kPrime ? sum - kPrime : sum;
}

// The hash of a list whose second part has the hash `right` and the power `right_power`.
uint64_t Join(uint64_t left, uint64_t right, uint64_t right_power) {
  return (Multiply(left, right_power) + right) % kPrime;
}

// Of an item that is no more than the list in it.
bool StandsForList(ItemKind kind) {
  return kind == ItemKind::Sub || kind == ItemKind::Unless || kind == ItemKind::Alike;
}

bool MayEndHere(const Item& item) { return item.kind == ItemKind::Unless || item.kind == ItemKind::Alike; }

constexpr int kDeepestWalk = 300;
constexpr size_t kLongestCopy = 12;

// A place in a list, calls opened on the way.
class Cursor {
 public:
  Cursor(const SequenceStore& store, SeqId at) : store_(store), at_(at) { Settle(); }
  SeqId at() const { return at_; }
  bool ended() const { return at_ == kNothing || at_ == kRaised; }
  bool raised() const { return at_ == kRaised; }
  void Next() {
    at_ = store_[at_].next;
    Settle();
  }
  void Open() {
    rest_.push_back(store_[at_].next);
    at_ = store_[at_].a;
    Settle();
  }

 private:
  void Settle() {
    while (at_ == kNothing && !rest_.empty()) {
      at_ = rest_.back();
      rest_.pop_back();
    }
  }
  const SequenceStore& store_;
  SeqId at_;
  std::vector<SeqId> rest_;
};

// What is not known on one side may be the same.
bool DetailsDiffer(const Item& a, const Item& b) {
  const auto differ = [](const auto& left, const auto& right) { return left && right && left != right; };
  return differ(a.root, b.root) || differ(a.reduce_op, b.reduce_op) || differ(a.dtype, b.dtype) || differ(a.count, b.count);
}

// What is known of both of two operations of one token.
Item Common(const Item& a, const Item& b) {
  Item common = a;
  if (a.root != b.root) common.root.reset();
  if (a.count != b.count) common.count.reset();
  if (a.reduce_op != b.reduce_op) common.reduce_op = {};
  if (a.dtype != b.dtype) common.dtype = {};
  common.detail = DetailToken(common);
  return common;
}

class Comparer {
 public:
  explicit Comparer(const SequenceStore& store) : store_(store) {}

  std::optional<Parting> Compare(SeqId first, SeqId second, int depth) {
    if (store_.Same(first, second) || depth > kDeepestWalk) return std::nullopt;
    Cursor left(store_, first);
    Cursor right(store_, second);
    constexpr size_t kMostSteps = 100'000;
    while (steps_++ < kMostSteps) {
      if (left.raised() || right.raised()) return std::nullopt;
      if (left.ended() && right.ended()) return std::nullopt;
      const Item& a = store_[left.at()];
      const Item& b = store_[right.at()];
      if (MayEndHere(a) || MayEndHere(b)) {
        if (const std::optional<Parting> parting = WithoutException(&left, &right, depth)) return parting;
        continue;
      }
      if (left.ended() || right.ended()) return Part(left.at(), right.at());
      const bool alike = a.kind == b.kind && a.token == b.token && a.detail == b.detail;
      if (!alike && (a.kind == ItemKind::Sub || b.kind == ItemKind::Sub)) {
        if (a.kind == ItemKind::Sub) left.Open();
        if (b.kind == ItemKind::Sub) right.Open();
        continue;
      }
      if (!alike) {
        if (const std::optional<Parting> parting = Inside(left.at(), right.at(), depth)) return parting;
      }
      passed_ += a.kind == ItemKind::Sub && !store_.Raises(a.a) ? store_[a.a].length : 1;
      left.Next();
      right.Next();
    }
    return std::nullopt;
  }

 private:
  Parting Part(SeqId left, SeqId right, bool same_operation = false) const {
    return {.first = left, .second = right, .same_operation = same_operation, .position = passed_};
  }

  // Where one rank raises, what others do in that arm does not matter: the job is over. The other arms count.
  std::optional<Parting> WithoutException(Cursor* left, Cursor* right, int depth) {
    const Item& a = store_[left->at()];
    const Item& b = store_[right->at()];
    const bool is_left = a.kind == ItemKind::Unless || (a.kind == ItemKind::Alike && b.kind != ItemKind::Unless);
    const Item& raising = is_left ? a : b;
    const Item& other = is_left ? b : a;
    const bool is_loop = other.kind == ItemKind::Loop;
    const bool is_choice = other.kind == ItemKind::Choice || other.kind == ItemKind::Alike;
    if ((is_loop || is_choice) && other.origin == raising.origin) {
      const std::optional<Parting> parting = is_choice && raising.kind == ItemKind::Alike ? Arms(a, b, depth) : Calm(raising, other, is_left, depth);
      passed_ += 1;
      left->Next();
      right->Next();
      return parting;
    }
    const bool opens_call = other.kind == ItemKind::Sub;
    (is_left == opens_call ? right : left)->Open();
    return std::nullopt;
  }

  // The arm, or the rounds, in which the rank does not end.
  std::optional<Parting> Calm(const Item& raising, const Item& other, bool is_left, int depth) {
    const bool is_loop = other.kind == ItemKind::Loop;
    const SeqId own = is_loop ? raising.b : raising.a;
    const SeqId calm = is_loop || raising.calm_is_first ? other.a : other.b;
    return is_left ? Compare(own, calm, depth + 1) : Compare(calm, own, depth + 1);
  }

  std::optional<Parting> Arms(const Item& left, const Item& right, int depth) {
    if (const std::optional<Parting> parting = Compare(left.a, right.a, depth + 1)) return parting;
    return Compare(left.b, right.b, depth + 1);
  }

  std::optional<Parting> Inside(SeqId left, SeqId right, int depth) {
    const Item& a = store_[left];
    const Item& b = store_[right];
    const bool same_token = a.kind == b.kind && a.token == b.token;
    if (a.kind == ItemKind::Op && same_token) {
      if (!DetailsDiffer(a, b)) return std::nullopt;
      return Part(left, right, true);
    }
    const bool same_place = a.kind == b.kind && a.origin == b.origin;
    if ((a.kind == ItemKind::Choice || a.kind == ItemKind::Loop || a.kind == ItemKind::Leave) && (same_place || same_token)) {
      const bool is_choice = a.kind == ItemKind::Choice;
      if (const std::optional<Parting> parting = is_choice ? Arms(a, b, depth) : Compare(a.a, b.a, depth + 1)) {
        return a.kind == ItemKind::Loop ? NextRound(*parting, a.a, b.a) : parting;
      }
      if (same_token || a.kind == ItemKind::Choice) return std::nullopt;
    }
    return Part(left, right);
  }

  // Where one side may leave the loop and nothing else is issued in this round, the other side goes on with the next one.
  Parting NextRound(Parting parting, SeqId first_body, SeqId second_body) const {
    if (store_.FirstOp(parting.first) != kNothing || store_.FirstOp(parting.second) != kNothing) return parting;
    const bool first_leaves = store_.HasExit(parting.first);
    if (first_leaves == store_.HasExit(parting.second)) return parting;
    (first_leaves ? parting.second : parting.first) = first_leaves ? second_body : first_body;
    parting.in_next_round = true;
    return parting;
  }

  const SequenceStore& store_;
  size_t steps_ = 0;
  uint64_t passed_ = 0;
};

}  // namespace

uint64_t Token(uint64_t kind, uint64_t a, uint64_t b) {
  uint64_t hash = kind * 0x9e3779b97f4a7c15ull;
  for (const uint64_t word : {a, b}) {
    hash ^= word + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2);
    hash *= 0xff51afd7ed558ccdull;
    hash ^= hash >> 32;
  }
  return hash % (kPrime - 1) + 1;
}

uint64_t DetailToken(const Item& operation) {
  uint64_t detail = operation.token;
  if (operation.root) detail = Token(detail, static_cast<uint64_t>(*operation.root), 1);
  if (operation.reduce_op) detail = Token(detail, operation.reduce_op.index, 2);
  if (operation.dtype) detail = Token(detail, operation.dtype.index, 3);
  if (operation.count) detail = Token(detail, static_cast<uint64_t>(*operation.count), 4);
  return detail;
}

Item LoopOf(const SequenceStore& store, TraceId origin, uint64_t rounds, SeqId body, SeqId next) {
  return {.kind = ItemKind::Loop, .has_effect = true, .origin = origin, .a = body, .b = {}, .next = next,
          .token = Token(rounds, store[body].hash, 0), .detail = Token(rounds, store[body].detail_hash, 0), .rounds = rounds};
}

SequenceStore::SequenceStore() {
  items_.push_back({});
  Item raised;
  raised.length = kRaisedLength;
  raised.hash = raised.detail_hash = Token(99, 0, 0);
  items_.push_back(raised);
}

SeqId SequenceStore::Add(Item item) {
  if (Raises(item.next)) return item.next;
  if (const std::optional<SeqId> shifted = Shifted(item)) return *shifted;
  const Item& next = items_[item.next.index];
  const Item* stands_for = StandsForList(item.kind) ? &items_[item.a.index] : nullptr;
  const uint64_t count = stands_for ? stands_for->length : 1;
  const uint64_t own = stands_for ? stands_for->hash : item.token;
  const uint64_t own_detail = stands_for ? stands_for->detail_hash : item.detail;
  const uint64_t own_power = stands_for ? stands_for->power : kBase;
  item.hash = Join(own, next.hash, next.power);
  item.detail_hash = Join(own_detail, next.detail_hash, next.power);
  item.length = std::min(kLongest, count + next.length);
  item.power = Multiply(own_power, next.power);
  item.has_effect = item.has_effect || next.has_effect;
  item.may_end = MayEndHere(item) || next.may_end;
  const SeqId id{static_cast<uint32_t>(items_.size())};
  item.first_op = item.kind == ItemKind::Op ? id : next.first_op;
  for (const SeqId inner : {item.b, item.a}) {
    item.may_end = item.may_end || (inner && items_[inner.index].may_end);
    if (item.kind != ItemKind::Op && inner && FirstOp(inner) != kNothing) item.first_op = FirstOp(inner);
  }
  items_.push_back(item);
  return id;
}

// An operation before a loop whose rounds end with the same one, as far as is known; none of anything else.
std::optional<SeqId> SequenceStore::Shifted(const Item& item) {
  const Item loop = items_[item.next.index];
  if (item.kind != ItemKind::Op || loop.kind != ItemKind::Loop || HasExit(loop.a)) return std::nullopt;
  std::vector<Item> body;
  for (SeqId at = loop.a; at != kNothing; at = items_[at.index].next) {
    if (body.size() == kLongestCopy) return std::nullopt;
    body.push_back(items_[at.index]);
  }
  if (body.empty() || body.back().kind != ItemKind::Op || body.back().token != item.token || DetailsDiffer(body.back(), item)) {
    return std::nullopt;
  }
  Item after = Common(item, body.back());
  body.back() = Common(body.back(), item);
  after.next = loop.next;
  const SeqId rest = Add(after);
  std::rotate(body.begin(), body.end() - 1, body.end());
  SeqId shifted = kNothing;
  for (auto it = body.rbegin(); it != body.rend(); ++it) {
    it->next = shifted;
    it->has_effect = it->kind == ItemKind::Op || it->kind == ItemKind::Rec || it->has_effect;
    shifted = Add(*it);
  }
  return Add(LoopOf(*this, loop.origin, loop.rounds, shifted, rest));
}

bool SequenceStore::HasExit(SeqId list, int depth) const {
  constexpr int kDeepest = 8;
  if (depth > kDeepest || Raises(list)) return true;
  size_t steps = 0;
  for (SeqId at = list; at != kNothing; at = items_[at.index].next) {
    const Item& item = items_[at.index];
    const bool leaves = item.kind == ItemKind::Break || item.kind == ItemKind::Leave || ++steps > kLongestCopy;
    if (leaves || (item.a && HasExit(item.a, depth + 1)) || (item.b && HasExit(item.b, depth + 1))) return true;
  }
  return false;
}

SeqId SequenceStore::Append(SeqId list, SeqId tail) {
  if (list == kNothing || Raises(tail)) return tail;
  if (Raises(list) || tail == kNothing) return list;
  const Item head = items_[list.index];
  if (head.length > kLongestCopy) {
    return Add({.kind = ItemKind::Sub, .has_effect = head.has_effect, .origin = head.origin, .a = list, .b = {},
                .next = tail, .token = head.hash, .detail = head.detail_hash});
  }
  std::vector<Item> items;
  for (SeqId at = list; at != kNothing; at = items_[at.index].next) items.push_back(items_[at.index]);
  SeqId result = tail;
  for (auto it = items.rbegin(); it != items.rend(); ++it) {
    it->next = result;
    // What followed before may have been all its effect.
    it->has_effect = it->kind == ItemKind::Op || it->kind == ItemKind::Rec || it->has_effect;
    result = Add(*it);
  }
  return result;
}

std::optional<SeqId> SequenceStore::ReplaceExit(SeqId list, SeqId after) {
  std::vector<Item> items;
  for (SeqId at = list; at != kNothing; at = items_[at.index].next) {
    if (at == kRaised) return list;
    items.push_back(items_[at.index]);
  }
  if (items.empty()) return std::nullopt;
  const Item last = items.back();
  if (last.kind != ItemKind::Break && last.kind != ItemKind::Leave) return std::nullopt;
  items.pop_back();
  SeqId result = last.kind == ItemKind::Break ? after : last.a;
  for (auto it = items.rbegin(); it != items.rend(); ++it) {
    it->next = result;
    result = Add(*it);
  }
  return result;
}

bool SequenceStore::Same(SeqId a, SeqId b) const {
  const Item& left = items_[a.index];
  const Item& right = items_[b.index];
  return a == b || (left.length == right.length && left.hash == right.hash && left.detail_hash == right.detail_hash);
}

bool SequenceStore::IsPlain(SeqId list) const {
  if (Raises(list)) return false;
  for (SeqId at = list; at != kNothing; at = items_[at.index].next) {
    if (items_[at.index].kind != ItemKind::Op) return false;
  }
  return true;
}

bool SequenceStore::Holds(SeqId list, TraceId origin) const {
  size_t steps = 0;
  return HoldsWithin(list, origin, &steps, 0);
}

bool SequenceStore::HoldsWithin(SeqId list, TraceId origin, size_t* steps, int depth) const {
  constexpr size_t kMostSteps = 256;
  if (depth > kDeepestWalk) return false;
  for (SeqId at = list; FirstOp(at) != kNothing && ++*steps < kMostSteps; at = items_[at.index].next) {
    const Item& item = items_[at.index];
    if (item.kind == ItemKind::Choice && item.origin == origin) return true;
    if (item.a && HoldsWithin(item.a, origin, steps, depth + 1)) return true;
    if (item.b && HoldsWithin(item.b, origin, steps, depth + 1)) return true;
    if (item.kind == ItemKind::Break || item.kind == ItemKind::Leave) return false;
  }
  return false;
}

void SequenceStore::Flatten(SeqId list, size_t limit, std::vector<SeqId>* ops, int depth) const {
  if (depth > kDeepestWalk) return;
  for (SeqId at = list; FirstOp(at) != kNothing && ops->size() < limit; at = items_[at.index].next) {
    const Item& item = items_[at.index];
    if (item.kind == ItemKind::Op) ops->push_back(at);
    if (item.kind == ItemKind::Break) return;
    const size_t before = ops->size();
    if (item.a) Flatten(item.a, limit, ops, depth + 1);
    if (item.b && ops->size() == before) Flatten(item.b, limit, ops, depth + 1);
    if (item.kind == ItemKind::Leave) return;
  }
}

std::optional<Parting> FirstDifference(const SequenceStore& store, SeqId first, SeqId second) {
  return Comparer(store).Compare(first, second, 0);
}

}  // namespace allranks::traces
