#include "driver/explain/answer.h"

#include <algorithm>
#include <map>

#include "driver/explain/local_files.h"
#include "explain/hang/places.h"
#include "witness/ranks_text.h"

namespace allranks::explain {
namespace {

using witness::RanksText;

std::string Plural(size_t count, const std::string& one, const std::string& many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string At(const Call& call) { return call.path + ":" + std::to_string(call.line); }
std::string At(const Foretold& finding) { return finding.place.path + ":" + std::to_string(finding.place.line); }

// Those that its schedule leaves waiting.
std::vector<uint32_t> RanksOf(const Foretold& finding) {
  std::vector<uint32_t> ranks;
  for (const witness::Stuck& stuck : finding.witness->stuck) ranks.push_back(stuck.rank);
  std::ranges::sort(ranks);
  return ranks;
}

std::string GroupText(const Recording& recording, uint32_t index) {
  if (index >= recording.groups.size()) return "the default group";
  const Group& group = recording.groups[index];
  if (group.description == "default_pg" || group.name.empty() || group.name == "default_pg") return "the default group";
  const bool named = !group.description.empty() && group.description != "undefined";
  std::string text = named ? "the group `" + group.description + "`" : "group " + group.name;
  if (!group.ranks.empty() && group.ranks.size() <= 16) text += " (" + RanksText(group.ranks, 0) + ")";
  return text;
}

class Writer {
 public:
  Writer(const Recording& recording, const Hang& hang, const Sources& sources, Naming& naming)
      : recording_(recording), hang_(hang), sources_(sources), naming_(naming) {}

  Answer Write() {
    answer_.cause = hang_.cause;
    for (const auto& [rank, record] : recording_.ranks) answer_.world = std::max(answer_.world, rank + 1);
    for (const Group& group : recording_.groups) {
      if (!group.ranks.empty()) answer_.world = std::max(answer_.world, group.ranks.back() + 1);
    }
    answer_.notes = recording_.notes;
    if (hang_.cause == Cause::None) {
      const bool any = std::ranges::any_of(recording_.ranks, [](const auto& rank) { return !rank.second.operations.empty(); });
      answer_.summary = any ? "Nothing in the recording is stuck: every operation in it was completed by all the ranks that should have issued it."
                            : "No operation is recorded, so what the ranks wait for is not known.";
      AddHardware();
      return std::move(answer_);
    }
    Operation();
    for (const Arrival& arrival : hang_.stall.arrived) AddWaiting(arrival);
    for (const Stall& stall : hang_.circle) {
      for (const Arrival& arrival : stall.arrived) AddWaiting(arrival);
    }
    for (const Whereabouts& absent : hang_.absent) AddMissing(absent);
    answer_.unheard = hang_.stall.unheard;
    answer_.following = hang_.following.size();
    if (hang_.last_common_stack != kNoStack) LastCommon();
    answer_.partings = sources_.partings;
    for (const std::string& drift : sources_.drift) answer_.notes.push_back("the sources differ from those that ran: " + drift);
    if (const std::optional<Match> match = BestMatch(sources_.findings, recording_, hang_)) {
      answer_.foretold = Foretelling{sources_.findings[match->finding], match->because};
      PutConditionFirst(answer_.foretold->finding);
    } else if (answer_.partings.empty() || !answer_.partings[0].is_by_rank) {
      Beside();
    }
    AddHardware();
    Judge();
    Summary();
    return std::move(answer_);
  }

 private:
  void Operation() {
    const Stall& stall = hang_.stall;
    answer_.kind = stall.kind;
    answer_.turn = stall.turn;
    answer_.group = GroupText(recording_, stall.group);
    answer_.operation = "`" + stall.kind + "` on " + answer_.group;
    if (stall.turn > 0 && !stall.point_to_point) answer_.operation += ", operation " + std::to_string(stall.turn) + " there";
  }

  void AddWaiting(const Arrival& arrival) {
    Crowd crowd{.ranks = {arrival.rank}, .kind = arrival.kind, .shapes = arrival.shapes == "[]" ? "" : arrival.shapes, .calls = CallsOf(recording_, arrival.stack, naming_),
                .state = "waits", .detail = {}};
    Join(answer_.waiting, waiting_, std::move(crowd));
  }

  void AddMissing(const Whereabouts& absent) {
    Crowd crowd;
    crowd.ranks = {absent.rank};
    if (absent.ending) {
      crowd.state = absent.ending->what.starts_with("killed") ? "killed" : "left";
      crowd.detail = absent.ending->what;
      crowd.calls = CallsOf(recording_, absent.ending->stack, naming_);
    }
    if (crowd.calls.empty() && absent.stack != kNoStack) {
      crowd.calls = CallsOf(recording_, absent.stack, naming_);
      if (crowd.state.empty()) crowd.state = "stands";
    }
    if (crowd.state.empty()) {
      crowd.state = absent.last_kind.empty() ? "nothing" : "last seen";
      crowd.kind = absent.last_kind;
      crowd.calls = CallsOf(recording_, absent.last_stack, naming_);
      crowd.detail = absent.last_kind.empty() ? "" : absent.last_completed ? "completed" : "not completed";
    }
    Join(answer_.missing, missing_, std::move(crowd));
  }

  // Crowds by what their ranks have in common.
  using CrowdIndex = std::map<std::string, size_t>;

  static std::string CommonOf(const Crowd& crowd) {
    std::string text;
    for (const std::string& part : {crowd.kind, crowd.shapes, crowd.state, crowd.detail}) text += part + '\0';
    for (const Call& call : crowd.calls) text += call.path + '\0' + std::to_string(call.line) + '\0';
    return text;
  }

  static void Join(std::vector<Crowd>& crowds, CrowdIndex& index, Crowd crowd) {
    const auto [known, is_new] = index.try_emplace(CommonOf(crowd), crowds.size());
    if (is_new) return crowds.push_back(std::move(crowd));
    std::vector<uint32_t>& ranks = crowds[known->second].ranks;
    const auto at = std::ranges::lower_bound(ranks, crowd.ranks[0]);
    if (at == ranks.end() || *at != crowd.ranks[0]) ranks.insert(at, crowd.ranks[0]);
  }

  // The finding knows which of several branches it is.
  void PutConditionFirst(const Foretold& finding) {
    if (!finding.condition) return;
    std::vector<Parting>& all = answer_.partings;
    const auto same = std::ranges::find_if(all, [&](const Parting& one) {
      return one.place.line == finding.condition->line && LocalFiles::SameFile(one.place.path, finding.condition->path);
    });
    if (same != all.end()) {
      std::rotate(all.begin(), same, same + 1);
      return;
    }
    Parting parting{.place = *finding.condition, .kind = "branch", .varies = {}, .is_by_rank = false, .exit_line = 0, .is_observed = false, .why = finding.why};
    // The report says it in words: "`rank == 0` differs between ranks".
    const size_t begin = parting.place.text.find('`');
    const size_t end = parting.place.text.find('`', begin == std::string::npos ? 0 : begin + 1);
    if (begin != std::string::npos && end != std::string::npos) parting.place.text = parting.place.text.substr(begin + 1, end - begin - 1);
    all.insert(all.begin(), std::move(parting));
  }

  void Beside() {
    const std::optional<size_t> beside = MatchBeside(sources_.findings, recording_, hang_);
    if (!beside) return;
    answer_.beside = sources_.findings[*beside];
    PutConditionFirst(*answer_.beside);
  }

  void LastCommon() {
    const std::vector<Call> calls = CallsOf(recording_, hang_.last_common_stack, naming_);
    if (!calls.empty()) answer_.last_common = calls.back();
  }

  void AddHardware() {
    for (const auto& [rank, record] : recording_.ranks) {
      for (const std::string& line : record.hardware) {
        if (answer_.evidence.size() < 12) answer_.evidence.push_back("rank " + std::to_string(rank) + " logged: " + line);
      }
    }
  }

  // Whether every member is known to be in the same operation.
  bool IsWhole() const { return hang_.stall.members_known && !hang_.stall.through_unseen; }

  // All issued the same operation, but from different lines: something parted them before.
  bool HadParted() const {
    const auto other = [&](const Crowd& crowd) { return !crowd.calls.empty() && !answer_.waiting[0].calls.empty() && At(crowd.calls.back()) != At(answer_.waiting[0].calls.back()); };
    return !answer_.partings.empty() && std::ranges::any_of(answer_.waiting, other);
  }

  bool WasKilled() const {
    return std::ranges::any_of(answer_.missing, [](const Crowd& crowd) { return crowd.state == "killed"; });
  }

  void Judge() {
    const size_t members = hang_.stall.arrived.size() + hang_.stall.through.size();
    switch (hang_.cause) {
      case Cause::Mismatch:
      case Cause::Circle: answer_.is_code = true; break;
      case Cause::AllArrived: {
        if (!IsWhole()) break;
        if (!HadParted()) answer_.is_code = false;
        answer_.evidence.insert(answer_.evidence.begin(), "all " + std::to_string(members) + " members issued the same operation with the same sizes" +
                                (answer_.waiting.size() > 1 ? ", from different lines" : ", from the same line"));
        const auto scheduled = std::ranges::count(hang_.stall.arrived, OpState::Scheduled, &Arrival::state);
        const auto started = std::ranges::count(hang_.stall.arrived, OpState::Started, &Arrival::state);
        if (started > 0 && scheduled > 0) {
          answer_.evidence.push_back("it started on the device on " + Plural(static_cast<size_t>(started), "rank", "ranks") + " and not on " +
                                     std::to_string(scheduled) + ": there the stream is busy with something else");
        }
        break;
      }
      case Cause::Ended: answer_.is_code = WasKilled() ? std::optional(false) : std::optional(true); break;
      case Cause::Absent:
        if (!answer_.partings.empty() || answer_.foretold) answer_.is_code = true;
        else if (hang_.absent.empty()) answer_.is_code = std::nullopt;
        else if (sources_.were_read && !answer_.evidence.empty()) answer_.is_code = false;
        break;
      case Cause::None: break;
    }
  }

  std::string WaitingText() const {
    std::string text;
    for (size_t i = 0; i < answer_.waiting.size() && i < 4; ++i) {
      const Crowd& crowd = answer_.waiting[i];
      text += (i == 0 ? "" : i + 1 == answer_.waiting.size() ? " and " : ", ") + RanksText(crowd.ranks, answer_.world);
      const bool one = crowd.ranks.size() == 1;
      text += one ? " waits" : " wait";
      if (hang_.cause == Cause::Mismatch || hang_.cause == Cause::Circle || hang_.stall.point_to_point) text += " in `" + crowd.kind + "`";
      else if (i == 0) text += " in it";
      if (hang_.cause == Cause::Mismatch && !crowd.shapes.empty() && crowd.shapes != "[]") text += " of " + crowd.shapes;
      if (!crowd.calls.empty()) text += " at " + At(crowd.calls.back()) + " (`" + crowd.calls.back().function + "`)";
    }
    if (answer_.waiting.size() > 4) text += ", and others elsewhere";
    return text;
  }

  std::string MismatchText() const {
    const bool by_number = std::ranges::all_of(answer_.waiting, [&](const Crowd& crowd) {
      return crowd.kind == answer_.kind && crowd.shapes.find("number ") != std::string::npos;
    });
    const bool by_size = std::ranges::all_of(answer_.waiting, [&](const Crowd& crowd) { return crowd.kind == answer_.kind; });
    if (by_size && !by_number) return " They hand over different sizes, so it does not end as it should: look at where the sizes come from.";
    return by_number ? " They have issued different numbers of operations before." : " They are in different operations of the same turn, so neither ends as it should.";
  }

  std::string MissingText() const {
    std::string text;
    for (size_t i = 0; i < answer_.missing.size() && i < 4; ++i) {
      const Crowd& crowd = answer_.missing[i];
      const std::string ranks = RanksText(crowd.ranks, 0);
      const bool one = crowd.ranks.size() == 1;
      text += (i == 0 ? " " : " ") + std::string(1, static_cast<char>(std::toupper(static_cast<unsigned char>(ranks[0])))) + ranks.substr(1);
      text += " never came";
      const std::string place = crowd.calls.empty() ? "" : " at " + At(crowd.calls.back()) + " (`" + crowd.calls.back().function + "`)";
      if (crowd.state == "killed") text += one ? ": it was " + crowd.detail : ": they were " + crowd.detail;
      else if (crowd.state == "left") text += (one ? ": it left" : ": they left") + place + " with `" + crowd.detail + "`";
      else if (crowd.state == "stands") text += (one ? ": it stands" : ": they stand") + place;
      else if (crowd.state == "last seen") text += (one ? ": it was" : ": they were") + std::string(" last seen in `") + crowd.kind + "`" + place + ", which " + (crowd.detail == "completed" ? "was completed" : "is not complete either");
      else text += one ? ": it issued no operation that is recorded" : ": they issued no operation that is recorded";
      text += ".";
    }
    return text;
  }

  // Of some the logs have lines, but none that says what they issued.
  std::string UnheardText() const {
    std::vector<uint32_t> silent, vague;
    for (const uint32_t rank : answer_.unheard) (recording_.ranks.contains(rank) ? vague : silent).push_back(rank);
    std::string text;
    if (!silent.empty()) {
      const std::string they = silent.size() == 1 ? "it" : "they";
      text += " There is no record of " + RanksText(silent, 0) + ": look whether " + they + " crashed, or add what " + they + " left behind.";
    }
    if (!vague.empty()) text += " What " + RanksText(vague, 0) + " issued is not recorded.";
    return text;
  }

  void Summary() {
    std::string text = answer_.operation + " does not complete: " + WaitingText() + ".";
    text += MissingText();
    text += UnheardText();
    if (hang_.cause == Cause::Circle) {
      text += hang_.stall.point_to_point ? " Each of them waits for another, and none of them does the opposite first."
                                         : " Each of them waits for the next: the groups are used in different orders.";
      if (!hang_.stall.point_to_point) GuessText(text);
    }
    if (hang_.cause == Cause::Mismatch) text += MismatchText();
    PartingText(text);
    if (answer_.foretold) {
      text += " `allranks check` says so beforehand: " + answer_.foretold->finding.code + " at " + At(answer_.foretold->finding) + ".";
    }
    if (answer_.beside) {
      text += " In the same function " + RanksText(RanksOf(*answer_.beside), 0) + (RanksOf(*answer_.beside).size() == 1 ? " issues" : " issue") + " more than the others: " +
              answer_.beside->code + " at " + At(*answer_.beside) + ".";
    }
    if (answer_.following > 0) text += " " + Plural(answer_.following, "other operation waits", "other operations wait") + " because of it.";
    answer_.summary = std::move(text);
  }

  void GuessText(std::string& text) const {
    std::vector<const Stall*> all = {&hang_.stall};
    for (const Stall& stall : hang_.circle) all.push_back(&stall);
    const auto guessed = std::ranges::find_if(all, [](const Stall* stall) { return !stall->members_known; });
    if (guessed == all.end()) return;
    text += " The members of " + GroupText(recording_, (*guessed)->group) + " are not recorded; ranks that wait elsewhere are taken for such.";
  }

  // What is missing to tell a branch from a device.
  void UnseenText(std::string& text) const {
    const std::vector<uint32_t>& through = hang_.stall.through;
    if (hang_.stall.through_unseen) {
      const std::string ranks = RanksText(through, 0);
      text += " " + std::string(1, static_cast<char>(std::toupper(static_cast<unsigned char>(ranks[0])))) + ranks.substr(1) +
              (through.size() == 1 ? " is" : " are") + " through with that turn; in which operation it was is not recorded. Another one, or another order, is a matter of the code.";
    } else {
      text += " Whether more ranks belong to the group is not recorded. If one does, look for the branch that kept it away; if none does, at the hardware and the network.";
    }
  }

  void PartingText(std::string& text) const {
    if (hang_.cause == Cause::AllArrived && !IsWhole()) return UnseenText(text);
    if (hang_.cause == Cause::AllArrived && !HadParted()) {
      text += " No branch in the code separates the ranks: look at the hardware, the network or a stuck device.";
      return;
    }
    if (WasKilled()) {
      text += " That is no branch of the code: look at what killed it (memory, the scheduler, the node).";
      return;
    }
    if (hang_.cause == Cause::Ended && answer_.partings.empty()) return;
    if (hang_.absent.empty() && hang_.stall.unheard.empty() && hang_.cause == Cause::Absent) {
      text += recording_.ranks.size() == 1 ? " No other rank is heard of: add what the others left behind."
                                           : " No other rank is heard of in this group, and its members are not recorded: add what the others left behind.";
    }
    if (!answer_.partings.empty()) {
      const Parting& best = answer_.partings[0];
      text += (best.kind == "size" ? " They are computed under " : " The ranks diverged at ") + best.place.path + ":" + std::to_string(best.place.line) + ", `" + best.place.text + "`";
      if (!best.varies.empty()) text += ", which " + best.varies;
      if (best.exit_line > 0) text += " and leaves at line " + std::to_string(best.exit_line);
      text += ".";
      return;
    }
    if (answer_.foretold || (hang_.absent.empty() && hang_.stall.unheard.empty() && hang_.cause == Cause::Absent)) return;
    if (!sources_.were_read) {
      text += " The sources of these lines are not here: give their place with --path-map to learn at which branch the ranks diverged.";
    } else if (hang_.cause == Cause::Absent) {
      text += " No branch that ranks can take differently lies on the way there: look at the hardware, the network, or a rank that crashed or is slow.";
    }
  }

  const Recording& recording_;
  const Hang& hang_;
  const Sources& sources_;
  Naming& naming_;
  Answer answer_;
  CrowdIndex waiting_, missing_;
};

}  // namespace

std::vector<Call> CallsOf(const Recording& recording, StackIndex stack, Naming& naming) {
  std::vector<Call> calls;
  for (const Frame& frame : UserFrames(recording, stack)) {
    calls.push_back({.path = naming.Shown(recording.names[frame.file]), .function = std::string(recording.names[frame.function]), .line = frame.line});
  }
  return calls;
}

Answer AnswerOf(const Recording& recording, const Hang& hang, const Sources& sources, Naming& naming) {
  return Writer(recording, hang, sources, naming).Write();
}

}  // namespace allranks::explain
