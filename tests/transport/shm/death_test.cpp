// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Processes that die, stop and go on. Every rank is a process of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "tests/transport/delayed_transport.h"
#include "tests/transport/harness.h"
#include "tests/transport/shm_connect.h"

namespace hawser::transport::suite {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr std::array kOne{1};
constexpr auto kBound = seconds(5);

void run_processes(int ranks, int victim, const Body& body, const Connect& connect = connect_over_shm) {
  run_ranks({.ranks = ranks, .ranks_per_process = 1, .victim = victim}, connect, body);
}

[[noreturn]] void die() {
  ::kill(::getpid(), SIGKILL);
  while (true) ::pause();
}

/// Looks until a peer's end is seen; expects the sentence to name the victim.
void expect_death(const Rank& rank, int victim, pid_t pid) {
  const Clock::time_point before = Clock::now();
  Status status;
  rank.await("a death to be noticed", [&] { return !(status = rank.transport->check_peers()).is_ok(); });
  EXPECT_LT(Clock::now() - before, kBound);
  EXPECT_EQ(status.code(), Code::kRemoteError);
  EXPECT_THAT(status.message(), HasSubstr("rank " + std::to_string(victim) + " (pid " + std::to_string(pid)));
  EXPECT_THAT(status.message(), HasSubstr("testhost"));
  EXPECT_THAT(status.message(), HasSubstr("has died"));
}

TEST(Death, IsNoticedAndNamedByAll) {
  run_processes(4, 2, [](Rank& rank) {
    if (rank.rank == 2) rank.word(0).store(static_cast<std::uint64_t>(::getpid()));
    rank.barrier();
    if (rank.rank == 2) die();
    const auto victim = static_cast<pid_t>(rank.word(0).load());
    expect_death(rank, 2, victim);
    rank.transport->leave(Transport::Leave::kAborted);
    rank.barrier_of(3);
    expect_death(rank, 2, victim);  // not hidden by the survivors' giving up
    rank.barrier_of(3);
  });
}

TEST(Death, IsNoticedWhileMessagesFly) {
  for (std::uint64_t last = 1; last <= 10; ++last) {
    run_processes(3, 1, [&](Rank& rank) {
      const std::array receivers{(rank.rank + 1) % 3};
      const std::array self{rank.rank};
      const auto to_next = open_send(rank, {rank.rank, receivers, 0, 512, 4});
      const auto from_last = open_receive(rank, {(rank.rank + 2) % 3, self, 0, 512, 4});
      if (rank.rank == 1) rank.word(0).store(static_cast<std::uint64_t>(::getpid()));
      rank.barrier();
      std::uint64_t sent = 0;
      Status status;
      rank.await("a death to be noticed", [&] {
        if (to_next->has_credit()) {
          to_next->places(300);
          to_next->announce(300, 0);
          ++sent;
        }
        if (from_last->front() != nullptr) from_last->release();
        if (rank.rank == 1 && sent == last * 5) die();
        status = rank.transport->check_peers();
        return !status.is_ok();
      });
      EXPECT_THAT(status.message(), HasSubstr("rank 1 (pid " + std::to_string(rank.word(0).load())));
      rank.barrier_of(2);
    });
  }
}

/// A child that was forked and never ran another program holds its parent's sockets open.
TEST(Death, IsNoticedThoughAChildHoldsTheSockets) {
  run_processes(3, 1, [](Rank& rank) {
    std::atomic<std::uint64_t>& is_noticed = rank.word(1);
    std::atomic<std::uint64_t>& child_looked = rank.word(2);
    if (rank.rank == 1) {
      rank.word(0).store(static_cast<std::uint64_t>(::getpid()));
      if (::fork() == 0) {
        const Clock::time_point deadline = Clock::now() + kPatience;
        while (is_noticed.load() < 2 && Clock::now() < deadline) ::poll(nullptr, 0, 1);
        child_looked.store(is_noticed.load());
        ::_exit(0);
      }
    }
    rank.barrier();
    if (rank.rank == 1) die();
    expect_death(rank, 1, static_cast<pid_t>(rank.word(0).load()));
    is_noticed.fetch_add(1);
    rank.await("the child", [&] { return child_looked.load() == 2; });  // so it lived all the while
    rank.barrier_of(2);
  });
}

TEST(Death, AfterLeavingInOrderIsNoError) {
  run_processes(2, 1, [](Rank& rank) {
    if (rank.rank == 1) rank.transport->leave(Transport::Leave::kFinished);
    if (rank.rank == 1) rank.word(0).store(static_cast<std::uint64_t>(::getpid()));
    rank.barrier();
    if (rank.rank == 1) die();
    const auto victim = static_cast<pid_t>(rank.word(0).load());
    rank.await("the victim's end", [&] {
      std::ifstream stat("/proc/" + std::to_string(victim) + "/stat");
      std::string text;
      return !std::getline(stat, text) || text.find(") Z") != std::string::npos;
    });
    for (int look = 0; look < 20; ++look) EXPECT_TRUE(rank.transport->check_peers().is_ok());
  });
}

TEST(Death, DuringInitialisationEndsItInTime) {
  const auto connect = [](int rank, int ranks, Board& board) -> std::unique_ptr<Transport> {
    Result<shm::MeshListener> listener = shm::MeshListener::open();
    if (!listener.is_ok()) return nullptr;
    shm::ShmArgs args = introduce(rank, ranks, board, listener.value());
    if (rank == 1) die();
    args.deadline = Clock::now() + milliseconds(500);
    const Clock::time_point before = Clock::now();
    const Status status = shm::create(std::move(listener).value(), std::move(args)).status();
    EXPECT_LT(Clock::now() - before, kBound);
    EXPECT_TRUE(status.code() == Code::kRemoteError || status.code() == Code::kTimeout) << status.message();
    EXPECT_THAT(status.message(), HasSubstr("rank 1"));
    return std::move(make_delayed(1, {}).front());  // something to hold, for the body that does nothing
  };
  run_processes(
      3, 1, [](Rank&) {}, connect);
}

TEST(Stop, IsNotDeath) {
  run_processes(3, -1, [](Rank& rank) {
    const StreamSpec spec{0, kOne, 0, 512, 2};
    if (rank.rank == 1) {
      const auto port = open_receive(rank, spec);
      rank.word(0).store(static_cast<std::uint64_t>(::getpid()));
      rank.barrier();
      for (std::uint64_t i = 0; i < 50; ++i) expect_message(rank, *port, i, 400);
      rank.barrier();
      return;
    }
    rank.barrier();
    if (rank.rank == 2) {
      rank.await("the stop", [&] { return rank.word(1).load() != 0; });
      for (int look = 0; look < 200; ++look) EXPECT_TRUE(rank.transport->check_peers().is_ok());
      rank.word(2).store(1);
      rank.barrier();
      return;
    }
    const auto port = open_send(rank, spec);
    const auto stopped = static_cast<pid_t>(rank.word(0).load());
    for (std::uint64_t i = 0; i < 10; ++i) send(rank, *port, i, 400);
    ASSERT_EQ(::kill(stopped, SIGSTOP), 0);
    rank.await("the stop", [&] {
      std::ifstream stat("/proc/" + std::to_string(stopped) + "/stat");
      std::string text;
      return std::getline(stat, text) && text.find(") T") != std::string::npos;
    });
    rank.word(1).store(1);
    for (int look = 0; look < 200; ++look) EXPECT_TRUE(rank.transport->check_peers().is_ok());
    rank.await("the third rank", [&] { return rank.word(2).load() != 0; });
    ASSERT_EQ(::kill(stopped, SIGCONT), 0);
    for (std::uint64_t i = 10; i < 50; ++i) send(rank, *port, i, 400);
    rank.barrier();
  });
}

}  // namespace
}  // namespace hawser::transport::suite
