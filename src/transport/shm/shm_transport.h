// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Host memory between ranks of one host: memfd segments, user memory mapped on demand, a doorbell per rank, death seen by control sockets
// and pidfds. Made by src/comm at initialisation, once the ranks have exchanged their listeners' names.
#pragma once

#include <string>
#include <vector>

#include "transport/shm/ports.h"

namespace hawser::transport::shm {

/// What a rank tells its peers, through the bootstrap, so that they can connect.
struct Introduction {
  std::string control_address;      ///< MeshListener::address
  std::uint64_t process_token = 0;  ///< equal for ranks of one process only
};

/// A random number that is the same for all communicators of this process and no other process. Differs in a forked child.
Result<std::uint64_t> process_token();

struct ShmArgs {
  int rank = 0;
  int ranks = 0;
  std::vector<int> local_ranks;
  std::vector<Introduction> introductions;  ///< per entry of local_ranks
  std::vector<std::string> hosts;           ///< per rank, for sentences
  Prove prove;
  std::size_t segment_bytes = std::size_t{256} << 20;  ///< address space, not memory
  std::chrono::steady_clock::time_point deadline;
  const std::atomic<std::uint32_t>* cancel = nullptr;
};

/// Collective over the ranks of the host.
Result<std::unique_ptr<Transport>> create(MeshListener listener, ShmArgs args);

}  // namespace hawser::transport::shm
