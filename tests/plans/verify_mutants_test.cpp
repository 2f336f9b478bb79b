// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// verify against the byte interpreter, on samples; verify_campaign runs the same in full.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/verify.h"
#include "verify_judge.h"

namespace hawser::test {
namespace {

constexpr int kSchedules = 8;

TEST(Mutants, NoneThatPassesVerifyIsWrong) {
  const Tally tally = run_mutants(400, kSchedules, 1, Refused::kTrusted);
  EXPECT_THAT(tally.passed_and_wrong, testing::IsEmpty());
  // Else the campaign shows nothing: most damage does harm, some does not.
  EXPECT_GT(tally.refused, tally.cases / 2);
  EXPECT_GT(tally.passed_and_right, tally.cases / 50);
}

TEST(Mutants, TheInterpreterFindsDamageToo) {
  const Tally tally = run_mutants(60, kSchedules, 100000, Refused::kJudgedToo);
  EXPECT_GT(tally.refused_and_wrong, tally.refused / 2);
}

TEST(Mutants, HeavyDamageIsRefusedInWords) {
  Random random(3);
  for (int i = 0; i < 1500; ++i) {
    Case damaged = pick_case(5, random);
    const int blows = 2 + below(random, 6);
    for (int blow = 0; blow < blows; ++blow) mutate(damaged.plans, random);
    const Result<plan::Proof> proof = verify(damaged.plans, plan::VerifyOptions{.in_place = damaged.in_place});
    EXPECT_EQ(proof.is_ok(), proof.status().message().empty());
    for (const plan::Plan& one : damaged.plans) EXPECT_FALSE(print(one).empty());
  }
}

TEST(Rewrites, AllPass) {
  const Tally tally = run_rewrites(200, 2, 1);
  EXPECT_THAT(tally.refused_texts, testing::IsEmpty());
  EXPECT_THAT(tally.passed_and_wrong, testing::IsEmpty());
}

TEST(Rewrites, ChangeThePlans) {
  Random random(1);
  Case changed = pick_case(8, random);
  const std::vector<plan::Plan> before = changed.plans;
  for (int i = 0; i < 5; ++i) rewrite(changed.plans, random);
  EXPECT_NE(before, changed.plans);
}

}  // namespace
}  // namespace hawser::test
