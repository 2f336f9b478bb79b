// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "hawser_run/switchboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <random>

#include "perf/common/run_protocol.h"

namespace hawser::run {
namespace {

using run_protocol::Answer;
using run_protocol::Header;
using run_protocol::Verb;
using testing::HasSubstr;

std::string frame(std::uint8_t kind, std::string_view body, std::uint8_t reserved = 0) {
  const Header header{static_cast<std::uint32_t>(body.size()), kind, {reserved, 0, 0}};
  return std::string(reinterpret_cast<const char*>(&header), sizeof(header)).append(body);
}

std::string question(Verb verb, std::string_view body) { return frame(static_cast<std::uint8_t>(verb), body); }

std::string put_body(std::string_view key, std::string_view value) {
  const auto bytes = static_cast<std::uint32_t>(key.size());
  return std::string(reinterpret_cast<const char*>(&bytes), sizeof(bytes)).append(key).append(value);
}

struct Reply {
  Answer kind;
  std::string body;
  bool operator==(const Reply&) const = default;
};

// Takes the one answer that is due to the rank; none if there is none.
std::optional<Reply> take(Switchboard& board, int rank) {
  const std::string due(board.due(rank));
  if (due.empty()) return std::nullopt;
  Header header;
  std::memcpy(&header, due.data(), sizeof(header));
  EXPECT_EQ(due.size(), sizeof(header) + header.body_bytes);
  EXPECT_TRUE(board.wrote(rank, due.size()).is_ok());
  return Reply{static_cast<Answer>(header.kind), due.substr(sizeof(header))};
}

const Reply kDone{Answer::kOk, ""};

TEST(Switchboard, GetsWhatWasPut) {
  Switchboard board(2);
  ASSERT_TRUE(board.receive(0, question(Verb::kPut, put_body("id", "secret"))).is_ok());
  EXPECT_EQ(take(board, 0), kDone);
  ASSERT_TRUE(board.receive(1, question(Verb::kGet, "id")).is_ok());
  EXPECT_EQ(take(board, 1), (Reply{Answer::kOk, "secret"}));
}

TEST(Switchboard, GetWaitsForThePut) {
  Switchboard board(3);
  ASSERT_TRUE(board.receive(1, question(Verb::kGet, "id")).is_ok());
  ASSERT_TRUE(board.receive(2, question(Verb::kGet, "other")).is_ok());
  EXPECT_EQ(take(board, 1), std::nullopt);
  ASSERT_TRUE(board.receive(0, question(Verb::kPut, put_body("id", "x"))).is_ok());
  EXPECT_EQ(take(board, 1), (Reply{Answer::kOk, "x"}));
  EXPECT_EQ(take(board, 2), std::nullopt);
}

TEST(Switchboard, FramesMayArriveByteByByte) {
  Switchboard board(1);
  for (const char each : question(Verb::kPut, put_body("k", "v")) + question(Verb::kGet, "k"))
    ASSERT_TRUE(board.receive(0, {&each, 1}).is_ok());
  EXPECT_EQ(take(board, 0), kDone);
  EXPECT_EQ(take(board, 0), (Reply{Answer::kOk, "v"}));
}

TEST(Switchboard, GatherGivesEverybodyAllValuesByRank) {
  Switchboard board(3);
  ASSERT_TRUE(board.receive(2, question(Verb::kGather, "cc")).is_ok());
  ASSERT_TRUE(board.receive(0, question(Verb::kGather, "")).is_ok());
  EXPECT_EQ(take(board, 0), std::nullopt);
  ASSERT_TRUE(board.receive(1, question(Verb::kGather, "b")).is_ok());
  const std::string all("\0\0\0\0\1\0\0\0b\2\0\0\0cc", 15);
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(take(board, rank), (Reply{Answer::kOk, all})) << rank;
}

TEST(Switchboard, GatherThatSomebodyHasLeftIsRefused) {
  Switchboard board(2);
  ASSERT_TRUE(board.receive(0, question(Verb::kGather, "x")).is_ok());
  board.leave(1);
  const auto reply = take(board, 0);
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->kind, Answer::kError);
  EXPECT_THAT(reply->body, HasSubstr("rank 1"));
}

TEST(Switchboard, KeyThatNobodyCanPutIsRefused) {
  Switchboard board(2);
  ASSERT_TRUE(board.receive(0, question(Verb::kGet, "id")).is_ok());
  EXPECT_EQ(take(board, 0), std::nullopt);
  ASSERT_TRUE(board.receive(1, question(Verb::kGet, "id")).is_ok());
  for (int rank = 0; rank < 2; ++rank) {
    const auto reply = take(board, rank);
    ASSERT_TRUE(reply.has_value());
    EXPECT_EQ(reply->kind, Answer::kError);
    EXPECT_THAT(reply->body, HasSubstr("'id'"));
  }
}

TEST(Switchboard, MalformedFramesAreRefused) {
  using namespace std::string_literals;
  const std::string long_key(run_protocol::kMaxKeyBytes + 1, 'k');
  const std::string long_value(run_protocol::kMaxValueBytes + 1, 'v');
  const Header huge{0xffffffff, static_cast<std::uint8_t>(Verb::kGather), {}};
  const std::string cases[] = {
      frame(0, ""),
      frame(4, ""),
      frame(255, "x"),
      frame(static_cast<std::uint8_t>(Verb::kGet), "k", /*reserved=*/1),
      question(Verb::kGet, ""),
      question(Verb::kGet, long_key),
      question(Verb::kPut, ""),
      question(Verb::kPut, "\1\0"s),
      question(Verb::kPut, "\0\0\0\0v"s),
      question(Verb::kPut, "\5\0\0\0k"s),
      question(Verb::kPut, "\xff\xff\xff\xffk"s),
      question(Verb::kPut, put_body(long_key, "")),
      question(Verb::kGather, long_value),
      std::string(reinterpret_cast<const char*>(&huge), sizeof(huge)),
  };
  for (const std::string& each : cases) {
    Switchboard board(2);
    const Status status = board.receive(0, each);
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << testing::PrintToString(each.substr(0, 16));
    EXPECT_FALSE(status.message().empty());
    EXPECT_TRUE(board.due(0).empty());
  }
}

TEST(Switchboard, FloodIsRefused) {
  Switchboard board(2);
  ASSERT_TRUE(board.receive(0, question(Verb::kGet, "never")).is_ok());  // waits, so nothing behind it is taken up
  const std::string more = question(Verb::kGather, std::string(run_protocol::kMaxValueBytes, 'x'));
  Status status;
  for (int i = 0; i < 8 && status.is_ok(); ++i) status = board.receive(0, more);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
}

TEST(Switchboard, StoreIsBounded) {
  Switchboard board(1);
  const std::string value(run_protocol::kMaxValueBytes, 'x');
  std::optional<Reply> reply = kDone;
  std::size_t stored = 0;
  for (int i = 0; reply == kDone && i < 2000; ++i) {
    ASSERT_TRUE(board.receive(0, question(Verb::kPut, put_body(std::to_string(i), value))).is_ok());
    reply = take(board, 0);
    stored += value.size();
  }
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->kind, Answer::kError);
  EXPECT_LE(stored, run_protocol::kMaxStoreBytes + 2 * value.size());
  // Writing over a key frees what it held, so a full store stays usable.
  ASSERT_TRUE(board.receive(0, question(Verb::kPut, put_body("0", "small"))).is_ok());
  EXPECT_EQ(take(board, 0), kDone);
}

// Random bytes and random cuts of valid frames: whatever comes, every rank is answered, refused or waiting.
TEST(Switchboard, SurvivesRandomBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    Switchboard board(2);
    std::string bytes = question(Verb::kPut, put_body("key", "value")) + question(Verb::kGet, "key");
    for (int i = 0; i < 3; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    Status status;
    while (!bytes.empty() && status.is_ok()) {
      const std::size_t some = 1 + random() % bytes.size();
      status = board.receive(0, bytes.substr(0, some));
      bytes.erase(0, some);
      if (status.is_ok() && !board.due(0).empty()) status = board.wrote(0, board.due(0).size());
    }
    board.leave(0);
    EXPECT_TRUE(board.due(0).empty());
  }
}

}  // namespace
}  // namespace hawser::run
