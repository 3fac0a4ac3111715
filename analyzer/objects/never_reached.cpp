#include "analyzer/objects/never_reached.h"

#include <algorithm>

#include "analyzer/objects/definition_names.h"
#include "analyzer/objects/every_way.h"
#include "analyzer/objects/gradient_mode.h"
#include "analyzer/objects/test_files.h"

namespace allranks::objects {

using variation::ValueKind;

namespace {

// What is calculated from the number of ranks alone: a field or a parameter may be another number elsewhere.
bool IsOfWorld(const variation::Value& value) {
  constexpr ValueKind kCalculated[] = {ValueKind::Int, ValueKind::Bool, ValueKind::Compare, ValueKind::Binary, ValueKind::Unary, ValueKind::And, ValueKind::Or};
  return variation::IsCoordinate(value, knowledge::Coordinate::WorldSize) || std::ranges::count(kCalculated, value.kind) > 0;
}

}  // namespace

bool NeverReached::IsAt(ir::ModuleId module, uint32_t position) const {
  return left_behind_.Is(module) || IsOnEveryWay(index_, module, position, [&](FuncId function, ir::StmtId stmt) { return IsExcluded(function, stmt) || IsUnused(function) || IsOfUnusedClass(function); });
}

// Nothing calls it, and neither code nor text (`"train:main"`) speaks of it.
bool NeverReached::IsUnused(FuncId function) const {
  if (!IsUncalledFunction(function) && !IsUncalledMethod(function)) return false;
  const ir::ModuleId module = program_.funcs[function].module;
  const auto [known, is_new] = unnamed_.try_emplace(module.index);
  if (is_new) known->second = UnnamedIn(module);
  const std::vector<bool>& unnamed = known->second;
  const auto is_named_elsewhere = [&](FuncId each) { return others_.name(module, program_.text(program_.function(each).name)); };
  if (!unnamed[program_.funcs[function].function.index] || is_named_elsewhere(function)) return false;
  if (!IsNamed(program_, index_, function)) return true;
  std::vector<Part> aside;
  for (uint32_t i = 0; i < unnamed.size(); ++i) {
    const FuncId other = program_.func(module, ir::FunctionId{i});
    if (unnamed[i] && other != function && !is_named_elsewhere(other)) aside.push_back({program_.function(other).begin, program_.function(other).end});
  }
  return !IsNamed(program_, index_, function, aside);
}

// Functions that no code names, then those that only such ones name (`mp.spawn(train, ...)` in a function that nothing calls hands it to
// nobody), and so on.
std::vector<bool> NeverReached::UnnamedIn(ir::ModuleId module) const {
  const auto& functions = program_.modules[module].functions;
  std::vector<bool> unused(functions.size());
  if (!AreCallersSeen(module)) return unused;
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < functions.size(); ++i) {
    const FuncId function = program_.func(module, ir::FunctionId{i});
    if (IsUncalledFunction(function) || IsUncalledMethod(function)) open.push_back(i);
  }
  std::vector<Part> aside;
  for (bool grows = true; grows;) {
    grows = false;
    for (const uint32_t i : open) {
      const FuncId function = program_.func(module, ir::FunctionId{i});
      if (unused[i] || IsNamed(program_, index_, function, aside)) continue;
      unused[i] = grows = true;
      if (IsUncalledFunction(function)) aside.push_back({program_.function(function).begin, program_.function(function).end});
    }
  }
  return unused;
}

// It is found by its name alone: `@torch.no_grad()` hands it to nobody.
bool NeverReached::IsUncalledFunction(FuncId function) const {
  const binding::Func& func = program_.funcs[function];
  return func.function != ir::kTopLevel && !func.owner && !func.parent && IsCalledAsWritten(program_, values_, facts_, function) && index_.CallersOf(function).empty();
}

// Of a class that no library knows: a method that overrides one of a library's class is called by the library.
bool NeverReached::IsUncalledMethod(FuncId function) const {
  const binding::ClassId owner = program_.funcs[function].owner;
  const std::string_view name = program_.text(program_.function(function).name);
  if (program_.modules[program_.funcs[function].module].language != ir::Language::Python) return false;
  if (!owner || !IsCalledAsWritten(program_, values_, facts_, function) || name.starts_with("__") || !index_.CallersOf(function).empty()) return false;
  const auto is_own = [&](binding::ClassId id) { return program_.classes[id].external_bases.empty(); };
  return is_own(owner) && std::ranges::all_of(program_.classes[owner].subclasses, is_own);
}

// No file makes an object of the class, or of one that derives from it, as none names them; nor does a decorator hand it to somebody.
bool NeverReached::IsOfUnusedClass(FuncId function) const {
  const binding::ClassId owner = program_.funcs[function].owner;
  if (!owner) return false;
  const auto [known, is_new] = unused_classes_.try_emplace(owner.index, false);
  if (!is_new) return known->second;
  const auto is_unused = [&](binding::ClassId id) {
    const binding::ClassInfo& info = program_.classes[id];
    const ir::Class& written = program_.modules[info.module].classes[info.ir_class];
    return written.decorators.empty() && AreCallersSeen(info.module) && !IsNamed(program_, index_, id) && !others_.name(info.module, program_.text(written.name));
  };
  const bool is_python = program_.modules[program_.classes[owner].module].language == ir::Language::Python;
  return unused_classes_[owner.index] = is_python && is_unused(owner) && std::ranges::all_of(program_.classes[owner].subclasses, is_unused);
}

// A script has no others; what is imported has those that import it, unless people elsewhere may.
bool NeverReached::AreCallersSeen(ir::ModuleId module) const {
  if (HandsOutAll(program_, index_, module)) return false;
  const bool is_in_folder = program_.infos[module].dotted.find('.') != std::string::npos;
  const bool is_python = program_.modules[module].language == ir::Language::Python;
  // `unittest.main()` finds what it runs by name.
  if (is_python && IsTestFile(program_, module)) return false;
  if (has_main_[module.index]) return !is_in_folder || !others_.may_install(module);
  if (!is_python) return false;
  return !neighbourhood_.ImportersOf(module).empty() && !others_.may_install(module);
}

// By the tests of its own function.
bool NeverReached::IsExcluded(FuncId function, ir::StmtId stmt) const {
  const ir::ModuleId module = program_.funcs[function].module;
  const std::vector<Claim> claims = ClaimsBefore(program_, facts_, guards_, function, stmt);
  for (size_t i = 0; i < claims.size(); ++i) {
    if (IsImpossible(module, claims[i]) || IsOfOneProcess(claims[i])) return true;
    for (size_t j = 0; j < i; ++j) {
      if (Exclude(module, claims[i], claims[j])) return true;
    }
  }
  return false;
}

// An option is asked for what its declaration does not allow.
bool NeverReached::IsImpossible(ir::ModuleId module, const Claim& claim) const {
  const bool asks_for_text = claim.equals && claim.holds && facts_.values_store[claim.equals].kind == ValueKind::Str;
  return asks_for_text && !options_.MayBe(module, claim.value, claim.equals);
}

// No job of several ranks passes it. Of a number that is that of ranks in a job, and else another (`1 if alone else world_size`), the first counts.
bool NeverReached::IsOfOneProcess(const Claim& claim) const {
  constexpr uint32_t kMostRanks = 64;
  // The operands of a condition are no values that it may have.
  const std::vector<ValueId> leaves = claim.equals ? values_.Leaves(claim.value) : std::vector<ValueId>{claim.value};
  const auto counts_ranks = [&](ValueId value) {
    return values_.Mentions(value, knowledge::Coordinate::WorldSize) && !values_.AnyPart(value, [&](ValueId part) { return !IsOfWorld(facts_.values_store[part]); });
  };
  const auto counting = std::ranges::find_if(leaves, counts_ranks);
  if (counting == leaves.end()) return false;
  // `world_size == 96`, or a text.
  const int64_t wanted = claim.equals ? values_.Int(claim.equals).value_or(INT64_MAX) : 0;
  if (wanted > kMostRanks) return false;
  for (uint32_t size = 2; size <= kMostRanks; ++size) {
    const traces::World world{.nodes = 1, .per_node = size, .mesh = {}};
    std::optional<bool> truth;
    if (!claim.equals) truth = values_.TruthOnRank(*counting, world, 0);
    else if (const std::optional<int64_t> number = values_.OnRank(*counting, world, 0)) truth = *number == wanted;
    if (!truth || *truth == claim.holds) return false;
  }
  return true;
}

// No value is both.
bool NeverReached::Exclude(ir::ModuleId module, const Claim& a, const Claim& b) const {
  if (a.value != b.value || !IsSetting(module, a.value)) return false;
  if (a.equals == b.equals) return AreOpposite(a, b);
  if (a.equals && b.equals) return a.holds && b.holds;
  // `x` is true, and `x` is None.
  const Claim& equal = a.equals ? a : b;
  const Claim& truth = a.equals ? b : a;
  return equal.holds && truth.holds && facts_.values_store[equal.equals].kind == ValueKind::None;
}

bool NeverReached::IsSetting(ir::ModuleId module, ValueId value, int depth) const {
  constexpr int kDeepest = 8;
  const variation::Value& node = facts_.values_store[value];
  switch (node.kind) {
    case ValueKind::Param:
      return true;
    case ValueKind::Compare:
    case ValueKind::Unary:
    case ValueKind::And:
    case ValueKind::Or:
      return depth < kDeepest && std::ranges::all_of(facts_.values_store.Kids(value), [&](ValueId kid) {
        return IsConstant(facts_.values_store, kid) || IsSetting(module, kid, depth + 1);
      });
    default:
      return options_.IsOption(module, value);
  }
}

}  // namespace allranks::objects
