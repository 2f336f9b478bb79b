// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The terms that cost functions are made of: what a dependent message, a further message, a byte and an addition cost
// in a topology. Plain double arithmetic in a fixed order (square roots are correctly rounded by IEEE 754), so that all
// ranks get the same doubles.
#pragma once

#include <cstddef>

#include "topology/topology.h"

namespace hawser::algorithms {

/// Costs of messages between two kinds of places.
struct MessageCosts {
  double hop_s = 0;   ///< until a message that everybody waits for has arrived
  double gap_s = 0;   ///< each further message that a rank sends or takes meanwhile
  double byte_s = 0;  ///< a byte written into a message and read out of it
};

class Costs {
 public:
  explicit Costs(const topology::Topology& topology);

  /// Between ranks of one host; ranks beyond the number of cores take turns.
  [[nodiscard]] const MessageCosts& intra() const { return intra_; }
  /// Between hosts, when `flows` ranks of a host send to other hosts at once and share its network.
  [[nodiscard]] MessageCosts inter(int flows) const;
  /// Whichever the slowest message of a step pays in which every rank sends: intra() on one host, inter(flows) else.
  [[nodiscard]] MessageCosts any(int flows) const { return nodes_ > 1 ? inter(flows) : intra_; }
  /// Seconds per byte of one operand combined, or of one more copy inside a rank.
  [[nodiscard]] double combine_s() const { return combine_s_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] int nodes() const { return nodes_; }
  [[nodiscard]] int ranks_per_node() const { return ranks_per_node_; }
  /// Every buffer read once and written once by its own rank: what each algorithm pays when the buffers of a host do
  /// not fit its cache.
  [[nodiscard]] double user_memory_s(std::size_t send_bytes, std::size_t receive_bytes) const;

 private:
  MessageCosts intra_;
  topology::LinkCost inter_;
  double combine_s_;
  double dram_s_;
  double cache_bytes_;
  int ranks_;
  int nodes_;
  int ranks_per_node_;
};

/// A chain of `hops` messages of `bytes` each, cut into tiles of the best size b: (hops - 1 + bytes / b) * (hop_s + b *
/// byte_s), least at b^2 = bytes * hop_s / ((hops - 1) * byte_s), where it is (sqrt((hops - 1) * hop_s) + sqrt(bytes *
/// byte_s))^2 (Sanders, Speck, Träff 2009, section 2); in one tile if that b exceeds `bytes`.
double pipelined_s(int hops, double bytes, const MessageCosts& costs);

/// Whether a step in which core number i talks to core number i ^ distance crosses hosts anywhere.
bool crosses_hosts(const topology::Topology& topology, int distance);

}  // namespace hawser::algorithms
