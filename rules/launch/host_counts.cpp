#include "rules/launch/host_counts.h"

#include <algorithm>

#include "analyzer/base/lowered.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::Finding;
using launch::Host;
using launch::HostFile;

constexpr std::string_view kAR907OfHosts = "AR907";

std::string Counted(int64_t count, std::string_view what) { return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s"); }

// A project's file of hosts is an example to some of those who start it.
Finding Contradiction(source::Span span, Confidence confidence, findings::Text message) {
  return LaunchFinding(kAR907OfHosts, Severity::Error, confidence, span, std::move(message));
}

// `-H a:4,b:2`; nothing: a host says no slots.
std::optional<int64_t> SlotsIn(const Word& hosts) {
  int64_t slots = 0;
  const std::string& text = hosts.text();
  for (size_t at = 0; at < text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const size_t colon = text.find(':', at);
    const std::optional<int64_t> count = colon < comma ? hosts.Between(colon + 1, comma).Number() : std::nullopt;
    if (!count) return std::nullopt;
    slots += *count;
    at = comma + 1;
  }
  return slots;
}

// What a launcher of MPI starts at most, and who says so.
struct Room {
  std::optional<int64_t> slots;
  std::string where;
  Confidence confidence = Confidence::Certain;
};

Room RoomOf(const Layer& layer) {
  const bool is_oversubscribed = std::ranges::any_of(layer.options, [](const Option& option) {
    const std::string mapping = base::Lowered(option.value.text());
    return option.name.ends_with("oversubscribe") || (mapping.find(":oversubscribe") != std::string::npos && mapping.find(":nooversubscribe") == std::string::npos);
  });
  if (const Option* hosts = layer.Find("hosts")) {
    const bool is_read = hosts->value.IsKnown() && !is_oversubscribed;
    return {is_read ? SlotsIn(hosts->value) : std::nullopt, "on the hosts", Confidence::Certain};
  }
  if (!layer.hosts) return {};
  return {is_oversubscribed ? layer.hosts->MostSlots() : layer.hosts->Slots(), "in `" + layer.hosts->path + "`", Confidence::Likely};
}

// `mpirun -np 8 -H a:4,b:2`: fewer slots than processes.
void CheckSlots(const Layer& layer, FindingSink& sink) {
  const Said processes = SaidBy(layer, "processes");
  const Room room = RoomOf(layer);
  if (!processes.value || !room.slots || *room.slots <= 0 || *room.slots >= *processes.value) return;
  const Option* hosts = layer.Find("hosts") != nullptr ? layer.Find("hosts") : layer.Find("hostfile");
  Finding finding = Contradiction(processes.span, std::min(room.confidence, ConfidenceOf(processes.sureness)),
                                  {"{} and {} {}: `{}` refuses to start",
                                   {std::to_string(*processes.value) + (*processes.value == 1 ? " process" : " processes"), Counted(*room.slots, "slot"), room.where, layer.launcher->name}});
  AddNote(finding, hosts != nullptr ? hosts->word.span() : layer.hosts->hosts.front().span, {"all slots there are", {}});
  sink.push_back(std::move(finding));
}

// `deepspeed --hostfile hosts.txt --num_nodes 4`
class DeepSpeedHosts {
 public:
  DeepSpeedHosts(const LaunchContext& context, const Layer& layer, FindingSink& sink) : context_(context), layer_(layer), hosts_(*layer.hosts), sink_(sink) {}

  void Run() {
    if (Refused()) return;
    CheckNodes();
    CheckDevices();
    CheckIncluded();
  }

 private:
  // DeepSpeed ends with `ValueError: Hostfile ...`.
  bool Refused() {
    if (hosts_.hosts.empty()) {
      Report({"`{}` names no host: `deepspeed` refuses to start", {hosts_.path}});
      return true;
    }
    if (const Host* repeated = hosts_.FindRepeated()) {
      Report({"`{}` names `{}` twice: `deepspeed` refuses to start", {hosts_.path, repeated->name}}, repeated->span, "once more");
      return true;
    }
    const auto bad = std::ranges::find_if(hosts_.hosts, [this](const Host& host) { return !host.slots && TextOf(host).find("slots=") == std::string_view::npos; });
    if (bad == hosts_.hosts.end()) return false;
    Report({"`{}` has a line without `slots=`: `deepspeed` refuses to start", {hosts_.path}}, bad->span, "how many GPUs has it?");
    return true;
  }

  // It takes the first hosts of the file, as many as there are.
  void CheckNodes() {
    const Said nodes = SaidBy(layer_, "nodes");
    const auto count = static_cast<int64_t>(hosts_.hosts.size());
    if (!nodes.IsMoreThan(count)) return;
    Report(nodes, hosts_.hosts.back(), {"{} are asked for, and `{}` names {}: the job runs on these alone",
                                        {Counted(*nodes.value, "node"), hosts_.path, Counted(count, "host")}}, "the last one");
  }

  // The number counts, whatever the file says.
  void CheckDevices() {
    const Said devices = SaidBy(layer_, "processes_per_node");
    for (const Host& host : hosts_.hosts) {
      if (!host.slots || !devices.IsMoreThan(*host.slots)) continue;
      return Report(devices, host, {"{} a node, and `{}` has {}: the other ranks end with `invalid device ordinal`",
                                    {Counted(*devices.value, "rank"), host.name, Counted(*host.slots, "slot")}}, "its slots");
    }
  }

  // `--include="worker-0:0,1@worker-1"`: hosts of the file.
  void CheckIncluded() {
    for (const std::string_view means : {"include", "exclude"}) {
      const Option* option = layer_.Find(means);
      if (option == nullptr || !option->value.IsKnown()) continue;
      const std::string_view text = option->value.text();
      for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('@', at), text.size());
        const std::string name(text.substr(at, std::min(text.find(':', at), end) - at));
        at = end + 1;
        if (name.empty() || hosts_.Find(name) != nullptr) continue;
        return Report(SaidOf(*option), hosts_.hosts.front(), {"`{}` names `{}`, which is not in `{}`: `deepspeed` refuses to start",
                                                              {option->name, name, hosts_.path}}, "the hosts there are");
      }
    }
  }

  std::string_view TextOf(const Host& host) const {
    return std::string_view(context_.files[host.span.file].text).substr(host.span.begin, host.span.end - host.span.begin);
  }

  void Report(findings::Text message, source::Span other = {}, std::string_view note = "") {
    Finding finding = Contradiction(layer_.Find("hostfile")->word.span(), Confidence::Likely, std::move(message));
    if (other.file) AddNote(finding, other, {note, {}});
    sink_.push_back(std::move(finding));
  }
  void Report(const Said& said, const Host& host, findings::Text message, std::string_view note) {
    Finding finding = Contradiction(said.span, std::min(Confidence::Likely, ConfidenceOf(said.sureness)), std::move(message));
    AddNote(finding, host.span, {note, {}});
    sink_.push_back(std::move(finding));
  }

  const LaunchContext& context_;
  const Layer& layer_;
  const HostFile& hosts_;
  FindingSink& sink_;
};

}  // namespace

void CheckHosts(const LaunchContext& context, const Job& job, FindingSink& sink) {
  for (const Layer& layer : job.layers) {
    if (layer.launcher->name == "mpirun" || layer.launcher->name == "horovodrun") CheckSlots(layer, sink);
    if (layer.launcher->name == "deepspeed" && layer.hosts) DeepSpeedHosts(context, layer, sink).Run();
  }
}

}  // namespace allranks::rules
