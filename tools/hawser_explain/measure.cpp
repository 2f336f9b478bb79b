// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "comm/communicator.h"

namespace hawser::explain {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kLimit = std::chrono::seconds(30);

/// Shared by the ranks: the id, rank 0's figure, the first failure.
struct Board {
  std::atomic<int> has_id{0};
  bootstrap::UniqueId id{};
  double seconds = 0;
  std::atomic<int> has_failed{0};
  std::array<char, 512> failure{};
};

void fail(Board& board, const std::string& sentence) {
  if (board.has_failed.exchange(1) == 0) std::strncpy(board.failure.data(), sentence.c_str(), board.failure.size() - 1);
}

void bind_to_core(int rank, int ranks) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0 || CPU_COUNT(&allowed) < ranks) return;
  int seen = -1;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || ++seen != rank) continue;
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(cpu, &own);
    ::sched_setaffinity(0, sizeof(own), &own);
    return;
  }
}

Result<std::unique_ptr<comm::Communicator>> join(Board& board, int rank, int ranks) {
  if (rank == 0) {
    const Config config = HAWSER_TRY_VALUE(read_config());
    board.id = HAWSER_TRY_VALUE(bootstrap::create_unique_id(config));
    board.has_id.store(1);
  }
  while (board.has_id.load() == 0) {
    if (board.has_failed.load() != 0) return Status(Code::kRemoteError, "rank 0 failed");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return comm::Communicator::create({board.id, rank, ranks, 0, true});
}

/// One rank's life: joins, calls for a while, leaves. All ranks make the same number of calls.
Status run_rank(Board& board, const algorithms::Call& call, int rank, int ranks) {
  const std::unique_ptr<comm::Communicator> communicator = HAWSER_TRY_VALUE(join(board, rank, ranks));
  const std::size_t bytes = algorithms::bytes_of(call, ranks);
  std::vector<std::byte> in(bytes);
  std::vector<std::byte> out(bytes);
  const executor::Buffers buffers{in.data(), out.data(), 0};
  constexpr int kRounds = 5;
  // Enough calls for some 20 ms at an assumed 5 GB/s and 1 µs a call.
  const int calls =
      static_cast<int>(std::clamp(0.02 / (1e-6 * ranks + static_cast<double>(bytes) * ranks / 5e9), 2.0, 20000.0));
  std::vector<double> seconds;
  for (int round = 0; round <= kRounds; ++round) {
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < calls; ++i) HAWSER_TRY(communicator->run(call, buffers));
    const double elapsed = std::chrono::duration<double>(Clock::now() - start).count() / calls;
    if (round > 0) seconds.push_back(elapsed);  // the first binds the plan and touches the memory
  }
  std::ranges::sort(seconds);
  if (rank == 0) board.seconds = seconds[seconds.size() / 2];
  return {};
}

pid_t start_rank(Board& board, const algorithms::Call& call, int rank, int ranks, const std::string& algorithm) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setenv("HAWSER_ALGO", algorithm.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): a fresh child has one thread
  bind_to_core(rank, ranks);
  const Status outcome = run_rank(board, call, rank, ranks);
  if (!outcome.is_ok()) fail(board, outcome.message());
  ::_exit(outcome.is_ok() ? 0 : 1);
}

/// Waits for all; kills what is left at the deadline. False if that was necessary.
bool await(const std::vector<pid_t>& ranks) {
  const Clock::time_point deadline = Clock::now() + kLimit;
  bool is_in_time = true;
  for (const pid_t rank : ranks) {
    while (::waitpid(rank, nullptr, is_in_time ? WNOHANG : 0) == 0) {
      if (Clock::now() >= deadline) {
        is_in_time = false;
        for (const pid_t other : ranks) ::kill(other, SIGKILL);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  return is_in_time;
}

}  // namespace

Result<double> measure_s(const algorithms::Call& call, int ranks, const std::string& algorithm) {
  void* memory = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return Status(Code::kSystemError, "no memory to share with the measured ranks");
  const Mapping mapping(memory, sizeof(Board));
  Board& board = *new (memory) Board;
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t child = start_rank(board, call, rank, ranks, algorithm);
    if (child < 0) {
      fail(board, fmt::format("cannot start rank {}", rank));
      break;
    }
    children.push_back(child);
  }
  if (!await(children)) return Status(Code::kTimeout, fmt::format("{} did not finish in time", algorithm));
  if (board.has_failed.load() != 0) return Status(Code::kInternalError, board.failure.data());
  return board.seconds;
}

}  // namespace hawser::explain
