// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/handshake.h"

#include <fmt/format.h>

#include "bootstrap/crypto.h"
#include "bootstrap/wire.h"

namespace hawser::bootstrap {
namespace {

constexpr std::uint64_t kMagic = 0x746f6f6272737768;  // "hwsrboot"
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kGreetingBytes = sizeof kMagic + sizeof kVersion + sizeof(Secret);
static_assert(kGreetingBytes + sizeof(Secret) <= kMaxHandshakePayload);

std::vector<std::byte> greeting(const Secret& nonce, std::span<const std::byte> proof) {
  return Writer().number(kMagic).number(kVersion).bytes(nonce).bytes(proof).take();
}

}  // namespace

std::vector<std::byte> Handshake::hello() const { return greeting(own_nonce_, {}); }

Result<std::vector<std::byte>> Handshake::answer_hello(std::span<const std::byte> hello) {
  HAWSER_TRY(take_greeting(hello));
  if (hello.size() != kGreetingBytes) return Status(Code::kRemoteError, "sent a malformed greeting");
  derive_frame_keys();
  return greeting(own_nonce_, transcript_key("initiator"));
}

Result<std::vector<std::byte>> Handshake::answer_proof(std::span<const std::byte> proof) {
  HAWSER_TRY(take_greeting(proof));
  if (!is_equal(proof.subspan(kGreetingBytes), transcript_key("initiator")))
    return Status(Code::kRemoteError, "does not know the secret of this communicator");
  derive_frame_keys();
  const Secret answer = transcript_key("acceptor");
  return std::vector<std::byte>(answer.begin(), answer.end());
}

Status Handshake::check_welcome(std::span<const std::byte> welcome) const {
  if (is_equal(welcome, transcript_key("acceptor"))) return {};
  return Status(Code::kRemoteError, "does not know the secret of this communicator");
}

Tag Handshake::tag(Role sender, std::uint64_t number, std::span<const std::byte> frame) const {
  const Secret& key = frame_keys_.at(static_cast<std::size_t>(sender));
  return Reader(hmac(key, Writer().number(number).bytes(frame).take())).array<kTagBytes>();
}

Secret Handshake::transcript_key(std::string_view label) const {
  const bool is_acceptor = role_ == Role::kAcceptor;
  const Secret& first = is_acceptor ? own_nonce_ : peer_nonce_;
  const Secret& second = is_acceptor ? peer_nonce_ : own_nonce_;
  return derive(key_, label, Writer().bytes(first).bytes(second).take());
}

Status Handshake::take_greeting(std::span<const std::byte> greeting) {
  Reader reader(greeting);
  const bool is_ours = reader.number<std::uint64_t>() == kMagic;
  const auto version = reader.number<std::uint32_t>();
  peer_nonce_ = reader.array<sizeof(Secret)>();
  if (reader.has_failed() || !is_ours) return Status(Code::kRemoteError, "does not speak Hawser's bootstrap protocol");
  if (version == kVersion) return {};
  return Status(Code::kRemoteError, fmt::format("speaks version {} of the bootstrap protocol, this library speaks {}: "
                                                "use the same Hawser on all ranks",
                                                version, kVersion));
}

void Handshake::derive_frame_keys() {
  frame_keys_[static_cast<std::size_t>(Role::kInitiator)] = transcript_key("frames of initiator");
  frame_keys_[static_cast<std::size_t>(Role::kAcceptor)] = transcript_key("frames of acceptor");
}

}  // namespace hawser::bootstrap
