// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What goes wrong: strangers, wrong secrets, wrong numbers, missing, dying and silent ranks, aborts. Every error has to
// come in time and to name whom it is about.
#include <gmock/gmock.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <random>
#include <stop_token>

#include "bootstrap/bootstrap.h"
#include "bootstrap/connection.h"
#include "bootstrap/crypto.h"
#include "bootstrap/messages.h"
#include "bootstrap/roster.h"
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

/// A rank played by hand, up to the point where the root has its request.
std::unique_ptr<Connection> join_by_hand(const UniqueId& id, const JoinRequest& request) {
  const IdContents contents = decode(id).value();
  auto connection = std::move(Connection::dial(contents.addresses.front(), derive(contents.secret, "root"))).value();
  EXPECT_TRUE(eventually([&] { return connection->advance().is_ok() && connection->is_authenticated(); }));
  connection->send(FrameType::kJoin, encode(request));
  EXPECT_TRUE(eventually([&] { return connection->advance().is_ok() && connection->is_flushed(); }));
  return connection;
}

JoinRequest request_of(int rank, int ranks) {
  JoinRequest request;
  request.member = {rank, 1, "somewhere", {}, {loopback(9)}};
  request.ranks = ranks;
  request.limit_ms = request.remaining_ms = 30'000;
  return request;
}

TEST(Faults, ARankThatGivesUpIsNamedToThoseWhoWait) {
  const Config config = loopback_config();
  const UniqueId id = new_id(config);
  const auto rank_1 = join_by_hand(id, request_of(1, 3));
  rank_1->send(FrameType::kAbort, encode(Abort{1, "no luck"}));
  ASSERT_TRUE(rank_1->advance().is_ok());
  const Status outcome = Bootstrap::join(id, 0, 3, config, nullptr).status();
  EXPECT_EQ(outcome.code(), Code::kRemoteError);
  EXPECT_THAT(outcome.message(), HasSubstr("rank 1 on somewhere (127.0.0.1:9) gave up (no luck)"));
}

TEST(Faults, ARankThatDiesDuringTheJoinIsNamedToThoseWhoWait) {
  const Config config = loopback_config();
  const UniqueId id = new_id(config);
  auto rank_1 = join_by_hand(id, request_of(1, 3));
  rank_1.reset();
  const Status outcome = Bootstrap::join(id, 0, 3, config, nullptr).status();
  EXPECT_EQ(outcome.code(), Code::kRemoteError);
  EXPECT_THAT(outcome.message(), HasSubstr("rank 1 on somewhere (127.0.0.1:9) closed the connection"));
}

TEST(Faults, ASilentRankDoesNotHoldUpTheOthers) {
  // It has passed the challenge and then never says who it is: not even its patience limit matters to the others.
  const Config config = loopback_config();
  const UniqueId id = new_id(config);
  const IdContents contents = decode(id).value();
  auto silent = std::move(Connection::dial(contents.addresses.front(), derive(contents.secret, "root"))).value();
  ASSERT_TRUE(eventually([&] { return silent->advance().is_ok() && silent->is_authenticated(); }));
  const TimePoint begun = Clock::now();
  expect_all_ok(on_ranks(2, [&](int rank) { return join_and_gather(id, rank, 2, config); }));
  EXPECT_LT(Clock::now() - begun, Milliseconds(8000));
}

TEST(Faults, CancelEndsAJoin) {
  const Config config = loopback_config();
  const UniqueId id = new_id(config);
  std::atomic<std::uint32_t> cancel{0};
  TimePoint returned_at;
  Status outcome;
  std::jthread rank([&] {
    outcome = Bootstrap::join(id, 0, 2, config, &cancel).status();
    returned_at = Clock::now();
  });
  const TimePoint cancelled_at = Clock::now();
  cancel = 1;
  rank.join();
  EXPECT_EQ(outcome.code(), Code::kInvalidUsage);
  EXPECT_THAT(outcome.message(), HasSubstr("rank 0: the program aborted"));
  EXPECT_LT(returned_at - cancelled_at, Milliseconds(2000));  // 100 ms, and a busy machine
}

using Ends = std::vector<std::unique_ptr<Bootstrap>>;

Ends join_all(int ranks, const std::vector<Config>& configs,
              std::vector<const std::atomic<std::uint32_t>*> cancels = {}) {
  cancels.resize(static_cast<std::size_t>(ranks));
  const UniqueId id = new_id(configs.front());
  Ends ends(static_cast<std::size_t>(ranks));
  expect_all_ok(on_ranks(ranks, [&](int rank) -> Status {
    const auto place = static_cast<std::size_t>(rank);
    ends[place] = HAWSER_TRY_VALUE(Bootstrap::join(id, rank, ranks, configs[place % configs.size()], cancels[place]));
    return {};
  }));
  return ends;
}

TEST(Faults, CancelEndsAnAllGatherEverywhere) {
  std::atomic<std::uint32_t> cancel{0};
  Ends ends = join_all(3, {loopback_config()}, {&cancel});
  // Rank 2 stays away, so the other two can only wait.
  std::vector<Status> outcomes(2);
  {
    std::jthread rank_0([&] { outcomes[0] = ends[0]->all_gather({}).status(); });
    std::jthread rank_1([&] { outcomes[1] = ends[1]->all_gather({}).status(); });
    cancel = 1;
  }
  EXPECT_EQ(outcomes[0].code(), Code::kInvalidUsage);
  EXPECT_EQ(outcomes[1].code(), Code::kRemoteError);
  EXPECT_THAT(outcomes[1].message(), HasSubstr("rank 0"));
  const Status late = ends[2]->all_gather({}).status();
  EXPECT_EQ(late.code(), Code::kRemoteError);
  // The first failure stays.
  EXPECT_EQ(ends[2]->barrier().message(), late.message());
}

TEST(Faults, ARankThatLeavesIsNamedToAllOthers) {
  for (const int ranks : {2, 3, 8}) {
    Ends ends = join_all(ranks, {loopback_config()});
    ends[1].reset();
    const TimePoint begun = Clock::now();
    const auto outcomes = on_ranks(ranks, [&](int rank) {
      return rank == 1 ? Status() : ends[static_cast<std::size_t>(rank)]->all_gather({}).status();
    });
    EXPECT_LT(Clock::now() - begun, Milliseconds(15'000));
    for (int rank = 0; rank < ranks; ++rank) {
      if (rank == 1) continue;
      const Status& outcome = outcomes[static_cast<std::size_t>(rank)];
      EXPECT_EQ(outcome.code(), Code::kRemoteError) << outcome.message();
      EXPECT_THAT(outcome.message(), HasSubstr("rank 1 on ")) << "rank " << rank;
    }
  }
}

TEST(Faults, ARankThatLeavesAfterUseIsNamedToAllOthers) {
  constexpr int kRanks = 6;
  Ends ends = join_all(kRanks, {loopback_config()});
  expect_all_ok(on_ranks(kRanks, [&](int rank) { return gather_and_check(*ends[static_cast<std::size_t>(rank)], 0); }));
  ends[4].reset();
  const auto outcomes = on_ranks(
      kRanks, [&](int rank) { return rank == 4 ? Status() : ends[static_cast<std::size_t>(rank)]->barrier(); });
  for (const int rank : {0, 1, 2, 3, 5}) {
    const Status& outcome = outcomes[static_cast<std::size_t>(rank)];
    EXPECT_EQ(outcome.code(), Code::kRemoteError);
    EXPECT_THAT(outcome.message(), HasSubstr("rank 4 on ")) << "rank " << rank;
  }
}

TEST(Faults, LeavingAfterTheLastCallIsFine) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    const Config config = loopback_config();
    const UniqueId id = new_id(config);
    expect_all_ok(on_ranks(5, [&](int rank) { return join_and_gather(id, rank, 5, config); }));
  }
}

TEST(Faults, ASilentRankIsNamedWithinTheLimit) {
  Ends ends = join_all(2, {loopback_config(Milliseconds(600))});
  const TimePoint begun = Clock::now();
  const Status outcome = ends[0]->barrier();
  EXPECT_LT(Clock::now() - begun, Milliseconds(5000));
  EXPECT_EQ(outcome.code(), Code::kTimeout);
  EXPECT_THAT(outcome.message(), HasSubstr("rank 0: barrier was not complete within 0.6 s: rank 1 on "));
}

TEST(Faults, DifferentCallsAreNamed) {
  Ends ends = join_all(2, {loopback_config()});
  const auto outcomes =
      on_ranks(2, [&](int rank) { return rank == 0 ? ends[0]->barrier() : ends[1]->all_gather({}).status(); });
  // One of them notices, the other may hear of it instead.
  EXPECT_TRUE(outcomes[0].code() == Code::kInvalidUsage || outcomes[1].code() == Code::kInvalidUsage);
  for (const Status& outcome : outcomes)
    EXPECT_THAT(outcome.message(), AllOf(HasSubstr("barrier"), HasSubstr("all_gather")));
}

TEST(Faults, ABlobThatIsTooLongIsRefused) {
  Ends ends = join_all(2, {loopback_config()});
  const std::vector<std::byte> huge(std::size_t{17} << 20);
  const auto outcomes = on_ranks(2, [&](int rank) {
    return ends[static_cast<std::size_t>(rank)]->all_gather(rank == 0 ? huge : std::vector<std::byte>()).status();
  });
  EXPECT_EQ(outcomes[0].code(), Code::kInvalidArgument);
  EXPECT_EQ(outcomes[1].code(), Code::kRemoteError);
}

TEST(Faults, GarbageAtARanksDoorHurtsNobody) {
  // Ranks listen on loopback ports that nobody tells: find them as a port scan would, from the kernel's table.
  Ends ends = join_all(4, {loopback_config()});
  std::ifstream table("/proc/self/net/tcp");
  std::vector<Socket> strangers;
  std::string line;
  while (std::getline(table, line)) {
    unsigned address = 0;
    unsigned port = 0;
    unsigned state = 0;
    if (std::sscanf(line.c_str(), " %*d: %x:%x %*x:%*x %x", &address, &port, &state) != 3) continue;
    if (address != 0x0100007f || state != 10) continue;
    strangers.push_back(raw_connection(loopback(static_cast<std::uint16_t>(port))));
    send_raw(strangers.back(), std::vector<std::byte>(200, std::byte{0xff}));
  }
  EXPECT_GE(strangers.size(), 4u);
  expect_all_ok(on_ranks(4, [&](int rank) { return gather_and_check(*ends[static_cast<std::size_t>(rank)], 0); }));
}

}  // namespace
}  // namespace hawser::bootstrap
