// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The challenge that both ends of every connection pass before a byte is believed, and the keys that seal what follows.
// Pure: no sockets.
//
//   acceptor  -> initiator   hello    magic, version, nonce A
//   initiator -> acceptor    proof    magic, version, nonce I, HMAC(key; "initiator", A, I)
//   acceptor  -> initiator   welcome  HMAC(key; "acceptor", A, I)         or denied
//
// The side that connects proves first, so that a stranger who only connects learns nothing that was made with the key.
// Afterwards every frame carries a tag: HMAC(key of its direction; number of the frame, header, payload), so that
// somebody on the path who lets the challenge pass cannot add, change, drop or replay anything.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "bootstrap/bootstrap.h"

namespace hawser::bootstrap {

enum class Role : std::uint8_t { kInitiator, kAcceptor };

/// How long a payload may be before the challenge is passed.
inline constexpr std::size_t kMaxHandshakePayload = 128;
inline constexpr std::size_t kTagBytes = 16;
using Tag = std::array<std::byte, kTagBytes>;

/// One end's part of the challenge. Payloads are those of the frames hello, proof and welcome.
class Handshake {
 public:
  /// `nonce`: fresh random bits of this end.
  Handshake(Role role, const Secret& key, const Secret& nonce) : role_(role), key_(key), own_nonce_(nonce) {}

  /// Acceptor, first of all.
  [[nodiscard]] std::vector<std::byte> hello() const;
  /// Initiator: answers hello with proof. kRemoteError if it is no hello, or one of another version.
  Result<std::vector<std::byte>> answer_hello(std::span<const std::byte> hello);
  /// Acceptor: answers a valid proof with welcome. kRemoteError otherwise: send denied, believe nothing.
  Result<std::vector<std::byte>> answer_proof(std::span<const std::byte> proof);
  /// Initiator: kRemoteError unless the other end has proved that it knows the key.
  [[nodiscard]] Status check_welcome(std::span<const std::byte> welcome) const;

  /// Seals frame `number` of the direction whose sender is `sender`. After the challenge only.
  [[nodiscard]] Tag tag(Role sender, std::uint64_t number, std::span<const std::byte> frame) const;

 private:
  [[nodiscard]] Secret transcript_key(std::string_view label) const;
  Status take_greeting(std::span<const std::byte> greeting);
  void derive_frame_keys();

  Role role_;
  Secret key_;
  Secret own_nonce_;
  Secret peer_nonce_{};
  std::array<Secret, 2> frame_keys_{};  // by role of the sender
};

}  // namespace hawser::bootstrap
