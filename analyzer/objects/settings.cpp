#include "analyzer/objects/settings.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "analyzer/objects/hydra_main.h"

namespace allranks::objects {

using variation::ValueKind;

namespace {

constexpr std::string_view kCommandLine = "argparse.ArgumentParser";
// What models of Transformers are made from.
constexpr std::string_view kConfiguration = "config";
// Calls of Python itself that yield what they are given in another form.
constexpr std::string_view kSameInAnotherForm[] = {"builtins.vars", "builtins.dict", "builtins.list", "builtins.str", "json.dumps",
                                                   "copy.copy",     "copy.deepcopy", "pprint.pformat"};

}  // namespace

bool Settings::AreAll(ValueId value, const CallFrame* frame) const { return PartsOf(value, frame).value_or(false); }

std::optional<bool> Settings::PartsOf(ValueId value, const CallFrame* frame) const {
  constexpr size_t kMostParts = 400;
  bool has_settings = false;
  std::vector<ValueId> work = {value};
  for (size_t seen = 0; !work.empty(); ++seen) {
    const ValueId part = reader_.Resolved(work.back(), frame);
    work.pop_back();
    if (!part || seen == kMostParts) return std::nullopt;
    const Part kind = PartOf(part);
    if (kind == Part::Other) return std::nullopt;
    has_settings = has_settings || kind == Part::Settings;
    const auto kids = facts_.values_store.Kids(part);
    if (kind == Part::MadeOfKids) work.insert(work.end(), kids.begin(), kids.end());
  }
  return has_settings;
}

Settings::Part Settings::PartOf(ValueId id) const {
  const variation::Value& value = facts_.values_store[id];
  switch (value.kind) {
    case ValueKind::None:
    case ValueKind::Bool:
    case ValueKind::Int:
    case ValueKind::Float:
    case ValueKind::Str:
    case ValueKind::External:
    case ValueKind::Module:
      return Part::Constant;
    case ValueKind::Coordinate:
      // The number of ranks.
      return value.axes.empty() ? Part::Constant : Part::Other;
    case ValueKind::Tuple:
    case ValueKind::Dict:
    case ValueKind::Select:
    case ValueKind::And:
    case ValueKind::Or:
    case ValueKind::Unary:
    case ValueKind::Binary:
    case ValueKind::Compare:
      return Part::MadeOfKids;
    case ValueKind::Derived:
      return PartOf(value);
    case ValueKind::Object:
      return read_classes_.contains(value.name()) ? Part::Settings : Part::Other;
    case ValueKind::Param:
      return HydraMainOf(program_, facts_, value.function()) ? Part::Settings : Part::Other;
    default:
      return Part::Other;
  }
}

// An attribute, an item or what a method yields is made of the object; of a function outside the project the knowledge base tells.
Settings::Part Settings::PartOf(const variation::Value& derived) const {
  const base::NameId name = facts_.values_store.OperationOf(derived);
  if (!name) return derived.kid_count > 0 ? Part::MadeOfKids : Part::Other;
  const knowledge::EntryId entry = knowledge_.FindEntry(name);
  if (entry) {
    for (const knowledge::RoleOf& role : knowledge_[entry].roles) {
      // The same in another form, where the role names an argument.
      if (role.role == knowledge::Role::Settings) return role.param ? Part::MadeOfKids : Part::Settings;
    }
  }
  const std::string_view text = program_.text(name);
  if (text == kCommandLine || (text == kConfiguration && derived.kid_count == 1)) return Part::Settings;
  if (std::ranges::find(kSameInAnotherForm, text) != std::end(kSameInAnotherForm)) return Part::MadeOfKids;
  return derived.kid_count > 0 && text.find('.') == std::string_view::npos ? Part::MadeOfKids : Part::Other;
}

}  // namespace allranks::objects
