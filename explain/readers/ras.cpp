#include "explain/readers/ras.h"

namespace allranks::explain {
namespace {

std::optional<uint32_t> RankOf(const Document& document, ValueIndex entry) {
  const int64_t rank = document.Int(document.Member(entry, "rank"), -1);
  return rank >= 0 && rank < kMostRank ? std::optional(static_cast<uint32_t>(rank)) : std::nullopt;
}

void AddCommunicator(const Document& document, ValueIndex communicator, Recording& recording) {
  const std::string name(document.Text(document.Member(communicator, "hash"), "communicator").substr(0, 80));
  std::map<std::string, LaunchCounts> by_kind;
  document.ForEach(document.Member(communicator, "ranks"), [&](ValueIndex entry) {
    const std::optional<uint32_t> rank = RankOf(document, entry);
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
    const std::optional<uint32_t> rank = RankOf(document, entry);
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
  document.ForEach(document.Member(root, "communicators"), [&](ValueIndex communicator) {
    AddCommunicator(document, communicator, recording);
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
