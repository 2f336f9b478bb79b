// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What an algorithm is: a pure function from a call and a topology to a Plan, with a statement of when it applies and
// what it costs. One file each in this folder; builtin.cpp lists them; select.cpp takes the cheapest. Algorithms know
// no sockets, devices, threads or environment.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/types.h"
#include "plan/plan.h"
#include "topology/topology.h"

namespace hawser::algorithms {

/// The arguments that NCCL requires equal on all ranks: all that a choice may depend on.
struct Call {
  Collective collective = Collective::kAllReduce;
  std::size_t count =
      0;  ///< elements as the API counts them (per rank for all_gather, all_to_all and the output of reduce_scatter)
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  int root = 0;
  bool operator==(const Call&) const = default;
};

/// Size as nccl-tests counts it: the larger of a rank's send and receive buffer, in bytes.
std::size_t bytes_of(const Call& call, int ranks);

class Algorithm {
 public:
  virtual ~Algorithm() = default;
  /// Lower-case name that NCCL_ALGO / HAWSER_ALGO accept, e.g. "ring".
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// One line: what it does and what it is good for.
  [[nodiscard]] virtual std::string_view summary() const = 0;
  [[nodiscard]] virtual bool supports(const Call& call, const topology::Topology& topology) const = 0;
  /// Predicted seconds from the topology's measured α, β, γ (field names in topology.h). Deterministic: the same
  /// doubles on every rank.
  [[nodiscard]] virtual double cost_s(const Call& call, const topology::Topology& topology) const = 0;
  /// The plan of one rank. Only if supports().
  [[nodiscard]] virtual plan::Plan build(const Call& call, const topology::Topology& topology, int rank) const = 0;
};

/// Every algorithm of the library, in a fixed order.
std::span<const Algorithm* const> builtin();

struct Choice {
  const Algorithm* algorithm = nullptr;
  double cost_s = 0;
};

/// All algorithms that support the call, cheapest first (ties by the order of builtin()).
std::vector<Choice> candidates(const Call& call, const topology::Topology& topology);

/// The algorithm for the call: the cheapest of those that `forced` (NCCL_ALGO's grammar: "ring,tree", "^ring",
/// "allreduce:tree;..."; empty: all) permits. kInvalidUsage naming the variable if none is left or a name is unknown.
Result<Choice> select(const Call& call, const topology::Topology& topology, std::string_view forced);

}  // namespace hawser::algorithms
