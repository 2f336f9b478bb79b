// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "topology/topology.h"

namespace hawser::topology {

Topology uniform(int ranks, int ranks_per_node) {
  Topology topology;
  for (int rank = 0; rank < ranks; ++rank) {
    RankPlace place;
    place.node = rank / ranks_per_node;
    place.local_rank = rank % ranks_per_node;
    place.host = "host" + std::to_string(place.node);
    place.pid = rank + 1;
    topology.ranks.push_back(place);
  }
  topology.nodes = (ranks + ranks_per_node - 1) / ranks_per_node;
  topology.cores_per_node = ranks_per_node;
  topology.max_ranks_per_node = ranks < ranks_per_node ? ranks : ranks_per_node;
  topology.last_level_cache_bytes = std::uint64_t{32} << 20;
  topology.intra = {.alpha_s = 1e-7, .beta_s_per_byte = 1 / 20e9};
  topology.inter = {.alpha_s = 1e-5, .beta_s_per_byte = 1 / 10e9};
  topology.gamma_s_per_byte = 1 / 30e9;
  topology.cross_line_s_per_byte = 1 / 20e9;
  topology.dram_s_per_byte = 1 / 10e9;
  return topology;
}

}  // namespace hawser::topology
