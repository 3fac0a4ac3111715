#include "rules/launch/zero_batch.h"

#include <algorithm>

namespace allranks::rules {
namespace {

using findings::Confidence;
using launch::ConfigId;

constexpr std::string_view kAR703OfBatch = "AR703";
constexpr int64_t kMostOfBatch = int64_t{1} << 20;

// The configuration that a command hands to DeepSpeed; nullptr: none that is known.
const LaunchFile* ZeroConfigOf(const LaunchContext& context, const LaunchFile& file, const Job& job) {
  for (const Layer& layer : job.layers) {
    if (const Option* config = layer.Find("deepspeed_config")) return context.launches.FileNamed(file, config->value);
  }
  for (const char* name : {"--deepspeed_config", "--deepspeed"}) {
    const std::optional<GivenArgument> given = GivenArgumentOf(job, {name});
    const LaunchFile* config = given ? context.launches.FileNamed(file, given->value) : nullptr;
    if (config != nullptr) return config;
  }
  return nullptr;
}

// A word of which nothing is known may be any arguments, but for one that is the value of another.
bool MayHideArguments(const Job& job, size_t at) {
  const bool is_value = at > 0 && job.args[at - 1].IsKnown() && launch::IsArgumentName(job.args[at - 1].text());
  return !job.args[at].IsKnown() && !is_value;
}

// `--tensor-model-parallel-size 2`, `"tensor_parallel": {}`
bool MayShareBatches(const Job& job, const launch::ConfigTree& tree) {
  const auto speaks_of_it = [](std::string_view text) { return text.find("parallel") != std::string_view::npos || text.find("pipe") != std::string_view::npos; };
  bool in_arguments = false;
  for (size_t i = 0; i < job.args.size(); ++i) in_arguments = in_arguments || speaks_of_it(job.args[i].text()) || MayHideArguments(job, i);
  const bool in_keys = std::ranges::any_of(tree[tree.root()].children, [&](ConfigId child) { return speaks_of_it(tree[child].key); });
  return in_arguments || in_keys;
}

// What is left out is 1 at least, and no more is known of it.
struct Batch {
  ConfigId all_id;
  int64_t all = 0;
  std::optional<int64_t> micro;
  std::optional<int64_t> steps;

  int64_t OfRank() const { return micro.value_or(1) * steps.value_or(1); }
  bool IsGivenBy(int64_t ranks) const { return micro && steps ? all == OfRank() * ranks : all % (OfRank() * ranks) == 0; }
};

std::optional<Batch> BatchIn(const launch::ConfigTree& tree) {
  const ConfigId root = tree.root();
  const auto is_number = [&](ConfigId id) { return !id || (tree.Integer(id) && *tree.Integer(id) > 0 && *tree.Integer(id) <= kMostOfBatch); };
  const ConfigId all = tree.Member(root, "train_batch_size");
  const ConfigId micro = tree.Member(root, "train_micro_batch_size_per_gpu");
  const ConfigId steps = tree.Member(root, "gradient_accumulation_steps");
  if (!all || !is_number(all) || !is_number(micro) || !is_number(steps)) return std::nullopt;
  return Batch{.all_id = all, .all = *tree.Integer(all), .micro = tree.Integer(micro), .steps = tree.Integer(steps)};
}

void CheckBatchOf(const LaunchContext& context, const LaunchFile& file, const Job& job, FindingSink& sink) {
  const Said nodes = NodesOf(job);
  const Said processes = ProcessesPerNode(job);
  if (!nodes.value || !processes.value || processes.sureness != Sureness::Written || *nodes.value <= 0 || *processes.value <= 0) return;
  if (nodes.sureness != Sureness::Written && !nodes.is_implied) return;
  if (*nodes.value > kMostOfBatch || *processes.value > kMostOfBatch) return;
  const objects::ScriptOptions* script = context.ScriptOf(job);
  if (script != nullptr && script->shares_batches) return;
  const LaunchFile* config = ZeroConfigOf(context, file, job);
  if (config == nullptr || config->tree.empty() || MayShareBatches(job, config->tree)) return;
  const std::optional<Batch> batch = BatchIn(config->tree);
  const int64_t ranks = *nodes.value * *processes.value;
  // What no number of ranks gives has a finding in the configuration.
  if (!batch || batch->all % batch->OfRank() != 0 || ranks > kMostOfBatch || batch->IsGivenBy(ranks)) return;
  findings::Finding finding = LaunchFinding(kAR703OfBatch, Severity::Error, Confidence::Likely, processes.span,
                                            {"{} ranks are too many or too few for `{}`: a `train_batch_size` of {} with {} per rank and step does not fit, and DeepSpeed refuses to start",
                                             {std::to_string(ranks), config->path, std::to_string(batch->all), std::to_string(batch->OfRank())}});
  AddNote(finding, config->tree[batch->all_id].span, {"the batch of all ranks", {}});
  finding.help = {"leave `train_batch_size` out: DeepSpeed computes it", {}};
  sink.push_back(std::move(finding));
}

}  // namespace

void CheckBatchOfJobs(const LaunchContext& context, FindingSink& sink) {
  for (const LaunchFile& file : context.launches.files) {
    for (const Job& job : file.jobs) CheckBatchOf(context, file, job, sink);
  }
}

}  // namespace allranks::rules
