// All ranks of one run: their processes here, or the connections to those that other nodes run.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "runtime-verify/coordinator/child.h"
#include "runtime-verify/coordinator/interrupt.h"
#include "runtime-verify/worker/protocol.h"

namespace allranks::verify {

// How to reach a rank: a process of ours, or one descriptor of a connection (owned) to a relay on its node.
struct RankLink {
  std::optional<Child> child;
  int connection = -1;
};

// What a rank said, or that it is gone.
struct RankEvent {
  uint32_t rank = 0;
  Event event;
  bool is_dead = false;
  bool was_killed = false;  // see Child::WasKilledFromOutside
};

class Fleet {
 public:
  Fleet(std::vector<RankLink> links, InterruptGuard& interrupt);
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  uint32_t size() const { return static_cast<uint32_t>(ranks_.size()); }
  void Send(uint32_t rank, const Command& command);
  void SendAll(const Command& command);

  // Waits up to `limit` for something to happen and returns all that has. Keeps the store on the way.
  std::vector<RankEvent> Wait(milliseconds limit);
  bool WasInterrupted() { return interrupt_.HasCome(); }

  // How a rank ended and its last words on standard error; empty while it lives.
  std::string EndOf(uint32_t rank) const { return ranks_[rank].end; }

  // Kills and reaps all. False if one could not be reaped: the machine is in a bad state then.
  bool Stop();
  milliseconds reap_time() const { return reap_time_; }

 private:
  struct Rank {
    RankLink link;
    LineBuffer lines;
    std::string outgoing;
    std::string words;
    std::string end;
    std::vector<std::string> wanted;  // keys it waits for
    bool is_dead = false;
  };

  int CommandsOf(const Rank& rank) const;
  int EventsOf(const Rank& rank) const;
  void Flush(Rank& rank);
  void ReadEvents(uint32_t rank, std::vector<RankEvent>* events);
  void ReadWords(Rank& rank);
  void Bury(uint32_t rank, std::vector<RankEvent>* events);
  bool KeepStore(uint32_t rank, const Event& event);

  std::vector<Rank> ranks_;
  std::map<std::string, std::string> store_;
  InterruptGuard& interrupt_;
  milliseconds reap_time_{0};
  bool is_stopped_ = false;
};

}  // namespace allranks::verify
