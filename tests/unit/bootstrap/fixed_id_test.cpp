// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// NCCL_COMM_ID: a fixed address that rank 0 serves, with and without HAWSER_SECRET.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>

#include "bootstrap/bootstrap.h"
#include "support.h"

namespace hawser::bootstrap {
namespace {

using testing::HasSubstr;

Config fixed_config(const std::string& comm_id, const std::string& secret = "") {
  Config config = loopback_config();
  config.comm_id = comm_id;
  config.secret = secret;
  return config;
}

/// A port that was free a moment ago.
std::string free_address() {
  auto listener = Listener::open({loopback()});
  return fmt::format("127.0.0.1:{}", listener.value().addresses().front().port);
}

/// Every rank makes the id itself, as NCCL lets programs do.
Status make_id_and_gather(int rank, int ranks, const Config& config) {
  const UniqueId id = HAWSER_TRY_VALUE(create_unique_id(config));
  const auto bootstrap = HAWSER_TRY_VALUE(Bootstrap::join(id, rank, ranks, config, nullptr));
  return gather_and_check(*bootstrap, 0);
}

TEST(FixedId, LoopbackWorksWithoutASecret) {
  const Config config = fixed_config(free_address());
  expect_all_ok(on_ranks(4, [&](int rank) { return make_id_and_gather(rank, 4, config); }));
}

TEST(FixedId, WorksWithASecret) {
  const Config config = fixed_config(free_address(), "a long and random text");
  expect_all_ok(on_ranks(4, [&](int rank) { return make_id_and_gather(rank, 4, config); }));
}

TEST(FixedId, ServesOneCommunicatorAfterTheOther) {
  const Config config = fixed_config(free_address());
  expect_all_ok(on_ranks(3, [&](int rank) -> Status {
    for (int i = 0; i < 10; ++i) HAWSER_TRY(make_id_and_gather(rank, 3, config));
    return {};
  }));
}

TEST(FixedId, RanksWaitForRankZero) {
  const Config config = fixed_config(free_address());
  Status first;
  std::jthread rank_1([&] { first = make_id_and_gather(1, 2, config); });
  // Rank 1 has been refused before rank 0 starts, or has not begun: both have to work.
  const Status second = make_id_and_gather(0, 2, config);
  rank_1.join();
  EXPECT_TRUE(first.is_ok()) << first.message();
  EXPECT_TRUE(second.is_ok()) << second.message();
}

TEST(FixedId, AnotherSecretIsNamed) {
  const std::string address = free_address();
  const Config right = fixed_config(address, "right");
  const UniqueId id = create_unique_id(right).value();
  std::atomic<std::uint32_t> cancel{0};
  std::jthread rank_0([&] { static_cast<void>(Bootstrap::join(id, 0, 2, right, &cancel)); });
  const Status outcome = make_id_and_gather(1, 2, fixed_config(address, "wrong"));
  cancel = 1;
  EXPECT_EQ(outcome.code(), Code::kRemoteError);
  EXPECT_THAT(outcome.message(), HasSubstr("HAWSER_SECRET"));
}

TEST(FixedId, OtherAddressesNeedASecret) {
  for (const char* address : {"10.1.2.3:4444", "[2001:db8::1]:4444"}) {
    const auto id = create_unique_id(fixed_config(address));
    EXPECT_EQ(id.status().code(), Code::kInvalidUsage);
    EXPECT_THAT(id.status().message(), HasSubstr("NCCL_COMM_ID"));
    EXPECT_THAT(id.status().message(), HasSubstr("HAWSER_SECRET"));
    EXPECT_TRUE(create_unique_id(fixed_config(address, "secret")).is_ok());
  }
}

TEST(FixedId, IdsAreTheSameOnAllRanksAndDependOnTheSecret) {
  const UniqueId one = create_unique_id(fixed_config("10.1.2.3:4444", "one")).value();
  EXPECT_EQ(one, create_unique_id(fixed_config("10.1.2.3:4444", "one")).value());
  EXPECT_NE(decode(one).value().secret,
            decode(create_unique_id(fixed_config("10.1.2.3:4444", "two")).value()).value().secret);
}

TEST(FixedId, BadAddressesAreNamed) {
  for (const char* address : {"127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:12x", ":5000",
                              "::1:5000", "[::1:5000", "300.1.1.1:5000"}) {
    const Status outcome = create_unique_id(fixed_config(address)).status();
    EXPECT_EQ(outcome.code(), Code::kInvalidArgument) << address;
    EXPECT_THAT(outcome.message(), HasSubstr("NCCL_COMM_ID"));
    EXPECT_THAT(outcome.message(), HasSubstr(address));
  }
}

TEST(FixedId, RankZeroSaysWhyItCannotServe) {
  // An address of the documentation range, which no host has.
  const Config foreign = fixed_config("203.0.113.7:4444", "secret");
  const Status outcome = make_id_and_gather(0, 1, foreign);
  EXPECT_EQ(outcome.code(), Code::kInvalidUsage);
  EXPECT_THAT(outcome.message(), HasSubstr("rank 0 serves NCCL_COMM_ID but cannot listen on 203.0.113.7:4444"));

  auto holder = Listener::open({loopback()});
  Config taken = fixed_config(text_of(holder.value().addresses().front()));
  taken.init_timeout = Milliseconds(200);
  const Status in_use = make_id_and_gather(0, 1, taken);
  EXPECT_EQ(in_use.code(), Code::kSystemError);
  EXPECT_THAT(in_use.message(), HasSubstr("uses this port"));
}

}  // namespace
}  // namespace hawser::bootstrap
