// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What ranks tell each other about themselves at initialisation, as bytes for the bootstrap's all-gather, and what follows from it: who
// shares a host, the agreed topology.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/config.h"
#include "base/status.h"
#include "topology/topology.h"

namespace hawser::comm {

/// One rank's introduction.
struct PeerInfo {
  std::uint64_t host_key = 0;       ///< equal for ranks that can share memory
  std::uint64_t process_token = 0;  ///< equal for ranks of one process
  std::int64_t pid = 0;
  std::int32_t cores = 1;           ///< that this process may use
  std::int32_t numa = 0;            ///< domain of its first core
  std::uint64_t cache_bytes = 0;    ///< last-level cache
  std::uint64_t staging_bytes = 0;  ///< NCCL_BUFFSIZE: must agree
  std::uint64_t tile_bytes = 0;     ///< HAWSER_TILE, 0: not set: must agree
  std::uint64_t topology_hash = 0;  ///< of the file that HAWSER_TOPO_FILE names, 0: not set: must agree
  std::string host;
  std::string control_address;
  std::string algorithm;  ///< NCCL_ALGO: must agree
};

/// What this rank says. `control_address`: its listener.
Result<PeerInfo> introduce(const Config& config, std::string control_address);

std::vector<std::byte> encode(const PeerInfo& info);
/// kRemoteError naming `rank` if the bytes are not an introduction of this release.
Result<PeerInfo> decode(std::span<const std::byte> bytes, int rank);

/// kInvalidUsage naming two ranks and the variable whose values differ.
Status check_agreement(std::span<const PeerInfo> infos);

/// Places and sizes; link costs are those of topology::uniform() until measured.
topology::Topology agree(std::span<const PeerInfo> infos);

/// The topology with the costs and cache size of the file that HAWSER_TOPO_FILE names, if it names one; places stay those found.
/// Fails as topology::load() does.
Result<topology::Topology> with_costs_of_file(topology::Topology topology, const Config& config);

}  // namespace hawser::comm
