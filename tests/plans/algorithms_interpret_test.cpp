// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Every algorithm on bytes: any number of ranks, any size, in place anywhere, under random schedules, credits and
// landings.
#include <gtest/gtest.h>

#include "interpret_support.h"

namespace hawser::algorithms {
namespace {

using plan::ElementOps;
using plan::InterpretOptions;
using plan::Outcome;
using plan::Plan;

enum class Place : std::uint8_t { kNone, kAll, kOne, kSome };
constexpr int kPlaces = 4;

class EveryAlgorithm : public testing::TestWithParam<const Algorithm*> {
 protected:
  [[nodiscard]] std::vector<Plan> plans(int ranks) const {
    const Call call{.collective = test::collective_of(*GetParam()), .count = 1};
    return test::plans_of(*GetParam(), call, topology::uniform(ranks, ranks));
  }

  /// Everything that a seed can decide.
  static InterpretOptions options(std::uint64_t seed, std::size_t count, int ranks) {
    std::mt19937_64 random(seed);
    InterpretOptions options{.seed = seed, .count = count};
    options.tile_bytes = random() % 2 == 0 ? 64 : 192;
    options.credit_extra = static_cast<int>(random() % 3);
    options.landing = static_cast<plan::LandingMix>(random() % 4);
    const auto place = static_cast<Place>(random() % kPlaces);
    options.in_place.assign(static_cast<std::size_t>(ranks), place == Place::kAll);
    if (place == Place::kOne) options.in_place[random() % options.in_place.size()] = true;
    for (std::size_t i = 0; place == Place::kSome && i < options.in_place.size(); ++i) {
      options.in_place[i] = random() % 2 == 0;
    }
    return options;
  }

  static void expect_right(const std::vector<Plan>& plans, std::size_t count, std::uint64_t seed) {
    const bool is_integer = seed % 2 == 0;
    const ElementOps ops = is_integer ? plan::int32_sum() : plan::fp32_sum();
    const auto fill = is_integer ? test::Fill::kRandomBits : test::Fill::kSmallFloats;
    const auto inputs = test::inputs_for(plans, count, fill, seed);
    const Result<Outcome> outcome =
        plan::interpret(plans, inputs, options(seed, count, static_cast<int>(plans.size())), ops);
    ASSERT_TRUE(outcome.is_ok()) << plans.size() << " ranks, count " << count << ", seed " << seed << ": "
                                 << outcome.status().message();
    const auto expected = plan::expected_outputs(plans[0].collective, plans[0].root, inputs, ops);
    ASSERT_EQ(outcome.value().outputs, expected) << plans.size() << " ranks, count " << count << ", seed " << seed;
  }
};

TEST_P(EveryAlgorithm, IsRightForAnyNumberOfRanksAndElements) {
  std::uint64_t seed = 0;
  for (int ranks = 1; ranks <= 17; ++ranks) {
    const std::vector<Plan> all = plans(ranks);
    for (const std::size_t count : {0, 1, 2, 16, 37, 100, 259, 600}) expect_right(all, count, ++seed);
  }
}

TEST_P(EveryAlgorithm, IsRightForManyRanks) {
  std::uint64_t seed = 1000;
  for (const int ranks : {23, 31, 32, 33, 48, 63, 64}) {
    const std::vector<Plan> all = plans(ranks);
    const bool is_of_blocks = all[0].output.cut == plan::Cut::kBlocks;
    expect_right(all, 5, ++seed);
    expect_right(all, is_of_blocks ? 35 : 1100, ++seed);
  }
}

TEST_P(EveryAlgorithm, IsRightUnderManySchedules) {
  std::uint64_t seed = 2000;
  for (const int ranks : {2, 3, 4, 6, 7}) {
    const std::vector<Plan> all = plans(ranks);
    for (int schedule = 0; schedule < 25; ++schedule) expect_right(all, 420, ++seed);
  }
}

TEST_P(EveryAlgorithm, IsRightWithEverySingleRankInPlace) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    const std::vector<Plan> all = plans(ranks);
    const auto inputs = test::inputs_for(all, 150, test::Fill::kRandomBits, 5);
    const auto expected = plan::expected_outputs(all[0].collective, 0, inputs, plan::int32_sum());
    for (int rank = 0; rank < ranks; ++rank) {
      InterpretOptions options{.seed = static_cast<std::uint64_t>(rank + 1), .count = 150};
      options.in_place.assign(static_cast<std::size_t>(ranks), false);
      options.in_place[static_cast<std::size_t>(rank)] = true;
      const Result<Outcome> outcome = plan::interpret(all, inputs, options, plan::int32_sum());
      ASSERT_TRUE(outcome.is_ok()) << ranks << " ranks, in place on " << rank << ": " << outcome.status().message();
      ASSERT_EQ(outcome.value().outputs, expected) << ranks << " ranks, in place on " << rank;
    }
  }
}

/// Outputs under an arithmetic that shows order, association, pre and post.
std::vector<std::vector<std::byte>> hashed(const std::vector<Plan>& plans,
                                           const std::vector<std::vector<std::byte>>& inputs, std::size_t count,
                                           std::uint64_t seed) {
  Result<Outcome> outcome = plan::interpret(plans, inputs, {.seed = seed, .count = count}, plan::expression_hash());
  EXPECT_TRUE(outcome.is_ok()) << outcome.status().message();
  return outcome.is_ok() ? std::move(outcome).value().outputs : std::vector<std::vector<std::byte>>();
}

TEST_P(EveryAlgorithm, GivesTheSameExpressionOnAllRanksAndInAllSchedules) {
  for (int ranks = 1; ranks <= 17; ++ranks) {
    const std::vector<Plan> all = plans(ranks);
    const auto inputs = test::inputs_for(all, 90, test::Fill::kRandomBits, 9);
    const auto first = hashed(all, inputs, 90, 1);
    ASSERT_EQ(hashed(all, inputs, 90, 2), first);
    if (all[0].collective != Collective::kAllReduce) continue;
    for (const auto& output : first) ASSERT_EQ(output, first[0]) << ranks << " ranks";
  }
}

TEST(FlatAlgorithms, CombineInRankOrderInOneStep) {
  int checked = 0;
  for (const Algorithm* algorithm : builtin()) {
    if (!algorithm->name().starts_with("flat")) continue;
    for (int ranks = 1; ranks <= 9; ++ranks) {
      const auto all = test::plans_of(*algorithm, {.count = 1}, topology::uniform(ranks, ranks));
      const auto inputs = test::inputs_for(all, 90, test::Fill::kRandomBits, 9);
      const auto expected = plan::expected_outputs(Collective::kAllReduce, 0, inputs, plan::expression_hash());
      EXPECT_EQ(hashed(all, inputs, 90, 1), expected) << algorithm->name() << ", " << ranks << " ranks";
      ++checked;
    }
  }
  EXPECT_EQ(checked, 18);
}

INSTANTIATE_TEST_SUITE_P(Plans, EveryAlgorithm, testing::ValuesIn(builtin().begin(), builtin().end()),
                         [](const auto& one) { return test::label_of(*one.param); });

}  // namespace
}  // namespace hawser::algorithms
