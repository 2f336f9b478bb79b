// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Runs a call by one algorithm on this machine, in forked ranks, and times it: the "measured" column of hawser-explain.
#pragma once

#include <string>

#include "algorithms/algorithm.h"
#include "base/status.h"

namespace hawser::explain {

/// Median seconds of one call over `ranks` processes, each having called often enough for about 20 ms. Call from a process without threads.
/// kInternalError with the first rank's sentence if a rank fails; kTimeout after 30 s.
Result<double> measure_s(const algorithms::Call& call, int ranks, const std::string& algorithm);

}  // namespace hawser::explain
