#pragma once

#include "runtime-verify/coordinator/fleet.h"

namespace allranks::verify {

// Brings the ranks of one run to life.
class Launcher {
 public:
  virtual ~Launcher() = default;
  // One link a rank; on failure nothing runs and `error` says why.
  virtual std::vector<RankLink> Start(uint32_t world, std::string* error) = 0;
  // What a rank has to know before it connects.
  virtual RankSetup SetupOf(uint32_t rank) const = 0;
  // Where the library's own monitor listens while the ranks run; empty: nowhere.
  virtual std::string Monitor() const { return ""; }
};

// All ranks as processes of this machine.
class LocalLauncher : public Launcher {
 public:
  explicit LocalLauncher(ChildOptions options) : options_(std::move(options)) {}
  std::vector<RankLink> Start(uint32_t world, std::string* error) override;
  RankSetup SetupOf(uint32_t rank) const override;

 protected:
  // Of one rank, on top of what all have.
  virtual std::vector<std::string> EnvironmentOf(uint32_t) const { return {}; }

 private:
  ChildOptions options_;
};

}  // namespace allranks::verify
