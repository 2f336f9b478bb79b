// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/tuning.h"

#include <algorithm>
#include <numeric>

namespace hawser::comm {
namespace {

constexpr std::size_t kKiB = 1024;
/// Messages of a plan that fit one tile of this size travel whole.
/// Measured, 2 ranks, 64 KiB: one tile of 32 KiB per part 7.5 µs, four of 8 KiB 14.3 µs.
constexpr std::size_t kSmallestTile = 32 * kKiB;
constexpr std::uint32_t kInlineCredit = 16;
constexpr std::uint32_t kTileCredit = 4;

/// The pipeline needs a few tiles per chunk to overlap; a tile needs to be long enough to pay for its hand-over (about 0.1 µs).
std::size_t default_tile(std::size_t chunk_bytes) {
  constexpr std::size_t kTilesPerChunk = 4;
  constexpr std::size_t kLargestTile = 64 * kKiB;
  return std::clamp(chunk_bytes / kTilesPerChunk, kSmallestTile, kLargestTile);
}

}  // namespace

Tuning tune(const plan::Plan& plan, const algorithms::Call& call, const topology::Topology& topology,
            const Config& config) {
  const std::size_t bytes = algorithms::bytes_of(call, topology.size());
  const int chunks = std::max({plan.input.chunks, plan.output.chunks, 1});
  const std::size_t chunk_bytes = bytes / static_cast<std::size_t>(chunks);
  std::size_t tile = config.tile_bytes.value_or(default_tile(chunk_bytes));
  // Streams of a rank share its staging memory.
  const std::size_t streams = std::max<std::size_t>(plan.streams.size(), 1);
  tile = std::min(tile, std::max(config.staging_bytes / (streams * kTileCredit), kSmallestTile / 32));
  constexpr std::size_t kLine = 64;
  tile = std::max(tile / kLine * kLine, kLine);
  const bool is_inline = chunk_bytes <= kLine;
  const auto needed = static_cast<std::uint32_t>(plan.credit);
  return {tile, std::max(needed, is_inline ? kInlineCredit : kTileCredit)};
}

executor::StorePolicy store_policy(const algorithms::Call& call, const topology::Topology& topology,
                                   const Config& config) {
  const std::size_t bytes = algorithms::bytes_of(call, topology.size());
  // All ranks of the host read and write their buffers: beyond the cache, a cached store costs a read more.
  const std::uint64_t footprint = std::uint64_t{bytes} * 2 * static_cast<std::uint64_t>(topology.max_ranks_per_node);
  const bool is_large = config.nt_stores.value_or(footprint > topology.last_level_cache_bytes);
  return {is_large ? kernels::Store::kNonTemporal : kernels::Store::kCached, kernels::Store::kCached};
}

executor::WaitPolicy wait_policy(const topology::Topology& topology, int rank, const Config& config) {
  const int node = topology.ranks[static_cast<std::size_t>(rank)].node;
  const auto on_node = std::ranges::count_if(topology.ranks, [&](const auto& place) { return place.node == node; });
  executor::WaitPolicy policy;
  constexpr std::uint32_t kSpins = 2000;
  constexpr std::chrono::microseconds kYieldTime{1000};
  const bool is_crowded = on_node > topology.cores_per_node;
  policy.spins = is_crowded ? 0 : kSpins;
  policy.yield_time = is_crowded ? kYieldTime : std::chrono::microseconds(0);
  policy.stuck_warning = config.stuck_warning;
  policy.timeout = config.timeout.value_or(std::chrono::milliseconds(0));
  return policy;
}

}  // namespace hawser::comm
