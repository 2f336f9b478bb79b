// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The byte interpreter finds what it is there to find: races, overrun scratch, deadlocks, mismatches; and survives
// plans without meaning.
#include "plan/interpret.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "interpret_support.h"
#include "plan/builder.h"

namespace hawser::plan {
namespace {

using algorithms::Algorithm;
using testing::HasSubstr;

const Algorithm& named(std::string_view name) {
  for (const Algorithm* algorithm : algorithms::builtin()) {
    if (algorithm->name() == name) return *algorithm;
  }
  ADD_FAILURE() << "no algorithm " << name;
  return *algorithms::builtin()[0];
}

std::vector<Plan> plans_of(std::string_view name, int ranks) {
  const Algorithm& algorithm = named(name);
  return test::plans_of(algorithm, {.collective = test::collective_of(algorithm), .count = 1},
                        topology::uniform(ranks, ranks));
}

enum class Place : std::uint8_t { kOut, kIn };

/// What many schedules make of plans.
struct Verdict {
  int right = 0;
  int wrong = 0;
  int failed = 0;
  std::string message;  // of the last failure
};

Verdict judge(const std::vector<Plan>& plans, std::size_t count, Place place, int schedules = 60) {
  Verdict verdict;
  const ElementOps ops = int32_sum();
  for (int i = 0; i < schedules; ++i) {
    const auto seed = static_cast<std::uint64_t>(i) + 1;
    const auto inputs = test::inputs_for(plans, count, test::Fill::kRandomBits, seed);
    InterpretOptions options{.seed = seed, .count = count};
    options.in_place.assign(plans.size(), place == Place::kIn);
    options.credit_extra = i % 3;
    options.landing = static_cast<LandingMix>(i % 4);
    const Result<Outcome> outcome = interpret(plans, inputs, options, ops);
    if (!outcome.is_ok()) {
      ++verdict.failed;
      verdict.message = outcome.status().message();
    } else if (outcome.value().outputs == expected_outputs(plans[0].collective, plans[0].root, inputs, ops)) {
      ++verdict.right;
    } else {
      ++verdict.wrong;
    }
  }
  return verdict;
}

Step& step_at(Plan& plan, std::size_t lane, std::size_t index) { return plan.lanes.at(lane).steps.at(index); }

TEST(Interpret, SoundPlansAreRight) {
  const Verdict verdict = judge(plans_of("ring", 4), 300, Place::kIn);
  EXPECT_EQ(verdict.right, 60) << verdict.message;
}

TEST(Interpret, EqualSeedsRepeatARun) {
  const std::vector<Plan> plans = plans_of("tree", 5);
  const auto inputs = test::inputs_for(plans, 200, test::Fill::kRandomBits, 3);
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const InterpretOptions options{.seed = seed, .count = 200};
    const Result<Outcome> first = interpret(plans, inputs, options, int32_sum());
    const Result<Outcome> second = interpret(plans, inputs, options, int32_sum());
    ASSERT_TRUE(first.is_ok() && second.is_ok());
    EXPECT_EQ(first.value().direct, second.value().direct);
    EXPECT_EQ(first.value().in_place, second.value().in_place);
    EXPECT_EQ(first.value().slots, second.value().slots);
  }
}

TEST(Interpret, EveryLandingHappens) {
  const std::vector<Plan> plans = plans_of("flat_two_shot", 4);
  const auto inputs = test::inputs_for(plans, 400, test::Fill::kRandomBits, 3);
  long direct = 0;
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const auto run = [&](LandingMix landing) {
      Result<Outcome> outcome = interpret(plans, inputs, {.seed = seed, .count = 400, .landing = landing}, int32_sum());
      return outcome.is_ok() ? std::move(outcome).value() : Outcome();
    };
    const Outcome slots = run(LandingMix::kSlots);
    EXPECT_EQ(slots.slots, 2 * 4 * 3 * 7);  // two messages per tile between every two ranks, 7 tiles
    EXPECT_EQ(slots.direct + slots.in_place, 0);
    EXPECT_EQ(run(LandingMix::kInPlace).in_place, 2 * 4 * 3 * 7);
    direct += run(LandingMix::kDirect).direct;
  }
  EXPECT_GT(direct, 0);
}

TEST(Interpret, FindsAMissingDependency) {
  // In place, a result lands in what this rank has yet to send, or what is still being read.
  std::vector<Plan> plans = plans_of("flat_two_shot", 2);
  for (Lane& lane : plans[1].lanes) {
    for (Step& step : lane.steps) step.after.clear();
  }
  EXPECT_EQ(judge(plans, 300, Place::kOut).right, 60);
  EXPECT_GT(judge(plans, 300, Place::kIn).wrong, 0);
}

TEST(Interpret, FindsAReleaseThatNobodyWaitsFor) {
  std::vector<Plan> plans = plans_of("flat_one_shot", 3);
  for (After& after : step_at(plans[0], 1, 1).after) after.released = false;
  EXPECT_GT(judge(plans, 100, Place::kIn).wrong, 0);
}

TEST(Interpret, FindsScratchThatIsUsedAgainTooEarly) {
  std::vector<Plan> plans = plans_of("recursive_doubling", 4);
  for (Plan& plan : plans) plan.window = 1;  // its `after` is for two copies
  EXPECT_GT(judge(plans, 300, Place::kOut).wrong, 0);
}

TEST(Interpret, FindsADeadlockForLackOfCredit) {
  std::vector<Plan> plans = plans_of("ring", 3);
  for (Plan& plan : plans) plan.credit = 1;
  const Verdict verdict = judge(plans, 300, Place::kOut);
  EXPECT_GT(verdict.failed, 0);
  EXPECT_THAT(verdict.message, HasSubstr("stalls: "));
}

TEST(Interpret, FindsACircleOfReleases) {
  // Combining straight into out, every rank waits for the others to release its input: see flat_one_shot.
  std::vector<Plan> plans;
  for (int rank = 0; rank < 2; ++rank) {
    const Layout layout{Cut::kParts, 1};
    PlanBuilder builder({.algorithm = "test",
                         .collective = Collective::kAllReduce,
                         .rank = rank,
                         .ranks = 2,
                         .root = 0,
                         .input = layout,
                         .output = layout});
    builder.step(builder.lane(), {in(0)}, {send(builder.stream(rank, 1 - rank))});
    builder.step(builder.lane(), {in(0), recv_raw(builder.stream(1 - rank, rank))}, {to_out(0)}, {.apply_post = true});
    plans.push_back(builder.finish());
  }
  const Verdict verdict = judge(plans, 10, Place::kOut);
  EXPECT_THAT(verdict.message, HasSubstr("stalls: "));
  EXPECT_GE(verdict.right, 15) << "with slots nobody waits for a release";
}

TEST(Interpret, FindsALostMessageAndALeftOne) {
  std::vector<Plan> plans = plans_of("pairwise", 3);
  plans[2].lanes[1].steps.clear();
  EXPECT_THAT(judge(plans, 10, Place::kOut).message, HasSubstr("stalls: "));
  plans = plans_of("pairwise", 3);
  plans[2].lanes.pop_back();
  EXPECT_THAT(judge(plans, 10, Place::kOut).message, HasSubstr("never taken"));
}

TEST(Interpret, FindsMessagesOfAnotherSize) {
  std::vector<Plan> plans = plans_of("bruck", 4);
  Step& sent = step_at(plans[0], 1, 1);
  sent.sources[0].region.runs = {{0, 1}};
  sent.shape = sent.sources[0].region;
  EXPECT_THAT(judge(plans, 10, Place::kOut).message, HasSubstr("differs in size"));
}

TEST(Interpret, FindsPreAndPostOutOfPlace) {
  const std::vector<Plan> sound = plans_of("ring", 3);
  const auto inputs = test::inputs_for(sound, 50, test::Fill::kRandomBits, 3);
  const InterpretOptions options{.count = 50};
  const Result<Outcome> right = interpret(sound, inputs, options, expression_hash());
  ASSERT_TRUE(right.is_ok());
  const auto run = [&](auto damage) {
    std::vector<Plan> plans = sound;
    damage(step_at(plans[1], 0, 1));
    Result<Outcome> outcome = interpret(plans, inputs, options, expression_hash());
    return outcome.is_ok() ? std::move(outcome).value().outputs : std::vector<std::vector<std::byte>>();
  };
  EXPECT_EQ(run([](Step&) {}), right.value().outputs);
  EXPECT_NE(run([](Step& step) { step.apply_post = true; }), right.value().outputs);
  EXPECT_NE(run([](Step& step) { step.sources[0].apply_pre ^= true; }), right.value().outputs);
  EXPECT_NE(run([](Step& step) { std::swap(step.sources[0], step.sources[1]); }), right.value().outputs);
}

/// Puts `value` into a field that `choice` picks.
void damage(std::vector<Plan>& plans, std::mt19937_64& random, int value) {
  Plan& plan = plans[random() % plans.size()];
  Lane& lane = plan.lanes[random() % plan.lanes.size()];
  Step& step = lane.steps[random() % lane.steps.size()];
  Source& source = step.sources[random() % step.sources.size()];
  Destination& destination = step.destinations[random() % step.destinations.size()];
  Stream& stream = plan.streams[random() % plan.streams.size()];
  After none;
  After& after = step.after.empty() ? none : step.after[random() % step.after.size()];
  Run no_run;
  Run& source_run = source.region.runs.empty() ? no_run : source.region.runs[0];
  Run& destination_run = destination.region.runs.empty() ? no_run : destination.region.runs[0];
  int* const fields[] = {&plan.rank,
                         &plan.ranks,
                         &plan.root,
                         &plan.input.chunks,
                         &plan.output.chunks,
                         &plan.window,
                         &plan.credit,
                         &stream.sender,
                         &stream.number,
                         &stream.receivers[0],
                         &source.stream,
                         &destination.stream,
                         &source_run.first,
                         &source_run.count,
                         &destination_run.first,
                         &destination_run.count,
                         &step.shape.runs[0].first,
                         &step.shape.runs[0].count,
                         &after.lane,
                         &after.step,
                         &after.tiles_back,
                         &step.issue};
  *fields[random() % std::size(fields)] = value;
}

TEST(Interpret, SurvivesAnyPlan) {
  constexpr int kLowest = std::numeric_limits<int>::min();
  constexpr int kHighest = std::numeric_limits<int>::max();
  std::mt19937_64 random(1);
  int failed = 0;
  for (int i = 0; i < 2500; ++i) {
    const Algorithm& algorithm = *algorithms::builtin()[random() % algorithms::builtin().size()];
    const int ranks = 2 + static_cast<int>(random() % 5);
    std::vector<Plan> plans = test::plans_of(algorithm, {.collective = test::collective_of(algorithm), .count = 1},
                                             topology::uniform(ranks, ranks));
    const auto inputs = test::inputs_for(plans, 70, test::Fill::kRandomBits, 3);
    for (std::uint64_t damages = random() % 3 + 1; damages > 0; --damages) {
      const int small = static_cast<int>(random() % 8) - 1;
      damage(plans, random, random() % 3 == 0 ? (random() % 2 == 0 ? kLowest : kHighest) : small);
    }
    const InterpretOptions options{.seed = random(), .count = 70, .credit_extra = 0};
    if (!interpret(plans, inputs, options, int32_sum()).is_ok()) ++failed;
  }
  EXPECT_GT(failed, 1000);
}

TEST(Interpret, RefusesWhatIsNoCall) {
  const std::vector<Plan> plans = plans_of("ring", 2);
  const auto inputs = test::inputs_for(plans, 10, test::Fill::kRandomBits, 3);
  EXPECT_FALSE(interpret({}, {}, {}, int32_sum()).is_ok());
  EXPECT_FALSE(interpret(plans, inputs, {.count = 11}, int32_sum()).is_ok());
  EXPECT_FALSE(interpret(plans, inputs, {.count = 10, .tile_bytes = 65}, int32_sum()).is_ok());
  EXPECT_FALSE(interpret(plans, std::span(inputs).first(1), {.count = 10}, int32_sum()).is_ok());
  EXPECT_TRUE(interpret(plans, inputs, {.count = 10}, int32_sum()).is_ok());
}

}  // namespace
}  // namespace hawser::plan
