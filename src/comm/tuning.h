// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Parameters of a run that no algorithm decides: tile size and credit (agreed: pure functions of agreed values), kinds of stores and
// waiting (local). The figures come from perf/ and are explained in docs/performance.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "algorithms/algorithm.h"
#include "base/config.h"
#include "executor/execution.h"
#include "executor/waiter.h"
#include "plan/plan.h"
#include "topology/topology.h"

namespace hawser::comm {

/// Agreed by all ranks.
struct Tuning {
  std::size_t tile_bytes = 0;
  std::uint32_t credit = 1;
};
Tuning tune(const plan::Plan& plan, const algorithms::Call& call, const topology::Topology& topology,
            const Config& config);

/// Local.
executor::StorePolicy store_policy(const algorithms::Call& call, const topology::Topology& topology,
                                   const Config& config);
executor::WaitPolicy wait_policy(const topology::Topology& topology, int rank, const Config& config);

}  // namespace hawser::comm
