// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Connects ranks over shared memory without the bootstrap: listeners' names travel over the Board.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "tests/transport/harness.h"
#include "transport/shm/shm_transport.h"

namespace hawser::transport::suite {

/// A keyed hash good enough for tests.
std::array<std::byte, 32> prove_for_test(std::span<const std::byte> text);
/// Tells the other ranks this rank's listener, waits for theirs, and fills the arguments of create().
shm::ShmArgs introduce(int rank, int ranks, Board& board, const shm::MeshListener& listener);
/// The transport of one rank; null after a reported failure. Collective.
std::unique_ptr<Transport> connect_over_shm(int rank, int ranks, Board& board);

}  // namespace hawser::transport::suite
