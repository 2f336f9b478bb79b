// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "executor/waiter.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>

#include "base/cpu.h"
#include "base/log.h"

namespace hawser::executor {
namespace {

using Clock = std::chrono::steady_clock;

/// A poll without a pause sees a line a few ten nanoseconds earlier; most short waits end within these.
constexpr std::uint32_t kEagerPolls = 64;
/// Sleepers look up this often: for the death of a peer, for the limits.
constexpr auto kLookInterval = std::chrono::milliseconds(50);

}  // namespace

Waiter::Waiter(std::span<const Context* const> contexts) : contexts_(contexts) {
  spins_ = UINT32_MAX;
  for (const Context* context : contexts_) spins_ = std::min(spins_, context->wait.spins);
}

void Waiter::restart() {
  stand_up();
  idle_polls_ = 0;
  phase_ = Phase::kSpin;
  has_warned_ = false;
}

void Waiter::stand_up() {
  if (phase_ != Phase::kArmed) return;
  transport::wake_up(bells());
  phase_ = Phase::kYield;
}

/// Announces sleep; the engine then polls once more before sleep() really waits.
void Waiter::arm() {
  bell_count_ = 0;
  for (const Context* context : contexts_) {
    transport::Doorbell* const bell = context->transport->doorbell();
    if (bell != nullptr && bell_count_ < kWatched) bells_.at(bell_count_++) = bell;
  }
  for (std::size_t i = 0; i < bell_count_; ++i) seen_.at(i) = bells_.at(i)->bell.load(std::memory_order_seq_cst);
  transport::fall_asleep(bells());
  phase_ = Phase::kArmed;
}

void Waiter::sleep() {
  // Who is not watched cannot ring: then only short naps.
  constexpr auto kNap = std::chrono::microseconds(200);
  const bool is_all_watched = bell_count_ == contexts_.size();
  const std::span<const std::uint32_t> seen = std::span(seen_).first(bell_count_);
  transport::sleep(bells(), seen, is_all_watched ? std::chrono::microseconds(kLookInterval) : kNap);
  stand_up();
}

Status Waiter::check_limits(const std::function<Blocked(std::size_t)>& blocked, Clock::duration waited) {
  for (std::size_t i = 0; i < contexts_.size(); ++i) {
    const Context& context = *contexts_[i];
    const bool is_over = context.wait.timeout.count() > 0 && waited >= context.wait.timeout;
    const bool is_stuck = !has_warned_ && waited >= context.wait.stuck_warning;
    if (!is_over && !is_stuck) continue;
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(waited).count();
    const std::string sentence = context.describe(blocked(i));
    if (is_over) {
      return {Code::kTimeout, fmt::format("{}; gave up after {:.1f} s (HAWSER_TIMEOUT_S)", sentence,
                                          static_cast<double>(milliseconds) / 1e3)};
    }
    log::warn("{}; no progress for {:.1f} s: is that process stopped, or in other code?", sentence,
              static_cast<double>(milliseconds) / 1e3);
    has_warned_ = true;
  }
  return {};
}

Status Waiter::look_around(const std::function<Blocked(std::size_t)>& blocked) {
  for (const Context* context : contexts_) {
    if (context->abort->load(std::memory_order_acquire) != 0) {  // partner: Communicator::abort
      return {Code::kInvalidUsage, fmt::format("rank {}: the communicator was aborted", context->rank)};
    }
  }
  const Clock::time_point now = Clock::now();
  if (now - last_look_ < kLookInterval) return {};
  last_look_ = now;
  for (const Context* context : contexts_) HAWSER_TRY(context->transport->check_peers());
  return check_limits(blocked, now - start_);
}

Status Waiter::idle(const std::function<Blocked(std::size_t)>& blocked) {
  ++idle_polls_;
  if (idle_polls_ <= spins_) {
    if (idle_polls_ > kEagerPolls) cpu_pause();
    return {};
  }
  if (phase_ == Phase::kSpin) {
    phase_ = Phase::kYield;
    start_ = Clock::now();
    last_look_ = start_;
  }
  if (phase_ == Phase::kArmed) {
    sleep();
    return look_around(blocked);
  }
  // Reading the clock costs as much as a yield, so it is read now and then.
  constexpr std::uint32_t kYieldsPerLook = 16;
  if (idle_polls_ % kYieldsPerLook != 0 && contexts_.front()->wait.yield_time.count() > 0) {
    ::sched_yield();
    return {};
  }
  if (Clock::now() - start_ >= contexts_.front()->wait.yield_time) arm();
  return look_around(blocked);
}

}  // namespace hawser::executor
