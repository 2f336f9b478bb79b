// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "hawser_run/binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

namespace hawser::run {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<std::vector<int>> kCores = {{0, 4}, {1, 5}, {2, 6}};

TEST(Binding, AutoGivesEachRankACore) {
  EXPECT_THAT(place_ranks(Bind::kAuto, 2, kCores), ElementsAre(ElementsAre(0, 4), ElementsAre(1, 5)));
}

TEST(Binding, AutoLeavesALoneRankAndACrowdAsTheyAre) {
  EXPECT_THAT(place_ranks(Bind::kAuto, 1, kCores), ElementsAre(IsEmpty()));
  EXPECT_THAT(place_ranks(Bind::kAuto, 4, kCores), ElementsAre(IsEmpty(), IsEmpty(), IsEmpty(), IsEmpty()));
}

TEST(Binding, CoreGoesRound) {
  EXPECT_THAT(place_ranks(Bind::kCore, 4, kCores),
              ElementsAre(ElementsAre(0, 4), ElementsAre(1, 5), ElementsAre(2, 6), ElementsAre(0, 4)));
  EXPECT_THAT(place_ranks(Bind::kCore, 1, kCores), ElementsAre(ElementsAre(0, 4)));
}

TEST(Binding, NoneBindsNothing) { EXPECT_THAT(place_ranks(Bind::kNone, 2, kCores), ElementsAre(IsEmpty(), IsEmpty())); }

TEST(Binding, UnknownCoresBindNothing) {
  EXPECT_THAT(place_ranks(Bind::kCore, 2, {}), ElementsAre(IsEmpty(), IsEmpty()));
}

TEST(Binding, AllowedCoresAreTheProcessorsOfThisProcess) {
  cpu_set_t set;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(set), &set), 0);
  int processors = 0;
  for (const std::vector<int>& core : allowed_cores()) {
    for (const int each : core) {
      EXPECT_TRUE(CPU_ISSET(static_cast<std::size_t>(each), &set)) << each;
      ++processors;
    }
  }
  EXPECT_EQ(processors, CPU_COUNT(&set));
}

}  // namespace
}  // namespace hawser::run
