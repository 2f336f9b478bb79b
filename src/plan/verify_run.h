// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The part of verify that executes: one maximal execution of all ranks, in which every step waits for all that any
// landing could make it wait for: slots are freed, and regions read in place released, when the receivers' steps are
// done; for direct landings nobody waits. Since streams have one writing and one reading lane, the plans are a Kahn network:
// what one execution does, all do; if this one finishes, so does every one that waits for less.
//
// Whether it finishes does not depend on the number of tiles: every step waits for steps of its own tile or of earlier
// ones, the same in each tile, so a circle of waiting would lie within one tile and would show in the first.
#pragma once

#include <string>
#include <vector>

#include "plan/verify_network.h"

namespace hawser::plan {

/// In which order a rank runs its steps.
enum class Order : std::uint8_t {
  kLanes,  ///< lanes concurrently
  kIssue,  ///< one thread, in the order of issue
};

struct Schedule {
  Order order = Order::kLanes;
  int tiles = 1;
  int credit = 1;
};

/// A step in a tile; `step` is an index into Network::steps.
struct StepOfTile {
  int step = 0;
  int tile = 0;
};

struct Execution {
  std::vector<StepOfTile> done;  ///< in an order that is possible
  std::string blocked;           ///< empty if all is done; else a sentence about a step that waits forever
};

Execution execute(const Network& network, const Schedule& schedule);

/// The largest credit that can matter: the messages of the busiest stream in one tile.
int largest_credit(const Network& network);

}  // namespace hawser::plan
