// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What goes wrong: strangers, wrong secrets, wrong numbers, missing, dying and silent ranks, aborts. Every error has to
// come in time and to name whom it is about.
#include <gmock/gmock.h>

#include <atomic>
#include <random>
#include <stop_token>

#include "bootstrap/bootstrap.h"
#include "bootstrap/crypto.h"
#include "bootstrap/joining.h"
#include "bootstrap/mesh.h"
#include "bootstrap/roots.h"
#include "support.h"

namespace hawser::bootstrap {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

UniqueId new_id(const Config& config) {
  const auto id = create_unique_id(config);
  EXPECT_TRUE(id.is_ok()) << id.status().message();
  return id.value();
}

SocketAddress root_of(const UniqueId& id) { return decode(id).value().addresses.front(); }

Status join_and_gather(const UniqueId& id, int rank, int ranks, const Config& config) {
  const auto bootstrap = HAWSER_TRY_VALUE(Bootstrap::join(id, rank, ranks, config, nullptr));
  return gather_and_check(*bootstrap, 0);
}

TEST(Faults, AnotherSecretIsNamedAndHurtsNobody) {
  const Config config = loopback_config();
  const UniqueId id = new_id(config);
  IdContents contents = decode(id).value();
  contents.secret[0] ^= std::byte{1};
  const Status outcome = Bootstrap::join(encode(contents), 0, 2, config, nullptr).status();
  EXPECT_EQ(outcome.code(), Code::kRemoteError);
  EXPECT_THAT(outcome.message(), HasSubstr("rank 0"));
  EXPECT_THAT(outcome.message(), HasSubstr("secret"));
  EXPECT_THAT(outcome.message(), HasSubstr(text_of(root_of(id))));
  expect_all_ok(on_ranks(2, [&](int rank) { return join_and_gather(id, rank, 2, config); }));
}

TEST(Faults, GarbageDuringTheJoinHurtsNobody) {
  const Config config = loopback_config();
  const UniqueId id = new_id(config);
  const SocketAddress root = root_of(id);
  std::atomic<int> thrown{0};
  std::jthread vandal([&](const std::stop_token& stop) {
    std::mt19937 random(7);
    while (!stop.stop_requested()) {
      const Socket socket = raw_connection(root);
      if (!socket.is_open()) return;  // the root has finished
      std::vector<std::byte> garbage(random() % 300);
      for (std::byte& byte : garbage) byte = static_cast<std::byte>(random() & 0xff);
      send_raw(socket, garbage);
      ++thrown;
    }
  });
  ASSERT_TRUE(eventually([&] { return thrown > 20; }));
  expect_all_ok(on_ranks(8, [&](int rank) { return join_and_gather(id, rank, 8, config); }));
}

TEST(Faults, AFloodOfSilentConnectionsHurtsNobody) {
  constexpr int kFlood = 700;  // more than the root lets stand at its door
  if (!can_open_files(3 * kFlood)) GTEST_SKIP() << "the limit of open files is too low for the flood";
  const Config config = loopback_config();
  const UniqueId id = new_id(config);
  std::vector<Socket> flood;
  for (int i = 0; i < kFlood; ++i) flood.push_back(raw_connection(root_of(id)));
  expect_all_ok(on_ranks(4, [&](int rank) { return join_and_gather(id, rank, 4, config); }));
}

TEST(Faults, TwoWithTheSameRankAreNamedToAll) {
  const Config config = loopback_config();
  const UniqueId id = new_id(config);
  const std::vector<int> claims = {0, 1, 1};
  const auto outcomes = on_ranks(3, [&](int thread) {
    return Bootstrap::join(id, claims[static_cast<std::size_t>(thread)], 3, config, nullptr).status();
  });
  for (const Status& outcome : outcomes) {
    EXPECT_EQ(outcome.code(), Code::kInvalidUsage);
    EXPECT_THAT(outcome.message(), HasSubstr("same rank: rank 1 on "));
  }
}

TEST(Faults, DifferentCountsAreNamedToAll) {
  const Config config = loopback_config();
  const UniqueId id = new_id(config);
  const auto outcomes =
      on_ranks(3, [&](int rank) { return Bootstrap::join(id, rank, rank == 2 ? 4 : 3, config, nullptr).status(); });
  for (const Status& outcome : outcomes) {
    EXPECT_EQ(outcome.code(), Code::kInvalidUsage);
    EXPECT_THAT(outcome.message(), AllOf(HasSubstr("4 ranks"), HasSubstr("3 ranks"), HasSubstr("rank 2 on ")));
  }
}

TEST(Faults, MissingRanksAreNamedWithinTheLimit) {
  const Config config = loopback_config(Milliseconds(1500));
  const UniqueId id = new_id(config);
  const TimePoint begun = Clock::now();
  const auto outcomes = on_ranks(8, [&](int rank) {
    if (rank == 3 || rank == 7) return Status();
    return Bootstrap::join(id, rank, 8, config, nullptr).status();
  });
  EXPECT_LT(Clock::now() - begun, Milliseconds(5000));
  for (const int rank : {0, 1, 2, 4, 5, 6}) {
    const Status& outcome = outcomes[static_cast<std::size_t>(rank)];
    EXPECT_EQ(outcome.code(), Code::kTimeout);
    EXPECT_THAT(outcome.message(), HasSubstr("ranks 3, 7 of 8 did not join within 1.5 s"));
    EXPECT_THAT(outcome.message(), HasSubstr("HAWSER_INIT_TIMEOUT_S"));
  }
  // One that comes too late hears the same, at once.
  const Status late = Bootstrap::join(id, 3, 8, loopback_config(), nullptr).status();
  EXPECT_EQ(late.code(), Code::kTimeout);
  EXPECT_THAT(late.message(), HasSubstr("ranks 3, 7 of 8 did not join"));
}

TEST(Faults, AnIdWhoseRootIsGoneFailsSoon) {
  const Config config = loopback_config();
  const UniqueId id = new_id(config);
  ASSERT_TRUE(Bootstrap::join(id, 0, 1, config, nullptr).is_ok());
  const TimePoint begun = Clock::now();
  const Status again = Bootstrap::join(id, 0, 1, config, nullptr).status();
  EXPECT_EQ(again.code(), Code::kRemoteError);
  EXPECT_THAT(again.message(), HasSubstr("a unique id serves one communicator"));
  EXPECT_LT(Clock::now() - begun, Milliseconds(10'000));
}

TEST(Faults, ARankThatGivesUpIsNamedToThoseWhoWait) {
  const Config config = loopback_config();
  const UniqueId id = new_id(config);
  std::atomic<std::uint32_t> cancel{0};
  std::atomic<bool> has_been_cancelled{false};
  TimePoint cancelled_at;
  std::jthread canceller;
  const auto outcomes = on_ranks(2, [&](int rank) {
    if (rank == 0) return Bootstrap::join(id, 0, 3, config, nullptr).status();
    const IdContents contents = decode(id).value();
    canceller = std::jthread([&] {
      // Cancels when the root knows the rank: a second one with its number would be refused from then on.
      cancelled_at = Clock::now();
      cancel = 1;
    });
    const Status outcome = Bootstrap::join(id, 1, 3, config, &cancel).status();
    EXPECT_LT(Clock::now() - cancelled_at, Milliseconds(1000));
    has_been_cancelled = true;
    return outcome;
  });
  EXPECT_EQ(outcomes[1].code(), Code::kInvalidUsage);
  EXPECT_THAT(outcomes[1].message(), HasSubstr("aborted"));
}

}  // namespace
}  // namespace hawser::bootstrap
