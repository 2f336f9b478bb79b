// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Until when somebody waits, and the word that ends the wait early.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace hawser::bootstrap {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
using Milliseconds = std::chrono::milliseconds;

/// The longest that a wait goes without a look at the cancel word.
inline constexpr Milliseconds kCancelInterval{50};
/// The longest limit that is honoured; longer ones would overflow the clock's arithmetic.
inline constexpr Milliseconds kLongestLimit = std::chrono::hours(24 * 365);

/// A limit that started with its construction. `cancel` is borrowed and may be null.
class Deadline {
 public:
  Deadline(Milliseconds limit, const std::atomic<std::uint32_t>* cancel)
      : limit_(std::clamp(limit, Milliseconds(0), kLongestLimit)), end_(Clock::now() + limit_), cancel_(cancel) {}

  [[nodiscard]] Milliseconds limit() const { return limit_; }
  /// The same, ending later.
  [[nodiscard]] Deadline extended_by(Milliseconds more) const {
    Deadline later = *this;
    later.end_ += more;
    return later;
  }
  [[nodiscard]] TimePoint end() const { return end_; }
  [[nodiscard]] bool has_passed() const { return Clock::now() >= end_; }
  [[nodiscard]] Milliseconds remaining() const {
    return std::max(Milliseconds(0), std::chrono::duration_cast<Milliseconds>(end_ - Clock::now()));
  }
  /// Relaxed: the word carries no data with it, only the wish to stop.
  [[nodiscard]] bool is_cancelled() const {
    return cancel_ != nullptr && cancel_->load(std::memory_order_relaxed) != 0;
  }
  /// When a wait for events that could last until `other` must look up.
  [[nodiscard]] TimePoint next_look(TimePoint other) const {
    const TimePoint limit = std::min(other, end_);
    return cancel_ == nullptr ? limit : std::min(limit, Clock::now() + kCancelInterval);
  }

 private:
  Milliseconds limit_;
  TimePoint end_;
  const std::atomic<std::uint32_t>* cancel_;
};

}  // namespace hawser::bootstrap
