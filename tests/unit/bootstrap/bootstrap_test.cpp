// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What works: any number of ranks as threads, any sizes, repeatedly.
#include "bootstrap/bootstrap.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>

#include "bootstrap/interfaces.h"
#include "bootstrap/roots.h"
#include "support.h"

namespace hawser::bootstrap {
namespace {

class BootstrapRanks : public testing::TestWithParam<int> {};

TEST_P(BootstrapRanks, GatherAgainAndAgain) {
  const int ranks = GetParam();
  const Config config = loopback_config();
  if (!can_open_files(static_cast<rlim_t>(ranks) * 24 + 100)) GTEST_SKIP() << "the limit of open files is too low";
  const auto id = create_unique_id(config);
  ASSERT_TRUE(id.is_ok()) << id.status().message();
  std::vector<Secret> secrets(static_cast<std::size_t>(ranks));
  const TimePoint begun = Clock::now();
  std::vector<std::int64_t> took_us(static_cast<std::size_t>(ranks));
  expect_all_ok(on_ranks(ranks, [&](int rank) -> Status {
    const auto bootstrap = HAWSER_TRY_VALUE(Bootstrap::join(id.value(), rank, ranks, config, nullptr));
    EXPECT_EQ(bootstrap->rank(), rank);
    EXPECT_EQ(bootstrap->ranks(), ranks);
    secrets[static_cast<std::size_t>(rank)] = bootstrap->secret();
    HAWSER_TRY(gather_and_check(*bootstrap, 0));
    took_us[static_cast<std::size_t>(rank)] =
        std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun).count();
    for (int call = 1; call < 4; ++call) HAWSER_TRY(gather_and_check(*bootstrap, call));
    return bootstrap->barrier();
  }));
  RecordProperty("join_and_all_gather_us", std::to_string(*std::ranges::max_element(took_us)));
  for (const Secret& secret : secrets) EXPECT_EQ(secret, secrets.front());
}

INSTANTIATE_TEST_SUITE_P(Threads, BootstrapRanks, testing::Values(1, 2, 3, 4, 5, 8, 13, 64));

TEST(Bootstrap, BarrierWaitsForEveryRank) {
  constexpr int kRanks = 7;
  constexpr int kRounds = 20;
  const Config config = loopback_config();
  const auto id = create_unique_id(config);
  ASSERT_TRUE(id.is_ok());
  std::atomic<int> arrived{0};
  expect_all_ok(on_ranks(kRanks, [&](int rank) -> Status {
    const auto bootstrap = HAWSER_TRY_VALUE(Bootstrap::join(id.value(), rank, kRanks, config, nullptr));
    for (int round = 1; round <= kRounds; ++round) {
      ++arrived;
      HAWSER_TRY(bootstrap->barrier());
      if (arrived < kRanks * round) return Status(Code::kInternalError, "left a barrier before all had come");
    }
    return {};
  }));
}

TEST(Bootstrap, LargeBlobsDoNotWedge) {
  // More than socket buffers hold, from all ranks at once.
  constexpr int kRanks = 4;
  const Config config = loopback_config();
  const auto id = create_unique_id(config);
  ASSERT_TRUE(id.is_ok());
  expect_all_ok(on_ranks(kRanks, [&](int rank) -> Status {
    const auto bootstrap = HAWSER_TRY_VALUE(Bootstrap::join(id.value(), rank, kRanks, config, nullptr));
    const std::vector<std::byte> mine(2'000'000, static_cast<std::byte>(rank));
    const auto blobs = HAWSER_TRY_VALUE(bootstrap->all_gather(mine));
    for (int other = 0; other < kRanks; ++other) {
      if (blobs[static_cast<std::size_t>(other)] != std::vector<std::byte>(mine.size(), static_cast<std::byte>(other)))
        return Status(Code::kInternalError, "wrong bytes");
    }
    return {};
  }));
}

TEST(Bootstrap, SeveralCommunicatorsAtOnceDoNotMix) {
  constexpr int kRanks = 3;
  constexpr int kCommunicators = 5;
  const Config config = loopback_config();
  std::vector<UniqueId> ids;
  for (int i = 0; i < kCommunicators; ++i) ids.push_back(create_unique_id(config).value());
  std::vector<Secret> secrets(kCommunicators);
  expect_all_ok(on_ranks(kRanks * kCommunicators, [&](int thread) -> Status {
    const int number = thread % kCommunicators;
    const int rank = thread / kCommunicators;
    const auto bootstrap =
        HAWSER_TRY_VALUE(Bootstrap::join(ids[static_cast<std::size_t>(number)], rank, kRanks, config, nullptr));
    if (rank == 0) secrets[static_cast<std::size_t>(number)] = bootstrap->secret();
    return gather_and_check(*bootstrap, number);
  }));
  for (int i = 1; i < kCommunicators; ++i) EXPECT_NE(secrets[0], secrets[static_cast<std::size_t>(i)]);
}

TEST(Bootstrap, RootsEndByThemselves) {
  const Config config = loopback_config();
  const std::size_t before = running_roots();
  const auto id = create_unique_id(config);
  ASSERT_TRUE(id.is_ok());
  EXPECT_GE(running_roots(), 1u);
  const auto alone = Bootstrap::join(id.value(), 0, 1, config, nullptr);
  ASSERT_TRUE(alone.is_ok()) << alone.status().message();
  EXPECT_TRUE(eventually([&] { return running_roots() <= before; }));
}

TEST(Bootstrap, WorksOverIpv6) {
  Config config = loopback_config();
  config.socket_family = "AF_INET6";
  const auto interfaces = list_interfaces();
  ASSERT_TRUE(interfaces.is_ok());
  if (!select_addresses(interfaces.value(), config).is_ok()) GTEST_SKIP() << "this machine has no ::1 on lo";
  const auto id = create_unique_id(config);
  ASSERT_TRUE(id.is_ok()) << id.status().message();
  expect_all_ok(on_ranks(3, [&](int rank) -> Status {
    const auto bootstrap = HAWSER_TRY_VALUE(Bootstrap::join(id.value(), rank, 3, config, nullptr));
    return gather_and_check(*bootstrap, 0);
  }));
}

TEST(Bootstrap, RanksOutOfRangeAreRefused) {
  const Config config = loopback_config();
  const auto id = create_unique_id(config);
  ASSERT_TRUE(id.is_ok());
  for (const auto& [rank, ranks] : {std::pair(-1, 2), {2, 2}, {0, 0}, {0, -5}, {0, (1 << 20) + 1}}) {
    const auto joined = Bootstrap::join(id.value(), rank, ranks, config, nullptr);
    EXPECT_EQ(joined.status().code(), Code::kInvalidArgument) << rank << " of " << ranks;
  }
}

}  // namespace
}  // namespace hawser::bootstrap
