#include "analyzer/traces/standing.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/traces/nodes.h"

namespace allranks::traces {
namespace {

class Judgement {
 public:
  explicit Judgement(const CheckResult& result) : result_(result), verdicts_(result.found.size()) {
    for (size_t i = 0; i < result.found.size(); ++i) {
      const Found& found = result.found[i];
      if (found.condition) shown_[{found.condition, found.by}].push_back(i);
    }
    for (const Judged& judged : result.judged) judges_[judged.condition].push_back(&judged);
  }

  // Callers come after those they call: their own callers have judged them by then.
  std::vector<bool> Stand() {
    for (size_t i = verdicts_.size(); i-- > 0;) verdicts_[i] = Judge(result_.found[i]);
    std::vector<bool> stand;
    for (const Verdict& verdict : verdicts_) stand.push_back(verdict.is_everywhere);
    for (size_t i = 0; i < stand.size(); ++i) {
      if (stand[i] && result_.found[i].is_open) LeaveOutInCallers(result_.found[i], &stand);
    }
    return stand;
  }

  // Nothing, if one of those assumes nothing that call it and show the same: other callers make it no less sure.
  const findings::Assumptions& SurestOf(size_t i) const {
    const Found& found = result_.found[i];
    const findings::Assumptions* surest = &found.difference.assumptions;
    if (!found.is_open) return *surest;
    ForCallers(found, [&](FuncId caller) {
      for (const size_t shown : ShownBy(found, caller)) {
        const findings::Assumptions& assumed = result_.found[shown].difference.assumptions;
        if (assumed.empty()) surest = &assumed;
      }
    });
    return *surest;
  }

 private:
  struct Verdict {
    bool is_real = true;         // somebody shows it whom nobody contradicts
    bool is_everywhere = true;   // so do all that call it
  };

  template <class Use>
  void ForCallers(const Found& found, Use use) const {
    const auto judges = judges_.find(found.condition);
    if (judges == judges_.end()) return;
    for (const Judged* judged : judges->second) {
      const bool is_caller = judged->by != found.by && std::ranges::find(judged->through, found.by) != judged->through.end();
      if (is_caller) use(judged->by);
    }
  }

  std::vector<size_t> ShownBy(const Found& found, FuncId caller) const {
    const auto shown = shown_.find({found.condition, caller});
    return shown == shown_.end() ? std::vector<size_t>{} : shown->second;
  }

  Verdict Judge(const Found& found) const {
    Verdict verdict;
    if (!found.is_open) return verdict;
    bool is_judged = false;
    bool is_real = false;
    ForCallers(found, [&](FuncId caller) {
      is_judged = true;
      const std::vector<size_t> shown = ShownBy(found, caller);
      const auto is = [&](bool Verdict::*what) {
        return std::ranges::any_of(shown, [&](size_t i) { return verdicts_[i].*what; });
      };
      is_real = is_real || is(&Verdict::is_real);
      verdict.is_everywhere = verdict.is_everywhere && is(&Verdict::is_everywhere);
    });
    verdict.is_real = is_real || !is_judged;
    return verdict;
  }

  void LeaveOutInCallers(const Found& found, std::vector<bool>* stand) const {
    ForCallers(found, [&](FuncId caller) {
      for (const size_t i : ShownBy(found, caller)) (*stand)[i] = false;
    });
  }

  const CheckResult& result_;
  std::vector<Verdict> verdicts_;
  std::map<std::pair<SiteId, FuncId>, std::vector<size_t>> shown_;
  std::map<SiteId, std::vector<const Judged*>> judges_;
};

// Finds for each open condition the functions that lead to it. More than there are bits are left to their own functions.
class Search {
 public:
  Search(const State& state, FuncId func) : state_(state), func_(func) {}

  uint64_t In(TraceId id) {
    const auto [known, is_new] = seen_.try_emplace(id.index, 0);
    if (!is_new) return known->second;
    const Trace& trace = state_.traces[id];
    // An operation with which ranks do not agree by themselves may be the same on all that come to it from here.
    if ((trace.flags & (state_.open_operations.empty() ? kVarying : kVarying | kHasOp)) == 0) return 0;
    uint64_t open = BitOf(trace);
    for (const TraceId kid : state_.traces.Kids(id)) open |= In(kid);
    if (trace.kind == TraceKind::Scope) Note(FuncId{trace.payload}, open);
    return seen_[id.index] = open;
  }

  std::vector<Judged> Take() { return std::move(judged_); }

 private:
  uint64_t BitOf(const Trace& trace) {
    const bool parts_ranks = (trace.kind == TraceKind::Choice || trace.kind == TraceKind::Loop) && (trace.flags & kVarying) != 0;
    const bool is_open = (parts_ranks && state_.open_conditions.contains(trace.site.index)) ||
                         (trace.kind == TraceKind::Op && state_.open_operations.contains(trace.site.index));
    if (!is_open || (trace.flags & kSettled) != 0) return 0;
    size_t at = 0;
    while (at < judged_.size() && judged_[at].condition != trace.site) ++at;
    constexpr size_t kMostOpen = 64;
    if (at == kMostOpen) return 0;
    if (at == judged_.size()) judged_.push_back({.by = func_, .condition = trace.site, .through = {}});
    return uint64_t{1} << at;
  }

  void Note(FuncId called, uint64_t open) {
    for (size_t i = 0; i < judged_.size(); ++i) {
      std::vector<FuncId>& through = judged_[i].through;
      const bool leads = (open >> i & 1) != 0;
      if (leads && std::ranges::find(through, called) == through.end()) through.push_back(called);
    }
  }

  const State& state_;
  FuncId func_;
  std::unordered_map<uint32_t, uint64_t> seen_;
  std::vector<Judged> judged_;
};

}  // namespace

Standing WhatStands(CheckResult result) {
  Judgement judgement(result);
  const std::vector<bool> stands = judgement.Stand();
  std::vector<findings::Assumptions> surest;
  for (size_t i = 0; i < stands.size(); ++i) surest.push_back(judgement.SurestOf(i));
  Standing standing;
  for (const SiteId site : result.unexplained) standing.unexplained_sites.insert(site.index);
  for (size_t i = 0; i < stands.size(); ++i) {
    if (!stands[i]) continue;
    Found& found = result.found[i];
    found.difference.assumptions = surest[i];
    const findings::Assumptions assumptions = found.difference.assumptions;
    for (const SiteId site : found.sites) {
      const auto [flagged, is_new] = standing.flagged_sites.try_emplace(site.index, assumptions);
      const bool is_surer = findings::ConfidenceOf(assumptions) > findings::ConfidenceOf(flagged->second);
      if (!is_new && is_surer) flagged->second = assumptions;
    }
    standing.differences.push_back(std::move(found.difference));
  }
  return standing;
}

std::vector<Judged> JudgedIn(const State& state, FuncId func, TraceId root) {
  Search search(state, func);
  search.In(root);
  return search.Take();
}

}  // namespace allranks::traces
