#include "analyzer/objects/one_process_modes.h"

#include <algorithm>
#include <optional>
#include <string>

#include "analyzer/objects/claims.h"

namespace allranks::objects {

using variation::ValueKind;

OneProcessModes::OneProcessModes(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index,
                                 const Guards& guards, const Launch& launch, const LaunchedOptions& options)
    : program_(program), facts_(facts), index_(index), guards_(guards), launch_(launch), options_(options), neighbourhood_(program) {}

bool OneProcessModes::AreMeantAt(std::span<const Site> way) const {
  const ir::ModuleId module = program_.funcs[way.front().function].module;
  const std::vector<Site> sites = FromTheTop(way);
  if (std::ranges::any_of(sites, [&](const Site& site) { return AreCallersForOne(site); })) return true;
  if (launch_.StartsItself(module)) return false;
  const auto leads = [&](const LaunchLine* line) { return LeadsTo(*line, sites); };
  const std::vector<const LaunchLine*> for_ranks = launch_.LinesFor(module);
  return std::ranges::none_of(for_ranks, leads) && std::ranges::any_of(LinesForOne(module), leads);
}

bool OneProcessModes::IsLeftOut(std::span<const Site> way) const {
  const ir::ModuleId module = program_.funcs[way.front().function].module;
  if (launch_.StartsItself(module)) return false;
  std::vector<const LaunchLine*> lines = launch_.LinesFor(module);
  const std::vector<const LaunchLine*> for_one = LinesForOne(module);
  lines.insert(lines.end(), for_one.begin(), for_one.end());
  const std::vector<Site> sites = FromTheTop(way);
  return !lines.empty() && std::ranges::none_of(lines, [&](const LaunchLine* line) { return LeadsTo(*line, sites); });
}

findings::Assumptions OneProcessModes::AssumedAt(std::span<const Site> way) const {
  findings::Assumptions assumed;
  if (AreMeantAt(way)) assumed.Add(findings::Assumption::OwnJob);
  if (IsLeftOut(way)) assumed.Add(findings::Assumption::OptionSet);
  return assumed;
}

// With the calls above it, as far as each function has one.
std::vector<Site> OneProcessModes::FromTheTop(std::span<const Site> way) const {
  constexpr size_t kMostCalls = 16;
  std::vector<Site> sites(way.begin(), way.end());
  for (size_t i = 0; i < kMostCalls; ++i) {
    const auto callers = index_.CallersOf(sites.front().function);
    if (callers.size() != 1) break;
    sites.insert(sites.begin(), callers[0]);
  }
  return sites;
}

// What may start any file tells nothing of one.
std::vector<const LaunchLine*> OneProcessModes::LinesForOne(ir::ModuleId module) const {
  const std::vector<ir::ModuleId> users = neighbourhood_.UsersOf(module);
  std::vector<const LaunchLine*> lines;
  for (const LaunchLine& line : launch_.lines()) {
    const bool is_any = line.unknown_below && *line.unknown_below == kRootFolder;
    if (line.starts_ranks || is_any || !line.configuration.empty()) continue;
    if (std::ranges::any_of(users, [&](ir::ModuleId user) { return line.MayStart(program_.infos[user].path); })) lines.push_back(&line);
  }
  return lines;
}

// `if prepare:`, where one process alone calls the function with `prepare=True`.
bool OneProcessModes::AreCallersForOne(const Site& site) const {
  const std::vector<Claim> claims = ClaimsBefore(program_, facts_, guards_, site.function, index_.StatementOf(site));
  return std::ranges::any_of(claims, [&](const Claim& claim) {
    const variation::Value* param = claim.value ? &facts_.values_store[claim.value] : nullptr;
    if (param == nullptr || param->kind != ValueKind::Param || claim.equals || !claim.holds || param->function() != site.function) return false;
    bool has_other = false, has_one = false;
    for (const Site& caller : index_.CallersOf(site.function)) {
      const ValueId passed = index_.PassedBy(caller, site.function, param->param_index());
      if (!passed || !IsConstant(facts_.values_store, passed)) return false;
      const variation::Value& constant = facts_.values_store[passed];
      const bool is_false = constant.kind == ValueKind::None || (constant.kind == ValueKind::Bool && *constant.integer() == 0);
      if (is_false) has_other = true;
      else if (launch_.Of(caller) != RunBy::OneProcess) return false;
      else has_one = true;
    }
    return has_other && has_one;
  });
}

bool OneProcessModes::LeadsTo(const LaunchLine& line, std::span<const Site> way) const {
  for (size_t i = 0; i < way.size(); ++i) {
    const std::vector<Claim> claims = ClaimsBefore(program_, facts_, guards_, way[i].function, index_.StatementOf(way[i]));
    if (std::ranges::any_of(claims, [&](const Claim& claim) { return Fails(claim, line, way.first(i + 1)); })) return false;
  }
  return true;
}

// `way`: up to a place in the function of the claim.
bool OneProcessModes::Fails(const Claim& claim, const LaunchLine& line, std::span<const Site> way) const {
  ValueId value = claim.value;
  while (value && facts_.values_store[value].kind == ValueKind::Param && way.size() > 1) {
    const variation::Value& param = facts_.values_store[value];
    way = way.first(way.size() - 1);
    value = index_.PassedBy(way.back(), param.function(), param.param_index());
  }
  if (!value) return false;
  const ir::ModuleId module = program_.funcs[way.back().function].module;
  if (const std::optional<bool> is_in = claim.equals ? std::nullopt : IsTextIn(value, line, module)) return *is_in != claim.holds;
  const std::optional<bool> truth = options_.TruthIn(line, module, value);
  if (!claim.equals) return truth && *truth != claim.holds;
  const variation::Value& constant = facts_.values_store[claim.equals];
  if (constant.kind == ValueKind::None) return truth && *truth == claim.holds;
  if (constant.kind != ValueKind::Str) return false;
  const std::optional<std::string> text = options_.TextIn(line, module, value);
  return text && (*text == program_.text(constant.name())) != claim.holds;
}

// `"cifar" in args.data`
std::optional<bool> OneProcessModes::IsTextIn(ValueId test, const LaunchLine& line, ir::ModuleId module) const {
  const variation::Value& node = facts_.values_store[test];
  if (node.kind != ValueKind::Compare) return std::nullopt;
  const bool is_in = node.compare_op() == ir::CompareOp::In;
  const auto kids = facts_.values_store.Kids(test);
  if ((!is_in && node.compare_op() != ir::CompareOp::NotIn) || facts_.values_store[kids[0]].kind != ValueKind::Str) return std::nullopt;
  const std::optional<std::string> text = options_.TextIn(line, module, kids[1]);
  if (!text) return std::nullopt;
  return (text->find(program_.text(facts_.values_store[kids[0]].name())) != std::string::npos) == is_in;
}

}  // namespace allranks::objects
