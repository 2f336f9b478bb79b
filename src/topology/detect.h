// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What this process can see of its machine: cores, caches, NUMA. By hwloc, loaded when first wanted and put away again; without it by what
// the kernel and the C library say. Used once per communicator, at initialisation.
#pragma once

#include <cstdint>
#include <string>

namespace hawser::topology {

struct Machine {
  int cores = 1;                  ///< processors that this process may run on
  int numa = 0;                   ///< NUMA domain of the first of them
  int numa_domains = 1;           ///< of the machine
  std::uint64_t cache_bytes = 0;  ///< last-level cache that these processors share, at most
  std::string source;             ///< "hwloc 2.9.0" or "sysconf"
};

/// Never fails: what cannot be found out keeps a cautious default.
Machine detect();

}  // namespace hawser::topology
