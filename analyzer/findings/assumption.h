// What the analysis took for granted, as data. Code that concludes something adds what the conclusion rests on. Confidence
// is computed from these assumptions here and nowhere else, and reports show them to people and machines.
//
// An assumption is a kind without a place. A set of them is one word, is joined with `|`, and travels with values, steps
// of traces and findings. Assumptions only accumulate. Nothing takes one back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace allranks::findings {

enum class Confidence : uint8_t { Possible, Likely, Certain };

enum class Assumption : uint8_t {
#define ASSUMPTION(kind, name, weight, clause) kind,
#include "analyzer/findings/assumption.def"
#undef ASSUMPTION
};

class Assumptions {
 public:
  constexpr Assumptions() = default;
  static constexpr Assumptions Of(Assumption assumption) { return Assumptions(uint64_t{1} << static_cast<unsigned>(assumption)); }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool has(Assumption assumption) const { return (bits_ & Of(assumption).bits_) != 0; }
  constexpr void Add(Assumption assumption) { bits_ |= Of(assumption).bits_; }
  constexpr void Add(Assumptions others) { bits_ |= others.bits_; }
  constexpr uint64_t bits() const { return bits_; }
  // In the order of assumption.def.
  std::vector<Assumption> List() const;
  friend constexpr Assumptions operator|(Assumptions a, Assumptions b) { return Assumptions(a.bits_ | b.bits_); }
  friend constexpr bool operator==(Assumptions, Assumptions) = default;

 private:
  explicit constexpr Assumptions(uint64_t bits) : bits_(bits) {}
  uint64_t bits_ = 0;
};

// "batch-differs", for machines.
std::string_view NameOf(Assumption assumption);
// "ranks work on different batches", for people.
std::string_view ClauseOf(Assumption assumption);

// The clauses one after the other: "ranks work on different batches; a test runs on several ranks". Empty: none.
std::string Clauses(Assumptions assumptions);

// How sure a conclusion is that rests on these.
Confidence ConfidenceOf(Assumptions assumptions);

}  // namespace allranks::findings
