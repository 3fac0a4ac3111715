#include "explain/readers/flight_recorder.h"

#include <algorithm>
#include <charconv>

namespace allranks::explain {
namespace {

constexpr size_t kLongestShapes = 160;

// The numbers of "[0, 1, 2]" or of a list.
std::vector<uint32_t> RanksOf(const Document& document, ValueIndex value) {
  std::vector<uint32_t> ranks;
  document.ForEach(value, [&](ValueIndex item) {
    const int64_t rank = document.Int(item, -1);
    if (rank >= 0 && rank < kMostRank) ranks.push_back(static_cast<uint32_t>(rank));
    return ranks.size() < kMostRank;
  });
  const std::string_view text = document.Text(value);
  for (size_t at = 0; at < text.size();) {
    uint32_t rank = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), rank);
    if (error == std::errc() && rank < kMostRank) ranks.push_back(rank);
    at = end == text.data() + at ? at + 1 : static_cast<size_t>(end - text.data());
  }
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

// One dump, whose names and stacks go into the recording as they come.
class Dump {
 public:
  Dump(const Document& document, ValueIndex root, Recording& recording)
      : document_(document), root_(root), recording_(recording) {}

  std::string Add(std::optional<uint32_t> rank_of_name) {
    const std::string_view version = document_.Text(document_.Member(root_, "version"));
    if (version.substr(0, 2) != "2." && version != "2") {
      return "a Flight Recorder dump of version `" + std::string(version.substr(0, 20)) + "`; versions 2.0 to 2.10 are understood";
    }
    const ValueIndex told = document_.Member(root_, "rank");
    const std::optional<uint32_t> rank = told != kNoValue ? std::optional(static_cast<uint32_t>(document_.Int(told))) : rank_of_name;
    if (!rank || *rank >= kMostRank) {
      return "its name does not say which rank it is of; name it as the recorder does, with the rank at its end (`trace_rank_3`)";
    }
    AddGroups();
    Rank& record = recording_.RankOf(*rank);
    if (record.has_operations) return "a second dump of rank " + std::to_string(*rank) + "; give those of one moment only";
    record.has_operations = true;
    AddEntries(*rank, record);
    AddStatus(record);
    return {};
  }

 private:
  void AddGroups() {
    document_.ForEachPair(document_.Member(root_, "pg_config"), [&](ValueIndex key, ValueIndex value) {
      const std::string_view name = document_.Text(document_.Member(value, "name"), document_.Text(key));
      const uint32_t index = recording_.GroupOf(name, RanksOf(document_, document_.Member(value, "ranks")));
      Group& group = recording_.groups[index];
      if (group.description.empty()) group.description = document_.Text(document_.Member(value, "desc")).substr(0, 200);
      own_groups_.try_emplace(group.name, index);
      return recording_.groups.size() < 100000;
    });
  }

  // `process_group` is the pair of name and description; the first versions have a number alone.
  uint32_t GroupOf(ValueIndex entry) {
    const ValueIndex pair = document_.Member(entry, "process_group");
    std::string_view name = document_.Text(pair);
    std::string_view description;
    size_t index = 0;
    document_.ForEach(pair, [&](ValueIndex item) {
      (index == 0 ? name : description) = document_.Text(item);
      return ++index < 2;
    });
    std::string number;
    if (name.empty()) name = number = std::to_string(document_.Int(document_.Member(entry, "pg_id")));
    if (last_group_ && recording_.groups[*last_group_].name == name) return *last_group_;
    const auto own = own_groups_.find(name);
    last_group_ = own != own_groups_.end() ? own->second : recording_.GroupNamed(name);
    Group& group = recording_.groups[*last_group_];
    if (group.description.empty()) group.description = description.substr(0, 200);
    return *last_group_;
  }

  void PrintShapes(ValueIndex value, std::string& out) {
    if (out.size() > kLongestShapes) return;
    if (value != kNoValue && document_[value].kind == ValueKind::Int) {
      out += std::to_string(document_.Int(value));
      return;
    }
    if (value == kNoValue || document_[value].kind != ValueKind::List) return;
    out += '[';
    bool first = true;
    document_.ForEach(value, [&](ValueIndex item) {
      if (!first) out += ", ";
      first = false;
      // Sizes are lists of lists: no deeper.
      if (document_[item].kind == ValueKind::List) PrintSizes(item, out);
      else out += std::to_string(document_.Int(item));
      return out.size() <= kLongestShapes;
    });
    out += ']';
  }

  void PrintSizes(ValueIndex list, std::string& out) {
    out += '[';
    bool first = true;
    document_.ForEach(list, [&](ValueIndex item) {
      out += (first ? "" : ", ") + std::to_string(document_.Int(item));
      first = false;
      return out.size() <= kLongestShapes;
    });
    out += ']';
  }

  NameIndex ShapesOf(ValueIndex sizes, ValueIndex types) {
    shapes_.clear();
    PrintShapes(sizes, shapes_);
    document_.ForEach(types, [&](ValueIndex type) {
      shapes_ += ' ';
      shapes_ += document_.Text(type).substr(0, 20);
      return false;
    });
    return recording_.names.Add(shapes_);
  }

  // A dump has each text once, so its address tells it: most frames ask for what was asked for just before.
  NameIndex NameAt(ValueIndex value, size_t most) {
    const std::string_view text = document_.Text(value).substr(0, most);
    Known& known = known_[(reinterpret_cast<uintptr_t>(text.data()) >> 2) % known_.size()];
    if (known.text.data() != text.data() || known.text.size() != text.size()) known = {text, recording_.names.Add(text)};
    return known.name;
  }

  StackIndex StackOf(ValueIndex frames) {
    if (frames == kNoValue) return kNoStack;
    frames_.clear();
    document_.ForEach(frames, [&](ValueIndex frame) {
      Frame made;
      document_.ForEachPair(frame, [&](ValueIndex key, ValueIndex value) {
        const std::string_view name = document_.Text(key);
        if (name == "filename") made.file = NameAt(value, 1000);
        if (name == "name") made.function = NameAt(value, 300);
        if (name == "line") made.line = static_cast<uint32_t>(document_.Int(value));
        return true;
      });
      frames_.push_back(made);
      return frames_.size() < kMostFrames;
    });
    return recording_.stacks.Add(frames_);
  }

  // "nccl:send 1->2", "nccl:recv 3<-0": ranks of the group.
  void ReadPeer(std::string_view name, uint32_t rank, Operation& op) {
    const size_t arrow = name.find_last_of("><");
    if (arrow == std::string_view::npos || (!op.is_send && !op.is_recv)) return;
    uint32_t peer = 0;
    const std::string_view rest = name.substr(arrow + (name.substr(arrow).starts_with("<-") ? 2 : 1));
    if (std::from_chars(rest.data(), rest.data() + rest.size(), peer).ec != std::errc()) return;
    const std::vector<uint32_t>& members = recording_.groups[op.group].ranks;
    if (peer < members.size()) peer = members[peer];
    op.peer = peer == rank ? -1 : static_cast<int32_t>(peer);
  }

  struct Fields {
    ValueIndex profiling_name = kNoValue, state = kNoValue, retired = kNoValue, frames = kNoValue, sizes = kNoValue;
    ValueIndex types = kNoValue, collective = kNoValue, p2p = kNoValue, is_p2p = kNoValue, record = kNoValue, created = kNoValue;
  };

  Fields FieldsOf(ValueIndex entry) {
    Fields f;
    const std::array<std::pair<std::string_view, ValueIndex*>, 11> wanted = {{
        {"profiling_name", &f.profiling_name}, {"state", &f.state}, {"retired", &f.retired}, {"frames", &f.frames},
        {"input_sizes", &f.sizes}, {"input_dtypes", &f.types}, {"collective_seq_id", &f.collective}, {"p2p_seq_id", &f.p2p},
        {"is_p2p", &f.is_p2p}, {"record_id", &f.record}, {"time_created_ns", &f.created}}};
    document_.ForEachPair(entry, [&](ValueIndex key, ValueIndex value) {
      const std::string_view name = document_.Text(key);
      for (const auto& [wanted_name, place] : wanted) {
        if (wanted_name == name) return *place = value, true;
      }
      // Versions before collectives and the others were counted apart.
      if (name == "seq_id" && f.collective == kNoValue) f.collective = value;
      return true;
    });
    return f;
  }

  void AddEntries(uint32_t rank, Rank& record) {
    document_.ForEach(document_.Member(root_, "entries"), [&](ValueIndex entry) {
      if (document_[entry].kind != ValueKind::Dict) return true;
      const Fields f = FieldsOf(entry);
      const std::string_view name = document_.Text(f.profiling_name);
      Operation op;
      op.group = GroupOf(entry);
      op.kind = KindNamed(name);
      op.is_send = recording_.names[op.kind] == "send";
      op.is_recv = recording_.names[op.kind] == "recv";
      const bool p2p = op.is_send || op.is_recv || document_.Int(f.is_p2p) != 0;
      op.turn = static_cast<uint64_t>(document_.Int(p2p && f.p2p != kNoValue ? f.p2p : f.collective));
      op.order = static_cast<uint64_t>(document_.Int(f.record, static_cast<int64_t>(record.operations.size())));
      op.time_ns = static_cast<uint64_t>(document_.Int(f.created));
      op.state = StateOf(document_.Text(f.state), document_.Int(f.retired) != 0);
      op.shapes = ShapesOf(f.sizes, f.types);
      op.stack = StackOf(f.frames);
      ReadPeer(name, rank, op);
      record.operations.push_back(op);
      return record.operations.size() < kMostOperations;
    });
    std::ranges::stable_sort(record.operations, {}, &Operation::order);
  }

  static OpState StateOf(std::string_view state, bool retired) {
    if (state == "completed") return OpState::Completed;
    if (retired) return OpState::Ended;
    return state == "started" ? OpState::Started : OpState::Scheduled;
  }

  NameIndex KindNamed(std::string_view name) {
    if (name != last_name_) {
      last_name_ = std::string(name);
      last_kind_ = recording_.names.Add(KindOf(name));
    }
    return last_kind_;
  }

  // By the number of the group, under which entries have it as well.
  void AddStatus(Rank& record) {
    std::map<int64_t, uint32_t> group_of;
    document_.ForEach(document_.Member(root_, "entries"), [&](ValueIndex entry) {
      const int64_t id = document_.Int(document_.Member(entry, "pg_id"), -1);
      if (!group_of.contains(id)) group_of[id] = GroupOf(entry);
      return group_of.size() < 10000;
    });
    document_.ForEachPair(document_.Member(root_, "pg_status"), [&](ValueIndex key, ValueIndex status) {
      int64_t id = document_.Int(key, -1);
      const std::string_view text = document_.Text(key);
      std::from_chars(text.data(), text.data() + text.size(), id);
      if (const auto group = group_of.find(id); group != group_of.end()) {
        record.progress[group->second] = {document_.Int(document_.Member(status, "last_enqueued_collective"), -1),
                                          document_.Int(document_.Member(status, "last_completed_collective"), -1)};
      }
      return true;
    });
  }

  const Document& document_;
  ValueIndex root_;
  Recording& recording_;
  struct Known {
    std::string_view text;
    NameIndex name = kNoName;
  };
  std::array<Known, 1024> known_ = {};
  std::map<std::string, uint32_t, std::less<>> own_groups_;  // those that this rank's configuration names
  std::optional<uint32_t> last_group_;
  std::string last_name_ = "\n";
  NameIndex last_kind_ = kNoName;
  std::string shapes_;
  std::vector<Frame> frames_;
};

}  // namespace

bool IsFlightRecorder(const Document& document, ValueIndex root) {
  return document.Member(root, "version") != kNoValue &&
         (document.Member(root, "entries") != kNoValue || document.Member(root, "pg_config") != kNoValue);
}

std::string AddFlightRecorder(const Document& document, ValueIndex root, std::optional<uint32_t> rank, Recording& recording) {
  return Dump(document, root, recording).Add(rank);
}

}  // namespace allranks::explain
