// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// How ranks find each other. A unique id carries addresses and a random secret; a root thread, started by whoever made
// the id, tells every rank of its peers; then ranks exchange blobs among themselves in O(log n) rounds. Every
// connection proves knowledge of the secret (HMAC-SHA-256 challenge, both ways) before a byte of it is believed;
// everything that arrives is parsed as hostile. Used by src/comm at initialisation only.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/config.h"
#include "base/status.h"

namespace hawser::bootstrap {

/// The 128 bytes of ncclUniqueId: versioned, holds up to three addresses of the root, its port and a 256-bit secret.
using UniqueId = std::array<std::byte, 128>;
using Secret = std::array<std::byte, 32>;

/// Makes an id and starts the root thread that serves one communicator with it. The thread belongs to the process-wide
/// set of roots (the C API gives no handle that could own it). It waits for the first rank as long as the process lives,
/// since an id may be made long before it is used; then it ends by itself when every rank has been served, or soon after
/// the first of their limits has passed without all of them; it is joined at exit. With Config::comm_id set, the id names
/// that fixed address instead (resolved here, by DNS if it is a name), every rank may make it, and rank 0 serves it.
/// kSystemError if no interface, socket or thread can be had; kInvalidUsage if NCCL_SOCKET_IFNAME matches nothing, or if
/// NCCL_COMM_ID leaves this host without HAWSER_SECRET; kInvalidArgument for variables that do not parse. Any thread.
Result<UniqueId> create_unique_id(const Config& config);

/// One rank's end of the exchange. Owns its sockets. One thread at a time.
class Bootstrap {
 public:
  /// Joins: collective over all ranks. Ends within config.init_timeout (at most a second later, if a busy root is slow to
  /// say who is missing) with kTimeout naming the ranks that are missing, or kRemoteError naming the address that could not be reached or the rank that has gone. kInvalidArgument for an id
  /// that is not one. kInvalidUsage when two ranks join with the same number or different `ranks`, naming them, and when
  /// `*cancel` != 0 has ended it, within 100 ms (ncclCommAbort). `cancel` may be null and must outlive the result.
  static Result<std::unique_ptr<Bootstrap>> join(const UniqueId& id, int rank, int ranks, const Config& config,
                                                 const std::atomic<std::uint32_t>* cancel);
  /// Takes leave of the other ranks, without waiting. Those that still need this one get kRemoteError, naming it.
  virtual ~Bootstrap() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int ranks() const = 0;
  /// Shared secret of this communicator, derived from the id's secret; the same on all ranks, unknown to others.
  [[nodiscard]] virtual const Secret& secret() const = 0;
  /// Everybody's blob, by rank. Collective; sizes may differ, none may exceed 16 MiB - 64 bytes. O(log n) rounds. Ends
  /// within config.init_timeout. Fails as join() does, naming the peer; then the other ranks are told, and every later
  /// call fails in the same way. kInvalidUsage when ranks make different calls.
  virtual Result<std::vector<std::vector<std::byte>>> all_gather(std::span<const std::byte> mine) = 0;
  /// Returns when every rank has called it. Collective. Fails as all_gather() does.
  virtual Status barrier() = 0;
};

/// HMAC-SHA-256 of `message`. Any thread, after an id was made or a rank has joined.
std::array<std::byte, 32> hmac(const Secret& key, std::span<const std::byte> message);

}  // namespace hawser::bootstrap
