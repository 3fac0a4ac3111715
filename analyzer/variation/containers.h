// Lists, sets and dictionaries as values: what they hold, and what they are after something was put in or taken out.
//
// The idea: a container all of whose items are seen is a value of its own, a Tuple or a Dict (value.h), and with one item more or
// less it is another one. What is changed in any other way is the old container and the change (`kGrown`, `kShrunk`, `kRefilled` in
// tables.h): an item, and how often it was put in or taken out. So ranks that come to the place a different number of times have
// containers of different lengths, and all else about the items stays known.
//
// Invariant: nothing here depends on where in the program it is asked. The same values give the same value, and no container
// that is asked about is changed.
//
// Unsound: two names of one container are two containers, as a change makes a new value for one name only. An item that is
// taken out by a key that is not known is taken to be another one than that which is asked for afterwards by a known key.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/variation/call_argument.h"
#include "analyzer/variation/tables.h"

namespace allranks::variation {

// What is taken out of a container: the item at a place or under a key, an item by what it is, the last one, or all.
enum class Removal : uint8_t { At, Item, Last, All };

// Items of a sequence of which a loop over it takes one of those; of more it takes something of them all.
constexpr size_t kMostItemsApart = 6;
// Keys and values of a dictionary that is known by its items: a value has no more than 255 kids.
constexpr size_t kMostItemKids = 128;

// What a container was, an item that was put in or taken out (none: it is not known which), and how often.
struct Change {
  ValueId before;
  ValueId item;
  ValueId how_often;
};

class Containers {
 public:
  Containers(Tables& tables, ir::Language language)
      : tables_(tables), store_(tables.store), is_python_(language == ir::Language::Python) {}

  // The container whose places an item may have been put in since; what a parameter is taken for, too.
  ValueId Itself(ValueId value) const;
  // A list or dictionary display, one that had items added or taken out, or one of these.
  bool IsContainer(ValueId value) const;
  // `std::vector<T> values(n)`: one item n times.
  bool IsRepeated(ValueId value) const;
  // `[]`, `{}`, or nothing to loop over at all.
  bool IsEmpty(ValueId value) const;
  // A list of numbers or texts, or one of several such lists.
  bool AreConstants(ValueId sequence) const;
  // `config["rank"]` of a dictionary that was made elsewhere: what one key holds says nothing of the others, as with attributes.
  bool IsTableOfSettings(ValueId known, ValueId key) const;
  // A list that ranks have more or fewer items of, or an item of which is larger on some ranks than on others.
  bool HoldsRagged(ValueId value) const { return HoldsRagged(value, 0); }

  // The items of a dictionary whose keys are known texts; of one of two such, those of both, where None stands for a value that
  // only one has. `has_all`: nothing of two that have different keys.
  std::optional<std::vector<Item>> KnownItems(ValueId dictionary, bool has_all = true) const { return KnownItems(dictionary, has_all, 0); }
  // What `dict(options, lr=1)` and `options.update(more, lr=1)` are given.
  std::optional<std::vector<Item>> ItemsGiven(std::span<const CallArgument> args) const;
  // What is under a key of a display, or of one of several that all have it; none if that is not known.
  ValueId ItemIn(ValueId container, ValueId key) const;
  // Whether one of several dictionaries has a key, where ranks may have different ones and all keys of each are known; none
  // of anything else.
  ValueId HasKey(ValueId container, ValueId key) const;
  // Where in a dictionary display the item is that has a constant key.
  std::optional<size_t> PlaceOf(ValueId dictionary, ValueId key) const;
  // What a dictionary was before other keys than this one were taken out, which says as much of this one. `is_there`: the item
  // itself is asked for, which only those do that have it.
  ValueId WithKey(ValueId container, ValueId key, bool is_there) const;

  // A container is true if it has items, whatever they are.
  ValueId HasItems(ValueId value) const { return HasItems(value, false, 0); }
  // How many items or rounds there are, where these values decide it.
  ValueId Count(std::span<const ValueId> decided_by) const;
  // Along which axes the number of items differs: a rank's own data is as much as that of the others, unless something made it differ.
  Axes AxesOfCount(ValueId iterable) const;

  // Whether a display, all of whose keys are known, can have this one as well.
  bool TakesKey(ValueId dictionary, ValueId key) const;
  // With what is stored under a key, whether it is there already or not.
  ValueId WithItem(ValueId dictionary, Item item) const;
  // A display, or one of several, without an item; none if that is not known. `which`: its key, place or value, or none.
  ValueId WithoutItem(ValueId container, Removal removal, ValueId which) const;
  // With an item that is put in, or without one that is taken out, so often. `rounds`: of the loop around the place; none: it is in none.
  ValueId Grown(const Change& change, ValueId rounds) const;
  ValueId Shrunk(const Change& change) const;
  // With an item that may stand at any place; as many items as before. `axes`: along which the new one varies.
  ValueId Refilled(ValueId before, ValueId item, Axes axes) const;
  // What `value` holds that grew or shrank (`operation`) by this item before, as it did in the round before; none if it did not.
  ValueId ChangedBy(ValueId value, std::string_view operation, ValueId item, ValueId how_often) const;
  bool IsGrown(ValueId value) const { return Is(value, kGrown); }
  bool IsShrunk(ValueId value) const { return Is(value, kShrunk); }
  Change ChangeOf(ValueId grown_or_shrunk) const;

  // The pairs that a comprehension collects, of a key and a value as those of a dictionary are; none of anything else.
  ValueId PairOf(ValueId container) const;
  // What `{name: loader_of(name) for name in names}.values()` yields: of a pair that a comprehension collects its key, its value or
  // both. Only dictionaries have such views.
  ValueId ViewedPart(std::string_view view, ValueId dictionary) const;
  // The keys, values or items of a dictionary display all of whose keys are seen; none of anything else. Keys are what
  // they are, whatever is stored under them.
  ValueId PartsOf(ValueId dictionary, std::string_view view) const;

 private:
  bool Is(ValueId value, std::string_view operation) const { return store_[value].is_derived(tables_.NameSymbol(operation)); }
  std::optional<std::vector<Item>> KnownItems(ValueId dictionary, bool has_all, int depth) const;
  ValueId HasItems(ValueId value, bool is_choice, int depth) const;
  bool HoldsRagged(ValueId value, int depth) const;
  // `seen`: choices that were looked at, both arms of which may hold what the container was before.
  ValueId ChangedBy(ValueId value, std::string_view operation, ValueId item, ValueId how_often, std::vector<ValueId>& seen) const;
  std::optional<size_t> PlaceOfKey(const Items& items, ValueId key, Removal removal) const;
  std::optional<size_t> PlaceOfItem(std::span<const ValueId> items, ValueId which, Removal removal) const;

  Tables& tables_;
  ValueStore& store_;
  bool is_python_;
};

}  // namespace allranks::variation
