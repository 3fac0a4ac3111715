// Values of a callee in terms of the caller: its parameters, and those of the functions around it, replaced by what is passed.
//
// Much is the same in what one call yields and leaves behind, conditions above all, and the same call is evaluated in each round, and again
// from each caller of its function: what was replaced is kept for all calls of a function with the same arguments. What comes out depends on
// these alone, as values never change; so the memos may be forgotten at any time, and are dropped once there are too many.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "analyzer/variation/value.h"

namespace allranks::variation {

struct Tables;

class SubstitutionMemos {
 public:
  // Of one callee and one list of arguments.
  struct OfCall {
    ValueStore::Memo own;
    std::vector<ValueStore::Memo> around;  // for each function around that has parameters, the innermost first
  };

  std::shared_ptr<OfCall> Of(ValueId callee, FuncId function, std::span<const ValueId> bound);

 private:
  struct Key {
    ValueId callee;
    FuncId function;
    std::vector<ValueId> bound;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const;
  };

  std::unordered_map<Key, std::shared_ptr<OfCall>, Hash> memos_;
};

class CallSubstitution {
 public:
  // `bound` must live as long.
  CallSubstitution(Tables& tables, ValueId callee, FuncId function, std::span<const ValueId> bound);
  CallSubstitution(Tables& tables, ValueId callee, FuncId function, std::vector<ValueId>&& bound) = delete;
  ValueId operator()(ValueId value);

 private:
  ValueStore& store_;
  // A function around, and what its parameters are.
  struct Around {
    FuncId function;
    std::vector<ValueId> captured;
  };
  FuncId function_;
  std::span<const ValueId> bound_;
  std::vector<Around> around_;
  std::shared_ptr<SubstitutionMemos::OfCall> memos_;
};

}  // namespace allranks::variation
