// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/dialer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace hawser::bootstrap {
namespace {

/// Head start of an address over the next one.
constexpr Milliseconds kHeadStart{250};
/// How long the kernel may try to connect before a fresh try is made.
constexpr Milliseconds kConnectPatience{5000};
/// Pauses between tries of one address grow from the first to the last.
constexpr Milliseconds kFirstPause{20};
constexpr Milliseconds kLastPause{500};
/// How long refusals by all addresses are tried again before they count as final.
constexpr Milliseconds kRefusalPatience{300};

}  // namespace

Dialer::Dialer(const std::vector<SocketAddress>& candidates, const Secret& key, Refusals refusals)
    : key_(key), refusals_(refusals) {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    attempts_.push_back({});
    attempts_.back().to = candidates[i];
    attempts_.back().due = begun_ + kHeadStart * static_cast<int>(i);
  }
}

void Dialer::prepare(PollSet& polls) {
  const TimePoint now = Clock::now();
  for (Attempt& attempt : attempts_) {
    if (!attempt.connection && now >= attempt.due) start(attempt);
    if (attempt.connection) attempt.connection->prepare(polls);
  }
}

void Dialer::start(Attempt& attempt) {
  auto connection = Connection::dial(attempt.to, key_);
  if (!connection.is_ok()) {
    broken_ = connection.status();
    return;
  }
  attempt.connection = std::move(connection).value();
  attempt.due = Clock::now() + kConnectPatience;
  if (Status begun = attempt.connection->advance(); !begun.is_ok()) give_up(attempt, begun.message());
}

TimePoint Dialer::next_timer() const {
  TimePoint next = TimePoint::max();
  for (const Attempt& attempt : attempts_) {
    if (!attempt.connection || !attempt.connection->is_connected()) next = std::min(next, attempt.due);
  }
  return next;
}

Status Dialer::service(const PollSet& polls) {
  HAWSER_TRY(broken_);
  for (Attempt& attempt : attempts_) {
    if (winner_ == nullptr && attempt.connection) HAWSER_TRY(advance(attempt, polls));
  }
  if (winner_ == nullptr && is_hopeless()) return Status(Code::kRemoteError, describe());
  return {};
}

bool Dialer::is_hopeless() const {
  if (Clock::now() - begun_ < kRefusalPatience) return false;
  const auto all_are_clear =
      std::ranges::none_of(attempts_, [](const Attempt& attempt) { return attempt.prospect == Prospect::kMaybe; });
  const auto one_is_stranger =
      std::ranges::any_of(attempts_, [](const Attempt& attempt) { return attempt.prospect == Prospect::kStranger; });
  return all_are_clear && (refusals_ == Refusals::kAreFinal || one_is_stranger);
}

Status Dialer::advance(Attempt& attempt, const PollSet& polls) {
  Connection& connection = *attempt.connection;
  if (connection.is_ready(polls)) {
    if (Status outcome = connection.advance(); !outcome.is_ok()) {
      give_up(attempt, outcome.message());
    } else if (connection.is_authenticated()) {
      winner_ = std::move(attempt.connection);
    }
  } else if (!connection.is_connected() && Clock::now() >= attempt.due) {
    give_up(attempt, fmt::format("did not answer within {} s", kConnectPatience.count() / 1000));
  }
  return {};
}

void Dialer::give_up(Attempt& attempt, std::string why) {
  attempt.prospect = attempt.connection->prospect();
  attempt.failure = std::move(why);
  attempt.connection.reset();
  attempt.pause = std::clamp(attempt.pause * 2, kFirstPause, kLastPause);
  attempt.due = Clock::now() + attempt.pause;
  hurry();
}

/// An address that has failed gives up its head start.
void Dialer::hurry() {
  for (Attempt& attempt : attempts_) {
    if (attempt.connection) return;
    if (attempt.failure.empty()) {
      attempt.due = Clock::now();
      return;
    }
  }
}

std::string Dialer::describe() const {
  std::vector<std::string> parts;
  for (const Attempt& attempt : attempts_) {
    const bool is_waiting = attempt.connection && attempt.connection->is_connected();
    const std::string& what = attempt.failure.empty() ? "has not answered yet" : attempt.failure;
    parts.push_back(fmt::format("{} {}", text_of(attempt.to), is_waiting ? "is connected but silent" : what));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::vector<SocketAddress> candidates_for(const std::vector<SocketAddress>& addresses, std::uint64_t peer_host,
                                          std::uint64_t own_host) {
  std::vector<SocketAddress> ordered = addresses;
  if (peer_host == 0) return ordered;  // a fixed address: in the order of the resolver
  const auto is_loopback = [](const SocketAddress& address) { return address.is_loopback(); };
  const bool is_same_host = peer_host == own_host;
  std::ranges::stable_partition(ordered, [&](const SocketAddress& a) { return is_loopback(a) == is_same_host; });
  if (!is_same_host && !is_loopback(ordered.front())) std::erase_if(ordered, is_loopback);
  return ordered;
}

}  // namespace hawser::bootstrap
