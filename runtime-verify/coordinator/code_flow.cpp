#include "runtime-verify/coordinator/code_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "witness/ranks_text.h"

namespace allranks::verify {
namespace {

using Json = nlohmann::ordered_json;
using witness::RanksText;

constexpr std::string_view kMark = " (`allranks verify`: ";

// The array or object under a key; null if it is neither there nor one.
Json* Under(Json* json, const char* key) {
  if (json == nullptr || !json->is_object() || !json->contains(key)) return nullptr;
  Json& at = (*json)[key];
  return at.is_structured() ? &at : nullptr;
}

bool IsText(const Json* json, const char* key) {
  return json != nullptr && json->is_object() && json->contains(key) && (*json)[key].is_string();
}

// The ranks of a class that are stuck in one of its operations.
struct Waiting {
  const witness::Op* op = nullptr;
  std::vector<uint32_t> ranks, waits_for;
};

Waiting WaitingOf(const Verdict& verdict, size_t c) {
  Waiting waiting;
  if (verdict.kind != VerdictKind::Reproduced || verdict.trials.empty()) return waiting;
  const std::vector<uint32_t>& ranks = verdict.ran.classes[c].ranks;
  const std::vector<witness::Op>& ops = verdict.ran.ops[c];
  for (const witness::StuckOp& stuck : verdict.trials[0].outcome.stuck) {
    if (std::ranges::count(ranks, stuck.rank) == 0 || stuck.op >= ops.size()) continue;
    if (waiting.op != nullptr && waiting.op != &ops[stuck.op]) continue;
    waiting.op = &ops[stuck.op];
    waiting.ranks.push_back(stuck.rank);
    waiting.waits_for = stuck.waits_for;
  }
  return waiting;
}

// Thread flows are named after the ranks of their class in the job of the witness; the one that ran may be larger, with
// the same classes.
Waiting WaitingOf(const witness::Witness& witness, const Verdict& verdict, const std::string& ranks_text) {
  if (verdict.ran.classes.size() != witness.classes.size()) return {};
  for (size_t c = 0; c < witness.classes.size(); ++c) {
    if (RanksText(witness.classes[c].ranks, witness.world) == ranks_text) return WaitingOf(verdict, c);
  }
  return {};
}

// Lines are not enough: two files may each have an operation on line 14.
bool IsOf(Json* step, const witness::Op& op) {
  Json* properties = Under(step, "properties");
  return IsText(properties, "allranks/op") && (*properties)["allranks/op"] == op.id;
}

void Say(Json* message, std::string_view what) {
  std::string text = (*message)["text"].get<std::string>();
  text.erase(std::min(text.find(kMark), text.size()));
  if (!what.empty()) text += fmt::format("{}{})", kMark, what);
  (*message)["text"] = text;
}

void MarkThreadFlow(const witness::Witness& witness, const Verdict& verdict, Json* flow) {
  Json* steps = Under(flow, "locations");
  if (!IsText(flow, "id") || steps == nullptr || !steps->is_array()) return;
  const Waiting waiting = WaitingOf(witness, verdict, (*flow)["id"].get<std::string>());
  bool is_said = false;
  for (Json& step : *steps) {
    Json* location = Under(&step, "location");
    Json* message = Under(location, "message");
    if (!IsText(message, "text")) continue;
    const bool waits = !is_said && waiting.op != nullptr && IsOf(&step, *waiting.op);
    is_said = is_said || waits;
    std::string what;
    if (waits) {
      what = fmt::format("{} {} here for {}, {} on {}", RanksText(waiting.ranks, 0),
                         waiting.ranks.size() == 1 ? "waits" : "wait", RanksText(waiting.waits_for, 0),
                         IsSeen(verdict) ? "seen" : "computed", verdict.backend);
    }
    Say(message, what);
  }
}

}  // namespace

void MarkCodeFlow(const witness::Witness& witness, const Verdict& verdict, Json* result) {
  Json* flows = Under(result, "codeFlows");
  if (flows == nullptr || !flows->is_array()) return;
  for (Json& flow : *flows) {
    Json* threads = Under(&flow, "threadFlows");
    if (threads == nullptr || !threads->is_array()) continue;
    for (Json& thread : *threads) MarkThreadFlow(witness, verdict, &thread);
  }
}

}  // namespace allranks::verify
