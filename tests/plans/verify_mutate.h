// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Plans damaged and plans rewritten, at random but repeatably: what the campaigns against verify consist of.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace hawser::test {

using Random = std::mt19937_64;

/// A number of 0..bound-1; bound >= 1.
int below(Random& random, std::size_t bound);

/// Changes one field of one rank's plan, or one place in one of its lists, or the credit of all. Says what, in words.
std::string mutate(std::vector<plan::Plan>& plans, Random& random);

/// Changes right plans in several ways that keep their meaning: lanes, streams, stream numbers and parts renumbered,
/// more credit, larger windows, steps issued in another order, runs split, waits repeated. Says what, in words.
std::string rewrite(std::vector<plan::Plan>& plans, Random& random);

}  // namespace hawser::test
