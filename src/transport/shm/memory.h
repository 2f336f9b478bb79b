// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// User memory that peers of the same host read and write in place: what this rank has offered, and what peers have offered to it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/fd.h"
#include "transport/shm/layout.h"
#include "transport/shm/mesh.h"

namespace hawser::transport::shm {

/// What this rank has offered: allocations of device/host_memory.h whose descriptors every peer has been sent.
class OfferedMemory {
 public:
  /// Offers the allocation that holds the range, if there is one. Sends descriptors: not for the fast path; cheap when
  /// already known. Whether anything was sent.
  bool offer(const std::byte* memory, std::size_t bytes, std::span<const Peer* const> peers);
  /// The range as peers name it; nothing if it was not offered to everybody.
  [[nodiscard]] std::optional<Reference> find(const std::byte* memory, std::size_t bytes) const;

 private:
  struct Offer {
    std::uint64_t id;
    const std::byte* base;
    std::size_t bytes;
    bool is_complete;  ///< every peer has it
  };
  bool forget_freed(std::span<const Peer* const> peers);
  [[nodiscard]] bool is_known_unknown(const std::byte* memory, std::size_t bytes) const;

  std::vector<Offer> offers_;
  std::uint64_t generation_ = 0;
  /// Recent ranges that have no allocation behind them, so that malloc'ed buffers cost a few comparisons.
  struct Range {
    const std::byte* memory = nullptr;
    std::size_t bytes = 0;
  };
  std::array<Range, 8> unknown_;
  std::size_t next_unknown_ = 0;
};

/// What one peer has offered, mapped on demand.
class PeerMemory {
 public:
  /// Takes note of a kMemory or kForget packet.
  void take(Received received);
  /// Address here of the peer's memory; null if it is unknown or out of bounds.
  [[nodiscard]] std::byte* resolve(const Reference& reference, std::size_t bytes) const;

 private:
  struct Known {
    std::uint64_t id;
    Mapping mapping;
  };
  std::vector<Known> known_;
};

}  // namespace hawser::transport::shm
