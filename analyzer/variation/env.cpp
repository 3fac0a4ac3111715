#include "analyzer/variation/env.h"

#include <algorithm>

namespace allranks::variation {
namespace {

// What one arm alone stores in an object that is known by its attributes is in the other what it was made with.
Heap EitherOf(ValueStore& store, ValueId condition, Heap then_heap, Heap else_heap) {
  for (const HeapEntry& entry : then_heap) {
    const auto same = std::ranges::find_if(else_heap, [&](const HeapEntry& other) { return other.IsOf(entry.object, entry.attr); });
    const ValueId before = same == else_heap.end() ? store.KnownAttribute(entry.object, entry.attr) : ValueId();
    if (before) else_heap.push_back({entry.object, entry.attr, store.Select(condition, entry.value, before)});
    else if (same != else_heap.end()) same->value = store.Select(condition, entry.value, same->value);
  }
  for (HeapEntry& entry : else_heap) {
    const bool is_of_both = FindStored(then_heap, entry.object, entry.attr) != nullptr;
    const ValueId before = is_of_both ? ValueId() : store.KnownAttribute(entry.object, entry.attr);
    if (!before) continue;
    entry.value = store.Select(condition, before, entry.value);
    then_heap.push_back(entry);
  }
  std::erase_if(else_heap, [&](const HeapEntry& entry) { return FindStored(then_heap, entry.object, entry.attr) == nullptr; });
  return else_heap;
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
  either.heap = EitherOf(store, condition, std::move(then_env.heap), std::move(either.heap));
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
  for (HeapEntry& entry : after.heap) {
    const ValueId* held = FindStored(heap_before, entry.object, entry.attr);
    if (held != nullptr && *held != entry.value) entry.value = store.Select(ran, entry.value, *held);
  }
  // What a test told in a round (passed_tests.cpp) is not told where there was none.
  std::erase_if(after.heap, [&](const HeapEntry& entry) {
    return !entry.attr && std::ranges::find(heap_before, entry.object, &HeapEntry::object) == heap_before.end();
  });
  after.effects = EitherOf(store, ran, after.effects, before.effects);
}

}  // namespace allranks::variation
