// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// A real rank 0 among ranks that a test plays by hand: their control connections and segments lie open, so that they can
// say and write what no honest rank would.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/status.h"
#include "tests/transport/harness.h"
#include "transport/shm/mesh.h"
#include "transport/shm/segment.h"

namespace hawser::transport::suite {

/// A rank above 0 that the test plays. Rank 0 takes it for another process.
struct PlayedRank {
  int rank = 0;
  std::vector<shm::Peer> connections;               ///< by rank
  std::unique_ptr<shm::OwnSegment> segment;         ///< what it handed over, unless the script did otherwise
  std::optional<shm::PeerSegment> segment_of_zero;  ///< rank 0's, mapped
};

/// What a played rank does once its connections stand; by default it hands over an honest segment.
using Script = std::function<void(PlayedRank&)>;
void hand_over(PlayedRank& played, const shm::Packet& packet, int descriptor);
void play_honestly(PlayedRank& played);

struct Stage {
  Result<std::unique_ptr<Transport>> zero;  ///< the real rank's outcome
  std::vector<PlayedRank> played;           ///< ranks 1, 2, ...
};
/// Connects one real rank with `played` played ones.
Stage set_stage(int played, const Script& script = play_honestly);

}  // namespace hawser::transport::suite
