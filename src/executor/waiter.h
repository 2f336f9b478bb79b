// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What a thread does when there is nothing to do: spin, then yield, then sleep on its doorbells; and, as it waits anyway, look whether
// peers are alive, whether somebody aborted, and whether the limit has passed. Used by the engine only.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/status.h"
#include "executor/execution.h"
#include "transport/doorbell.h"
#include "transport/transport.h"

namespace hawser::executor {

/// When to stop spinning. Local to a rank.
struct WaitPolicy {
  /// Polls before the first yield or sleep. With more ranks than cores: 0, since whoever is awaited needs the core.
  std::uint32_t spins = 2000;
  /// Time of yielding before sleep; zero: sleep at once. With more ranks than cores about a millisecond.
  std::chrono::microseconds yield_time{0};
  /// A wait this long is reported as a warning, once.
  std::chrono::milliseconds stuck_warning{10'000};
  /// A wait this long ends the call with kTimeout; zero: never.
  std::chrono::milliseconds timeout{0};
};

/// What the engine needs to know of a communicator. Borrowed: outlives every call.
struct Context {
  int rank = 0;
  transport::Transport* transport = nullptr;
  const std::atomic<std::uint32_t>* abort =
      nullptr;  ///< not 0: give up (stored by any thread, which then rings the doorbell)
  WaitPolicy wait;
  /// Says what the rank is doing and whom it waits for, for sentences: "rank 1: all_reduce of 4 float waits for rank 3 (...)".
  std::function<std::string(const Blocked&)> describe;
};

/// One wait after another of one thread that drives one or several communicators.
class Waiter {
 public:
  explicit Waiter(std::span<const Context* const> contexts);
  ~Waiter() { stand_up(); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  /// Something was done: the next wait starts anew.
  void progressed() {
    if (idle_polls_ == 0) return;
    restart();
  }

  /// Nothing could be done. Spins, yields or sleeps a little. A failed Status ends the call: abort, dead peer, time limit. `blocked` is
  /// asked whom the communicator `context index` waits for.
  Status idle(const std::function<Blocked(std::size_t)>& blocked);

 private:
  enum class Phase : std::uint8_t { kSpin, kYield, kArmed };
  void restart();
  void stand_up();
  void arm();
  void sleep();
  Status look_around(const std::function<Blocked(std::size_t)>& blocked);
  Status check_limits(const std::function<Blocked(std::size_t)>& blocked, std::chrono::steady_clock::duration waited);

  std::span<const Context* const> contexts_;
  /// Doorbells of the first contexts: enough for any thread but one that drives very many ranks, which then naps instead of sleeping. In
  /// place, since even a wait allocates nothing.
  static constexpr std::size_t kWatched = 16;
  std::array<transport::Doorbell*, kWatched> bells_{};
  std::array<std::uint32_t, kWatched> seen_{};
  std::size_t bell_count_ = 0;
  [[nodiscard]] std::span<transport::Doorbell* const> bells() const { return std::span(bells_).first(bell_count_); }
  std::uint32_t spins_ = 0;
  std::uint32_t idle_polls_ = 0;
  Phase phase_ = Phase::kSpin;
  bool has_warned_ = false;
  std::chrono::steady_clock::time_point start_;  ///< of the current wait, once it left spinning
  std::chrono::steady_clock::time_point last_look_;
};

}  // namespace hawser::executor
