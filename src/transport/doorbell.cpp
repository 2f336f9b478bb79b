// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/doorbell.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <ctime>

namespace hawser::transport {
namespace {

/// More doorbells than this are watched by polling in short sleeps.
constexpr std::size_t kMaxWatched = 64;

/// futex_waitv (Linux 5.16); older C libraries lack the number and the record.
constexpr long kFutexWaitv = 449;
struct FutexWaiter {
  std::uint64_t value;
  std::uint64_t address;
  std::uint32_t flags;
  std::uint32_t reserved;
};
constexpr std::uint32_t kFutexSize32 = 2;

timespec to_timespec(std::chrono::nanoseconds duration) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
  return {.tv_sec = static_cast<time_t>(seconds.count()), .tv_nsec = static_cast<long>((duration - seconds).count())};
}

std::uint32_t* word(Doorbell& doorbell) { return reinterpret_cast<std::uint32_t*>(&doorbell.bell); }

void sleep_on_one(Doorbell& doorbell, std::uint32_t seen, std::chrono::microseconds limit) {
  const timespec timeout = to_timespec(limit);
  ::syscall(SYS_futex, word(doorbell), FUTEX_WAIT, seen, &timeout, nullptr, 0);
}

/// False if the kernel has no futex_waitv.
bool sleep_on_many(std::span<Doorbell* const> doorbells, std::span<const std::uint32_t> seen,
                   std::chrono::microseconds limit) {
  std::array<FutexWaiter, kMaxWatched> waiters{};
  for (std::size_t i = 0; i < doorbells.size(); ++i) {
    waiters[i] = {seen[i], reinterpret_cast<std::uintptr_t>(word(*doorbells[i])), kFutexSize32, 0};
  }
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::chrono::nanoseconds deadline =
      std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec) + limit;
  const timespec timeout = to_timespec(deadline);
  const long outcome = ::syscall(kFutexWaitv, waiters.data(), doorbells.size(), 0, &timeout, CLOCK_MONOTONIC);
  return outcome >= 0 || (errno != ENOSYS && errno != EPERM);
}

}  // namespace

void ring(Doorbell& doorbell) {
  doorbell.bell.fetch_add(1, std::memory_order_seq_cst);
  ::syscall(SYS_futex, word(doorbell), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void fall_asleep(std::span<Doorbell* const> doorbells) {
  for (Doorbell* doorbell : doorbells) doorbell->sleeping.store(1, std::memory_order_seq_cst);
}

void sleep(std::span<Doorbell* const> doorbells, std::span<const std::uint32_t> seen, std::chrono::microseconds limit) {
  if (doorbells.size() == 1) return sleep_on_one(*doorbells.front(), seen.front(), limit);
  if (!doorbells.empty() && doorbells.size() <= kMaxWatched && sleep_on_many(doorbells, seen, limit)) return;
  const timespec nap = to_timespec(std::min(limit, std::chrono::microseconds(200)));
  ::nanosleep(&nap, nullptr);
}

void wake_up(std::span<Doorbell* const> doorbells) {
  for (Doorbell* doorbell : doorbells) doorbell->sleeping.store(0, std::memory_order_seq_cst);
}

}  // namespace hawser::transport
