#include "runtime-verify/backends/payload.h"

#include <gtest/gtest.h>

namespace allranks::verify {
namespace {

using witness::Dtype;
using witness::OpKind;
using witness::Redop;
using witness::ScheduledOp;

// The result as a right library would leave it, made of what all ranks send.
std::vector<std::byte> RightOutput(const ScheduledOp& op, const PayloadPlace& place) {
  const uint32_t bytes = BytesOf(op.dtype);
  std::vector<std::byte> output = MakeBuffers(op, place).output;
  const auto input_of = [&](uint32_t rank) { return MakeBuffers(op, {rank, place.size, place.tag}).input; };
  for (size_t i = 0; i < OutputElements(op, place); ++i) {
    std::byte* to = &output[i * bytes];
    const auto copy = [&](uint32_t from, size_t index) {
      std::copy_n(&input_of(from)[index * bytes], bytes, to);
    };
    if (op.kind == OpKind::Broadcast) copy(static_cast<uint32_t>(op.root), i);
    if (op.kind == OpKind::AllGather) copy(static_cast<uint32_t>(i / op.count), i % op.count);
    if (op.kind == OpKind::AllToAll)
      copy(static_cast<uint32_t>(i / op.count), place.rank * op.count + i % op.count);
    if (!IsReduction(op.kind)) continue;
    const size_t index = op.kind == OpKind::ReduceScatter ? place.rank * op.count + i : i;
    copy(0, index);
    for (uint32_t rank = 1; rank < place.size; ++rank) {
      ReduceElements(op.dtype, op.redop, to, to, &input_of(rank)[index * bytes], 1);
    }
  }
  return output;
}

TEST(PayloadTest, RightResultsAreRightInEveryTypeAndSize) {
  for (const Dtype dtype :
       {Dtype::F32, Dtype::F16, Dtype::Bf16, Dtype::F64, Dtype::I32, Dtype::I64, Dtype::U8}) {
    for (const Redop redop : {Redop::Sum, Redop::Product, Redop::Min, Redop::Max}) {
      for (const OpKind kind : {OpKind::AllReduce, OpKind::Broadcast, OpKind::Reduce, OpKind::AllGather,
                                OpKind::ReduceScatter, OpKind::AllToAll}) {
        for (const uint32_t size : {2u, 3u, 16u}) {
          const ScheduledOp op{
              .kind = kind, .comm = 1, .count = 5, .dtype = dtype, .redop = redop, .root = 1};
          const PayloadPlace place{.rank = 1, .size = size, .tag = 7};
          EXPECT_EQ(CheckOutput(op, place, RightOutput(op, place)).bad, 0u)
              << NameOf(kind) << " " << NameOf(dtype) << " " << NameOf(redop) << " " << size;
        }
      }
    }
  }
}

TEST(PayloadTest, WhatWasNeverWrittenIsWrong) {
  const ScheduledOp op{.kind = OpKind::AllReduce, .count = 8};
  const PayloadPlace place{.rank = 0, .size = 2, .tag = 0};
  const DataCheck check = CheckOutput(op, place, MakeBuffers(op, place).output);
  EXPECT_EQ(check.bad, 8u);
  EXPECT_EQ(check.first, 0u);
  EXPECT_EQ(check.expected, 1 + 8);
}

TEST(PayloadTest, WritingBehindTheEndIsWrong) {
  const ScheduledOp op{.kind = OpKind::Broadcast, .count = 4, .root = 0};
  const PayloadPlace place{.rank = 1, .size = 2, .tag = 0};
  std::vector<std::byte> output = RightOutput(op, place);
  output[4 * 4] = std::byte{0};
  const DataCheck check = CheckOutput(op, place, output);
  EXPECT_EQ(check.bad, 1u);
  EXPECT_EQ(check.first, 4u);
}

TEST(PayloadTest, OtherRanksAndTurnsSendOtherData) {
  const ScheduledOp op{.kind = OpKind::Broadcast, .count = 4, .root = 0};
  const auto input = [&](uint32_t rank, uint32_t tag) { return MakeBuffers(op, {rank, 4, tag}).input; };
  EXPECT_NE(input(0, 0), input(1, 0));
  EXPECT_NE(input(0, 0), input(0, 1));
}

TEST(PayloadTest, HalvesComeBack) {
  for (const double value : {0.0, 1.0, -2.5, 208.0, 65504.0, 6e-5, 5.9604644775390625e-08}) {
    std::byte bytes[2];
    StoreElement(Dtype::F16, value, bytes);
    EXPECT_NEAR(LoadElement(Dtype::F16, bytes), value, std::abs(value) / 1024);
  }
}

}  // namespace
}  // namespace allranks::verify
