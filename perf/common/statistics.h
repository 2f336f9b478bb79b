// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// One figure from many.
#pragma once

#include <span>
#include <vector>

#include "perf/common/options.h"

namespace hawser::perf {

/// The figure that `stat` names. `values` must not be empty.
double figure_of(Stat stat, std::vector<double> values);

/// The figure of the ranks that `average` names. `by_rank` must not be empty.
double figure_of(Average average, std::span<const double> by_rank);

}  // namespace hawser::perf
