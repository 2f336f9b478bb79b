// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What survivors see when a rank is killed, stopped, or aborts in the middle of a collective. Rounds are few by default; a full run
// (HAWSER_TEST_FULL=1) does fifty of each.
#include <gtest/gtest.h>
#include <nccl.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>
#include <thread>

#include "rank_processes.h"

namespace hawser::tests {
namespace {

using Clock = std::chrono::steady_clock;

int rounds(int sampled) {
  return std::getenv("HAWSER_TEST_FULL") != nullptr ? 50 : sampled;
}  // NOLINT(concurrency-mt-unsafe)

std::set<std::string> shared_memory_files() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) names.insert(entry.path().filename());
  return names;
}

long milliseconds_since(Clock::time_point start) {
  return static_cast<long>(std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count());
}

/// Repeats all_reduce until it fails; says the sentence, the time since the last good call and the code.
int reduce_until_failure(int rank, int ranks, Board& board, std::size_t count) {
  ncclComm_t comm = join(rank, ranks, board);
  if (comm == nullptr) return 50;
  std::vector<float> in(count, 1.0F);
  std::vector<float> out(count);
  ncclResult_t outcome = ncclSuccess;
  Clock::time_point last = Clock::now();
  auto& stage = board.stage[static_cast<std::size_t>(rank)];
  while ((outcome = ncclAllReduce(in.data(), out.data(), count, ncclFloat32, ncclSum, comm, nullptr)) == ncclSuccess) {
    last = Clock::now();
    for (const float value : out) {
      if (value != static_cast<float>(ranks)) return 51;
    }
    stage.fetch_add(1);
  }
  board.number[static_cast<std::size_t>(rank)].store(milliseconds_since(last));
  say(board, rank, ncclGetLastError(comm));
  ncclCommAbort(comm);
  return outcome;
}

/// A killed rank is named by every survivor within five seconds, and nothing of it stays behind.
void kill_one(int ranks, std::size_t count, int victim, std::uint32_t seed) {
  const std::set<std::string> before = shared_memory_files();
  RankProcesses job(ranks, [=](int rank, Board& board) { return reduce_until_failure(rank, ranks, board, count); });
  std::mt19937 random(seed);
  ASSERT_TRUE(job.await_stage(victim, 1 + static_cast<int>(random() % 12), std::chrono::seconds(40)));
  const pid_t pid = job.pid(victim);
  job.signal(victim, SIGKILL);
  const std::vector<int> outcomes = job.wait(std::chrono::seconds(15));
  for (int rank = 0; rank < ranks; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    if (rank == victim) {
      EXPECT_EQ(outcomes[index], 1000 + SIGKILL);
      continue;
    }
    const std::string text = text_of(job.board(), rank);
    EXPECT_EQ(outcomes[index], ncclRemoteError) << "rank " << rank << ": " << text;
    EXPECT_NE(text.find("rank " + std::to_string(victim) + " (pid " + std::to_string(pid)), std::string::npos) << text;
    EXPECT_LT(job.board().number[index].load(), 5000);
  }
  EXPECT_EQ(shared_memory_files(), before);
}

TEST(Faults, AKilledRankIsNamedByAllSurvivors) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  constexpr std::size_t kLarge = 1 << 18;
#else
  constexpr std::size_t kLarge = 4 << 20;
#endif
  constexpr std::array<std::size_t, 3> kCounts = {2, 16384, kLarge};
  for (int round = 0; round < rounds(6); ++round) {
    const int ranks = 2 + round % 3;
    kill_one(ranks, kCounts.at(static_cast<std::size_t>(round) % kCounts.size()), round % ranks,
             static_cast<std::uint32_t>(round));
    if (testing::Test::HasFailure()) return;
  }
}

/// A stopped rank is stuck, not dead: without a limit the collective finishes, with right bits, once it goes on.
void stop_and_continue(int ranks, std::size_t count, int victim) {
  RankProcesses job(ranks, [=](int rank, Board& board) {
    ncclComm_t comm = join(rank, ranks, board);
    if (comm == nullptr) return 50;
    std::vector<float> in(count, 1.0F);
    std::vector<float> out(count);
    const Clock::time_point start = Clock::now();
    while (true) {
      // All ranks take part in the decision to end, so that they make equal numbers of calls.
      in[0] = milliseconds_since(start) < 1500 ? 1.0F : 0.0F;
      if (ncclAllReduce(in.data(), out.data(), count, ncclFloat32, ncclSum, comm, nullptr) != ncclSuccess) {
        say(board, rank, ncclGetLastError(comm));
        return 51;
      }
      for (std::size_t i = 1; i < count; ++i) {
        if (out[i] != static_cast<float>(ranks)) return 52;
      }
      board.stage[static_cast<std::size_t>(rank)].fetch_add(1);
      if (out[0] != static_cast<float>(ranks)) break;
    }
    return ncclCommDestroy(comm) == ncclSuccess ? 0 : 53;
  });
  ASSERT_TRUE(job.await_stage(victim, 3));
  job.signal(victim, SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // the fault itself: a rank that stands still this long
  job.signal(victim, SIGCONT);
  const std::vector<int> outcomes = job.wait(std::chrono::seconds(20));
  for (int rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(outcomes[static_cast<std::size_t>(rank)], 0) << "rank " << rank << ": " << text_of(job.board(), rank);
  }
}

TEST(Faults, AStoppedRankIsWaitedForAndTheResultIsRight) {
  for (int round = 0; round < rounds(3) / (rounds(3) > 3 ? 2 : 1); ++round) {
    stop_and_continue(2 + round % 3, round % 2 == 0 ? 4096 : 1 << 20, round % 2);
    if (testing::Test::HasFailure()) return;
  }
}

/// With HAWSER_TIMEOUT_S a stopped rank ends the call with ncclTimeout within the limit and a second.
void stop_with_limit(int ranks, std::size_t count, int victim) {
  constexpr long kLimitMs = 1000;
  RankProcesses job(ranks, [=](int rank, Board& board) {
    setenv("HAWSER_TIMEOUT_S", "1", 1);  // NOLINT(concurrency-mt-unsafe): a child without threads
    return reduce_until_failure(rank, ranks, board, count);
  });
  ASSERT_TRUE(job.await_stage(victim, 3));
  job.signal(victim, SIGSTOP);
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank == victim) continue;
    const auto index = static_cast<std::size_t>(rank);
    // Whoever times out first aborts, and the others may hear of that before their own limit: both name a rank.
    const auto deadline = Clock::now() + std::chrono::seconds(10);
    while (job.board().number[index].load() == 0 && Clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_GE(job.board().number[index].load(), kLimitMs - 100);
    EXPECT_LT(job.board().number[index].load(), kLimitMs + 1000);
    const std::string text = text_of(job.board(), rank);
    EXPECT_NE(text.find("rank " + std::to_string(victim)), std::string::npos) << text;
  }
  job.signal(victim, SIGKILL);
  const std::vector<int> outcomes = job.wait(std::chrono::seconds(10));
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank != victim && ranks == 2) {
      EXPECT_EQ(outcomes[static_cast<std::size_t>(rank)], ncclTimeout);
    }
  }
}

TEST(Faults, AStoppedRankBeyondTheLimitIsATimeout) {
  for (int round = 0; round < rounds(2) / (rounds(2) > 2 ? 2 : 1); ++round) {
    stop_with_limit(2, round % 2 == 0 ? 2 : 1 << 20, round % 2);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Faults, AbortWakesAThreadThatIsBlockedInACollective) {
  RankProcesses job(2, [](int rank, Board& board) {
    ncclComm_t comm = join(rank, 2, board);
    if (comm == nullptr) return 50;
    if (rank == 1) {  // never calls
      while (board.stage[0].load() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return ncclCommDestroy(comm) == ncclSuccess ? 0 : 53;
    }
    float in = 1;
    float out = 0;
    std::atomic<int> outcome{-1};
    std::jthread blocked([&] { outcome.store(ncclAllReduce(&in, &out, 1, ncclFloat32, ncclSum, comm, nullptr)); });
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // long enough that it sleeps, not spins
    const Clock::time_point start = Clock::now();
    if (ncclCommAbort(comm) != ncclSuccess) return 51;
    board.number[0].store(milliseconds_since(start));
    blocked.join();
    board.stage[0].store(1);
    return outcome.load() == ncclSuccess || outcome.load() == -1 ? 52 : 0;
  });
  const std::vector<int> outcomes = job.wait(std::chrono::seconds(20));
  EXPECT_EQ(outcomes[0], 0);
  EXPECT_EQ(outcomes[1], 0);
  EXPECT_LT(job.board().number[0].load(), 1000);
}

TEST(Faults, WaitingForALateRankTakesLittleProcessorTime) {
  RankProcesses job(2, [](int rank, Board& board) {
    ncclComm_t comm = join(rank, 2, board);
    if (comm == nullptr) return 50;
    float in = 1;
    float out = 0;
    if (ncclAllReduce(&in, &out, 1, ncclFloat32, ncclSum, comm, nullptr) != ncclSuccess) return 51;
    if (rank == 1) std::this_thread::sleep_for(std::chrono::seconds(1));  // the late rank
    timespec before{};
    timespec after{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    if (ncclAllReduce(&in, &out, 1, ncclFloat32, ncclSum, comm, nullptr) != ncclSuccess) return 51;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    board.number[static_cast<std::size_t>(rank)].store((after.tv_sec - before.tv_sec) * 1'000'000 +
                                                       (after.tv_nsec - before.tv_nsec) / 1000);
    return ncclCommDestroy(comm) == ncclSuccess ? 0 : 53;
  });
  for (const int outcome : job.wait(std::chrono::seconds(20))) EXPECT_EQ(outcome, 0);
  EXPECT_LE(job.board().number[0].load(), 20'000) << "microseconds of processor time in a wait of one second";
}

}  // namespace
}  // namespace hawser::tests
