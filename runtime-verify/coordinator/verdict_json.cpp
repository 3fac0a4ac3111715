#include "runtime-verify/coordinator/verdict_json.h"

#include <nlohmann/json.hpp>

#include "witness/json.h"

namespace allranks::verify {
namespace {

using Json = nlohmann::ordered_json;
using witness::Outcome;

// Fences and what a model adds have no place in the source.
const witness::Op* OpAt(const witness::Witness& w, uint32_t rank, uint32_t index) {
  for (size_t c = 0; c < w.classes.size(); ++c) {
    for (const uint32_t own : w.classes[c].ranks) {
      if (own == rank) return index < w.ops[c].size() ? &w.ops[c][index] : nullptr;
    }
  }
  return nullptr;
}

Json OpJson(const witness::Witness& w, uint32_t rank, uint32_t index) {
  Json json = {{"rank", rank}, {"index", index}};
  const witness::Op* op = OpAt(w, rank, index);
  json["op"] = op == nullptr ? "fence" : op->id;
  if (op == nullptr) return json;
  json["kind"] = op->op;
  json["comm"] = op->comm;
  if (op->at.line > 0) json["at"] = {{"uri", op->at.uri}, {"line", op->at.line}};
  return json;
}

Json StuckJson(const witness::Witness& w, const Trial& trial) {
  Json list = Json::array();
  for (const witness::StuckOp& stuck : trial.outcome.stuck) {
    Json json = OpJson(w, stuck.rank, stuck.op);
    json["waitsFor"] = stuck.waits_for;
    if (trial.log) {
      // Where it waits: inside the library's call, or on the device behind it.
      const OpTimes& times = trial.log->ranks[stuck.rank].ops[stuck.op];
      json["stuckIn"] = times.returned_ms < 0 ? "host" : "device";
    }
    list.push_back(std::move(json));
  }
  return list;
}

Json WrongJson(const witness::Witness& w, const Trial& trial) {
  Json list = Json::array();
  for (const witness::RankOp& wrong : trial.outcome.wrong) {
    Json json = OpJson(w, wrong.rank, wrong.op);
    if (trial.log) {
      if (const std::optional<Event>& data = trial.log->ranks[wrong.rank].ops[wrong.op].wrong) {
        json.update({{"badElements", data->bad},
                     {"first", data->first},
                     {"expected", data->expected},
                     {"got", data->got}});
      }
    }
    list.push_back(std::move(json));
  }
  return list;
}

Json TrialJson(const witness::Witness& w, const Trial& trial) {
  Json json = {{"name", trial.name}, {"effect", witness::EffectName(trial.outcome.effect)}};
  if (!trial.outcome.stuck.empty()) json["stuck"] = StuckJson(w, trial);
  if (!trial.outcome.wrong.empty()) json["wrong"] = WrongJson(w, trial);
  Json refused = Json::array();
  for (const witness::RankOp& one : trial.outcome.refused) {
    Json entry = OpJson(w, one.rank, one.op);
    if (trial.log) entry["words"] = trial.log->ranks[one.rank].words;
    refused.push_back(std::move(entry));
  }
  if (!refused.empty()) json["refused"] = std::move(refused);
  if (!trial.outcome.cycle.empty()) json["cycle"] = trial.outcome.cycle;
  if (!trial.log) return json;
  json["runs"] = std::to_string(trial.agreeing) + "/" + std::to_string(trial.runs);
  if (!trial.log->released_by.empty()) json["releasedBy"] = trial.log->released_by;
  json["slowestOpMs"] = trial.log->slowest_op.count();
  json["connectMs"] = trial.log->connect_time.count();
  json["reapMs"] = trial.log->reap_time.count();
  if (!trial.log->ras.empty()) json["ras"] = trial.log->ras;
  return json;
}

}  // namespace

std::string VerdictJson(const Verdict& verdict) {
  Json json = {{"verdict", NameOf(verdict.kind)}, {"says", HeadlineOf(verdict)}};
  const bool has_effect =
      verdict.kind == VerdictKind::Reproduced || verdict.kind == VerdictKind::NotReproduced;
  if (has_effect) {
    json["effect"] = witness::EffectName(verdict.effect);
    json["evidence"] = IsSeen(verdict) ? "runtime" : "model";
  }
  if (!verdict.reason.empty()) json["reason"] = verdict.reason;
  json["backend"] = verdict.backend;
  if (!verdict.version.empty()) json["backendVersion"] = verdict.version;
  json["world"] = verdict.ran.world;
  if (!verdict.measured.empty()) json["measured"] = verdict.measured;
  if (!verdict.trials.empty()) {
    const Json first = TrialJson(verdict.ran, verdict.trials[0]);
    for (const char* key : {"runs", "stuck", "wrong", "refused", "cycle", "releasedBy"}) {
      if (first.contains(key)) json[key] = first[key];
    }
    json["trials"] = Json::array();
    for (const Trial& trial : verdict.trials) json["trials"].push_back(TrialJson(verdict.ran, trial));
  }
  if (!verdict.expected.rings.empty()) json["ncclPrediction"] = verdict.expected.rings;
  if (verdict.expected.at_first_use) json["ncclFirstUse"] = "deadlock";
  json["durationMs"] = verdict.duration.count();
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

double PriorityOf(const Verdict& verdict) {
  switch (verdict.kind) {
    case VerdictKind::Reproduced:
      // 100 is for what was seen in a job: a replay shows what the schedule does, not that the program has it.
      return IsSeen(verdict) ? 80 : 70;
    case VerdictKind::NotReproduced:
      return 30;
    case VerdictKind::Inconclusive:
    case VerdictKind::Unavailable:
      return 50;
  }
  return 50;
}

}  // namespace allranks::verify
