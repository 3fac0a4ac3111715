#include "analyzer/knowledge/knowledge.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "analyzer/knowledge/spelling.h"

namespace allranks::knowledge {
namespace {

constexpr uint64_t kMarkBit = uint64_t{1} << 63;

uint64_t MemberKey(ClassId class_id, NameId member) {
  return (uint64_t{class_id.index} << 32) | member.index;
}
uint64_t MarkKey(MarkId mark, NameId member) {
  return kMarkBit | (uint64_t{mark.index} << 32) | member.index;
}

template <class Map>
typename Map::mapped_type Get(const Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  return found == map.end() ? typename Map::mapped_type{} : found->second;
}

// "a.b.c" is "a.b" and "c".
struct SplitName {
  std::string_view owner;
  std::string_view member;
};
SplitName Split(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return {{}, name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

}  // namespace

std::string_view AxisName(Axis axis) {
  switch (axis) {
    case Axis::Global:
      return "global rank";
    case Axis::Local:
      return "local rank";
    case Axis::Node:
      return "node";
    case Axis::Data:
      return "data";
    case Axis::Environment:
      return "machine";
    case Axis::Files:
      return "files on disk";
    case Axis::Clock:
      return "clock";
    case Axis::Chance:
      return "chance";
    case Axis::HashOrder:
      return "hash order";
    case Axis::Signals:
      return "signals";
    case Axis::DataParallel:
      return "data parallel";
    case Axis::TensorParallel:
      return "tensor parallel";
    case Axis::PipelineParallel:
      return "pipeline parallel";
    case Axis::ContextParallel:
      return "context parallel";
    case Axis::ExpertParallel:
      return "expert parallel";
    case Axis::OtherMesh:
      return "mesh dimension";
  }
  return {};
}

// A method is also found through other names of its class and through subclasses: `FSDP.optim_state_dict`.
EntryId Knowledge::FindEntry(NameId qualified) const {
  if (const EntryId entry = Get(entry_index_, qualified)) return entry;
  const SplitName name = Split(names_->View(qualified));
  if (name.owner.empty()) return EntryId::None();
  const ClassId owner = FindClass(names_->Find(name.owner));
  return owner ? FindMember(owner, names_->Find(name.member)) : EntryId::None();
}

ClassId Knowledge::FindClass(NameId qualified) const { return Get(class_index_, qualified); }

EntryId Knowledge::FindMember(ClassId class_id, NameId member) const {
  if (const EntryId own = Get(member_index_, MemberKey(class_id, member))) return own;
  for (const NameId base : classes_[class_id].bases) {
    if (const EntryId inherited = FindMember(FindClass(base), member)) return inherited;
  }
  return EntryId::None();
}

EntryId Knowledge::FindMarkMember(MarkId mark, NameId member) const {
  return Get(member_index_, MarkKey(mark, member));
}

EntryId Knowledge::FindAnyMember(NameId member) const { return Get(any_member_, member); }

const FormulaId* Knowledge::FindEnvironment(NameId variable) const {
  const auto found = environment_.find(variable);
  return found == environment_.end() ? nullptr : &found->second;
}

Strikes Knowledge::FindException(NameId name) const {
  const auto found = exceptions_.find(name);
  return found == exceptions_.end() ? Strikes::NotKnown : found->second;
}

std::span<const LaunchSign> Knowledge::LaunchSigns(NameId qualified) const {
  if (!qualified) return {};
  std::string_view name = names_->View(qualified);
  for (NameId at = qualified;; at = names_->Find(name)) {
    if (const auto found = launch_calls_.find(at); at && found != launch_calls_.end()) return found->second;
    const size_t dot = name.rfind('.');
    if (dot == std::string_view::npos) return {};
    name = name.substr(0, dot);
  }
}

std::span<const LaunchSign> Knowledge::LaunchSignsOfKeyword(NameId keyword) const {
  const auto found = launch_keywords_.find(keyword);
  return found == launch_keywords_.end() ? std::span<const LaunchSign>() : found->second;
}

std::optional<RunBy> Knowledge::LaunchOption(NameId option) const {
  const auto found = launch_options_.find(option);
  return found == launch_options_.end() ? std::nullopt : std::optional(found->second);
}

const Hint* Knowledge::FindHint(NameId name) const {
  const auto found = hints_.find(name);
  return found == hints_.end() ? nullptr : &found->second;
}

bool Knowledge::IsSubclass(ClassId class_id, ClassId base) const {
  if (class_id == base) return true;
  return std::ranges::any_of(classes_[class_id].bases,
                             [&](NameId name) { return IsSubclass(FindClass(name), base); });
}

bool Knowledge::IsKnownModule(NameId dotted) const { return known_modules_.contains(dotted); }

MarkId Knowledge::FindMark(NameId name) const {
  const auto found = std::ranges::find(marks_.all(), name);
  return found == marks_.all().end() ? MarkId::None()
                                     : MarkId{static_cast<uint32_t>(found - marks_.all().begin())};
}

std::string_view Knowledge::MarkName(MarkId id) const {
  return id ? names_->View(marks_[id]) : std::string_view();
}

base::Result<bool> Knowledge::Finish() {
  ApplyModuleAliases();
  for (const auto& [name, class_id] : class_names_) class_index_[name] = class_id;
  for (const auto& [name, entry] : entry_names_) {
    entry_index_[name] = entry;
    IndexMember(name, entry);
  }
  if (base::Result<bool> checked = CheckReferences(); !checked) return checked;
  if (base::Result<bool> checked = CheckBases(); !checked) return checked;
  for (const auto& [name, class_id] : class_names_) IndexModulesOf(name);
  for (const auto& [name, entry] : entry_names_) IndexModulesOf(name);
  std::ranges::sort(literals_);
  literals_.erase(std::ranges::unique(literals_).begin(), literals_.end());
  std::ranges::sort(cpp_literals_);
  cpp_literals_.erase(std::ranges::unique(cpp_literals_).begin(), cpp_literals_.end());
  return true;
}

// `deepspeed.comm` is `torch.distributed` under another name: the functions and classes of the one stand in
// the other, unless an entry of its own says otherwise. Methods are found through their classes.
void Knowledge::ApplyModuleAliases() {
  const auto add_aliases = [this](const ModuleAlias& alias, auto& named) {
    const std::string prefix = std::string(names_->View(alias.same_as)) + ".";
    std::remove_reference_t<decltype(named)> added;
    for (const auto& [name, id] : named) {
      const std::string_view text = names_->View(name);
      if (!text.starts_with(prefix) || text.find('.', prefix.size()) != std::string_view::npos) continue;
      added.emplace_back(
          names_->Intern(fmt::format("{}.{}", names_->View(alias.name), text.substr(prefix.size()))), id);
    }
    // In front, because later ones win.
    named.insert(named.begin(), added.begin(), added.end());
  };
  for (const ModuleAlias& alias : module_aliases_) {
    add_aliases(alias, class_names_);
    add_aliases(alias, entry_names_);
  }
}

void Knowledge::IndexMember(NameId name, EntryId entry) {
  const SplitName split = Split(names_->View(name));
  if (split.owner.empty()) return;
  const NameId member = names_->Intern(split.member);
  if (split.owner == "*") {
    any_member_[member] = entry;
  } else if (split.owner.starts_with('@')) {
    if (const MarkId mark = FindMark(names_->Find(split.owner.substr(1))))
      member_index_[MarkKey(mark, member)] = entry;
  } else if (const ClassId owner = FindClass(names_->Find(split.owner))) {
    member_index_[MemberKey(owner, member)] = entry;
  }
}

// "torch.distributed.all_reduce" makes `torch` and `torch.distributed` known modules.
void Knowledge::IndexModulesOf(NameId name) {
  std::string_view text = names_->View(name);
  if (text.starts_with('@') || text.starts_with('*')) return;
  for (text = Split(text).owner; !text.empty(); text = Split(text).owner) {
    if (!known_modules_.insert(names_->Intern(text)).second) return;
  }
}

bool Knowledge::IsKnownOwner(std::string_view owner) const {
  if (owner == "*") return true;
  if (owner.starts_with('@')) return FindMark(names_->Find(owner.substr(1))).has_value();
  return FindClass(names_->Find(owner)).has_value();
}

bool Knowledge::IsDescribed(const Reference& reference) const {
  switch (reference.kind) {
    case ReferenceKind::Owner:
      return IsKnownOwner(names_->View(reference.name));
    case ReferenceKind::Type:
      return FindClass(reference.name).has_value();
    case ReferenceKind::Call:
      return FindEntry(reference.name).has_value();
  }
  return false;
}

base::Result<bool> Knowledge::CheckReferences() const {
  for (const Reference& reference : references_) {
    const std::string_view name = names_->View(reference.name);
    if (IsDescribed(reference)) continue;
    if (reference.kind == ReferenceKind::Call) {
      return base::Fail(fmt::format("{}:{}:{}: no file describes the function `{}`; describe it in a [[function]] or correct the name",
                                    files_[reference.file], reference.line, reference.column, name));
    }
    const bool is_mark = name.starts_with('@');
    std::vector<std::string_view> known;
    for (const auto& [class_name, class_id] : class_names_) known.push_back(names_->View(class_name));
    const std::string near = is_mark ? "; no entry says `mark` with it" : DidYouMean(name, known);
    return base::Fail(fmt::format("{}:{}:{}: no file describes the {} `{}`{}", files_[reference.file],
                                  reference.line, reference.column, is_mark ? "mark" : "class", name,
                                  near.empty() ? "; describe it in a [[class]] or correct the name" : near));
  }
  return true;
}

// FindMember follows bases without looking back, so no class may be reached from itself.
base::Result<bool> Knowledge::CheckBases() const {
  for (const Class& known : classes_) {
    const ClassId self = FindClass(known.name);
    ClassId at = self;
    std::vector<ClassId> seen;
    std::vector<ClassId> work = {self};
    while (!work.empty()) {
      at = work.back();
      work.pop_back();
      if (std::ranges::find(seen, at) != seen.end()) continue;
      seen.push_back(at);
      for (const NameId base : classes_[at].bases) {
        const ClassId base_id = FindClass(base);
        if (base_id == self) {
          return base::Fail(
              fmt::format("knowledge of {}: the class `{}` is its own base; remove it from `bases`",
                          names_->View(known.library), names_->View(known.name)));
        }
        work.push_back(base_id);
      }
    }
  }
  return true;
}

}  // namespace allranks::knowledge
