#include "analyzer/knowledge/image.h"

#include <algorithm>

#include "analyzer/base/image.h"

namespace allranks::knowledge {

using base::Is;

template <Is<Axes> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [bits] = it;
  visit(bits);
}

template <Is<Formula> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [kind, op, coordinate, axis, param, number, left, right] = it;
  visit(kind, op, coordinate, axis, param, number, left, right);
}

template <Is<Operation> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [kind, op_class, group, has_fixed_axis, axis, root, root_is_group_rank, group_root, tensor, count, dtype, other_dtype, peer, tag, from, from_tag, messages,
         reduce_op, async, always_async, opens_batch, may_buffer, handle, fixed_shape, token, own_rank, ranks, only_if, local_if, strategies,
         is_kept, as_context] = it;
  visit(kind, op_class, group, has_fixed_axis, axis, root, root_is_group_rank, group_root, tensor, count, dtype, other_dtype, peer, tag, from, from_tag, messages,
        reduce_op, async, always_async, opens_batch, may_buffer, handle, fixed_shape, token, own_rank, ranks, only_if, local_if, strategies,
        is_kept, as_context);
}

template <Is<Yield> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [kind, formula, axes, type, argument, of, count, is_rest, has_axis, axis, mark, shape, element_type] = it;
  visit(kind, formula, axes, type, argument, of, count, is_rest, has_axis, axis, mark, shape, element_type);
}

template <Is<RoleOf> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [role, param] = it;
  visit(role, param);
}

template <Is<Entry> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [name, library, docs, params, bypasses_torch, has_operation, operation, yield, tuple, makes_uniform, uniform_on_root_only, stores,
         param_types, varies_with, guard, size_param, exits, raises, keeps_size, joins_sizes, of_one, changes_type, is_attribute, aborts, roles] = it;
  visit(name, library, docs, params, bypasses_torch, has_operation, yield, tuple, makes_uniform, uniform_on_root_only, stores,
        param_types, varies_with, guard, size_param, exits, raises, keeps_size, joins_sizes, of_one, changes_type, is_attribute, aborts, roles);
  // Most entries have none.
  if (has_operation) visit(operation);
}

template <Is<Class> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [name, library, docs, bases, is_group, has_axis, axis, is_tensor, is_plain, is_interface, is_module, has_parameters, has_buffers, applied_by,
         strategy] = it;
  visit(name, library, docs, bases, is_group, has_axis, axis, is_tensor, is_plain, is_interface, is_module, has_parameters, has_buffers, applied_by, strategy);
}

template <Is<Hint> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [name, value, type, axes] = it;
  visit(name, value, type, axes);
}

template <Is<LaunchSign> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [run_by, keyword, values, starts_ranks] = it;
  visit(run_by, keyword, values, starts_ranks);
}

template <Is<Strategy> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [name, names, members, options, launched_as, one_module_in, never_with, argument, argument_values, configured_in, configured_by,
         configured_at, configured_as] = it;
  visit(name, names, members, options, launched_as, one_module_in, never_with, argument, argument_values, configured_in, configured_by, configured_at,
        configured_as);
}

template <Is<SettingsCalls> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [merges, changes, same_file] = it;
  visit(merges, changes, same_file);
}

namespace {

// Tables are written in an order that does not depend on how they are kept: equal knowledge is equal bytes.
template <class Key, class Value, class By>
void WriteTable(const std::unordered_map<Key, Value>& table, base::ImageWriter& visit, By by) {
  std::vector<std::pair<Key, Value>> rows(table.begin(), table.end());
  std::ranges::sort(rows, {}, [&](const auto& row) { return by(row.first); });
  visit(rows);
}

template <class Key, class Value>
void ReadTable(std::unordered_map<Key, Value>& table, base::ImageReader& visit) {
  std::vector<std::pair<Key, Value>> rows;
  visit(rows);
  table.reserve(rows.size());
  for (auto& [key, value] : rows) table.emplace(key, std::move(value));
}

// By name, on the way out and in.
template <class Value>
void Table(const base::Interner& names, const std::unordered_map<NameId, Value>& table, base::ImageWriter& visit) {
  WriteTable(table, visit, [&](NameId name) { return names.View(name); });
}
template <class Value>
void Table(const base::Interner&, std::unordered_map<NameId, Value>& table, base::ImageReader& visit) {
  ReadTable(table, visit);
}
void Table(const base::Interner& names, const std::unordered_set<NameId>& set, base::ImageWriter& visit) {
  std::vector<NameId> rows(set.begin(), set.end());
  std::ranges::sort(rows, {}, [&](NameId name) { return names.View(name); });
  visit(rows);
}
void Table(const base::Interner&, std::unordered_set<NameId>& set, base::ImageReader& visit) {
  std::vector<NameId> rows;
  visit(rows);
  set.reserve(rows.size());
  set.insert(rows.begin(), rows.end());
}

// The key is a class or a mark, and a name.
constexpr uint64_t kOwner = 0xffffffff00000000u;
struct MemberRow {
  uint32_t owner = 0;
  NameId member;
  EntryId entry;
};
template <Is<MemberRow> T, class Visit>
void Fields(T& it, Visit& visit) {
  auto& [owner, member, entry] = it;
  visit(owner, member, entry);
}
void Members(const base::Interner& names, const std::unordered_map<uint64_t, EntryId>& table, base::ImageWriter& visit) {
  std::vector<MemberRow> rows;
  for (const auto& [key, entry] : table) {
    rows.push_back({.owner = static_cast<uint32_t>(key >> 32), .member = NameId{static_cast<uint32_t>(key & ~kOwner)}, .entry = entry});
  }
  std::ranges::sort(rows, {}, [&](const MemberRow& row) { return std::pair(row.owner, names.View(row.member)); });
  visit(rows);
}
void Members(const base::Interner&, std::unordered_map<uint64_t, EntryId>& table, base::ImageReader& visit) {
  std::vector<MemberRow> rows;
  visit(rows);
  table.reserve(rows.size());
  for (const MemberRow& row : rows) table.emplace((uint64_t{row.owner} << 32) | row.member.index, row.entry);
}

}  // namespace

template <class Self, class Visit>
void Image::VisitEntries(Self& self, Visit& visit) {
  visit(self.entries_, self.classes_, self.formulas_, self.marks_, self.strategies_, self.settings_calls_);
  Table(*self.names_, self.environment_, visit);
  Table(*self.names_, self.local_ranks_, visit);
  Table(*self.names_, self.hints_, visit);
  Table(*self.names_, self.exceptions_, visit);
  Table(*self.names_, self.fallible_, visit);
  Table(*self.names_, self.buffers_listed_, visit);
  Table(*self.names_, self.launch_calls_, visit);
  Table(*self.names_, self.launch_keywords_, visit);
  Table(*self.names_, self.launch_options_, visit);
}

// What Finish makes its tables of.
template <class Self, class Visit>
void Image::VisitLists(Self& self, Visit& visit) {
  visit(self.entry_names_, self.class_names_, self.files_);
  const auto visit_aliases = [&](auto& aliases) {
    for (auto& alias : aliases) {
      auto& [name, same_as] = alias;
      visit(name, same_as);
    }
  };
  const auto visit_references = [&](auto& references) {
    for (auto& reference : references) {
      auto& [kind, name, file, line, column] = reference;
      visit(kind, name, file, line, column);
    }
  };
  auto alias_count = self.module_aliases_.size();
  auto reference_count = self.references_.size();
  visit(alias_count, reference_count);
  if constexpr (!std::is_const_v<Self>) {
    self.module_aliases_.resize(alias_count);
    self.references_.resize(reference_count);
  }
  visit_aliases(self.module_aliases_);
  visit_references(self.references_);
}

template <class Self, class Visit>
void Image::VisitTables(Self& self, Visit& visit) {
  Table(*self.names_, self.entry_index_, visit);
  Table(*self.names_, self.class_index_, visit);
  Members(*self.names_, self.member_index_, visit);
  Table(*self.names_, self.any_member_, visit);
  Table(*self.names_, self.known_modules_, visit);
}

template <class Self, class Visit>
void Image::VisitLiterals(Self& self, Visit& visit) {
  visit(self.literals_, self.cpp_literals_);
}

// The lists stand last: only who loads more reads on to them, and makes tables anew.
base::Result<std::string> Image::Of(Knowledge& knowledge) {
  const Knowledge loaded = knowledge;
  if (const base::Result<bool> finished = knowledge.Finish(); !finished) return base::Fail(finished.error().message);
  base::ImageWriter writer(knowledge.names());
  VisitEntries(std::as_const(knowledge), writer);
  VisitLiterals(std::as_const(knowledge), writer);
  VisitTables(std::as_const(knowledge), writer);
  VisitLists(loaded, writer);
  return std::move(writer).Finish();
}

void Image::Read(std::string_view bytes, State state, Knowledge& knowledge) {
  base::ImageReader reader(bytes, knowledge.names());
  VisitEntries(knowledge, reader);
  VisitLiterals(knowledge, reader);
  if (state == State::Finished) {
    VisitTables(knowledge, reader);
    return;
  }
  Knowledge tables(knowledge.names());
  VisitTables(tables, reader);
  VisitLists(knowledge, reader);
}

}  // namespace allranks::knowledge
