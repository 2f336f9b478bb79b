// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "algorithms/costs.h"

#include <algorithm>
#include <cmath>

#include "algorithms/support.h"

namespace hawser::algorithms {
namespace {

/// A message that is not waited for alone costs this share of one that is: lines are fetched in parallel. LogP's g.
constexpr double kGapShare = 1.0 / 8;
/// With more ranks than cores every dependent hop waits for a turn; measured barriers by yield on 2 cores: 4 ranks
/// 2.2 us, 8 ranks 5.9 us, that is about this much per rank and core.
constexpr double kTurnSeconds = 1.2e-6;

}  // namespace

Costs::Costs(const topology::Topology& topology)
    : inter_(topology.inter),
      dram_s_(topology.dram_s_per_byte),
      cache_bytes_(static_cast<double>(topology.last_level_cache_bytes)),
      ranks_(topology.size()),
      nodes_(topology.nodes),
      ranks_per_node_(std::max(1, topology.max_ranks_per_node)) {
  const double per_core = static_cast<double>(ranks_per_node_) / std::max(1, topology.cores_per_node);
  const double share = std::max(1.0, per_core);
  intra_.hop_s = topology.intra.alpha_s + (per_core > 1 ? kTurnSeconds * per_core : 0.0);
  intra_.gap_s = topology.intra.alpha_s * kGapShare * share;
  intra_.byte_s = topology.intra.beta_s_per_byte * share;
  combine_s_ = topology.gamma_s_per_byte * share;
  dram_s_ *= share;
}

MessageCosts Costs::inter(int flows) const {
  return {inter_.alpha_s, inter_.alpha_s * kGapShare, inter_.beta_s_per_byte * std::max(1, flows)};
}

double Costs::user_memory_s(std::size_t send_bytes, std::size_t receive_bytes) const {
  const double bytes = static_cast<double>(send_bytes) + static_cast<double>(receive_bytes);
  return bytes * ranks_per_node_ > cache_bytes_ ? bytes * dram_s_ : 0.0;
}

double pipelined_s(int hops, double bytes, const MessageCosts& costs) {
  const int further = std::max(0, hops - 1);
  if (costs.hop_s >= further * bytes * costs.byte_s) return hops * (costs.hop_s + bytes * costs.byte_s);
  const double root = std::sqrt(further * costs.hop_s) + std::sqrt(bytes * costs.byte_s);
  return root * root;
}

bool crosses_hosts(const topology::Topology& topology, int distance) {
  const Fold fold(topology.size());
  for (int number = 0; number < fold.core(); ++number) {
    const auto a = static_cast<std::size_t>(fold.rank_of(number));
    const auto b = static_cast<std::size_t>(fold.rank_of(number ^ distance));
    if (topology.ranks[a].node != topology.ranks[b].node) return true;
  }
  return false;
}

}  // namespace hawser::algorithms
