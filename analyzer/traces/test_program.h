// What tests build traces with: a library of two operations and a program of two empty functions.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string_view>

#include "analyzer/traces/build.h"

namespace allranks::traces {

class TracesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    constexpr std::string_view kLibrary = R"toml(
library = "lib"
docs = "https://example.org/{name}"
literals = ["lib"]

[[function]]
name = "lib.barrier"
params = ["group"]
operation = "barrier"
group = "group"

[[function]]
name = "lib.broadcast"
params = ["tensor", "src", "group"]
operation = "broadcast"
group = "group"
root = "src"
tensor = "tensor"
)toml";
    const base::Result<bool> loaded = knowledge_.Load("lib.toml", kLibrary);
    ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
    ASSERT_TRUE(knowledge_.Finish().has_value());
    program_.names = &names_;
    ir::Module module;
    module.functions.Add({});
    module.functions.Add({});
    program_.modules.Add(std::move(module));
    program_.infos.Add({});
    program_.first_func = {0};
    for (uint32_t i = 0; i < 2; ++i) program_.funcs.Add({.module = ir::ModuleId{0}, .function = ir::FunctionId{i}});
    state_ = std::make_unique<State>(program_, knowledge_, facts_, files_);
  }

  State& state() { return *state_; }
  TraceStore& traces() { return state_->traces; }
  variation::ValueStore& values() { return facts_.values_store; }

  SiteId At(uint32_t place) {
    return traces().AddSite({.function = FuncId{0}, .expr = {}, .span = {{}, place, place + 1}});
  }
  TraceId Barrier(uint32_t place, ValueId group = {}) {
    return traces().Op(At(place), {.entry = Entry("lib.barrier"), .group = group, .root = {}, .reduce_op = {},
                                   .tensor = {}, .peer = {}});
  }
  TraceId Broadcast(uint32_t place, ValueId root) {
    return traces().Op(At(place), {.entry = Entry("lib.broadcast"), .group = {}, .root = root, .reduce_op = {},
                                   .tensor = {}, .peer = {}});
  }
  TraceId Return(uint32_t place) { return traces().Exit(At(place), ExitKind::Return); }
  TraceId If(uint32_t place, ValueId condition, TraceId then_trace, TraceId else_trace = TraceId{0}) {
    return traces().Choice(At(place), condition, then_trace, else_trace);
  }
  ValueId Rank() { return values().Coordinate(knowledge::Coordinate::Rank); }
  ValueId RankIs(int64_t number) { return values().Compare(ir::CompareOp::Eq, Rank(), values().Int(number)); }
  ValueId LocalRankIs(int64_t number) {
    return values().Compare(ir::CompareOp::Eq, values().Coordinate(knowledge::Coordinate::LocalRank),
                            values().Int(number));
  }

 private:
  knowledge::EntryId Entry(std::string_view name) { return knowledge_.FindEntry(names_.Intern(name)); }

  base::Interner names_;
  knowledge::Knowledge knowledge_{names_};
  binding::Program program_;
  variation::Facts facts_;
  source::SourceFiles files_;
  std::unique_ptr<State> state_;
};

}  // namespace allranks::traces
