// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The cached small-message path allocates nothing and takes no lock: this program's own malloc, free and pthread_mutex_lock count the
// calls that the library makes between two points.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <nccl.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>

#include "rank_processes.h"

namespace {

std::atomic<bool> is_counting{false};
std::atomic<long> allocations{0};
std::atomic<long> locks{0};

[[maybe_unused]] void count(std::atomic<long>& counter) {
  if (is_counting.load(std::memory_order_relaxed)) counter.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// The C library's own entry points, by their second names: interposing malloc leaves no other way to reach it.
extern "C" {
void* __libc_malloc(std::size_t bytes);                     // NOLINT(bugprone-reserved-identifier)
void* __libc_calloc(std::size_t count, std::size_t bytes);  // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void* memory, std::size_t bytes);      // NOLINT(bugprone-reserved-identifier)
void __libc_free(void* memory);                             // NOLINT(bugprone-reserved-identifier)

void* malloc(std::size_t bytes) {
  count(allocations);
  return __libc_malloc(bytes);
}
void* calloc(std::size_t number, std::size_t bytes) {
  count(allocations);
  return __libc_calloc(number, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
  count(allocations);
  return __libc_realloc(memory, bytes);
}
void free(void* memory) {
  if (memory != nullptr) count(allocations);
  __libc_free(memory);
}
int pthread_mutex_lock(pthread_mutex_t* mutex) {
  using Lock = int (*)(pthread_mutex_t*);
  static const auto real = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  count(locks);
  return real(mutex);
}
}
#endif

namespace hawser::tests {
namespace {

int count_calls(int rank, int ranks, Board& board) {
  ncclComm_t comm = join(rank, ranks, board);
  if (comm == nullptr) return 50;
  float in[2] = {1, 2};
  float out[2] = {};
  for (int i = 0; i < 100; ++i) {
    if (ncclAllReduce(in, out, 2, ncclFloat32, ncclSum, comm, nullptr) != ncclSuccess) return 51;
  }
  allocations.store(0);
  locks.store(0);
  is_counting.store(true);
  for (int i = 0; i < 10000; ++i) {
    if (ncclAllReduce(in, out, 2, ncclFloat32, ncclSum, comm, nullptr) != ncclSuccess) return 51;
  }
  is_counting.store(false);
  board.number[static_cast<std::size_t>(rank)].store(allocations.load() * 1'000'000 + locks.load());
  return ncclCommDestroy(comm) == ncclSuccess ? 0 : 53;
}

TEST(FastPath, CountersSeeAllocationsAndLocks) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer owns malloc in this build";
#endif
  allocations.store(0);
  locks.store(0);
  is_counting.store(true);
  void* const memory = std::malloc(10);  // NOLINT
  asm volatile("" : : "r"(memory) : "memory");
  std::free(memory);  // NOLINT
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  is_counting.store(false);
  EXPECT_EQ(allocations.load(), 2);
  EXPECT_EQ(locks.load(), 1);
}

TEST(FastPath, AllocatesNothingAndTakesNoLock) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer owns malloc in this build";
#endif
  for (const int ranks : {1, 2, 3}) {
    RankProcesses job(ranks, [=](int rank, Board& board) { return count_calls(rank, ranks, board); });
    const std::vector<int> outcomes = job.wait();
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(outcomes[static_cast<std::size_t>(rank)], 0) << text_of(job.board(), rank);
      EXPECT_EQ(job.board().number[static_cast<std::size_t>(rank)].load(), 0)
          << "rank " << rank << " of " << ranks << ": millions are allocations, the rest is locks";
    }
  }
}

}  // namespace
}  // namespace hawser::tests
