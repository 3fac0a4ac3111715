#include "analyzer/objects/ways.h"

#include <algorithm>
#include <deque>
#include <string_view>

namespace allranks::objects {

using variation::ValueKind;

namespace {

constexpr size_t kMostCallsOfWay = 10;
constexpr int kMostWays = 600;

}  // namespace

struct Ways::Search {
  const Visit& visit;
  std::deque<Site> way;            // the outermost first
  std::vector<PassedArgs> passed;  // the innermost first
  std::vector<Test> tests;
  int seen = 0;
};

Ways::Ways(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts, const ProgramIndex& index,
           const Guards& guards)
    : program_(program), facts_(facts), index_(index), guards_(guards), values_(program, knowledge, facts),
      wrapped_calls_(program.funcs.size()) {
  NoteForwards();
}

void Ways::NoteForwards() {
  const base::NameId name = program_.names->Find("forward");
  if (!name) return;
  for (const KnownCall& call : index_.known_calls()) {
    const std::string_view entry = program_.text(call.entry->name);
    if (!entry.ends_with(".__call__") && !entry.ends_with(".forward")) continue;
    for (const ValueId wrapper : values_.Leaves(call.receiver)) {
      for (const ValueId inner : facts_.values_store.Kids(wrapper)) {
        for (const ValueId model : values_.Leaves(inner)) {
          const variation::Value& value = facts_.values_store[model];
          const FuncId forward = value.kind == ValueKind::Instance ? program_.FindMethod(value.class_id(), name) : FuncId::None();
          if (forward) wrapped_calls_[forward.index].push_back({call.function, call.expr});
        }
      }
    }
  }
}

bool Ways::Any(const Site& site, const Visit& visit) const {
  Search search{.visit = visit, .way = {}, .passed = {}, .tests = {}};
  return Follow(search, site);
}

bool Ways::Follow(Search& search, const Site& site) const {
  if (search.way.size() >= kMostCallsOfWay || search.seen++ >= kMostWays) return false;
  if (std::ranges::find(search.way, site.function, &Site::function) != search.way.end()) return false;
  const size_t tests = search.tests.size();
  search.way.push_front(site);
  AddTests(site, search.tests);
  const PassedTests passed(facts_.values_store, search.passed);
  bool is_open = true, is_allowed = true;
  for (const Test& test : search.tests) {
    const std::optional<bool> truth = passed.Truth(test.value);
    is_open = is_open && (!truth || *truth == test.holds);
    is_allowed = is_allowed && (truth ? *truth == test.holds : !test.is_for_left_out);
  }
  const std::vector<Site> way(search.way.begin(), search.way.end());
  const bool found = is_open && ((is_allowed && search.visit(way)) || FollowCallers(search, site.function));
  search.tests.resize(tests);
  search.way.pop_front();
  return found;
}

bool Ways::FollowCallers(Search& search, FuncId function) const {
  for (const Site& caller : index_.CallersOf(function)) {
    const variation::CallFact* call = facts_.call(caller.function, caller.expr);
    const bool is_known = call != nullptr && call->function == function;
    if (Extend(search, caller, is_known ? facts_.args(*call) : std::span<const ValueId>(), function)) return true;
  }
  for (const Site& caller : wrapped_calls_[function.index]) {
    if (Extend(search, caller, PassedToForward(caller, function), function)) return true;
  }
  return false;
}

bool Ways::Extend(Search& search, const Site& caller, std::span<const ValueId> args, FuncId function) const {
  search.passed.push_back({function, args});
  const bool found = Follow(search, caller);
  search.passed.pop_back();
  return found;
}

void Ways::AddTests(const Site& site, std::vector<Test>& tests) const {
  for (const Guard& guard : guards_.Of(site)) {
    const ValueId value = facts_.value(program_.funcs[guard.function].module, guard.test);
    if (value) AddTest(site.function, value, guard.holds, tests);
  }
}

void Ways::AddTest(FuncId function, ValueId id, bool holds, std::vector<Test>& tests) const {
  const variation::Value& value = facts_.values_store[id];
  const auto kids = facts_.values_store.Kids(id);
  const bool has_parts = (value.kind == ValueKind::And && holds) || (value.kind == ValueKind::Or && !holds);
  if (has_parts) {
    for (const ValueId kid : kids) AddTest(function, kid, holds, tests);
    return;
  }
  if (value.is_not()) return AddTest(function, kids[0], !holds, tests);
  const auto is_param = [&](ValueId part) {
    const variation::Value& tested = facts_.values_store[part];
    return tested.kind == ValueKind::Param && tested.function() == function;
  };
  const bool is_identity = value.kind == ValueKind::Compare && facts_.values_store[kids[1]].kind == ValueKind::None && is_param(kids[0]);
  const bool asks_for_none = is_identity && value.is_compare(holds ? ir::CompareOp::Is : ir::CompareOp::IsNot);
  tests.push_back({id, holds, asks_for_none});
}

// By the parameters of the method: what the wrapper hands on, and the defaults of what is left out.
std::vector<ValueId> Ways::PassedToForward(const Site& call, FuncId forward) const {
  const ir::ModuleId module_id = program_.funcs[call.function].module;
  const ir::Module& module = program_.modules[module_id];
  const std::vector<ir::Param>& params = program_.function(forward).params;
  std::vector<ValueId> passed;
  for (const ir::Param& param : params) passed.push_back(facts_.value(program_.funcs[forward].module, param.default_value));
  if (module[call.expr].kind != ir::ExprKind::Call) return {};
  // After `self`.
  size_t next = 1;
  for (uint32_t i = 0; i < ir::ArgCount(module, module[call.expr]); ++i) {
    const ir::Arg arg = ir::ArgAt(module, module[call.expr], i);
    if (arg.kind == ir::ArgKind::Star || arg.kind == ir::ArgKind::DoubleStar) return {};
    const bool is_named = arg.kind == ir::ArgKind::Keyword;
    const size_t at = is_named ? static_cast<size_t>(std::ranges::find(params, arg.keyword, &ir::Param::name) - params.begin()) : next++;
    if (at < passed.size()) passed[at] = facts_.value(module_id, arg.value);
  }
  return passed;
}

}  // namespace allranks::objects
