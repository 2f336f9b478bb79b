// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Right plans pass verify, in every placement, with the credit that they need.
#include "plan/verify.h"

#include <gtest/gtest.h>

#include "plan/expression.h"
#include "verify_examples.h"

namespace hawser::plan {
namespace {

/// Every placement that matters for one rank, on all ranks at once and on single ones.
std::vector<std::vector<bool>> placements(int ranks) {
  const auto count = static_cast<std::size_t>(ranks);
  std::vector<std::vector<bool>> all = {std::vector<bool>(count, false), std::vector<bool>(count, true)};
  for (std::size_t rank = 0; rank < count; ++rank) {
    all.emplace_back(count, false);
    all.back()[rank] = true;
  }
  return all;
}

TEST(Verify, AcceptsTheExamplesInEveryPlacement) {
  for (const examples::Example& example : examples::all()) {
    for (const int ranks : {1, 2, 3, 4, 5, 8, 13}) {
      const examples::Plans plans = example.build(ranks);
      for (const std::vector<bool>& in_place : placements(ranks)) {
        const Result<Proof> proof = verify(plans, {.in_place = in_place});
        ASSERT_TRUE(proof.is_ok()) << example.name << " " << ranks << ": " << proof.status().message();
        EXPECT_EQ(
            proof.value().steps, 3L * [&] {
              long steps = 0;
              for (const Plan& plan : plans) steps += step_count(plan);
              return steps;
            }());
      }
    }
  }
}

TEST(Verify, AcceptsTheExamplesByFingerprint) {
  for (const examples::Example& example : examples::all()) {
    for (const int ranks : {2, 7, 66}) {
      const Result<Proof> proof = verify(example.build(ranks), {.exact = false});
      EXPECT_TRUE(proof.is_ok()) << example.name << " " << ranks << ": " << proof.status().message();
    }
  }
}

TEST(Verify, AcceptsSixtyFourRanks) {
  for (const examples::Example& example : examples::all()) {
    const Result<Proof> proof = verify(example.build(64), {.in_place = std::vector<bool>(64, true)});
    EXPECT_TRUE(proof.is_ok()) << example.name << ": " << proof.status().message();
  }
}

TEST(Verify, ComputesTheSmallestCredit) {
  const auto credit_of = [](const examples::Plans& plans) {
    const Result<Proof> proof = verify(plans, {});
    return proof.is_ok() ? proof.value().credit : -1;
  };
  EXPECT_EQ(credit_of(examples::flat(4)), 1);
  EXPECT_EQ(credit_of(examples::ring(4)), 2);
  EXPECT_EQ(credit_of(examples::ring_all_gather(4)), 2);
  EXPECT_EQ(credit_of(examples::tree(7)), 1);
}

TEST(Verify, TellsWhetherOneThreadMayRunTheOrderOfIssue) {
  EXPECT_TRUE(verify(examples::ring(4), {}).value().straight_line);
  EXPECT_TRUE(verify(examples::flat(4), {}).value().straight_line);
}

TEST(Verify, TakesBlocksOfDifferentSizes) {
  for (const int ranks : {1, 2, 5}) {
    EXPECT_TRUE(verify(examples::ring_all_gather(ranks), {.blocks = Blocks::kDistinct}).is_ok());
    EXPECT_TRUE(verify(examples::pairwise(ranks), {.blocks = Blocks::kDistinct}).is_ok());
  }
}

TEST(Verify, RefusesOptionsThatItCannotServe) {
  const examples::Plans plans = examples::flat(3);
  EXPECT_EQ(verify(plans, {.tiles = 0}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(verify(plans, {.in_place = {true}}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(verify(examples::ring(65), {}).status().code(), Code::kInvalidArgument);
  EXPECT_FALSE(verify({}, {}).is_ok());
}

TEST(Expression, SharesEqualTreesAndTellsOthersApart) {
  for (const Precision precision : {Precision::kExact, Precision::kFingerprint}) {
    ExpressionTable table(precision);
    const int a = table.pre(table.leaf(0, 1, 0));
    const int b = table.pre(table.leaf(1, 1, 0));
    const int c = table.pre(table.leaf(2, 1, 0));
    const std::vector<int> ab = {a, b};
    const std::vector<int> ba = {b, a};
    const std::vector<int> left = {table.combine(ab), c};
    const std::vector<int> flat = {a, b, c};
    EXPECT_EQ(table.combine(ab), table.combine(ab));
    EXPECT_NE(table.combine(ab), table.combine(ba));
    EXPECT_NE(table.combine(left), table.combine(flat));
    EXPECT_NE(table.leaf(0, 1, 0), table.leaf(0, 1, 1));
    EXPECT_NE(table.leaf(0, 1, 0), table.leaf(0, 2, 0));
    EXPECT_NE(table.post(a), a);
    EXPECT_EQ(table.summary(table.combine(left)).sum, ExpressionTable::sum_of_all(3));
    EXPECT_EQ(table.summary(table.combine(left)).sum, table.summary(table.combine(flat)).sum);
  }
}

TEST(Expression, DescribesItself) {
  ExpressionTable table(Precision::kExact);
  const std::vector<int> operands = {table.pre(table.leaf(0, 2, 0)), table.pre(table.leaf(1, 2, 0))};
  EXPECT_EQ(table.describe(table.post(table.combine(operands))), "post((pre(in0[2]) + pre(in1[2])))");
}

TEST(Print, WritesOneLinePerStep) {
  EXPECT_EQ(print(examples::flat(3)[1]),
            "flat all_reduce rank 1 of 3: 3 steps in 2 lanes, credit 1, window 1, straight line\n"
            "lane 0 step 0: in[0] -> send 1->{0,2}#0\n"
            "lane 1 step 0: post(pre(recv 1<-0#0) + pre(in[0]) + pre(recv 1<-2#0)) -> scratch[0]\n"
            "lane 1 step 1: scratch[0] -> out[0]   after l0s0 released\n");
  EXPECT_EQ(step_count(examples::ring(4)[0]), 7);
}

}  // namespace
}  // namespace hawser::plan
