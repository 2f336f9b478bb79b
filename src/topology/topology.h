// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What the machine looks like, as a value that all ranks of a communicator agree on at initialisation: where ranks live
// and what the links between them cost. Algorithms choose by it; it can be dumped to JSON and loaded again (json.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hawser::topology {

/// Cost of moving data one way, as a straight line: seconds = alpha_s + bytes * beta_s_per_byte.
struct LinkCost {
  double alpha_s = 0;
  double beta_s_per_byte = 0;
  bool operator==(const LinkCost&) const = default;
};

/// One rank's place.
struct RankPlace {
  int node = 0;          ///< index of its host, counted from 0 in order of lowest rank
  int local_rank = 0;    ///< index among the ranks of its host
  int numa = 0;          ///< NUMA domain on its host; 0 if unknown
  std::string host;      ///< host name, for sentences
  std::int64_t pid = 0;  ///< process id as its own PID namespace sees it
  bool operator==(const RankPlace&) const = default;
};

struct Topology {
  std::vector<RankPlace> ranks;
  int nodes = 1;
  /// Usable cores of the host with the fewest per rank, and the most ranks on a host: whether waiting should yield.
  int cores_per_node = 1;
  int max_ranks_per_node = 1;
  std::uint64_t last_level_cache_bytes = 0;
  /// Two ranks of one host through shared memory: a small message, and bytes through cached staging.
  LinkCost intra;
  /// Ranks of different hosts.
  LinkCost inter;
  /// Seconds per byte of one operand combined by a core, data in cache.
  double gamma_s_per_byte = 0;
  /// Seconds per byte of a line that another core has just written (4 MiB working set), and of DRAM traffic by one
  /// core.
  double cross_line_s_per_byte = 0;
  double dram_s_per_byte = 0;
  bool operator==(const Topology&) const = default;

  [[nodiscard]] int size() const { return static_cast<int>(ranks.size()); }
};

/// A single host with `ranks` ranks and plausible costs: for tests, plans and explanations without a machine.
Topology uniform(int ranks, int ranks_per_node);

}  // namespace hawser::topology
