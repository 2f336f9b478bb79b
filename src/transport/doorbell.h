// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Sleeping and waking between processes that share memory: a flag that says "I sleep" and a futex. See transport.h for
// the protocol; tests/transport/doorbell_model_test.cpp checks it against a machine with store buffers.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>

namespace hawser::transport {

/// In shared memory, zero-initialised. 64 bytes on a line of its own.
struct alignas(64) Doorbell {
  std::atomic<std::uint32_t> sleeping;  ///< 1 while the owner may be asleep; written by the owner, read by wakers
  std::atomic<std::uint32_t> bell;      ///< counts rings; written by wakers, waited on by the owner
};
static_assert(sizeof(Doorbell) == 64);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

/// Wakes the owner if it sleeps. The work it should see was made visible by a sequentially consistent store before.
inline void ring_if_asleep(Doorbell& doorbell);
/// Wakes the owner in any case.
void ring(Doorbell& doorbell);

/// Announces sleep on all doorbells; the caller then looks for work once more and either calls sleep() or wake_up().
void fall_asleep(std::span<Doorbell* const> doorbells);
/// Waits until one of the doorbells rings or `limit` has passed. The doorbells' counts are those read by fall_asleep's
/// caller in `seen`.
void sleep(std::span<Doorbell* const> doorbells, std::span<const std::uint32_t> seen, std::chrono::microseconds limit);
/// Takes the announcement back.
void wake_up(std::span<Doorbell* const> doorbells);

inline void ring_if_asleep(Doorbell& doorbell) {
  if (doorbell.sleeping.load(std::memory_order_seq_cst) != 0) ring(doorbell);
}

}  // namespace hawser::transport
