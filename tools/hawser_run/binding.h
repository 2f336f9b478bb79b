// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Which processors each rank may run on.
#pragma once

#include <cstdint>
#include <vector>

namespace hawser::run {

enum class Bind : std::uint8_t {
  kAuto,  ///< kCore when there is more than one rank and a core for each, else kNone
  kNone,
  kCore,  ///< ranks go round the cores
};

/// The processors that this process may use, grouped by core: hardware threads of one core are one entry.
std::vector<std::vector<int>> allowed_cores();

/// The processors of each rank, by rank; an empty list means: leave it as it is.
std::vector<std::vector<int>> place_ranks(Bind bind, int ranks, const std::vector<std::vector<int>>& cores);

}  // namespace hawser::run
