// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Ranks as processes, and as threads of several processes in one communicator.
#include <gtest/gtest.h>
#include <nccl.h>
#include <sys/stat.h>

#include <thread>

#include "rank_processes.h"

namespace hawser::tests {
namespace {

float value_at(int rank, std::size_t i) {
  return static_cast<float>((i * 7 + static_cast<std::size_t>(rank) * 3) % 61);
}

float sum_at(int ranks, std::size_t i) {
  float sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += value_at(rank, i);
  return sum;
}

enum class Memory : std::uint8_t { kMalloc, kMemAlloc };

/// Exit code of one rank: 0 if all results are right.
int reduce_sizes(int rank, int ranks, ncclComm_t comm, Memory memory, std::size_t most) {
  void* in = nullptr;
  void* out = nullptr;
  const std::size_t bytes = most * sizeof(float);
  if (memory == Memory::kMemAlloc) {
    if (ncclMemAlloc(&in, bytes) != ncclSuccess || ncclMemAlloc(&out, bytes) != ncclSuccess) return 60;
  } else {
    in = std::malloc(bytes);   // NOLINT: what users have
    out = std::malloc(bytes);  // NOLINT
  }
  int outcome = 0;
  for (std::size_t count = 1; count <= most && outcome == 0; count = count * 5 + 3) {
    for (const bool is_in_place : {false, true}) {
      for (std::size_t i = 0; i < count; ++i) static_cast<float*>(in)[i] = value_at(rank, i);
      float* const result = static_cast<float*>(is_in_place ? in : out);
      if (ncclAllReduce(in, result, count, ncclFloat32, ncclSum, comm, nullptr) != ncclSuccess) return 61;
      for (std::size_t i = 0; i < count; ++i) {
        if (result[i] != sum_at(ranks, i)) outcome = 62;
      }
    }
  }
  if (memory == Memory::kMemAlloc) {
    ncclMemFree(in);
    ncclMemFree(out);
  } else {
    std::free(in);   // NOLINT
    std::free(out);  // NOLINT
  }
  return outcome;
}

void run_job(int ranks, Memory memory, std::size_t most, const char* algorithm = nullptr) {
  RankProcesses job(ranks, [=](int rank, Board& board) {
    if (algorithm != nullptr) setenv("HAWSER_ALGO", algorithm, 1);  // NOLINT(concurrency-mt-unsafe)
    ncclComm_t comm = join(rank, ranks, board);
    if (comm == nullptr) return 50;
    const int outcome = reduce_sizes(rank, ranks, comm, memory, most);
    say(board, rank, ncclGetLastError(comm));
    return ncclCommDestroy(comm) == ncclSuccess ? outcome : 63;
  });
  const std::vector<int> outcomes = job.wait(std::chrono::seconds(60));
  for (int rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(outcomes[static_cast<std::size_t>(rank)], 0)
        << (algorithm == nullptr ? "" : algorithm) << " rank " << rank << " of " << ranks << ": "
        << text_of(job.board(), rank);
  }
}

TEST(Processes, MallocedBuffers) {
  for (const int ranks : {1, 2, 3, 4, 7}) run_job(ranks, Memory::kMalloc, 500000);
}

TEST(Processes, MemAllocedBuffers) {
  for (const int ranks : {1, 2, 3, 4, 7}) run_job(ranks, Memory::kMemAlloc, 500000);
}

TEST(Processes, EveryAlgorithmInBothKindsOfMemory) {
  for (const char* algorithm :
       {"flat_one_shot", "flat_two_shot", "ring", "tree", "recursive_doubling", "rabenseifner"}) {
    for (const int ranks : {2, 3, 4, 6}) {
      run_job(ranks, Memory::kMalloc, 60000, algorithm);
      run_job(ranks, Memory::kMemAlloc, 60000, algorithm);
    }
  }
}

TEST(Processes, ThreadsAndProcessesInOneCommunicator) {
  constexpr int kProcesses = 2;
  constexpr int kThreads = 2;
  RankProcesses job(kProcesses, [](int process, Board& board) {
    if (process == 0) {
      if (ncclGetUniqueId(&board.id) != ncclSuccess) return 50;
      board.has_id.store(1);
    }
    while (board.has_id.load() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::atomic<int> outcome{0};
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([&, i] {
          const int rank = i * kProcesses + process;
          ncclComm_t comm = nullptr;
          if (ncclCommInitRank(&comm, kProcesses * kThreads, board.id, rank) != ncclSuccess) {
            outcome.store(51);
            return;
          }
          const Memory memory = i == 0 ? Memory::kMalloc : Memory::kMemAlloc;
          if (const int result = reduce_sizes(rank, kProcesses * kThreads, comm, memory, 200000); result != 0)
            outcome.store(result);
          if (ncclCommDestroy(comm) != ncclSuccess) outcome.store(52);
        });
      }
    }
    return outcome.load();
  });
  for (const int outcome : job.wait(std::chrono::seconds(60))) EXPECT_EQ(outcome, 0);
}

TEST(Processes, DifferentCountsAreRefusedWithBothRanksNamedOrTimeOut) {
  RankProcesses job(2, [](int rank, Board& board) {
    setenv("HAWSER_TIMEOUT_S", "2", 1);  // NOLINT(concurrency-mt-unsafe)
    ncclComm_t comm = join(rank, 2, board);
    if (comm == nullptr) return 50;
    std::array<float, 4> in = {1, 2, 3, 4};
    std::array<float, 4> out = {};
    const ncclResult_t outcome =
        ncclAllReduce(in.data(), out.data(), rank == 0 ? 2 : 3, ncclFloat32, ncclSum, comm, nullptr);
    say(board, rank, ncclGetLastError(comm));
    ncclCommAbort(comm);
    return static_cast<int>(outcome);
  });
  const std::vector<int> outcomes = job.wait(std::chrono::seconds(20));
  int refusals = 0;
  for (int rank = 0; rank < 2; ++rank) {
    const int outcome = outcomes[static_cast<std::size_t>(rank)];
    EXPECT_NE(outcome, ncclSuccess);
    refusals += outcome == ncclInvalidUsage ? 1 : 0;
    EXPECT_NE(text_of(job.board(), rank).find("rank"), std::string::npos);
  }
  EXPECT_GE(refusals, 1);
}

}  // namespace
}  // namespace hawser::tests
