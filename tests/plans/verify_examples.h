// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Plans written by hand, small enough to be read: what the tests of verify start from. Each function gives the plans of
// all ranks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace hawser::plan::examples {

using Plans = std::vector<Plan>;

/// all_reduce, each rank sends its input to all others in one multicast and reduces all in rank order. Window 1.
Plans flat(int ranks);
/// The same; what arrives is first moved into scratch, by a lane per peer. Window 2.
Plans flat_through_scratch(int ranks);
/// all_reduce, reduce-scatter and all-gather around a ring, one lane. Credit 2.
Plans ring(int ranks);
/// all_reduce on a binary heap: a lane up, a lane down.
Plans tree(int ranks);
/// all_gather around a ring.
Plans ring_all_gather(int ranks);
/// all_to_all, a lane per peer and direction.
Plans pairwise(int ranks);

struct Example {
  std::string name;
  std::function<Plans(int ranks)> build;
};
/// All of the above.
const std::vector<Example>& all();

}  // namespace hawser::plan::examples
