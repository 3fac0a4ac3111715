#include "driver/pipeline/cpp_names.h"

#include <algorithm>

namespace allranks::pipeline {
namespace {

using knowledge::Coordinate;
using knowledge::Entry;
using knowledge::FormulaId;
using knowledge::FormulaKind;
using knowledge::Knowledge;
using knowledge::Yield;
using knowledge::YieldKind;

CppNames::Libraries BitOf(size_t library) {
  constexpr size_t kLast = 63;
  return CppNames::Libraries{1} << std::min(library, kLast);
}

bool TellsRanksApart(const Knowledge& knowledge, FormulaId id) {
  if (!id) return false;
  const knowledge::Formula& formula = knowledge[id];
  if (formula.kind != FormulaKind::Coordinate) return TellsRanksApart(knowledge, formula.left) || TellsRanksApart(knowledge, formula.right);
  switch (formula.coordinate) {
    case Coordinate::Rank:
    case Coordinate::LocalRank:
    case Coordinate::NodeRank:
    case Coordinate::AxisRank:
    case Coordinate::GroupRank:
    case Coordinate::WorldSize:
    case Coordinate::GroupSize: return true;
    default: return false;
  }
}

bool TellsRanksApart(const Knowledge& knowledge, const Yield& yield) {
  switch (yield.kind) {
    case YieldKind::Formula: return TellsRanksApart(knowledge, yield.formula);
    case YieldKind::Group:
    case YieldKind::NewGroup:
    case YieldKind::SplitGroup:
    case YieldKind::SelfGroup:
    case YieldKind::SubGroup: return true;
    default: return false;
  }
}

bool Acts(const Knowledge& knowledge, const Entry& entry) {
  if (entry.has_operation || entry.guard || entry.aborts) return true;
  if (TellsRanksApart(knowledge, entry.yield)) return true;
  return std::ranges::any_of(entry.stores, [&](const auto& store) { return TellsRanksApart(knowledge, store.second); });
}

// As code spells it: `allreduce` of c10d.ProcessGroup.allreduce; a constructor by its class.
std::string_view Spelled(std::string_view qualified) {
  constexpr std::string_view kConstructor = ".__init__";
  if (qualified.ends_with(kConstructor)) qualified.remove_suffix(kConstructor.size());
  return qualified.substr(qualified.rfind('.') + 1);
}

}  // namespace

CppNames::CppNames(const Knowledge& knowledge) {
  std::unordered_map<base::NameId, Libraries> bits;
  for (const Knowledge::CppLibrary& library : knowledge.cpp_libraries()) {
    bits[library.name] |= BitOf(literals_.size());
    literals_.emplace_back(library.literals);
    // A macro may put the name together.
    for (const std::string& literal : library.literals) acting_.always.insert(cpp::HashOfPasted(literal));
  }
  for (const auto& [name, id] : knowledge.entry_names()) {
    const auto library = bits.find(knowledge[id].library);
    if (library != bits.end()) AddEntry(knowledge, knowledge.names().View(name), knowledge[id], library->second);
  }
  for (const auto& [name, value] : knowledge.environment()) acting_.always.insert(cpp::HashOfQuoted(knowledge.names().View(name)));
}

void CppNames::AddEntry(const Knowledge& knowledge, std::string_view qualified, const Entry& entry, Libraries libraries) {
  const std::string_view name = Spelled(qualified);
  const cpp::NameHash hash = cpp::HashOf(name);
  const bool acts = pipeline::Acts(knowledge, entry);
  if (acts || entry.Has(knowledge::Role::SelectDevice)) {
    Meaning& meaning = acts ? acting_ : choosing_;
    meaning.of[hash] |= libraries;
    if ((LibrariesIn(name) & libraries) != 0) meaning.always.insert(hash);
  } else if (entry.exits) {
    exiting_.insert(hash);
  }
}

CppNames::Libraries CppNames::LibrariesIn(std::string_view text) const {
  Libraries found = 0;
  for (size_t i = 0; i < literals_.size(); ++i) {
    if (literals_[i].Mentions(text)) found |= BitOf(i);
  }
  return found;
}

bool CppNames::Meaning::Has(cpp::NameHash name, Libraries libraries) const {
  if (always.contains(name)) return true;
  const auto found = of.find(name);
  return found != of.end() && (found->second & libraries) != 0;
}

}  // namespace allranks::pipeline
