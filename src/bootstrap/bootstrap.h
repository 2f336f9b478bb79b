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
/// set of roots (the C API gives no handle that could own it), ends by itself when every rank has been served or
/// Config::init_timeout has passed without all of them, and is joined at exit. With Config::comm_id set, the id names
/// that fixed address instead and rank 0 serves it. kSystemError if no usable interface exists.
Result<UniqueId> create_unique_id(const Config& config);

/// One rank's end of the exchange. Owns its sockets. One thread at a time.
class Bootstrap {
 public:
  /// Joins: collective over all ranks. Ends within config.init_timeout with kRemoteError or kTimeout naming the ranks
  /// that are missing, or the address that could not be reached. kInvalidArgument for an id that is not one.
  /// kInvalidUsage when two ranks join with the same number or different `ranks`, naming them. `*cancel` != 0 ends it
  /// within 100 ms (ncclCommAbort); may be null.
  static Result<std::unique_ptr<Bootstrap>> join(const UniqueId& id, int rank, int ranks, const Config& config,
                                                 const std::atomic<std::uint32_t>* cancel);
  virtual ~Bootstrap() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int ranks() const = 0;
  /// Shared secret of this communicator, derived from the id's secret; the same on all ranks, unknown to others.
  [[nodiscard]] virtual const Secret& secret() const = 0;
  /// Everybody's blob, by rank. Collective; sizes may differ. O(log n) messages per rank. Fails as join() does, naming
  /// the peer.
  virtual Result<std::vector<std::vector<std::byte>>> all_gather(std::span<const std::byte> mine) = 0;
  /// Returns when every rank has called it. Collective.
  virtual Status barrier() = 0;
};

/// HMAC-SHA-256 of `message`.
std::array<std::byte, 32> hmac(const Secret& key, std::span<const std::byte> message);

}  // namespace hawser::bootstrap
