// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Bruck's all_gather for any number of ranks: in round j a rank sends the first of the blocks that it has to the rank
// 2^j below and takes as many from the rank 2^j above.
//
//   5 ranks, rank 3     has 3      takes 4 from 4      takes 0,1 from 0      takes 2 from 2
//
// ceil(log2 p) hops; a rank sends and takes (p-1) blocks. Blocks go to their places at once, so nothing is rotated at
// the end; a message is a list of runs of blocks, two where it passes block 0. Each round is a lane.
#include <algorithm>

#include "algorithms/builtin.h"
#include "algorithms/costs.h"
#include "algorithms/support.h"

namespace hawser::algorithms {
namespace {

class Bruck final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] std::string_view summary() const override {
    return "all_gather at doubling distances for any number of ranks: fewest hops, for small blocks";
  }
  [[nodiscard]] bool supports(const Call& call, const topology::Topology& /*topology*/) const override {
    return call.collective == Collective::kAllGather;
  }
  /// ceil(log2 p) a + (p-1) block b (Bruck et al. 1997), and each block but the own one copied again where it is sent
  /// on. Between hosts all ranks of a host send at once.
  [[nodiscard]] double cost_s(const Call& call, const topology::Topology& topology) const override;
  [[nodiscard]] plan::Plan build(const Call& call, const topology::Topology& topology, int rank) const override;

 private:
  static constexpr const char* kName = "bruck";
};

double Bruck::cost_s(const Call& call, const topology::Topology& topology) const {
  const Costs costs(topology);
  const int p = costs.ranks();
  const std::size_t size = bytes_of(call, p);
  const double block = static_cast<double>(size) / p;
  const MessageCosts link = costs.any(costs.ranks_per_node());
  return ceil_log2(p) * link.hop_s + (p - 1) * block * (link.byte_s + costs.combine_s()) + block * costs.combine_s() +
         costs.user_memory_s(size / static_cast<std::size_t>(p), size);
}

/// `count` blocks of the output from `first` on, modulo the number of ranks.
plan::Region blocks(int first, int count, int ranks) {
  const int until_end = std::min(count, ranks - first);
  plan::Region region{plan::Space::kOutput, {{first, until_end}}};
  if (count > until_end) region.runs.push_back({0, count - until_end});
  return region;
}

plan::Plan Bruck::build(const Call& /*call*/, const topology::Topology& topology, int rank) const {
  const int ranks = topology.size();
  const plan::PlanBuilder::Frame frame = all_gather_frame(kName, topology, rank);
  if (ranks == 1) return single_rank_plan(frame);
  plan::PlanBuilder builder(frame);
  builder.set_credit(kCredit);
  builder.step(builder.lane(), {plan::in(0)},
               {plan::to_out(rank), plan::send(builder.stream(rank, wrap(rank - 1, ranks)))});
  for (int distance = 1; distance < ranks; distance *= 2) {
    const int above = wrap(rank + distance, ranks);
    const int lane = builder.lane();
    const int taken = std::min(distance, ranks - distance);
    builder.step(lane, {plan::recv(builder.stream(above, rank))}, {plan::Destination{-1, blocks(above, taken, ranks)}});
    const int next = distance * 2;
    if (next >= ranks) break;
    const int sent = std::min(next, ranks - next);
    builder.step(lane, {plan::Source{-1, blocks(rank, sent, ranks), false}},
                 {plan::send(builder.stream(rank, wrap(rank - next, ranks)))});
  }
  return builder.finish();
}

}  // namespace

const Algorithm& bruck() {
  static const Bruck algorithm;
  return algorithm;
}

}  // namespace hawser::algorithms
