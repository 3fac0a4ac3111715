// Hovers in launch files: what a command starts, as far as the file says it, and what a key of a configuration means.
#include <algorithm>

#include "driver/server/requests.h"
#include "rules/launch/job_facts.h"

namespace allranks::server {
namespace {

using launch::Job;
using launch::Layer;
using launch::Option;

// More nodes are not listed one by one.
constexpr int64_t kMostNodes = 8;

std::string Ticked(const std::string& text) { return "`" + text + "`"; }

std::string ChainOf(const Job& job) {
  std::string chain;
  for (const Layer& layer : job.layers) chain += Ticked(layer.launcher->name) + " starts ";
  return chain + (job.script.empty() ? "nothing that is seen" : Ticked(job.script.Shown())) + "\n";
}

std::string Line(const std::string& what, const rules::Said& said) {
  const std::string value = said.value ? std::to_string(*said.value) : said.text.empty() ? "not said" : "not known";
  const bool is_default = said.sureness == launch::Sureness::Default;
  return "\n- " + what + ": " + value + (said.text.empty() ? "" : " (" + said.text + (is_default ? ", unless the caller says otherwise" : "") + ")");
}

// The ranks that each node starts.
std::string RanksOf(int64_t nodes, int64_t processes) {
  std::string text = "\n- ranks: " + std::to_string(nodes * processes);
  if (nodes == 1 || nodes > kMostNodes) return text;
  for (int64_t node = 0; node < nodes; ++node) {
    const int64_t first = node * processes;
    text += (node == 0 ? "; node " : ", node ") + std::to_string(node) + " starts " + std::to_string(first);
    if (processes > 1) text += " to " + std::to_string(first + processes - 1);
  }
  return text;
}

std::string MeetingOf(const Layer& agent) {
  if (agent.Find("standalone") != nullptr) return "\n- the processes meet at a free port of each node (`--standalone`)";
  for (const std::string_view means : {"rendezvous_endpoint", "master_address"}) {
    if (const Option* option = agent.Find(means)) return "\n- the processes meet at " + Ticked(option->value.Shown());
  }
  return "";
}

std::string TextOf(const Job& job) {
  std::string text = ChainOf(job);
  const Layer* agent = rules::AgentOf(job);
  const rules::Said nodes = rules::NodesOf(job);
  const rules::Said processes = rules::ProcessesPerNode(job);
  text += Line("nodes", nodes) + Line("processes on each node", processes);
  constexpr int64_t kMost = 1'000'000;
  const bool is_counted = nodes.value && processes.value && *nodes.value > 0 && *processes.value > 0 && *nodes.value < kMost && *processes.value < kMost;
  if (is_counted) text += RanksOf(*nodes.value, *processes.value);
  if (agent != nullptr) text += MeetingOf(*agent);
  if (!job.script_path.empty()) text += "\n- the script is " + Ticked(job.script_path);
  return text + "\n";
}

std::string WordsOf(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + Ticked(word);
  return text;
}

// What a key of a configuration means, and what is read of it when. `entry`: the table does not have keys that options of the launcher are.
std::string TextOf(const launch::ConfigTable& table, const std::string& path, const launch::KeyEntry* entry, const launch::KeyAbout* about) {
  const bool has_type = entry != nullptr && !entry->type.empty() && entry->type != "any";
  std::string text = Ticked(path) + (has_type ? ": " + entry->type : "") + "\n";
  if (about != nullptr) {
    text += "\n- " + about->text;
    if (!about->default_value.empty()) text += "\n- default: " + about->default_value;
    if (!about->since.empty()) text += "\n- since " + about->since;
  }
  if (entry != nullptr) {
    if (!entry->words.empty()) text += "\n- one of " + WordsOf(entry->words);
    if (!entry->until.empty()) text += "\n- deprecated since DeepSpeed " + entry->until + ": use " + Ticked(entry->instead);
    std::string stages;
    for (const int64_t stage : entry->stages) stages += (stages.empty() ? "" : ", ") + std::to_string(stage);
    if (!stages.empty()) text += "\n- read at stage " + stages + " of ZeRO only";
    if (!entry->off.empty()) text += "\n- does nothing where it is " + Ticked(entry->off);
  }
  return text + "\n- " + table.source + "\n";
}

bool Holds(source::Span span, source::FileId file, uint32_t offset) { return span.file == file && span.begin <= offset && offset <= span.end; }

Json HoverAt(const Target& target, source::Span span, const std::string& text) {
  return {{"contents", {{"kind", target.client.hovers_markdown ? "markdown" : "plaintext"}, {"value", text}}},
          {"range", WriteRange(target.places().RangeOf(span))}};
}

// The table of the configuration that a file is; nullptr: it is none that is known.
const launch::ConfigTable* ConfigOf(const launch::LauncherTables& tables, const launch::LaunchFile& file) {
  if (file.tree.empty()) return nullptr;
  for (const std::string_view name : {"deepspeed", "accelerate"}) {
    const launch::ConfigTable* table = tables.FindConfig(name);
    const auto is_mark = [&](const std::string& mark) { return static_cast<bool>(file.tree.Member(file.tree.root(), mark)); };
    if (table != nullptr && std::ranges::any_of(table->marks, is_mark)) return table;
  }
  return nullptr;
}

Json KeyHover(const Target& target, const launch::LaunchFile& file, uint32_t offset) {
  const launch::LauncherTables& tables = target.snapshot.analysed.launches.tables;
  const launch::ConfigTable* table = ConfigOf(tables, file);
  if (table == nullptr) return nullptr;
  for (uint32_t i = 0; i < file.tree.size(); ++i) {
    const launch::ConfigNode& node = file.tree[launch::ConfigId{i}];
    if (node.key.empty() || !Holds(node.key_span, target.file, offset)) continue;
    const std::string path = file.tree.PathOf(launch::ConfigId{i});
    const launch::KeyEntry* entry = table->Find(path);
    const launch::KeyAbout* about = tables.FindAbout(table->name, path);
    if (entry != nullptr || about != nullptr) return HoverAt(target, node.key_span, TextOf(*table, path, entry, about));
  }
  return nullptr;
}

}  // namespace

Json JobHover(const Target& target, uint32_t offset) {
  const launch::LaunchFile* file = target.snapshot.analysed.launches.Find(target.file);
  if (file == nullptr) return nullptr;
  for (const Job& job : file->jobs) {
    if (!Holds(job.span, target.file, offset)) continue;
    return HoverAt(target, job.span, TextOf(job));
  }
  return KeyHover(target, *file, offset);
}

}  // namespace allranks::server
