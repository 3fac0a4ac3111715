#include "runtime-verify/coordinator/fleet.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace allranks::verify {
namespace {

constexpr size_t kWordsKept = 64 << 10;
constexpr size_t kStoreKeys = 4096;
constexpr milliseconds kReapLimit{10000};

// Several processes in a row that libraries write to standard error: the last lines say what was wrong.
std::string LastLines(const std::string& words) {
  constexpr size_t kShown = 400;
  std::string text = words.substr(words.size() > kShown ? words.size() - kShown : 0);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

Fleet::Fleet(std::vector<RankLink> links, InterruptGuard& interrupt) : interrupt_(interrupt) {
  for (RankLink& link : links) ranks_.push_back({.link = std::move(link)});
}

Fleet::~Fleet() { Stop(); }

int Fleet::CommandsOf(const Rank& rank) const {
  return rank.link.child ? rank.link.child->commands() : rank.link.connection;
}

int Fleet::EventsOf(const Rank& rank) const {
  return rank.link.child ? rank.link.child->events() : rank.link.connection;
}

void Fleet::Send(uint32_t rank, const Command& command) {
  ranks_[rank].outgoing += Encode(command);
  Flush(ranks_[rank]);
}

void Fleet::SendAll(const Command& command) {
  for (uint32_t rank = 0; rank < size(); ++rank) Send(rank, command);
}

// A pipe that is full or closed is left alone: its end shows on the other descriptor.
void Fleet::Flush(Rank& rank) {
  while (!rank.is_dead && !rank.outgoing.empty()) {
    const ssize_t n = write(CommandsOf(rank), rank.outgoing.data(), rank.outgoing.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    rank.outgoing.erase(0, static_cast<size_t>(n));
  }
}

std::vector<RankEvent> Fleet::Wait(milliseconds limit) {
  std::vector<pollfd> descriptors = {{.fd = interrupt_.descriptor(), .events = POLLIN, .revents = 0}};
  std::vector<uint32_t> owner = {0};
  for (uint32_t r = 0; r < size(); ++r) {
    const Rank& rank = ranks_[r];
    if (rank.is_dead) continue;
    const auto add = [&](int descriptor, short what) {
      descriptors.push_back({.fd = descriptor, .events = what, .revents = 0});
      owner.push_back(r);
    };
    add(EventsOf(rank), POLLIN);
    if (rank.link.child) add(rank.link.child->words(), POLLIN);
    if (!rank.outgoing.empty()) add(CommandsOf(rank), POLLOUT);
  }
  std::vector<RankEvent> events;
  if (poll(descriptors.data(), descriptors.size(), static_cast<int>(limit.count())) <= 0) return events;
  for (size_t i = 1; i < descriptors.size(); ++i) {
    Rank& rank = ranks_[owner[i]];
    if (descriptors[i].revents == 0 || rank.is_dead) continue;
    if (rank.link.child && descriptors[i].fd == rank.link.child->words()) ReadWords(rank);
    if (descriptors[i].fd == CommandsOf(rank)) Flush(rank);
    if (descriptors[i].fd == EventsOf(rank)) ReadEvents(owner[i], &events);
  }
  return events;
}

void Fleet::ReadWords(Rank& rank) {
  char bytes[4096];
  for (ssize_t n; (n = read(rank.link.child->words(), bytes, sizeof(bytes))) > 0;) {
    rank.words.append(bytes, static_cast<size_t>(n));
  }
  if (rank.words.size() > kWordsKept) rank.words.erase(0, rank.words.size() - kWordsKept);
}

void Fleet::ReadEvents(uint32_t r, std::vector<RankEvent>* events) {
  Rank& rank = ranks_[r];
  bool is_over = false;
  char bytes[16384];
  for (;;) {
    const ssize_t n = read(EventsOf(rank), bytes, sizeof(bytes));
    if (n < 0 && errno == EINTR) continue;
    is_over = n == 0 || (n < 0 && errno != EAGAIN);
    if (n <= 0 || (is_over = !rank.lines.Add({bytes, static_cast<size_t>(n)}))) break;
  }
  while (const std::optional<std::string> line = rank.lines.Take()) {
    const std::optional<Event> event = DecodeEvent(*line);
    if (!event) is_over = true;
    if (event && !KeepStore(r, *event)) events->push_back({.rank = r, .event = *event});
  }
  if (is_over) Bury(r, events);
}

void Fleet::Bury(uint32_t r, std::vector<RankEvent>* events) {
  Rank& rank = ranks_[r];
  // Ranks of a job stay until they are dismissed: one that goes was killed, or its node is gone.
  rank.end = "is gone: its process was ended, or its node cannot be reached";
  bool was_killed = !rank.link.child.has_value();
  if (rank.link.child) {
    // It has closed its end, so it is ending; what it still says must not keep us.
    constexpr milliseconds kEnding{2000};
    if (!rank.link.child->Reap(kEnding)) rank.link.child->Kill();
    rank.link.child->Reap(kEnding);
    ReadWords(rank);
    rank.end = rank.link.child->End();
    was_killed = rank.link.child->WasKilledFromOutside();
    if (was_killed) rank.end += " from outside; is there memory enough?";
    if (const std::string words = LastLines(rank.words); !words.empty()) rank.end += ": " + words;
  }
  rank.is_dead = true;
  events->push_back({.rank = r, .event = {}, .is_dead = true, .was_killed = was_killed});
}

// True if the event was for the store.
bool Fleet::KeepStore(uint32_t r, const Event& event) {
  const auto answer = [&](uint32_t to, const std::string& key) {
    Send(to, {.kind = Command::Kind::Value, .key = key, .value = store_[key]});
  };
  if (event.kind == Event::Kind::Set) {
    if (store_.size() < kStoreKeys) store_[event.key] = event.value;
    for (uint32_t other = 0; other < size(); ++other) {
      if (std::erase(ranks_[other].wanted, event.key) > 0) answer(other, event.key);
    }
    return true;
  }
  if (event.kind != Event::Kind::Get) return false;
  if (store_.contains(event.key)) {
    answer(r, event.key);
  } else {
    ranks_[r].wanted.push_back(event.key);
  }
  return true;
}

bool Fleet::Stop() {
  if (is_stopped_) return true;
  is_stopped_ = true;
  const Clock::time_point start = Clock::now();
  for (Rank& rank : ranks_) {
    if (rank.link.child) rank.link.child->Kill();
    if (rank.link.connection >= 0) close(rank.link.connection);
    rank.link.connection = -1;
  }
  bool reaped = true;
  for (Rank& rank : ranks_) {
    const auto spent = std::chrono::duration_cast<milliseconds>(Clock::now() - start);
    if (rank.link.child && !rank.link.child->Reap(std::max(kReapLimit - spent, milliseconds(0))))
      reaped = false;
  }
  reap_time_ = std::chrono::duration_cast<milliseconds>(Clock::now() - start);
  return reaped;
}

}  // namespace allranks::verify
