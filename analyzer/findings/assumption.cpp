#include "analyzer/findings/assumption.h"

#include <iterator>

namespace allranks::findings {
namespace {

struct AssumptionText {
  std::string_view name;
  int weight = 0;
  std::string_view clause;
};

constexpr AssumptionText kEntries[] = {
#define ASSUMPTION(kind, name, weight, clause) {name, weight, clause},
#include "analyzer/findings/assumption.def"
#undef ASSUMPTION
};
constexpr size_t kCount = std::size(kEntries);
static_assert(kCount <= 64, "a set of assumptions is one word");

// A finding is worth showing while its assumptions together weigh less than this.
constexpr int kTooHeavy = 10;

const AssumptionText& EntryOf(Assumption assumption) { return kEntries[static_cast<size_t>(assumption)]; }

}  // namespace

std::vector<Assumption> Assumptions::List() const {
  std::vector<Assumption> list;
  for (size_t i = 0; i < kCount; ++i) {
    if (has(static_cast<Assumption>(i))) list.push_back(static_cast<Assumption>(i));
  }
  return list;
}

std::string_view NameOf(Assumption assumption) { return EntryOf(assumption).name; }
std::string_view ClauseOf(Assumption assumption) { return EntryOf(assumption).clause; }

std::string Clauses(Assumptions assumptions) {
  std::string text;
  for (const Assumption assumption : assumptions.List()) {
    if (!text.empty()) text += "; ";
    text += ClauseOf(assumption);
  }
  return text;
}

Confidence ConfidenceOf(Assumptions assumptions) {
  if (assumptions.empty()) return Confidence::Certain;
  int weight = 0;
  for (const Assumption assumption : assumptions.List()) weight += EntryOf(assumption).weight;
  return weight < kTooHeavy ? Confidence::Likely : Confidence::Possible;
}

}  // namespace allranks::findings
