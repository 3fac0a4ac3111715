// What tests of the parts of the evaluator ask their questions of: the tables of a program without any code. Values are put
// together by hand, so that a test shows all that an answer hangs on.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>
#include <vector>

#include "analyzer/variation/tables.h"

namespace allranks::variation {

class PartsTest : public ::testing::Test {
 protected:
  PartsTest() : program_(Empty(names)), knowledge_(names), tables(program_, knowledge_, facts_), store(tables.store) {}

  ValueId Text(std::string_view text) { return store.Str(names.Intern(text)); }
  ValueId Rank() { return store.Coordinate(knowledge::Coordinate::Rank); }
  ValueId RankIs(int64_t number) { return store.Compare(ir::CompareOp::Eq, Rank(), store.Int(number)); }
  // A setting: the same on all ranks.
  ValueId Setting() { return store.Fresh({}); }
  ValueId OfData() { return store.Fresh(Axes::Of(Axis::Data)); }
  ValueId List(std::initializer_list<ValueId> items) { return store.Tuple(std::vector<ValueId>(items)); }
  // A key, its value, a key, its value ...
  ValueId Dict(std::initializer_list<ValueId> items) { return store.Make(Value::Dict(), std::vector<ValueId>(items)); }
  ValueId Derived(std::string_view operation, std::initializer_list<ValueId> kids) {
    return store.Derived(tables.NameSymbol(operation), std::vector<ValueId>(kids));
  }

 private:
  static binding::Program Empty(base::Interner& names) {
    binding::Program program;
    program.names = &names;
    return program;
  }

 protected:
  base::Interner names;

 private:
  binding::Program program_;
  knowledge::Knowledge knowledge_;
  Facts facts_;

 protected:
  Tables tables;
  ValueStore& store;
};

}  // namespace allranks::variation
