// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// That the adversary does what it is for: it delays, lets streams overtake each other, moves bytes late, overwrites what
// was given back, and repeats itself exactly.
#include "tests/transport/delayed_transport.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <set>

#include "tests/transport/harness.h"

namespace hawser::transport {
namespace {

constexpr std::array kOne{1};

/// Rank 0 sends one message on each of three streams at once. Says after how many polls each came.
std::array<int, 3> arrivals(std::uint64_t seed) {
  const auto ranks = make_delayed(2, {.seed = seed});
  std::array<int, 3> polls{};
  for (int number = 0; number < 3; ++number) {
    const StreamSpec spec{0, kOne, number, 64, 2};
    const auto send = std::move(ranks[0]->open_send(spec)).value();
    send->places(8);
    send->announce(8, 0);
    const auto receive = std::move(ranks[1]->open_receive(spec)).value();
    int& count = polls.at(static_cast<std::size_t>(number));
    while (receive->front() == nullptr && count < 1000) ++count;
    EXPECT_LT(count, 1000) << "hidden for ever";
  }
  return polls;
}

TEST(Delayed, StreamsOvertakeEachOther) {
  std::set<std::array<bool, 3>> orders;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto [a, b, c] = arrivals(seed);
    orders.insert({a < b, b < c, a < c});
  }
  EXPECT_EQ(orders.size(), 6U) << "some order of three streams never came";
}

TEST(Delayed, RunsRepeatExactly) {
  std::set<std::array<int, 3>> seen;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::array<int, 3> first = arrivals(seed);
    EXPECT_EQ(arrivals(seed), first);
    seen.insert(first);
  }
  EXPECT_GT(seen.size(), 15U);
}

/// Two ranks and both ends of a stream between them, driven by this thread.
struct Pair {
  explicit Pair(DelayedLandings landings) : ranks(make_delayed(2, {.seed = 3, .landings = landings})) {
    const StreamSpec spec{0, kOne, 0, 256, 2};
    send = std::move(ranks[0]->open_send(spec)).value();
    receive = std::move(ranks[1]->open_receive(spec)).value();
  }
  const Message& await_front() {
    while (receive->front() == nullptr) {
    }
    return *receive->front();
  }
  std::vector<std::unique_ptr<Transport>> ranks;
  std::unique_ptr<SendPort> send;
  std::unique_ptr<ReceivePort> receive;
};

TEST(Delayed, BytesArePutNoSoonerThanTheMessageIsSeen) {
  Pair pair(DelayedLandings::kPut);
  std::array<std::byte, 100> memory{};
  pair.ranks[1]->offer(memory.data(), memory.size());
  ASSERT_TRUE(pair.receive->post(0, memory.data(), 100));
  const Places places = pair.send->places(100);
  EXPECT_EQ(places.landing, Landing::kSlot);
  EXPECT_NE(places.data[0], memory.data());
  std::memset(places.data[0], 0x77, 100);
  pair.send->announce(100, 0);
  EXPECT_EQ(memory[50], std::byte{0});
  const Message& message = pair.await_front();
  EXPECT_EQ(message.landing, Landing::kDirect);
  EXPECT_EQ(message.data, memory.data());
  EXPECT_EQ(memory[50], std::byte{0x77});
}

TEST(Delayed, BytesAreFetchedNoSoonerThanTheMessageIsSeen) {
  Pair pair(DelayedLandings::kGet);
  std::array<std::byte, 100> memory{};
  pair.ranks[0]->offer(memory.data(), memory.size());
  EXPECT_FALSE(pair.receive->post(0, memory.data(), 100));
  ASSERT_TRUE(pair.send->can_refer(memory.data(), 100));
  pair.send->announce_reference(memory.data(), 100, 0);
  memory.fill(std::byte{0x33});  // a sender's fault: it shows
  const Message& message = pair.await_front();
  EXPECT_EQ(message.landing, Landing::kReference);
  EXPECT_NE(message.data, memory.data());
  EXPECT_EQ(message.data[50], std::byte{0x33});
}

TEST(Delayed, UseAfterReleaseShows) {
  Pair pair(DelayedLandings::kSlots);
  std::memset(pair.send->places(100).data[0], 0x55, 100);
  pair.send->announce(100, 0);
  const std::byte* data = pair.await_front().data;
  EXPECT_EQ(data[99], std::byte{0x55});
  pair.receive->release();
  EXPECT_NE(data[99], std::byte{0x55});
}

TEST(Delayed, WhatTheSenderForgetsToWriteShows) {
  Pair pair(DelayedLandings::kSlots);
  for (int message = 0; message < 5; ++message) {
    while (!pair.send->has_credit()) {
    }
    std::byte* place = pair.send->places(100).data[0];
    EXPECT_NE(place[7], std::byte{0x11});
    std::memset(place, 0x11, 100);
    EXPECT_EQ(pair.send->places(100).data[0][7], std::byte{0x11}) << "asking twice does not overwrite";
    pair.send->announce(100, 0);
    pair.await_front();
    pair.receive->release();
  }
}

TEST(Delayed, ReleasesAreSeenLate) {
  int late = 0;
  Pair pair(DelayedLandings::kSlots);
  for (std::uint64_t message = 0; message < 100; ++message) {
    pair.send->places(8);
    pair.send->announce(8, 0);
    pair.await_front();
    pair.receive->release();
    if (pair.send->released() != message + 1) ++late;
    while (pair.send->released() != message + 1) {
    }
  }
  EXPECT_GT(late, 20);
  EXPECT_LT(late, 90);
}

}  // namespace
}  // namespace hawser::transport
