// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The part of verify that shows: no region is written while it may still be read or written, in any schedule, under all
// landings, for any number of tiles.
#pragma once

#include "base/status.h"
#include "plan/verify_network.h"

namespace hawser::plan {

enum class Placement : std::uint8_t { kOutOfPlace, kInPlace };

/// Shows that the rank's own plan (order of lanes, `after`) orders every two accesses to one chunk of which one writes.
/// What peers happen to wait for does not count, so the rank's memory is safe whatever they do.
Status check_races(const Network& network, int rank, Placement placement);

}  // namespace hawser::plan
