// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Recursive doubling all_reduce: in round j core number i and i ^ 2^j exchange all they have and combine it, lower
// number first, so that both hold the same expression.
//
//   0 ◄─► 1   2 ◄─► 3        round 0     {own, partner's} -> {scratch, message to the next partner}
//   0 ◄───────► 2            round 1     {own, partner's} -> {out}
//       1 ◄───────► 3
//
// floor(log2 p) hops of n bytes, and for numbers that are no power of two one hop before (a rank outside the core hands
// its input in, see Fold) and one after. Each round is a lane, so that tiles follow each other through the rounds.
#include "algorithms/builtin.h"
#include "algorithms/costs.h"
#include "algorithms/support.h"

namespace hawser::algorithms {
namespace {

class RecursiveDoubling final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] std::string_view summary() const override {
    return "partners exchange everything at doubling distances: fewest hops, for small messages between many hosts";
  }
  [[nodiscard]] bool supports(const Call& call, const topology::Topology& /*topology*/) const override {
    return call.collective == Collective::kAllReduce;
  }
  /// Per round a + n (b + g) (Thakur, Rabenseifner, Gropp 2005); folded: a + n (b + g) before, a + n b after. In rounds
  /// that cross hosts all ranks of a host send at once.
  [[nodiscard]] double cost_s(const Call& call, const topology::Topology& topology) const override;
  [[nodiscard]] plan::Plan build(const Call& call, const topology::Topology& topology, int rank) const override;

 private:
  static constexpr const char* kName = "recursive_doubling";
};

double RecursiveDoubling::cost_s(const Call& call, const topology::Topology& topology) const {
  const Costs costs(topology);
  const int p = costs.ranks();
  const std::size_t size = bytes_of(call, p);
  const auto bytes = static_cast<double>(size);
  double seconds = costs.user_memory_s(size, size);
  if (p == 1) return seconds + bytes * costs.combine_s();
  if (p == 2) return flat_one_shot().cost_s(call, topology);  // the same steps
  const Fold fold(p);
  for (int distance = 1; distance < fold.core(); distance *= 2) {
    const MessageCosts link = crosses_hosts(topology, distance) ? costs.inter(costs.ranks_per_node()) : costs.intra();
    seconds += link.hop_s + bytes * (link.byte_s + costs.combine_s());
  }
  if (fold.extra() == 0) return seconds;
  const MessageCosts link = costs.any(1);
  return seconds + 2 * link.hop_s + bytes * (2 * link.byte_s + costs.combine_s());
}

/// A rank outside the core: its input goes to the rank below, the result comes back.
void add_outside(plan::PlanBuilder& builder, int rank) {
  builder.step(builder.lane(), {plan::in(0)}, {plan::send(builder.stream(rank, rank - 1))});
  builder.step(builder.lane(), {plan::recv(builder.stream(rank - 1, rank))}, {plan::to_out(0)});
}

/// The only pair of a plan for two ranks: as in flat_one_shot, both would wait for the other to release its input if
/// they combined straight into out.
void add_only_pair(plan::PlanBuilder& builder, int rank) {
  const int partner = 1 - rank;
  builder.step(builder.lane(), {plan::in(0)}, {plan::send(builder.stream(rank, partner))});
  const int lane = builder.lane();
  const int result = builder.scratch_like(plan::Space::kOutput, 0);
  std::vector<plan::Source> sources = {plan::in(0)};
  sources.insert(rank == 0 ? sources.end() : sources.begin(), plan::recv_raw(builder.stream(partner, rank)));
  builder.step(lane, std::move(sources), {plan::to_scratch(result)}, {.apply_post = true});
  builder.step(lane, {plan::scratch(result)}, {plan::to_out(0)});
}

/// A rank of the core.
void add_core(plan::PlanBuilder& builder, int rank, const Fold& fold) {
  const int number = fold.number_of(rank);
  const auto partner = [&](int distance) { return fold.rank_of(number ^ distance); };
  plan::Source own = plan::in(0);
  if (fold.is_paired(rank)) {
    const int pair = builder.scratch_like(plan::Space::kOutput, 0);
    builder.step(builder.lane(), {plan::in(0), plan::recv_raw(builder.stream(rank + 1, rank))},
                 {plan::to_scratch(pair), plan::send(builder.stream(rank, partner(1)))});
    own = plan::scratch(pair);
  } else {
    builder.step(builder.lane(), {plan::in(0)}, {plan::send(builder.stream(rank, partner(1)))});
  }
  for (int distance = 1; distance < fold.core(); distance *= 2) {
    const int peer = partner(distance);
    const bool is_raw = distance == 1 && !fold.is_paired(peer);
    std::vector<plan::Source> sources = {own};
    const int stream = builder.stream(peer, rank);
    sources.insert(rank < peer ? sources.end() : sources.begin(), is_raw ? plan::recv_raw(stream) : plan::recv(stream));
    if (distance * 2 < fold.core()) {
      const int sum = builder.scratch_like(plan::Space::kOutput, 0);
      builder.step(builder.lane(), std::move(sources),
                   {plan::to_scratch(sum), plan::send(builder.stream(rank, partner(distance * 2)))});
      own = plan::scratch(sum);
      continue;
    }
    std::vector<plan::Destination> result = {plan::to_out(0)};
    if (fold.is_paired(rank)) result.push_back(plan::send(builder.stream(rank, rank + 1)));
    builder.step(builder.lane(), std::move(sources), std::move(result), {.apply_post = true});
  }
}

plan::Plan RecursiveDoubling::build(const Call& /*call*/, const topology::Topology& topology, int rank) const {
  const int ranks = topology.size();
  const auto frame = all_reduce_frame(kName, topology, rank, 1);
  if (ranks == 1) return single_rank_plan(frame);
  plan::PlanBuilder builder(frame);
  builder.set_credit(kCredit);
  builder.set_window(kWindow);
  builder.set_straight_line(true);
  const Fold fold(ranks);
  if (ranks == 2) {
    add_only_pair(builder, rank);
  } else if (fold.is_outside(rank)) {
    add_outside(builder, rank);
  } else {
    add_core(builder, rank, fold);
  }
  return builder.finish();
}

}  // namespace

const Algorithm& recursive_doubling() {
  static const RecursiveDoubling algorithm;
  return algorithm;
}

}  // namespace hawser::algorithms
