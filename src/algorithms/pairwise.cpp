// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Pairwise all_to_all: every pair exchanges its blocks, each direction in a lane of its own on either side, so that no
// peer waits for another one.
//
//   lane 0   {in[r]} -> {out[r]}
//   lanes    {in[q]} -> {message r->q}      for each peer q, from r+1 upwards
//   lanes    {message q->r} -> {out[q]}     for each peer q, from r-1 downwards: the order in which they send
//
// One hop; a rank sends and takes (p-1) blocks.
#include "algorithms/builtin.h"
#include "algorithms/costs.h"
#include "algorithms/support.h"

namespace hawser::algorithms {
namespace {

class Pairwise final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] std::string_view summary() const override {
    return "every pair exchanges its blocks directly, all at once: fewest bytes, for all but tiny blocks";
  }
  [[nodiscard]] bool supports(const Call& call, const topology::Topology& /*topology*/) const override {
    return call.collective == Collective::kAllToAll;
  }
  /// a + (p-2) gap + (p-1) block b, and the own block copied. All ranks of a host send to other hosts at once.
  [[nodiscard]] double cost_s(const Call& call, const topology::Topology& topology) const override;
  [[nodiscard]] plan::Plan build(const Call& call, const topology::Topology& topology, int rank) const override;

 private:
  static constexpr const char* kName = "pairwise";
};

double Pairwise::cost_s(const Call& call, const topology::Topology& topology) const {
  const Costs costs(topology);
  const int p = costs.ranks();
  const std::size_t size = bytes_of(call, p);
  const double block = static_cast<double>(size) / p;
  double seconds = costs.user_memory_s(size, size) + block * costs.combine_s();
  if (p == 1) return seconds;
  const MessageCosts link = costs.any(costs.ranks_per_node());
  return seconds + link.hop_s + (p - 2) * link.gap_s + (p - 1) * block * link.byte_s;
}

plan::Plan Pairwise::build(const Call& /*call*/, const topology::Topology& topology, int rank) const {
  const int ranks = topology.size();
  const plan::Layout layout{plan::Cut::kBlocks, ranks};
  plan::PlanBuilder builder({.algorithm = kName,
                             .collective = Collective::kAllToAll,
                             .rank = rank,
                             .ranks = ranks,
                             .root = 0,
                             .input = layout,
                             .output = layout});
  builder.set_credit(kCredit);
  builder.step(builder.lane(), {plan::in(rank)}, {plan::to_out(rank)});
  for (const int peer : others_from(rank, ranks)) {
    builder.step(builder.lane(), {plan::in(peer)}, {plan::send(builder.stream(rank, peer))});
  }
  for (int distance = 1; distance < ranks; ++distance) {
    const int peer = wrap(rank - distance, ranks);
    builder.step(builder.lane(), {plan::recv(builder.stream(peer, rank))}, {plan::to_out(peer)});
  }
  return builder.finish();
}

}  // namespace

const Algorithm& pairwise() {
  static const Pairwise algorithm;
  return algorithm;
}

}  // namespace hawser::algorithms
