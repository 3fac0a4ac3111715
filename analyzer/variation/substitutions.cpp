#include "analyzer/variation/substitutions.h"

#include <utility>

namespace allranks::variation {
namespace {

// So many results are kept, some megabytes, before all are forgotten. What is told of one call is mostly asked again soon.
constexpr size_t kMostKept = size_t{1} << 19;
// What the smallest table of results takes.
constexpr size_t kTable = 16;

}  // namespace

Substitutions::Results& Substitutions::OfCall::Mentioning(ParamSet params, Substitutions& all, binding::FuncId function, std::span<const ValueId> arguments) {
  if (const std::shared_ptr<Results>* known = by_params_.Find(params.bits())) return **known;
  Given given{.function = function, .params = params, .arguments = {}};
  for (uint32_t i = 0; i < arguments.size(); ++i) {
    if (params.has(i)) given.arguments.push_back(arguments[i]);
  }
  std::shared_ptr<Results> results = all.Of(std::move(given));
  Results& found = *results;
  by_params_.Add(params.bits(), std::move(results));
  return found;
}

std::shared_ptr<Substitutions::Results> Substitutions::Of(Given given) {
  if (kept_ > kMostKept) {
    results_.clear();
    kept_ = 0;
  }
  const auto [known, is_new] = results_.try_emplace(std::move(given));
  if (is_new) {
    known->second = std::make_shared<Results>();
    kept_ += kTable;
  }
  return known->second;
}

size_t Substitutions::Hash::operator()(const Given& given) const {
  constexpr uint64_t kSpread = 0x9e3779b97f4a7c15u;
  uint64_t hash = (uint64_t{given.function.index} << 32) | given.params.bits();
  for (const ValueId argument : given.arguments) {
    hash = (hash ^ argument.index) * kSpread;
    hash ^= hash >> 32;
  }
  return static_cast<size_t>(hash);
}

}  // namespace allranks::variation
