// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "algorithms/support.h"

namespace hawser::algorithms {

plan::PlanBuilder::Frame all_reduce_frame(const char* name, const topology::Topology& topology, int rank, int parts) {
  const plan::Layout layout{plan::Cut::kParts, parts};
  return {.algorithm = name,
          .collective = Collective::kAllReduce,
          .rank = rank,
          .ranks = topology.size(),
          .root = 0,
          .input = layout,
          .output = layout};
}

plan::PlanBuilder::Frame all_gather_frame(const char* name, const topology::Topology& topology, int rank) {
  return {.algorithm = name,
          .collective = Collective::kAllGather,
          .rank = rank,
          .ranks = topology.size(),
          .root = 0,
          .input = {plan::Cut::kBlocks, 1},
          .output = {plan::Cut::kBlocks, topology.size()}};
}

plan::Plan single_rank_plan(const plan::PlanBuilder::Frame& frame) {
  plan::PlanBuilder builder(frame);
  builder.step(builder.lane(), {plan::in(0)}, {plan::to_out(0)},
               {.apply_post = frame.collective == Collective::kAllReduce});
  builder.set_straight_line(true);
  return builder.finish();
}

int wrap(int value, int ranks) { return ((value % ranks) + ranks) % ranks; }

int floor_log2(int value) {
  int log = 0;
  while (value >> (log + 1) != 0) ++log;
  return log;
}

int ceil_log2(int value) { return value <= 1 ? 0 : floor_log2(value - 1) + 1; }

std::vector<int> others_from(int rank, int ranks) {
  std::vector<int> others;
  for (int distance = 1; distance < ranks; ++distance) others.push_back(wrap(rank + distance, ranks));
  return others;
}

}  // namespace hawser::algorithms
