#include "explain/readers/text_log.h"

#include <algorithm>
#include <utility>

#include "explain/readers/text_line.h"

namespace allranks::explain {
namespace {

constexpr size_t kMostBlocks = 4096;
constexpr size_t kLongestWhat = 300;
constexpr size_t kMostHardwareLines = 20;  // a rank

// Words by which devices and networks complain, whatever the code did.
constexpr std::array<std::string_view, 18> kHardwareWords = {
    "NVRM: Xid", "Xid (", "uncorrectable ECC", "uncorrectable NVLink", "fallen off the bus", "unspecified launch failure",
    "ncclRemoteError", "ncclSystemError", "remote process exited or there was a network error", "Got completion from peer",
    "NET/IB : Got async event", "ibv_", "socketProgress", "socketStartConnect", "Connection reset by peer",
    "Connection closed by peer", "hardware error", "NVLink error"};

enum class BlockKind : uint8_t { None, FailedCollective, Traceback, FaultThread, PySpyThread };

// What several lines say together.
struct Block {
  BlockKind kind = BlockKind::None;
  std::optional<uint32_t> rank;
  std::vector<Frame> frames;
  bool is_main = false;  // of a stack: the thread that runs the program
  std::string pending;   // the head
};

class TextReader {
 public:
  TextReader(std::optional<uint32_t> rank, Recording& recording) : file_rank_(rank), recording_(recording) {}

  bool Read(std::string_view text) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      Line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    for (auto& [stream, block] : blocks_) Close(block);
    for (const auto& [rank, op] : pending_timeouts_) LeaveCompletedGroup(*rank, op);
    return found_;
  }

 private:
  // ---- who ----

  std::optional<uint32_t> RankOf(const TextLine& line) {
    if (line.rank && !line.rank_is_of_group) return line.rank;
    if (file_rank_) return file_rank_;
    if (line.rank) {
      if (line.rank_is_of_group && !doubted_) {
        doubted_ = true;
        recording_.Note("a log names ranks within groups only (`PG ID ... Rank r`), which were taken for ranks of the job");
      }
      return line.rank;
    }
    return std::nullopt;
  }

  Rank* Record(std::optional<uint32_t> rank) {
    if (!rank || *rank >= kMostRank) return nullptr;
    found_ = true;
    return &recording_.RankOf(*rank);
  }

  // Of a line without PyTorch's prefix the block that was opened last by the same writer: the prefix stands before the
  // first line of a message only.
  Block& BlockOf(const TextLine& line) {
    if (blocks_.size() >= kMostBlocks) {
      blocks_.clear();
      last_opened_.clear();
    }
    const std::string writer(line.stream.substr(0, 100));
    if (line.rank_prefix.empty()) {
      const auto last = last_opened_.find(writer);
      if (last != last_opened_.end() && blocks_[last->second].kind != BlockKind::None) return blocks_[key_ = last->second];
    }
    key_ = writer + "|" + std::string(line.rank_prefix);
    return blocks_[key_];
  }

  // ---- lines ----

  void Line(std::string_view text) {
    const TextLine line = TakeApart(text, room_);
    Block& block = BlockOf(line);
    if (block.kind != BlockKind::None && Continues(line.words, block)) return;
    Close(block);
    const std::string_view words = Trimmed(line.words);
    if (words.empty()) return;
    if (Opens(line, words, block)) {
      last_opened_[std::string(line.stream.substr(0, 100))] = key_;
      return;
    }
    if (Watchdog(line, words) || Status(line, words) || Checks(line, words) || Launcher(words)) return;
    if (RankHead(words)) return;
    Hardware(line, words);
  }

  // "=== rank 3 ===": what people put between stacks of several ranks.
  bool RankHead(std::string_view words) {
    while (!words.empty() && (words.front() == '=' || words.front() == '-' || words.front() == '#' || words.front() == ' ')) words.remove_prefix(1);
    if (!words.starts_with("rank ") && !words.starts_with("Rank ") && !words.starts_with("RANK ") && !words.starts_with("RANK=")) return false;
    const std::optional<uint64_t> rank = NumberAt(words.substr(5));
    std::string_view rest = words.substr(5);
    while (!rest.empty() && rest.front() >= '0' && rest.front() <= '9') rest.remove_prefix(1);
    if (!rank || *rank >= kMostRank || rest.find_first_not_of(" =-:#") != std::string_view::npos) return false;
    file_rank_ = static_cast<uint32_t>(*rank);
    return true;
  }

  // The group that "[PG ID 2 PG GUID 9(dp) Rank 7]" or "[PG 1 Rank 0]" names.
  uint32_t GroupOf(std::string_view words) {
    std::string_view name;
    std::string_view description;
    if (const std::string_view guid = After(words, "PG GUID "); !guid.empty()) {
      name = WordAt(guid);
      if (const std::string_view rest = guid.substr(name.size()); rest.starts_with("(")) description = rest.substr(1, rest.find(')') - 1);
    } else if (const std::string_view id = After(words, "[PG "); !id.empty()) {
      name = WordAt(id);
      if (const std::string_view rest = id.substr(name.size()); rest.starts_with(" (")) description = rest.substr(2, rest.find(')') - 2);
    }
    if (description == "default_pg" || name == "0") description = "default_pg";
    const std::string_view key = name.empty() ? "0" : name;
    const uint32_t group = recording_.GroupNamed(key.substr(0, 80));
    if (recording_.groups[group].description.empty()) recording_.groups[group].description = description.substr(0, 80);
    return group;
  }

  // "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5, OpType=ALLREDUCE, NumelIn=1, ...) ran for ..."
  bool Watchdog(const TextLine& line, std::string_view words) {
    const std::string_view work = After(words, "Watchdog caught collective operation timeout: Work");
    if (work.empty()) return false;
    const std::optional<uint64_t> turn = NumberAfter(work, "SeqNum=");
    Rank* rank = Record(RankOf(line));
    if (rank == nullptr) return true;
    const std::string kind = KindOf(WordAt(After(work, "OpType=")));
    const std::optional<uint64_t> numel = NumberAfter(work, "NumelIn=");
    Operation op;
    // Before PyTorch 2.0 it was not printed.
    op.turn = turn.value_or(0);
    op.state = OpState::Started;
    op.kind = recording_.names.Add(kind);
    op.is_send = kind == "send";
    op.is_recv = kind == "recv";
    if (numel) op.shapes = recording_.names.Add("[[" + std::to_string(*numel) + "]]");
    pending_timeouts_[&*rank] = op;
    // Where it does not name the group, the line behind it may; without one it is the default group.
    const bool names_group = words.find("[PG ") < words.find("Watchdog caught");
    const uint32_t group = GroupOf(names_group ? words : "[PG 0");
    AddTimeout(*rank, group, !names_group);
    if (names_group) last_timeout_group_[rank] = group;
    return true;
  }

  // The timeout of a rank belongs to the group that its next line of status names.
  void AddTimeout(Rank& rank, uint32_t group, bool is_assumed) {
    const auto pending = pending_timeouts_.find(&rank);
    if (pending == pending_timeouts_.end()) return;
    Operation op = pending->second;
    op.group = group;
    op.group_is_assumed = is_assumed;
    std::erase_if(rank.operations, [&](const Operation& old) {
      const bool may_be_it = old.group_is_assumed || old.group == group;
      return may_be_it && !rank.has_operations && old.turn == op.turn && old.kind == op.kind && old.state == OpState::Started && old.stack == kNoStack;
    });
    const bool is_known = std::ranges::any_of(rank.operations, [&](const Operation& old) { return old.turn == op.turn && old.group == group; });
    if (!is_known && rank.operations.size() < kMostOperations) {
      op.order = rank.operations.size();
      rank.operations.push_back(op);
    }
  }

  // One that the group has long completed was issued on another, whose line is not in the log.
  void LeaveCompletedGroup(Rank& rank, const Operation& pending) {
    const uint32_t assumed = GroupOf("[PG 0");
    const auto progress = rank.progress.find(assumed);
    if (progress == rank.progress.end() || rank.has_operations) return;
    for (Operation& op : rank.operations) {
      const bool is_it = op.group == assumed && op.turn == pending.turn && op.kind == pending.kind;
      if (is_it && progress->second.last_completed >= static_cast<int64_t>(op.turn)) op.group = recording_.GroupNamed("(not named)");
    }
  }

  // "... last enqueued NCCL work: 8, last completed NCCL work: 7": both spellings, in all the lines that end so.
  bool Status(const TextLine& line, std::string_view words) {
    std::optional<uint64_t> enqueued = NumberAfter(words, "ast enqueued NCCL work: ");
    if (!enqueued) enqueued = NumberAfter(words, "ast enqueued work: ");
    std::optional<uint64_t> completed = NumberAfter(words, "last completed NCCL work: ");
    if (!completed) completed = NumberAfter(words, "last completed work: ");
    if (!enqueued || !completed) return false;
    Rank* rank = Record(RankOf(line));
    if (rank == nullptr) return true;
    const uint32_t group = GroupOf(words);
    // Where nothing has completed, PyTorch 2.3 prints memory that nobody wrote.
    const bool sane = *completed <= *enqueued;
    rank->progress[group] = {static_cast<int64_t>(*enqueued), sane ? static_cast<int64_t>(*completed) : -1};
    if (words.find("imeout at NCCL work: ") != std::string_view::npos || words.find("detected by watchdog at work") != std::string_view::npos) {
      AddTimeout(*rank, group, false);
      last_timeout_group_[&*rank] = group;
    }
    return true;
  }

  // PyTorch's own checks: monitored_barrier, and TORCH_DISTRIBUTED_DEBUG=DETAIL.
  bool Checks(const TextLine& line, std::string_view words) {
    if (words.find("failed to pass monitoredBarrier") != std::string_view::npos) return MonitoredBarrier(words);
    if (words.find("running collective: CollectiveFingerPrint(") == std::string_view::npos) return false;
    Mismatch mismatch;
    std::string_view rest = words;
    while (mismatch.sides.size() < 64) {
      const size_t at = rest.find(" is running collective: CollectiveFingerPrint(");
      if (at == std::string_view::npos) break;
      const size_t name = rest.rfind("ank ", at);
      const std::string_view print = rest.substr(at + 46, std::min(rest.find(')', at), rest.size()) - std::min(at + 46, rest.size()));
      if (name != std::string_view::npos && NumberAt(rest.substr(name + 4)).value_or(kMostRank) < kMostRank) {
        mismatch.sides.push_back({.rank = static_cast<uint32_t>(*NumberAt(rest.substr(name + 4))),
                                  .kind = KindOf(WordAt(After(print, "OpType="))),
                                  .shapes = ShapesOf(print)});
      }
      rest = rest.substr(at + 46);
    }
    if (mismatch.sides.size() < 2) return true;
    NumbersOf(words, mismatch);
    for (const Mismatch::Side& side : mismatch.sides) Record(side.rank);
    Record(RankOf(line));
    if (recording_.mismatches.size() < 1000) recording_.mismatches.push_back(std::move(mismatch));
    return true;
  }

  // Where ranks are in the same kind of operation, what differs may be how many they have issued.
  static void NumbersOf(std::string_view words, Mismatch& mismatch) {
    if (std::ranges::any_of(mismatch.sides, [&](const Mismatch::Side& side) {
          return side.kind != mismatch.sides[0].kind || side.shapes != mismatch.sides[0].shapes;
        })) {
      return;
    }
    for (Mismatch::Side& side : mismatch.sides) {
      const std::optional<uint64_t> number = NumberAfter(words, "SequenceNumber=");
      if (!number) return;
      side.shapes += (side.shapes.empty() ? "number " : ", number ") + std::to_string(*number);
      words = After(words, "SequenceNumber=");
    }
  }

  static std::string ShapesOf(std::string_view print) {
    const std::string_view shape = After(print, "TensorShape=");
    std::string text(shape.substr(0, std::min(shape.find(']') + 1, size_t{100})));
    if (const std::string_view type = WordAt(After(print, "TensorDtypes=")); !type.empty()) text += " " + std::string(type);
    return text;
  }

  // "Ranks 1, 3 failed to pass monitoredBarrier in 10000 ms", "Rank 1 failed to pass monitoredBarrier".
  bool MonitoredBarrier(std::string_view words) {
    const size_t end = words.find("failed to pass monitoredBarrier");
    const size_t begin = words.rfind("ank", end);
    if (begin == std::string_view::npos) return true;
    NotArrived absent{.group = GroupOf("[PG 0"), .ranks = {}, .operation = "monitored_barrier"};
    std::string_view list = words.substr(begin, end - begin);
    while (!list.empty() && absent.ranks.size() < 4096) {
      const size_t digit = list.find_first_of("0123456789");
      if (digit == std::string_view::npos) break;
      const uint64_t rank = NumberAt(list.substr(digit)).value_or(kMostRank);
      if (rank < kMostRank) absent.ranks.push_back(static_cast<uint32_t>(rank));
      list.remove_prefix(digit);
      list.remove_prefix(std::min(list.find_first_not_of("0123456789"), list.size()));
    }
    found_ = true;
    if (!absent.ranks.empty() && recording_.not_arrived.size() < 1000) recording_.not_arrived.push_back(std::move(absent));
    return true;
  }

  // torchrun's table of failures and its lines about single children.
  bool Launcher(std::string_view words) {
    if (words.starts_with("rank ") && words.find(": ") != std::string_view::npos && words.find("local_rank") != std::string_view::npos) {
      launcher_rank_ = NumberAfter(words, ": ");
      return true;
    }
    if (words.starts_with("exitcode") && launcher_rank_) {
      const std::string_view code = Trimmed(After(words, ":"));
      // One that only failed at a timeout is no cause; one that a signal ended is.
      if (code.starts_with("-")) EndedBySignal(*launcher_rank_, NumberAt(code.substr(1)).value_or(0));
      return true;
    }
    if (const std::string_view rest = After(words, "failed (exitcode: -"); !rest.empty()) {
      const std::optional<uint64_t> local = NumberAfter(words, "local_rank: ");
      if (local) EndedBySignal(*local, NumberAt(rest).value_or(0));
      return true;
    }
    return false;
  }

  void EndedBySignal(uint64_t rank, uint64_t signal) {
    // The launcher ends those that are left with 15 (and 6 is what a watchdog does to its own process).
    if (signal == 15 || signal == 6 || signal == 0 || rank >= kMostRank) return;
    Rank* record = Record(static_cast<uint32_t>(rank));
    if (record != nullptr && !record->ending) record->ending = Ending{"killed by signal " + std::to_string(signal), kNoStack};
  }

  void Hardware(const TextLine& line, std::string_view words) {
    if (words.find("watchdog got stuck for") != std::string_view::npos) return WatchdogStands(line);
    const bool speaks = std::ranges::any_of(kHardwareWords, [&](std::string_view word) { return words.find(word) != std::string_view::npos; });
    if (!speaks) return;
    Rank* rank = Record(RankOf(line));
    const std::string text(words.substr(0, kLongestWhat));
    if (rank == nullptr) return recording_.Note("in a log: " + text);
    if (rank->hardware.size() < kMostHardwareLines && std::ranges::find(rank->hardware, text) == rank->hardware.end()) rank->hardware.push_back(text);
  }

  // It waits for a call of its own, so it can say nothing of the operations.
  void WatchdogStands(const TextLine& line) {
    const std::optional<uint32_t> rank = RankOf(line);
    if (Record(rank) == nullptr) return;
    recording_.Note("the watchdog of rank " + std::to_string(*rank) +
                    " stands still itself: a call of CUDA or NCCL does not return, or another thread holds Python's lock; stacks of that rank (`py-spy dump --native`) would say which");
  }

  // ---- blocks ----

  bool Opens(const TextLine& line, std::string_view words, Block& block) {
    if (words.find("Stack trace of the failed collective:") != std::string_view::npos) return Open(block, BlockKind::FailedCollective, RankOf(line), words);
    if (words.starts_with("Traceback (most recent call last)")) return Open(block, BlockKind::Traceback, RankOf(line), words);
    if ((words.starts_with("Thread 0x") || words.starts_with("Current thread 0x")) && words.find("most recent call first") != std::string_view::npos) {
      return Open(block, BlockKind::FaultThread, RankOf(line), words);
    }
    if (words.starts_with("Thread ") && (words.find("(active") != std::string_view::npos || words.find("(idle") != std::string_view::npos)) {
      Open(block, BlockKind::PySpyThread, RankOf(line), words);
      block.is_main = words.find("\"MainThread\"") != std::string_view::npos;
      return true;
    }
    return false;
  }

  static bool Open(Block& block, BlockKind kind, std::optional<uint32_t> rank, std::string_view words) {
    block = {.kind = kind, .rank = rank, .frames = {}, .is_main = true, .pending = std::string(words.substr(0, kLongestWhat))};
    return true;
  }

  // Whether the line is part of the block; the last one of a traceback ends it.
  bool Continues(std::string_view text, Block& block) {
    const std::string_view words = Trimmed(text);
    switch (block.kind) {
      case BlockKind::FailedCollective: return NumberedFrame(words, block);
      case BlockKind::PySpyThread: return PySpyFrame(text, words, block);
      case BlockKind::FaultThread: return PythonFrame(words, block);
      case BlockKind::Traceback:
        if (PythonFrame(words, block) || words.empty()) return true;
        // The line of source below a frame is indented, the exception is not.
        if (!text.empty() && (text.front() == ' ' || text.front() == '\t')) return true;
        Died(words, block);
        return true;
      case BlockKind::None: return false;
    }
    return false;
  }

  // "#2 bar from /home/user/repro.py:15"
  bool NumberedFrame(std::string_view words, Block& block) {
    if (!words.starts_with("#")) return false;
    const size_t from = words.rfind(" from ");
    const size_t space = words.find(' ');
    const size_t colon = words.rfind(':');
    if (from == std::string_view::npos || from < space || colon == std::string_view::npos || colon < from) return false;
    AddFrame(block, words.substr(from + 6, colon - from - 6), words.substr(space + 1, from - space - 1), NumberAt(words.substr(colon + 1)));
    return true;
  }

  // `File "x.py", line 3, in f` and faulthandler's `File "x.py", line 3 in f`.
  bool PythonFrame(std::string_view words, Block& block) {
    if (!words.starts_with("File \"")) return false;
    const size_t end = words.find('"', 6);
    if (end == std::string_view::npos) return false;
    const std::string_view rest = words.substr(end);
    AddFrame(block, words.substr(6, end - 6), Trimmed(After(rest, " in ")), NumberAfter(rest, "line "));
    return true;
  }

  // "    evaluate (eval.py:14)"
  bool PySpyFrame(std::string_view text, std::string_view words, Block& block) {
    if (text.empty() || (text.front() != ' ' && text.front() != '\t')) return false;
    const size_t open = words.rfind('(');
    const size_t colon = words.rfind(':');
    if (open == std::string_view::npos || !words.ends_with(")")) return true;
    if (colon == std::string_view::npos || colon < open) return true;
    AddFrame(block, words.substr(open + 1, colon - open - 1), Trimmed(words.substr(0, open)), NumberAt(words.substr(colon + 1)));
    return true;
  }

  void AddFrame(Block& block, std::string_view file, std::string_view function, std::optional<uint64_t> line) {
    if (block.frames.size() >= kMostFrames || !line || *line > 100000000) return;
    block.frames.push_back({.file = recording_.names.Add(file.substr(0, 1000)),
                            .function = recording_.names.Add(function.substr(0, 300)),
                            .line = static_cast<uint32_t>(*line)});
  }

  // The exception that ended a rank, with its traceback; what a timeout throws is a consequence.
  void Died(std::string_view words, Block& block) {
    std::ranges::reverse(block.frames);
    const bool follows = words.find("imed out") != std::string_view::npos || words.find("imeout") != std::string_view::npos ||
                         words.find("monitoredBarrier") != std::string_view::npos || words.find("CollectiveFingerPrint") != std::string_view::npos ||
                         words.find("KeyboardInterrupt") != std::string_view::npos || words.find("ChildFailedError") != std::string_view::npos ||
                         words.find("SignalException") != std::string_view::npos || words.find("closed by peer") != std::string_view::npos ||
                         words.find("reset by peer") != std::string_view::npos || words.find("DistBackendError") != std::string_view::npos;
    const std::vector<Frame> frames = std::exchange(block.frames, {});
    block.kind = BlockKind::None;
    TextLine line;
    line.rank = block.rank;
    Checks(line, words);
    Rank* rank = Record(block.rank);
    if (rank == nullptr) return;
    const StackIndex stack = recording_.stacks.Add(frames);
    if (follows) {
      // Where a timeout was thrown the rank was waiting.
      if (rank->stack == kNoStack) rank->stack = stack;
    } else if (!rank->ending) {
      rank->ending = Ending{std::string(words.substr(0, kLongestWhat)), stack};
    }
  }

  void Close(Block& block) {
    const BlockKind kind = std::exchange(block.kind, BlockKind::None);
    if (kind == BlockKind::None || block.frames.empty()) return;
    Rank* rank = Record(block.rank ? block.rank : file_rank_);
    if (rank == nullptr) return;
    const StackIndex stack = recording_.stacks.Add(block.frames);
    if (kind == BlockKind::FailedCollective) {
      const auto group = last_timeout_group_.find(rank);
      // The newest operation that the watchdog named.
      for (auto op = rank->operations.rbegin(); op != rank->operations.rend(); ++op) {
        if (op->stack != kNoStack || op->state == OpState::Completed) continue;
        if (group != last_timeout_group_.end() && op->group != group->second) continue;
        op->stack = stack;
        return;
      }
    } else if (kind == BlockKind::PySpyThread ? block.is_main : kind == BlockKind::FaultThread) {
      // faulthandler prints the main thread last.
      rank->stack = stack;
    }
  }

  std::optional<uint32_t> file_rank_;
  Recording& recording_;
  bool found_ = false;
  bool doubted_ = false;
  std::string room_;
  std::map<std::string, Block> blocks_;
  std::map<std::string, std::string> last_opened_;  // by writer: the key of a block
  std::string key_;                                 // of the block of the line at hand
  std::map<Rank*, Operation> pending_timeouts_;
  std::map<const Rank*, uint32_t> last_timeout_group_;
  std::optional<uint64_t> launcher_rank_;
};

}  // namespace

bool AddText(std::string_view text, std::optional<uint32_t> rank, Recording& recording) {
  return TextReader(rank, recording).Read(text);
}

}  // namespace allranks::explain
