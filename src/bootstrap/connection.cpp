// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/connection.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "bootstrap/crypto.h"
#include "bootstrap/wire.h"

namespace hawser::bootstrap {
namespace {

constexpr std::size_t kHeaderBytes = 8;
/// Memory for a payload grows with what has arrived, not with what was announced.
constexpr std::size_t kReadStep = std::size_t{256} << 10;

std::uint32_t payload_size(std::span<const std::byte> header) { return Reader(header).number<std::uint32_t>(); }

}  // namespace

Result<std::unique_ptr<Connection>> Connection::dial(const SocketAddress& to, const Secret& key) {
  const Secret nonce = HAWSER_TRY_VALUE(random_secret());
  Socket socket = HAWSER_TRY_VALUE(open_socket(to.family));
  std::unique_ptr<Connection> connection(
      new Connection(std::move(socket), to, Role::kInitiator, Handshake(Role::kInitiator, key, nonce)));
  return connection;
}

Result<std::unique_ptr<Connection>> Connection::accept(Incoming incoming, const Secret& key) {
  const Secret nonce = HAWSER_TRY_VALUE(random_secret());
  std::unique_ptr<Connection> connection(new Connection(std::move(incoming.socket), incoming.from, Role::kAcceptor,
                                                        Handshake(Role::kAcceptor, key, nonce)));
  connection->state_ = State::kGreeting;
  connection->queue(FrameType::kHello, connection->handshake_.hello());
  return connection;
}

void Connection::prepare(PollSet& polls) {
  int events = 0;
  if (state_ == State::kConnecting || !is_flushed()) events |= POLLOUT;
  if (state_ != State::kConnecting && !inbox_) events |= POLLIN;
  // With nothing to wait for, a hang-up would be reported over and over: leave it for when it matters.
  const bool is_idle = state_ == State::kEnded || events == 0;
  place_ = polls.add(is_idle ? -1 : socket_.get(), static_cast<short>(events));
}

Status Connection::advance() {
  if (state_ == State::kEnded) return failure_;
  if (state_ == State::kConnecting) {
    HAWSER_TRY(finish_connecting());
    if (state_ == State::kConnecting) return {};
  }
  Status received = receive();
  Status sent = flush();
  if (inbox_) return {};  // what has arrived comes first: it may say why the connection ended
  HAWSER_TRY(received);
  return sent.is_ok() ? sent : end(sent.message());
}

Status Connection::finish_connecting() {
  RawAddress raw = raw_address(peer_);
  if (::connect(socket_.get(), raw.pointer(), raw.size) != 0 && errno != EISCONN) {
    if (errno == EINPROGRESS || errno == EALREADY || errno == EINTR) return {};
    if (errno == ECONNREFUSED) prospect_ = Prospect::kNobody;
    return end(fmt::format("cannot be reached ({})", errno_text(errno)));
  }
  // On loopback a socket can meet itself if the kernel picks the very port that it connects to.
  if (local_address(socket_) == peer_) {
    prospect_ = Prospect::kNobody;
    return end("cannot be reached (nobody listens there)");
  }
  state_ = State::kGreeting;
  return {};
}

std::size_t Connection::wanted() const {
  if (in_.size() < kHeaderBytes) return kHeaderBytes - in_.size();
  return kHeaderBytes + payload_size(in_) + (state_ == State::kOpen ? kTagBytes : 0) - in_.size();
}

Status Connection::receive() {
  while (!inbox_) {
    const std::size_t count = HAWSER_TRY_VALUE(receive_some());
    if (count == 0) return {};
    if (in_.size() == kHeaderBytes) HAWSER_TRY(check_header());
    if (in_.size() >= kHeaderBytes && wanted() == 0) HAWSER_TRY(take_frame());
  }
  return {};
}

/// Appends to in_ what is there, never beyond the current frame. 0: nothing there now.
Result<std::size_t> Connection::receive_some() {
  const std::size_t before = in_.size();
  in_.resize(before + std::min(wanted(), kReadStep));
  ssize_t count = 0;
  do {
    count = ::recv(socket_.get(), in_.data() + before, in_.size() - before, 0);
  } while (count < 0 && errno == EINTR);
  const int error = errno;
  in_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  if (count == 0) return end("closed the connection");
  if (count < 0 && error != EAGAIN && error != EWOULDBLOCK)
    return end(fmt::format("lost the connection ({})", errno_text(error)));
  return in_.size() - before;
}

Status Connection::check_header() {
  const std::size_t limit = state_ == State::kOpen ? max_payload_ : kMaxHandshakePayload;
  if (payload_size(in_) > limit)
    return end(fmt::format("sent a frame of {} bytes where at most {} may come", payload_size(in_), limit));
  return {};
}

Status Connection::take_frame() {
  const std::size_t sealed = kHeaderBytes + payload_size(in_);
  if (state_ == State::kOpen) {
    const Role sender = role_ == Role::kInitiator ? Role::kAcceptor : Role::kInitiator;
    const Tag expected = handshake_.tag(sender, frames_in_++, std::span(in_).first(sealed));
    if (!is_equal(expected, std::span(in_).subspan(sealed))) return end("sent a frame whose seal is wrong");
  }
  Frame frame{static_cast<FrameType>(in_[4]), {in_.begin() + kHeaderBytes, in_.begin() + static_cast<long>(sealed)}};
  in_.clear();
  if (state_ != State::kOpen) return take_handshake_frame(frame);
  inbox_ = std::move(frame);
  return {};
}

Status Connection::take_handshake_frame(const Frame& frame) {
  Status outcome(Code::kRemoteError, "sent something else than the challenge");
  if (role_ == Role::kAcceptor) {
    if (frame.type == FrameType::kProof) outcome = admit(frame.payload);
  } else if (frame.type == FrameType::kDenied) {
    outcome = Status(Code::kRemoteError,
                     "says that this rank's secret is not its own (another unique id, or another HAWSER_SECRET)");
  } else if (state_ == State::kGreeting && frame.type == FrameType::kHello) {
    outcome = answer_challenge(frame.payload);
  } else if (state_ == State::kProving && frame.type == FrameType::kWelcome) {
    outcome = handshake_.check_welcome(frame.payload);
    if (outcome.is_ok()) state_ = State::kOpen;
  }
  if (outcome.is_ok()) return outcome;
  prospect_ = Prospect::kStranger;
  return end(outcome.message());
}

Status Connection::admit(std::span<const std::byte> proof) {
  Result<std::vector<std::byte>> welcome = handshake_.answer_proof(proof);
  if (!welcome.is_ok()) {
    queue(FrameType::kDenied, {});
    HAWSER_TRY(flush());
    return welcome.status();
  }
  queue(FrameType::kWelcome, welcome.value());
  state_ = State::kOpen;
  return {};
}

Status Connection::answer_challenge(std::span<const std::byte> hello) {
  queue(FrameType::kProof, HAWSER_TRY_VALUE(handshake_.answer_hello(hello)));
  state_ = State::kProving;
  return {};
}

void Connection::send(FrameType type, std::span<const std::byte> payload) {
  if (state_ == State::kOpen) queue(type, payload);
}

void Connection::queue(FrameType type, std::span<const std::byte> payload) {
  if (is_flushed()) {
    out_.clear();
    out_offset_ = 0;
  }
  const std::vector<std::byte> header = Writer()
                                            .number(static_cast<std::uint32_t>(payload.size()))
                                            .number(static_cast<std::uint8_t>(type))
                                            .bytes(std::array<std::byte, 3>{})
                                            .take();
  const std::size_t start = out_.size();
  out_.insert(out_.end(), header.begin(), header.end());
  out_.insert(out_.end(), payload.begin(), payload.end());
  if (state_ != State::kOpen) return;
  const Tag tag = handshake_.tag(role_, frames_out_++, std::span(out_).subspan(start));
  out_.insert(out_.end(), tag.begin(), tag.end());
}

Status Connection::flush() {
  while (!is_flushed()) {
    const ssize_t count = ::send(socket_.get(), out_.data() + out_offset_, out_.size() - out_offset_, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {};
    if (count < 0) return Status(Code::kRemoteError, fmt::format("lost the connection ({})", errno_text(errno)));
    out_offset_ += static_cast<std::size_t>(count);
  }
  return {};
}

Status Connection::end(std::string what) {
  state_ = State::kEnded;
  failure_ = Status(Code::kRemoteError, std::move(what));
  return failure_;
}

}  // namespace hawser::bootstrap
