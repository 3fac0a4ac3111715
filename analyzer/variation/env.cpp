#include "analyzer/variation/env.h"

#include <algorithm>

#include "analyzer/variation/entry_index.h"

namespace allranks::variation {
namespace {

// What one arm alone stores in an object that is known by its attributes is in the other what it was made with.
Heap EitherOf(ValueStore& store, ValueId condition, const Heap& then_heap, const Heap& else_heap) {
  EntryIndex<HeapEntry> in_else(else_heap);
  // By entry of the other arm; none: of that arm alone.
  std::vector<ValueId> merged(else_heap.size());
  Heap of_then;
  for (size_t i = 0; i < then_heap.size(); ++i) {
    const HeapEntry& entry = then_heap[i];
    const size_t place = in_else.Find(entry, i);
    if (place < in_else.size()) {
      const ValueId other = else_heap[place].value;
      merged[place] = other == entry.value ? other : store.Select(condition, entry.value, other);
    } else if (const ValueId before = store.KnownAttribute(entry.object, entry.attr)) {
      of_then.push_back({entry.object, entry.attr, store.Select(condition, entry.value, before)});
    }
  }
  Heap either;
  for (size_t i = 0; i < else_heap.size(); ++i) {
    const HeapEntry& entry = else_heap[i];
    const ValueId before = merged[i] ? ValueId() : store.KnownAttribute(entry.object, entry.attr);
    if (before) merged[i] = store.Select(condition, before, entry.value);
    if (merged[i]) either.push_back({entry.object, entry.attr, merged[i]});
  }
  either.insert(either.end(), of_then.begin(), of_then.end());
  return either;
}

}  // namespace

const ValueId* FindStored(const Heap& heap, ValueId object, NameId attr) {
  const auto found = std::ranges::find_if(heap, [&](const HeapEntry& entry) { return entry.IsOf(object, attr); });
  return found == heap.end() ? nullptr : &found->value;
}

void StoreOn(Heap& heap, ValueId object, NameId attr, ValueId value) {
  const auto found = std::ranges::find_if(heap, [&](const HeapEntry& entry) { return entry.IsOf(object, attr); });
  if (found != heap.end()) found->value = value;
  else heap.push_back({object, attr, value});
}

Env EitherOf(ValueStore& store, ValueId condition, Env then_env, Env else_env, const Merging& merging) {
  Env either = std::move(else_env);
  for (size_t i = 0; i < either.slots.size(); ++i) {
    const ValueId a = then_env.slots[i];
    const ValueId b = either.slots[i];
    if (a == b) continue;
    either.slots[i] = a && b ? merging.joined(condition, a, b) : store.WithAxes(a ? a : b, store.axes(condition));
  }
  either.heap = EitherOf(store, condition, then_env.heap, either.heap);
  either.effects = EitherOf(store, condition, then_env.effects, either.effects);
  for (uint32_t i = 0; i < either.passed.size(); ++i) {
    const Passed& passed = then_env.passed[i];
    Passed& other = either.passed[i];
    other.is_rebound = other.is_rebound && passed.is_rebound;
    if (passed.content == other.content) continue;
    const auto held = [&](ValueId content) { return content ? content : merging.as_passed(i); };
    other.content = store.Select(condition, held(passed.content), held(other.content));
  }
  return either;
}

bool ForgetStoredInRound(Heap& before, const Heap& after) {
  return std::erase_if(before, [&](const HeapEntry& entry) {
           const ValueId* now = FindStored(after, entry.object, entry.attr);
           return now == nullptr || *now != entry.value;
         }) > 0;
}

void MergeLoop(ValueStore& store, Env& after, const Env& before, const Heap& heap_before, ValueId ran) {
  EntryIndex<HeapEntry> in_before(heap_before);
  for (size_t i = 0; i < after.heap.size(); ++i) {
    HeapEntry& entry = after.heap[i];
    const size_t place = in_before.Find(entry, i);
    const bool is_other = place < in_before.size() && heap_before[place].value != entry.value;
    if (is_other) entry.value = store.Select(ran, entry.value, heap_before[place].value);
  }
  // What a test told in a round (passed_tests.cpp) is not told where there was none.
  std::erase_if(after.heap, [&](const HeapEntry& entry) {
    return !entry.attr && std::ranges::find(heap_before, entry.object, &HeapEntry::object) == heap_before.end();
  });
  after.effects = EitherOf(store, ran, after.effects, before.effects);
}

}  // namespace allranks::variation
