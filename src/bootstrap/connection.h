// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// One non-blocking connection: connecting, challenge (handshake.h), then sealed frames both ways. Used by the root for
// its ranks and by ranks for each other.
//
// A frame is: payload size 4 | type 1 | zero 3 | payload | tag 16 (once the challenge is passed).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "bootstrap/handshake.h"
#include "bootstrap/socket.h"

namespace hawser::bootstrap {

enum class FrameType : std::uint8_t {
  kHello = 1,
  kProof = 2,
  kWelcome = 3,
  kDenied = 4,
  kJoin = 5,       ///< rank to root: who it is
  kTable = 6,      ///< root to rank: its partners
  kRefusal = 7,    ///< root to rank: why there will be no communicator
  kPeerHello = 8,  ///< rank to rank, first: who connects
  kBlock = 9,      ///< rank to rank: one blob of an all_gather, or a barrier's signal
  kAbort = 10,     ///< anybody: the sender has failed, and why
  kGoodbye = 11,   ///< rank to rank: the sender has finished and closes
};

struct Frame {
  FrameType type;
  std::vector<std::byte> payload;
};

/// The longest payload that anybody may send.
inline constexpr std::size_t kMaxPayload = std::size_t{16} << 20;

/// What a failed connection tells about the next try to the same address.
enum class Prospect : std::uint8_t {
  kMaybe,     ///< nothing
  kNobody,    ///< nobody listens there
  kStranger,  ///< whoever listens there does not share the key
};

class Connection {
 public:
  /// Starts to connect. Fails if the kernel refuses at once.
  static Result<std::unique_ptr<Connection>> dial(const SocketAddress& to, const Secret& key);
  /// Takes over what a listener accepted and challenges it.
  static Result<std::unique_ptr<Connection>> accept(Incoming incoming, const Secret& key);

  /// Registers what this connection waits for.
  void prepare(PollSet& polls);
  [[nodiscard]] bool is_ready(const PollSet& polls) const { return polls.is_ready(place_); }
  /// Does what can be done without waiting. Fails with kRemoteError, as the end of a sentence about the peer ("closed
  /// the connection"), once it is over and no received frame is left; then only destruction makes sense.
  Status advance();

  /// Whether the TCP connection stands.
  [[nodiscard]] bool is_connected() const { return state_ != State::kConnecting; }
  /// Whether the challenge is passed.
  [[nodiscard]] bool is_authenticated() const { return state_ == State::kOpen; }
  /// What the failure that advance() gave means for another try.
  [[nodiscard]] Prospect prospect() const { return prospect_; }
  [[nodiscard]] const SocketAddress& peer() const { return peer_; }
  /// This end's address, once the connection stands.
  [[nodiscard]] std::optional<SocketAddress> local() const { return local_address(socket_); }

  /// Queues a frame; advance() sends it. Only when authenticated. At most kMaxPayload.
  void send(FrameType type, std::span<const std::byte> payload);
  [[nodiscard]] bool is_flushed() const { return out_.size() == out_offset_; }
  /// The frame that has arrived, if any. The next one is read after it is taken.
  [[nodiscard]] const std::optional<Frame>& inbox() const { return inbox_; }
  [[nodiscard]] std::optional<Frame> take() { return std::exchange(inbox_, std::nullopt); }
  /// The longest payload to accept after the challenge, to bound what a peer can make this end allocate.
  void limit_payload(std::size_t bytes) { max_payload_ = bytes; }

 private:
  enum class State : std::uint8_t { kConnecting, kGreeting, kProving, kOpen, kEnded };

  Connection(Socket socket, const SocketAddress& peer, Role role, const Handshake& handshake)
      : socket_(std::move(socket)), peer_(peer), role_(role), handshake_(handshake) {}

  Status finish_connecting();
  Status receive();
  Result<std::size_t> receive_some();
  Status check_header();
  Status take_frame();
  Status take_handshake_frame(const Frame& frame);
  Status admit(std::span<const std::byte> proof);
  Status answer_challenge(std::span<const std::byte> hello);
  Status flush();
  void queue(FrameType type, std::span<const std::byte> payload);
  Status end(std::string what);
  [[nodiscard]] std::size_t wanted() const;

  Socket socket_;
  SocketAddress peer_;
  Role role_;
  Handshake handshake_;
  State state_ = State::kConnecting;
  Prospect prospect_ = Prospect::kMaybe;
  Status failure_;  // why it is over
  std::size_t place_ = PollSet::kNone;
  std::size_t max_payload_ = kMaxPayload;
  std::vector<std::byte> in_;
  std::uint64_t frames_in_ = 0;
  std::vector<std::byte> out_;
  std::size_t out_offset_ = 0;
  std::uint64_t frames_out_ = 0;
  std::optional<Frame> inbox_;
};

}  // namespace hawser::bootstrap
