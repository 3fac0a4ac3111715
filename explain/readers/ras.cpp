#include "explain/readers/ras.h"

namespace allranks::explain {
namespace {

// Ranks of the job by their processes. A monitor numbers them within each communicator; the largest is taken for the whole job.
class Processes {
 public:
  explicit Processes(const Document& document, ValueIndex communicators) : document_(document) {
    size_t most = 0;
    ValueIndex largest = kNoValue;
    document.ForEach(communicators, [&](ValueIndex communicator) {
      size_t size = 0;
      ForEachRank(communicator, [&](ValueIndex) { ++size; });
      if (size > most) most = size, largest = communicator;
      return true;
    });
    ForEachRank(largest, [&](ValueIndex entry) {
      if (const std::optional<uint32_t> rank = Told(entry); rank && HasProcess(entry)) ranks_.try_emplace(KeyOf(entry), *rank);
    });
  }

  std::optional<uint32_t> RankOf(ValueIndex entry) const {
    const auto found = HasProcess(entry) ? ranks_.find(KeyOf(entry)) : ranks_.end();
    return found == ranks_.end() ? Told(entry) : std::optional(found->second);
  }

 private:
  using Key = std::pair<std::string, int64_t>;

  template <typename Use>
  void ForEachRank(ValueIndex communicator, const Use& use) const {
    for (const char* list : {"ranks", "missing_ranks"}) {
      document_.ForEach(document_.Member(communicator, list), [&](ValueIndex entry) { return use(entry), true; });
    }
  }

  std::optional<uint32_t> Told(ValueIndex entry) const {
    const int64_t rank = document_.Int(document_.Member(entry, "rank"), -1);
    return rank >= 0 && rank < kMostRank ? std::optional(static_cast<uint32_t>(rank)) : std::nullopt;
  }

  bool HasProcess(ValueIndex entry) const { return document_.Member(entry, "pid") != kNoValue; }

  Key KeyOf(ValueIndex entry) const {
    return {std::string(document_.Text(document_.Member(entry, "host"))), document_.Int(document_.Member(entry, "pid"))};
  }

  const Document& document_;
  std::map<Key, uint32_t> ranks_;
};

void AddCommunicator(const Document& document, const Processes& processes, ValueIndex communicator, Recording& recording) {
  const std::string name(document.Text(document.Member(communicator, "hash"), "communicator").substr(0, 80));
  std::map<std::string, LaunchCounts> by_kind;
  document.ForEach(document.Member(communicator, "ranks"), [&](ValueIndex entry) {
    const std::optional<uint32_t> rank = processes.RankOf(entry);
    if (!rank) return true;
    recording.RankOf(*rank);
    document.ForEachPair(document.Member(entry, "collective_counts"), [&](ValueIndex kind, ValueIndex count) {
      by_kind[KindOf(document.Text(kind))].by_rank[*rank] = static_cast<uint64_t>(document.Int(count));
      return by_kind.size() < 32;
    });
    const ValueIndex status = document.Member(entry, "status");
    if (document.Int(document.Member(status, "async_error")) != 0) {
      recording.RankOf(*rank).hardware.push_back("NCCL's monitor reports an asynchronous error of the communicator " + name);
    }
    return true;
  });
  document.ForEach(document.Member(communicator, "missing_ranks"), [&](ValueIndex entry) {
    const std::optional<uint32_t> rank = processes.RankOf(entry);
    if (!rank) return true;
    Rank& record = recording.RankOf(*rank);
    const bool dead = document.Int(document.Member(document.Member(entry, "status"), "considered_dead")) != 0;
    if (!record.ending) record.ending = Ending{dead ? "NCCL's monitor takes it for dead" : "it does not answer NCCL's monitor", kNoStack};
    return true;
  });
  for (auto& [kind, counts] : by_kind) {
    counts.group = name;
    counts.kind = kind;
    if (recording.counts.size() < 10000) recording.counts.push_back(std::move(counts));
  }
}

}  // namespace

bool IsRas(const Document& document, ValueIndex root) {
  return document.Member(root, "communicators") != kNoValue && document.Member(root, "nccl_version") != kNoValue;
}

void AddRas(const Document& document, ValueIndex root, Recording& recording) {
  const ValueIndex communicators = document.Member(root, "communicators");
  const Processes processes(document, communicators);
  document.ForEach(communicators, [&](ValueIndex communicator) {
    AddCommunicator(document, processes, communicator, recording);
    return true;
  });
}

std::string WithMissingCommas(std::string_view text) {
  constexpr std::string_view kKey = "\"nvml_dev\"";
  std::string out;
  while (true) {
    const size_t at = text.find(kKey);
    if (at == std::string_view::npos) return out += text;
    size_t end = text.find_first_of("0123456789", at);
    if (end == std::string_view::npos) return out += text;
    end = std::min(text.find_first_not_of("0123456789", end), text.size());
    out += text.substr(0, end);
    text.remove_prefix(end);
    const size_t next = text.find_first_not_of(" \t\r\n");
    if (next != std::string_view::npos && text[next] == '"') out += ',';
  }
}

}  // namespace allranks::explain
