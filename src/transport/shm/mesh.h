// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Control connections among the ranks of one host: a Unix socket per pair, by which descriptors travel (segments, user
// memory), and by whose closing, together with a pidfd, the death of a peer is seen. Every connection proves knowledge
// of the communicator's secret before anything on it is believed.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/status.h"

namespace hawser::transport::shm {

/// What travels on a control connection: one packet, perhaps with a descriptor.
struct Packet {
  enum class Kind : std::uint32_t { kHello, kWelcome, kSegment, kMemory, kForget };
  Kind kind = Kind::kHello;
  std::uint32_t rank = 0;  ///< kHello, kWelcome: the speaker
  std::uint64_t id =
      0;  ///< kMemory, kForget: memory id; kSegment: address of a shared mapping handed over inside a process, else 0
  std::uint64_t bytes = 0;   ///< kMemory: size
  std::byte proof[32] = {};  ///< kHello, kWelcome
};

enum class PeerState : std::uint8_t { kPresent, kFinished, kAborted, kDead };

/// One end of the connection to one peer.
struct Peer {
  int rank = 0;
  Fd socket;
  Fd pidfd;       ///< not open if the kernel or a PID namespace forbids it
  pid_t pid = 0;  ///< as seen from here; 0 if not visible
  PeerState state = PeerState::kPresent;
  int cause = -1;  ///< kAborted: the rank that the peer blames; -1: none
};

/// Keyed hash that proves the secret; injected, so that this room needs no cryptography of its own.
using Prove = std::function<std::array<std::byte, 32>(std::span<const std::byte>)>;

struct MeshArgs {
  int rank = 0;
  std::vector<int> local_ranks;        ///< ranks of this host, ascending, this one included
  std::vector<std::string> addresses;  ///< abstract socket name per entry of local_ranks
  Prove prove;
  std::chrono::steady_clock::time_point deadline;
  const std::atomic<std::uint32_t>* cancel = nullptr;  ///< ends connect() early when not 0
};

/// The socket on which peers of one host reach this rank; its name is exchanged before connect().
struct MeshListener {
  Fd socket;
  std::string address;
  static Result<MeshListener> open();
};

/// Connects all pairs: this rank calls those below it and answers those above. Entry i belongs to local_ranks[i]; the
/// own entry has no socket. kTimeout or kRemoteError naming the peer.
Result<std::vector<Peer>> connect_mesh(const MeshListener& listener, const MeshArgs& args);

/// Sends one packet without blocking; kInProgress if the peer's queue is full.
Status send_packet(const Peer& peer, const Packet& packet, int descriptor);

struct Received {
  Packet packet;
  Fd descriptor;
};
/// Takes the next packet; nothing if none is there. Updates peer.state when the connection has ended.
std::optional<Received> receive_packet(Peer& peer);
/// Waits for a packet of initialisation until the deadline, the peer's end, or cancellation.
Result<Received> await_packet(Peer& peer, const MeshArgs& args);
/// Whether the peer's process has ended (pidfd).
bool has_exited(const Peer& peer);

}  // namespace hawser::transport::shm
