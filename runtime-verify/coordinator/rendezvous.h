// How the ranks of a launched job meet: rank 0 listens, every other process of the job is a relay that runs
// one rank and hands its lines on. A connection lives as long as a run; for the next run the relay comes
// again. This takes the place of a store of its own: Set and Get are lines like all others.
#pragma once

#include <string>

#include "runtime-verify/coordinator/launch_environment.h"
#include "runtime-verify/coordinator/launcher.h"

namespace allranks::verify {

// Rank 0's side.
class Rendezvous {
 public:
  // Listens on the loopback, or, if `is_remote`, on the address of rank 0. On failure `error` says why.
  static std::unique_ptr<Rendezvous> Listen(const LaunchEnvironment& job, bool is_remote,
                                            InterruptGuard& interrupt, std::string* error);
  ~Rendezvous();
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  struct Guest {
    int connection = -1;  // owned by whoever takes it
    std::string address;  // of its node
    uint32_t local_rank = 0;
  };
  // All other ranks of the job, by rank; each is told to run `variant`. Empty if some do not come: `error`.
  std::vector<Guest> Gather(uint32_t variant, std::string* error);
  // Tells all relays to end with this exit code.
  void Dismiss(int exit_code);

  const LaunchEnvironment& job() const { return job_; }
  const std::string& own_address() const { return own_address_; }

 private:
  Rendezvous(const LaunchEnvironment& job, InterruptGuard& interrupt) : job_(job), interrupt_(interrupt) {}
  std::vector<Guest> Welcome(const std::string& reply, milliseconds limit, std::string* error);

  LaunchEnvironment job_;
  InterruptGuard& interrupt_;
  int listener_ = -1;
  std::string own_address_ = "127.0.0.1";
};

// Rank 0 as a process here, the others through their relays.
class LaunchedLauncher : public Launcher {
 public:
  LaunchedLauncher(std::unique_ptr<Launcher> own, Rendezvous& rendezvous, uint32_t variant)
      : own_(std::move(own)), rendezvous_(rendezvous), variant_(variant) {}
  std::vector<RankLink> Start(uint32_t world, std::string* error) override;
  RankSetup SetupOf(uint32_t rank) const override;
  std::string Monitor() const override { return own_->Monitor(); }

 private:
  std::unique_ptr<Launcher> own_;
  Rendezvous& rendezvous_;
  uint32_t variant_;
  std::vector<Rendezvous::Guest> guests_;
};

// The life of a relay; `variants` are the launchers of the backend. Returns the exit code that rank 0 says.
int RunRelay(const LaunchEnvironment& job, const std::vector<Launcher*>& variants, bool is_remote,
             InterruptGuard& interrupt, std::string* error);

}  // namespace allranks::verify
