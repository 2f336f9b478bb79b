// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/roster.h"

#include <gmock/gmock.h>

#include "support.h"

namespace hawser::bootstrap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

JoinRequest request(int rank, int ranks) {
  JoinRequest result;
  result.member = {rank, 99, "node" + std::to_string(rank), {}, {loopback(static_cast<std::uint16_t>(1000 + rank))}};
  result.ranks = ranks;
  result.limit_ms = 5000;
  result.remaining_ms = 4000;
  return result;
}

TEST(Roster, IsCompleteWhenAllHaveJoined) {
  Roster roster;
  for (const int rank : {2, 0, 1}) {
    EXPECT_FALSE(roster.is_complete());
    ASSERT_TRUE(roster.add(request(rank, 3)).is_ok());
  }
  EXPECT_TRUE(roster.is_complete());
  EXPECT_TRUE(roster.missing().empty());
}

TEST(Roster, NamesWhoIsMissing) {
  Roster roster;
  for (const int rank : {0, 1, 2, 4, 5, 6}) ASSERT_TRUE(roster.add(request(rank, 8)).is_ok());
  EXPECT_THAT(roster.missing(), ElementsAre(3, 7));
  EXPECT_EQ(text_of_ranks(roster.missing()), "ranks 3, 7");
  EXPECT_EQ(text_of_ranks({5}), "rank 5");
  EXPECT_THAT(text_of_ranks(std::vector<int>(100, 1)), HasSubstr("and 84 more"));
}

TEST(Roster, NamesBothWhoClaimARank) {
  Roster roster;
  ASSERT_TRUE(roster.add(request(1, 3)).is_ok());
  const Status outcome = roster.add(request(1, 3));
  EXPECT_EQ(outcome.code(), Code::kInvalidUsage);
  EXPECT_THAT(outcome.message(), HasSubstr("rank 1 on node1 (127.0.0.1:1001) and rank 1 on node1"));
}

TEST(Roster, NamesBothWhoDisagreeOnTheCount) {
  Roster roster;
  ASSERT_TRUE(roster.add(request(1, 3)).is_ok());
  const Status outcome = roster.add(request(2, 4));
  EXPECT_EQ(outcome.code(), Code::kInvalidUsage);
  EXPECT_THAT(outcome.message(), HasSubstr("rank 2 on node2 (127.0.0.1:1002) joined a communicator of 4 ranks"));
  EXPECT_THAT(outcome.message(), HasSubstr("rank 1 on node1 (127.0.0.1:1001) joined the same one with 3"));
}

TEST(Roster, TablesHoldTheNeighborsAtPowersOfTwo) {
  EXPECT_THAT(neighbors_of(0, 1), ElementsAre());
  EXPECT_THAT(neighbors_of(0, 2), ElementsAre(1));
  EXPECT_THAT(neighbors_of(1, 8), ElementsAre(0, 2, 3, 5, 7));
  Roster roster;
  for (int rank = 0; rank < 64; ++rank) ASSERT_TRUE(roster.add(request(rank, 64)).is_ok());
  const Table table = roster.table_for(10, {});
  EXPECT_EQ(table.neighbors.size(), 11u);  // O(log n): 2 * 6, and +32 is -32
  const auto decoded = decode_table(encode(table));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->neighbors, table.neighbors);
}

TEST(Roster, RoundsAreTheCeilingOfTheLogarithm) {
  for (const auto& [ranks, rounds] : {std::pair(1, 0), {2, 1}, {3, 2}, {4, 2}, {5, 3}, {64, 6}, {65, 7}, {1 << 20, 20}})
    EXPECT_EQ(rounds_for(ranks), rounds) << ranks;
}

TEST(Roster, JoinsTravelUnchangedAndTruncatedOnesAreNone) {
  const JoinRequest sent = request(3, 8);
  const std::vector<std::byte> bytes = encode(sent);
  const auto got = decode_join(bytes);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->member, sent.member);
  EXPECT_EQ(got->ranks, sent.ranks);
  EXPECT_EQ(got->limit_ms, 5000u);
  EXPECT_EQ(got->remaining_ms, 4000u);
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(decode_join(std::span(bytes).first(size)));
  for (const auto& [rank, ranks] : {std::pair(8, 8), {0, 0}, {0, kMaxRanks + 1}})
    EXPECT_FALSE(decode_join(encode(request(rank, ranks)))) << rank << " of " << ranks;
}

TEST(Roster, RefusalsCarryFailuresOnly) {
  const auto refusal = decode_refusal(encode(Refusal{Code::kTimeout, "why\x1b[2J"}));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->code, Code::kTimeout);
  EXPECT_EQ(refusal->reason, "why?[2J");  // a hostile text cannot steer a terminal
  EXPECT_FALSE(decode_refusal(encode(Refusal{Code::kOk, ""})));
  EXPECT_FALSE(decode_refusal(encode(Refusal{static_cast<Code>(77), ""})));
}

}  // namespace
}  // namespace hawser::bootstrap
