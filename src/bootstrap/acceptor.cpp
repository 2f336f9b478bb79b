// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/acceptor.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace hawser::bootstrap {
namespace {

constexpr Milliseconds kPause{100};
/// How many are accepted before those that stand at the door are looked at again.
constexpr int kAcceptsPerTurn = 64;

}  // namespace

void Acceptor::prepare(PollSet& polls) {
  if (Clock::now() >= paused_until_) listener_.prepare(polls);
  for (Stranger& stranger : strangers_) stranger.connection->prepare(polls);
}

TimePoint Acceptor::next_timer() const {
  TimePoint next = TimePoint::max();
  if (!strangers_.empty()) next = strangers_.front().since + limits_.patience;
  if (paused_until_ > Clock::now()) next = std::min(next, paused_until_);
  return next;
}

std::vector<std::unique_ptr<Connection>> Acceptor::service(const PollSet& polls) {
  std::vector<std::unique_ptr<Connection>> admitted;
  const TimePoint now = Clock::now();
  for (Stranger& stranger : strangers_) {
    const bool is_late = now - stranger.since >= limits_.patience;
    if (!is_late && !stranger.connection->is_ready(polls)) continue;
    Status outcome = is_late ? Status(Code::kTimeout, "did not answer the challenge") : stranger.connection->advance();
    if (!outcome.is_ok()) {
      log::debug("bootstrap: dropped {}, which {}", text_of(stranger.connection->peer()), outcome.message());
      stranger.connection.reset();
    } else if (stranger.connection->is_authenticated()) {
      admitted.push_back(std::move(stranger.connection));
    }
  }
  std::erase_if(strangers_, [](const Stranger& stranger) { return stranger.connection == nullptr; });
  if (listener_.is_ready(polls)) accept_all();
  return admitted;
}

void Acceptor::accept_all() {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    Result<std::optional<Incoming>> next = listener_.accept();
    if (next.is_ok() && !next.value()) return;
    if (next.is_ok()) {
      greet(std::move(*next.value()));
      continue;
    }
    // Without descriptors the kernel keeps the connections in its queue. The oldest stranger gives one back.
    log::warn("bootstrap: {}", next.status().message());
    if (!strangers_.empty()) strangers_.pop_front();
    paused_until_ = Clock::now() + kPause;
    return;
  }
}

void Acceptor::greet(Incoming incoming) {
  auto connection = Connection::accept(std::move(incoming), key_);
  if (!connection.is_ok() || !connection.value()->advance().is_ok()) return;
  if (strangers_.size() >= limits_.strangers) strangers_.pop_front();
  strangers_.push_back({std::move(connection).value(), Clock::now()});
}

void Acceptor::close() {
  listener_.close();
  strangers_.clear();
}

}  // namespace hawser::bootstrap
