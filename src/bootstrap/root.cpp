// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/root.h"

#include <fmt/format.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/log.h"
#include "bootstrap/crypto.h"
#include "bootstrap/messages.h"

namespace hawser::bootstrap {
namespace {

/// How long a connection that has passed the challenge may take to say who it is, or to read what it is told.
constexpr Milliseconds kGuestPatience{10'000};
/// How long after a failure the root stays to tell those that come late.
constexpr Milliseconds kLinger{30'000};
/// The longest message of a rank: a request to join, or why it gives up.
constexpr std::size_t kMaxGuestPayload = 8192;

/// The root speaks up a little before its ranks lose patience, so that they hear who is missing.
Milliseconds head_start(Milliseconds remaining) {
  return std::clamp(remaining / 10, Milliseconds(10), Milliseconds(500));
}

Refusal missing_ranks(const Roster& roster, std::uint32_t limit_ms, const std::vector<SocketAddress>& addresses) {
  return {Code::kTimeout,
          fmt::format("{} of {} did not join within {:g} s: see whether their processes have started, have reached "
                      "ncclCommInitRank and can reach the root at {}; HAWSER_INIT_TIMEOUT_S sets the limit",
                      text_of_ranks(roster.missing()), roster.ranks(), limit_ms / 1000.0, text_of(addresses))};
}

}  // namespace

Root::Root(Acceptor acceptor, Fd wake, const Secret& nonce, RootKind kind)
    : acceptor_(std::move(acceptor)), wake_(std::move(wake)), nonce_(nonce), kind_(kind) {}

Result<std::unique_ptr<Root>> Root::create(Listener listener, const Secret& id_secret, RootKind kind) {
  const Secret nonce = HAWSER_TRY_VALUE(random_secret());
  Fd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.is_open())
    return Status(Code::kSystemError,
                  fmt::format("eventfd failed ({}): the root of a communicator cannot be started", errno_text(errno)));
  return std::unique_ptr<Root>(
      new Root(Acceptor(std::move(listener), derive(id_secret, "root")), std::move(wake), nonce, kind));
}

void Root::serve(const std::stop_token& stop) {
  const std::stop_callback wake_up(stop, [this] { ::eventfd_write(wake_.get(), 1); });
  while (!stop.stop_requested() && !is_done()) turn();
}

bool Root::is_done() const {
  if (!is_settled_) return false;
  if (!guests_.empty()) return false;
  const bool has_told_all = !refusal_ || told_ >= roster_.ranks();
  return has_told_all || kind_ == RootKind::kFixed || Clock::now() >= limit_;
}

void Root::turn() {
  PollSet polls;
  polls.add(wake_.get(), POLLIN);
  acceptor_.prepare(polls);
  for (Guest& guest : guests_) guest.connection->prepare(polls);
  if (Status waited = polls.wait(next_timer()); !waited.is_ok()) {
    refuse({Code::kSystemError, fmt::format("the root cannot go on: {}", waited.message())});
    return;
  }
  for (std::size_t i = 0; i < guests_.size(); ++i) serve_guest(guests_[i], polls);
  for (auto& connection : acceptor_.service(polls)) {
    connection->limit_payload(kMaxGuestPayload);
    guests_.push_back({std::move(connection), Clock::now(), std::nullopt});
  }
  check_timers();
  std::erase_if(guests_, [](const Guest& guest) { return guest.connection == nullptr; });
}

TimePoint Root::next_timer() const {
  TimePoint next = std::min(acceptor_.next_timer(), limit_);
  for (const Guest& guest : guests_) {
    if (!guest.rank || guest.is_told) next = std::min(next, guest.since + kGuestPatience);
  }
  return next;
}

void Root::serve_guest(Guest& guest, const PollSet& polls) {
  if (!guest.connection || !guest.connection->is_ready(polls)) return;
  Status outcome = guest.connection->advance();
  if (guest.connection->inbox()) {
    take_frame(guest);
  } else if (!outcome.is_ok()) {
    lose(guest, outcome.message());
  }
  if (guest.connection && guest.is_told && guest.connection->is_flushed()) guest.connection.reset();
}

void Root::take_frame(Guest& guest) {
  const Frame frame = *guest.connection->take();
  if (guest.is_told) return;
  if (frame.type == FrameType::kJoin && !guest.rank) {
    if (const auto request = decode_join(frame.payload)) {
      take_join(guest, *request);
      return;
    }
  }
  const auto abort = frame.type == FrameType::kAbort ? decode_abort(frame.payload) : std::nullopt;
  lose(guest, abort ? fmt::format("gave up ({})", abort->reason) : "sent a message that has no place here");
}

void Root::take_join(Guest& guest, const JoinRequest& request) {
  guest.since = Clock::now();
  guest.rank = request.member.rank;
  if (refusal_) {
    tell_refusal(guest);
    return;
  }
  if (Status outcome = roster_.add(request); !outcome.is_ok()) {
    refuse({outcome.code(), outcome.message()});
    return;
  }
  const Milliseconds remaining(request.remaining_ms);
  const TimePoint limit = guest.since + remaining - head_start(remaining);
  if (limit < limit_) {
    limit_ = limit;
    limit_ms_ = request.limit_ms;
  }
  if (roster_.is_complete()) tell_tables();
}

/// A stranger that goes does not matter. A rank that goes before all are told takes the communicator with it.
void Root::lose(Guest& guest, const std::string& why) {
  guest.connection.reset();
  if (!guest.rank || is_settled_) return;
  refuse({Code::kRemoteError, fmt::format("{} {} before all ranks had joined: see that rank's own error",
                                          text_of(roster_.member(*guest.rank)), why)});
}

void Root::check_timers() {
  const TimePoint now = Clock::now();
  for (Guest& guest : guests_) {
    const bool has_to_act = !guest.rank || guest.is_told;
    if (guest.connection && has_to_act && now - guest.since >= kGuestPatience) lose(guest, "did not say who it is");
  }
  if (!is_settled_ && now >= limit_) refuse(missing_ranks(roster_, limit_ms_, addresses()));
}

void Root::tell_tables() {
  // Shut before anybody is told: a rank that goes on to its next communicator must not find this root again.
  acceptor_.close();
  is_settled_ = true;
  limit_ = TimePoint::max();
  log::debug("bootstrap: all {} ranks have joined", roster_.ranks());
  for (Guest& guest : guests_) {
    if (!guest.connection) continue;
    if (!guest.rank) {
      guest.connection.reset();
      continue;
    }
    guest.connection->send(FrameType::kTable, encode(roster_.table_for(*guest.rank, nonce_)));
    guest.since = Clock::now();
    guest.is_told = true;
    // What cannot be sent at once goes when poll says so.
    if (!guest.connection->advance().is_ok() || guest.connection->is_flushed()) guest.connection.reset();
  }
}

void Root::refuse(Refusal refusal) {
  if (is_settled_) return;
  log::debug("bootstrap: {}", refusal.reason);
  is_settled_ = true;
  refusal_ = std::move(refusal);
  limit_ = Clock::now() + kLinger;
  if (kind_ == RootKind::kFixed) acceptor_.close();
  for (Guest& guest : guests_) {
    if (guest.connection && guest.rank) tell_refusal(guest);
  }
}

void Root::tell_refusal(Guest& guest) {
  guest.connection->send(FrameType::kRefusal, encode(*refusal_));
  guest.since = Clock::now();
  guest.is_told = true;
  ++told_;
  if (!guest.connection->advance().is_ok() || guest.connection->is_flushed()) guest.connection.reset();
}

}  // namespace hawser::bootstrap
