// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The real doorbells: ranks that fall asleep before every message. Every sleep may last for ten seconds, so that a single
// lost wake-up shows.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <thread>

#include "tests/transport/harness.h"
#include "tests/transport/shm_connect.h"
#include "transport/doorbell.h"

namespace hawser::transport::suite {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kSleep = std::chrono::seconds(10);

/// Sleeps as the executor does, on one or several doorbells, until there is something to do.
void sleep_until(std::span<Doorbell* const> bells, const std::function<bool()>& is_there) {
  std::vector<std::uint32_t> seen(bells.size());
  while (!is_there()) {
    for (std::size_t i = 0; i < bells.size(); ++i) seen[i] = bells[i]->bell.load(std::memory_order_seq_cst);
    fall_asleep(bells);
    if (!is_there()) {
      const Clock::time_point before = Clock::now();
      sleep(bells, seen, kSleep);
      EXPECT_LT(Clock::now() - before, kSleep / 2) << "a wake-up was lost";
    }
    wake_up(bells);
  }
}

/// A token goes round the ranks; everybody sleeps but the one that has it.
void pass_token(Rank& rank, std::uint64_t rounds) {
  const std::array next{(rank.rank + 1) % rank.ranks};
  const std::array self{rank.rank};
  const auto send = open_send(rank, {rank.rank, next, 0, 32, 1});
  const auto receive = open_receive(rank, {(rank.rank + rank.ranks - 1) % rank.ranks, self, 0, 32, 1});
  const std::array bells{rank.transport->doorbell()};
  rank.barrier();
  for (std::uint64_t round = 0; round < rounds; ++round) {
    if (rank.rank == 0) suite::send(rank, *send, round, 8);
    sleep_until(bells, [&] { return receive->front() != nullptr; });
    expect_message(rank, *receive, round, 8);
    if (rank.rank != 0) {
      sleep_until(bells, [&] { return send->has_credit(); });
      suite::send(rank, *send, round, 8);
    }
  }
  rank.barrier();
}

/// With a credit of one, the sender sleeps for every release and the receiver for every message.
void sleep_for_credit(Rank& rank, std::uint64_t count) {
  const std::array one{1};
  const StreamSpec spec{0, one, 0, 32, 1};
  const std::array bells{rank.transport->doorbell()};
  if (rank.rank == 0) {
    const auto port = open_send(rank, spec);
    rank.barrier();
    for (std::uint64_t i = 0; i < count; ++i) {
      sleep_until(bells, [&] { return port->has_credit(); });
      suite::send(rank, *port, i, 8);
    }
  } else {
    const auto port = open_receive(rank, spec);
    rank.barrier();
    for (std::uint64_t i = 0; i < count; ++i) {
      sleep_until(bells, [&] { return port->front() != nullptr; });
      expect_message(rank, *port, i, 8);
    }
  }
  rank.barrier();
}

TEST(DoorbellStress, TokenAmongThreads) {
  run_ranks({.ranks = 2}, connect_over_shm, [](Rank& rank) { pass_token(rank, 2000); });
  run_ranks({.ranks = 4}, connect_over_shm, [](Rank& rank) { pass_token(rank, 300); });
}

TEST(DoorbellStress, TokenAmongProcesses) {
  run_ranks({.ranks = 2, .ranks_per_process = 1}, connect_over_shm, [](Rank& rank) { pass_token(rank, 2000); });
  run_ranks({.ranks = 4, .ranks_per_process = 1}, connect_over_shm, [](Rank& rank) { pass_token(rank, 300); });
}

TEST(DoorbellStress, CreditAmongThreadsAndProcesses) {
  run_ranks({.ranks = 2}, connect_over_shm, [](Rank& rank) { sleep_for_credit(rank, 3000); });
  run_ranks({.ranks = 2, .ranks_per_process = 1}, connect_over_shm, [](Rank& rank) { sleep_for_credit(rank, 3000); });
}

/// One thread sleeps for several communicators, as a group of calls does; which of them rings varies.
TEST(DoorbellStress, SeveralDoorbells) {
  constexpr std::uint64_t kCount = 1500;
  std::array<Doorbell, 3> bells{};
  std::array<std::atomic<std::uint64_t>, 3> work{};
  std::atomic<std::uint64_t> done{0};
  const std::jthread waker([&] {
    for (std::uint64_t i = 0; i < kCount; ++i) {
      while (done.load() != i) ::sched_yield();
      work.at(i * 7 % 3).fetch_add(1, std::memory_order_seq_cst);
      ring_if_asleep(bells.at(i * 7 % 3));
    }
  });
  const std::array<Doorbell*, 3> all{&bells[0], &bells[1], &bells[2]};
  const auto sum = [&] { return work[0].load() + work[1].load() + work[2].load(); };
  for (std::uint64_t i = 0; i < kCount; ++i) {
    sleep_until(all, [&] { return sum() > i; });
    done.store(i + 1);
  }
}

/// More doorbells than the kernel watches at once are polled.
TEST(DoorbellStress, VeryManyDoorbells) {
  std::vector<Doorbell> bells(100);
  std::vector<Doorbell*> all;
  for (Doorbell& bell : bells) all.push_back(&bell);
  std::atomic<std::uint32_t> work{0};
  const std::jthread waker([&] {
    work.store(1, std::memory_order_seq_cst);
    ring_if_asleep(bells.back());
  });
  sleep_until(all, [&] { return work.load() == 1; });
  std::array<Doorbell*, 0> none{};
  sleep(none, {}, std::chrono::microseconds(50));
}

TEST(DoorbellStress, ALimitEndsSleep) {
  std::array<Doorbell, 2> bells{};
  const std::array<Doorbell*, 2> all{&bells[0], &bells[1]};
  const std::array<std::uint32_t, 2> seen{};
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}}) {
    const Clock::time_point before = Clock::now();
    sleep(std::span(all).first(count), std::span(seen).first(count), std::chrono::microseconds(20'000));
    EXPECT_GE(Clock::now() - before, std::chrono::milliseconds(19));
    EXPECT_LT(Clock::now() - before, std::chrono::seconds(5));
  }
}

TEST(DoorbellStress, LeavingWakesSleepers) {
  run_ranks({.ranks = 2}, connect_over_shm, [](Rank& rank) {
    rank.barrier();
    if (rank.rank == 1) {
      rank.await("the other to sleep", [&] { return rank.word(0).load() == 1; });
      rank.transport->leave(Transport::Leave::kAborted);
      rank.barrier();
      return;
    }
    const std::array bells{rank.transport->doorbell()};
    const std::array seen{bells[0]->bell.load()};
    fall_asleep(bells);
    rank.word(0).store(1);
    sleep(bells, seen, kSleep);
    wake_up(bells);
    EXPECT_FALSE(rank.transport->check_peers().is_ok());
    rank.barrier();
  });
}

}  // namespace
}  // namespace hawser::transport::suite
