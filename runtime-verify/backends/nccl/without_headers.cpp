// What stands in for the backend where the headers of CUDA and NCCL are not there.
#include "runtime-verify/backends/nccl/nccl_backend.h"

namespace allranks::verify {
namespace {

class MissingBackend : public Backend {
 public:
  std::optional<Failure> Connect(const RankSetup&, Store&, std::string*) override {
    return Failure{.code = 0,
                   .text =
                       "this program was built without the headers of CUDA and NCCL (cuda.h, nccl.h); "
                       "build it where they are, or use --backend gloo or sim"};
  }
  bool RunsAhead() const override { return false; }
  std::optional<Failure> Reserve(size_t, size_t) override { return std::nullopt; }
  std::optional<Failure> Issue(uint32_t, const witness::ScheduledOp&, uint32_t, OpBuffers&) override {
    return Failure{};
  }
  OpState Poll(uint32_t, Failure*) override { return OpState::Failed; }
  std::string Unsupported(const witness::ScheduledOp&) const override { return ""; }
};

}  // namespace

std::unique_ptr<Backend> MakeNcclBackend() { return std::make_unique<MissingBackend>(); }

}  // namespace allranks::verify
