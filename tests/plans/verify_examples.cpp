// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "verify_examples.h"

#include <utility>

#include "plan/builder.h"

namespace hawser::plan::examples {
namespace {

constexpr Layout parts(int chunks) { return {Cut::kParts, chunks}; }
constexpr Layout blocks(int chunks) { return {Cut::kBlocks, chunks}; }

PlanBuilder all_reduce(const char* algorithm, int rank, int ranks, int chunks) {
  return PlanBuilder({.algorithm = algorithm,
                      .collective = Collective::kAllReduce,
                      .rank = rank,
                      .ranks = ranks,
                      .input = parts(chunks),
                      .output = parts(chunks)});
}

std::vector<int> others(int rank, int ranks) {
  std::vector<int> peers;
  for (int peer = 0; peer < ranks; ++peer) {
    if (peer != rank) peers.push_back(peer);
  }
  return peers;
}

Plan one_rank() {
  PlanBuilder builder = all_reduce("alone", 0, 1, 1);
  builder.step(builder.lane(), {in(0)}, {to_out(0)}, {.apply_post = true});
  builder.set_straight_line(true);
  return builder.finish();
}

Plan flat_of(int rank, int ranks) {
  PlanBuilder builder = all_reduce("flat", rank, ranks, 1);
  builder.step(builder.lane(), {in(0)}, {send(builder.stream(rank, others(rank, ranks)))});
  std::vector<Source> operands;
  for (int peer = 0; peer < ranks; ++peer) {
    operands.push_back(peer == rank ? in(0) : recv_raw(builder.stream(peer, others(peer, ranks))));
  }
  // Combined straight into an output that is also the input, each rank would wait for the others to release its input.
  const int combine = builder.lane();
  const int result = builder.scratch_like(Space::kOutput, 0);
  builder.step(combine, std::move(operands), {to_scratch(result)}, {.apply_post = true});
  builder.step(combine, {scratch(result)}, {to_out(0)});
  builder.set_straight_line(true);
  return builder.finish();
}

Plan flat_through_scratch_of(int rank, int ranks) {
  PlanBuilder builder = all_reduce("flat_through_scratch", rank, ranks, 1);
  builder.set_window(2);
  builder.step(builder.lane(), {in(0)}, {send(builder.stream(rank, others(rank, ranks)))});
  std::vector<Source> operands;
  for (int peer = 0; peer < ranks; ++peer) {
    if (peer == rank) {
      operands.push_back(in(0));
      continue;
    }
    const int copy = builder.scratch_like(Space::kInput, 0);
    builder.step(builder.lane(), {recv_raw(builder.stream(peer, others(peer, ranks)))}, {to_scratch(copy)});
    operands.push_back(scratch(copy));
    operands.back().apply_pre = true;
  }
  builder.step(builder.lane(), std::move(operands), {to_out(0)}, {.apply_post = true});
  return builder.finish();
}

/// The message about chunk c that rank r gets in the reduce-scatter around the ring carries ranks c, c+1, ..., r-1.
std::vector<Source> ring_operands(int rank, int chunk, int ranks, int from_left) {
  const bool is_raw = (chunk + 1) % ranks == rank;
  const Source message = is_raw ? recv_raw(from_left) : recv(from_left);
  const bool has_wrapped = chunk > rank && rank > 0;
  const int lowest = has_wrapped ? 0 : chunk;
  if (rank < lowest) return {in(chunk), message};
  return {message, in(chunk)};
}

Plan ring_of(int rank, int ranks) {
  PlanBuilder builder = all_reduce("ring", rank, ranks, ranks);
  const auto wrap = [&](int chunk) { return (chunk + 2 * ranks) % ranks; };
  const int to_right = builder.stream(rank, wrap(rank + 1));
  const int from_left = builder.stream(wrap(rank - 1), rank);
  const int lane = builder.lane();
  builder.step(lane, {in(rank)}, {send(to_right)});
  for (int hop = 1; hop < ranks - 1; ++hop) {
    builder.step(lane, ring_operands(rank, wrap(rank - hop), ranks, from_left), {send(to_right)});
  }
  const int own = wrap(rank + 1);
  builder.step(lane, ring_operands(rank, own, ranks, from_left), {to_out(own), send(to_right)}, {.apply_post = true});
  for (int hop = 1; hop < ranks - 1; ++hop) {
    builder.step(lane, {recv(from_left)}, {to_out(wrap(own - hop)), send(to_right)});
  }
  builder.step(lane, {recv(from_left)}, {to_out(wrap(own + 1))});
  builder.set_credit(2);
  builder.set_straight_line(true);
  return builder.finish();
}

Plan tree_of(int rank, int ranks) {
  PlanBuilder builder = all_reduce("tree", rank, ranks, 1);
  std::vector<int> children;
  for (const int child : {2 * rank + 1, 2 * rank + 2}) {
    if (child < ranks) children.push_back(child);
  }
  const int up = builder.lane();
  const int down = builder.lane();
  std::vector<Source> operands = {in(0)};
  for (const int child : children) {
    const bool is_raw = 2 * child + 1 >= ranks;
    const int stream = builder.stream(child, rank);
    operands.push_back(is_raw ? recv_raw(stream) : recv(stream));
  }
  std::vector<Destination> results = {to_out(0)};
  if (!children.empty()) results.push_back(send(builder.stream(rank, children)));
  if (rank == 0) {
    builder.step(up, std::move(operands), std::move(results), {.apply_post = true});
    return builder.finish();
  }
  const int parent = (rank - 1) / 2;
  std::vector<int> siblings = {2 * parent + 1};
  if (2 * parent + 2 < ranks) siblings.push_back(2 * parent + 2);
  builder.step(up, std::move(operands), {send(builder.stream(rank, parent))});
  builder.step(down, {recv(builder.stream(parent, siblings))}, std::move(results));
  return builder.finish();
}

Plan ring_all_gather_of(int rank, int ranks) {
  PlanBuilder builder({.algorithm = "ring",
                       .collective = Collective::kAllGather,
                       .rank = rank,
                       .ranks = ranks,
                       .input = blocks(1),
                       .output = blocks(ranks)});
  const auto wrap = [&](int block) { return (block + ranks) % ranks; };
  const int lane = builder.lane();
  std::vector<Destination> results = {to_out(rank)};
  if (ranks > 1) results.push_back(send(builder.stream(rank, wrap(rank + 1))));
  builder.step(lane, {in(0)}, std::move(results));
  for (int hop = 1; hop < ranks; ++hop) {
    results = {to_out(wrap(rank - hop))};
    if (hop + 1 < ranks) results.push_back(send(builder.stream(rank, wrap(rank + 1))));
    builder.step(lane, {recv(builder.stream(wrap(rank - 1), rank))}, std::move(results));
  }
  builder.set_credit(2);
  return builder.finish();
}

Plan pairwise_of(int rank, int ranks) {
  PlanBuilder builder({.algorithm = "pairwise",
                       .collective = Collective::kAllToAll,
                       .rank = rank,
                       .ranks = ranks,
                       .input = blocks(ranks),
                       .output = blocks(ranks)});
  builder.step(builder.lane(), {in(rank)}, {to_out(rank)});
  for (int distance = 1; distance < ranks; ++distance) {
    const int to = (rank + distance) % ranks;
    const int from = (rank - distance + ranks) % ranks;
    builder.step(builder.lane(), {in(to)}, {send(builder.stream(rank, to))});
    builder.step(builder.lane(), {recv(builder.stream(from, rank))}, {to_out(from)});
  }
  return builder.finish();
}

Plans plans_of(int ranks, Plan (*build)(int rank, int ranks)) {
  Plans plans;
  for (int rank = 0; rank < ranks; ++rank) plans.push_back(build(rank, ranks));
  return plans;
}

Plans reducing_plans_of(int ranks, Plan (*build)(int rank, int ranks)) {
  return ranks == 1 ? Plans{one_rank()} : plans_of(ranks, build);
}

}  // namespace

Plans flat(int ranks) { return reducing_plans_of(ranks, flat_of); }
Plans flat_through_scratch(int ranks) { return reducing_plans_of(ranks, flat_through_scratch_of); }
Plans ring(int ranks) { return reducing_plans_of(ranks, ring_of); }
Plans tree(int ranks) { return reducing_plans_of(ranks, tree_of); }
Plans ring_all_gather(int ranks) { return plans_of(ranks, ring_all_gather_of); }
Plans pairwise(int ranks) { return plans_of(ranks, pairwise_of); }

const std::vector<Example>& all() {
  static const std::vector<Example> examples = {
      {"flat", flat}, {"flat_through_scratch", flat_through_scratch}, {"ring", ring},
      {"tree", tree}, {"ring_all_gather", ring_all_gather},           {"pairwise", pairwise},
  };
  return examples;
}

}  // namespace hawser::plan::examples
