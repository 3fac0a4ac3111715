// What came of putting arguments in for parameters, for all calls of a program together.
//
// A value comes out the same wherever the parameters that it mentions are given the same, whatever else is passed: `rank == 0` of
// `save(rank, path)` for each path. So results are kept by function, parameters and what these are given, and not by call.
//
// Invariant: what is kept is what substituting again would find. It may be forgotten at any time, which bounds the memory that it takes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "analyzer/base/id.h"
#include "analyzer/base/number_map.h"
#include "analyzer/binding/program.h"

namespace allranks::variation {

using ValueId = base::Id<struct ValueTag>;

// Some parameters of a function by their index; of functions with many, several share a bit.
class ParamSet {
 public:
  static ParamSet Of(uint32_t index) { return ParamSet(uint32_t{1} << (index % kBits)); }
  ParamSet() = default;
  friend ParamSet operator|(ParamSet a, ParamSet b) { return ParamSet(a.bits_ | b.bits_); }
  bool has(uint32_t index) const { return (bits_ >> (index % kBits) & 1) != 0; }
  uint32_t bits() const { return bits_; }

 private:
  static constexpr uint32_t kBits = 31;
  explicit ParamSet(uint32_t bits) : bits_(bits) {}
  uint32_t bits_ = 0;
};

class Substitutions {
 public:
  // By the value that they were put into.
  using Results = base::NumberMap<ValueId>;

  // Those of one call, by the parameters that they mention: the same as of other calls that give these the same.
  class OfCall {
   public:
    Results& Mentioning(ParamSet params, Substitutions& all, binding::FuncId function, std::span<const ValueId> arguments);

   private:
    base::NumberMap<std::shared_ptr<Results>> by_params_;
  };

  // Another result is kept.
  void NoteKept() { ++kept_; }

 private:
  struct Given {
    binding::FuncId function;
    ParamSet params;
    std::vector<ValueId> arguments;  // for these alone
    bool operator==(const Given& other) const {
      return function == other.function && params.bits() == other.params.bits() && arguments == other.arguments;
    }
  };
  struct Hash {
    size_t operator()(const Given& given) const;
  };

  std::shared_ptr<Results> Of(Given given);

  std::unordered_map<Given, std::shared_ptr<Results>, Hash> results_;
  size_t kept_ = 0;
};

}  // namespace allranks::variation
