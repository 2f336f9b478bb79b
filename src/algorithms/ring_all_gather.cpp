// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Ring all_gather: every block travels once round the ring.
//
//   lane 0   {in} -> {out[r], message}                                    stream 0
//   lane 1   {message} -> {out[r-1], message}, ..., {message} -> {out[r+1]}   stream 1 behind the first hop
//
// p-1 hops; a rank sends and takes (p-1) blocks.
#include "algorithms/builtin.h"
#include "algorithms/costs.h"
#include "algorithms/support.h"

namespace hawser::algorithms {
namespace {

/// Stream numbers: a stream has one writing lane.
constexpr int kOwnBlocks = 0;
constexpr int kPassedOn = 1;

class RingAllGather final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] std::string_view summary() const override {
    return "blocks travel round a ring: every link carries each block once, for large blocks";
  }
  [[nodiscard]] bool supports(const Call& call, const topology::Topology& /*topology*/) const override {
    return call.collective == Collective::kAllGather;
  }
  /// (p-1)(a + block b), and the own block copied (Thakur, Rabenseifner, Gropp 2005).
  [[nodiscard]] double cost_s(const Call& call, const topology::Topology& topology) const override;
  [[nodiscard]] plan::Plan build(const Call& call, const topology::Topology& topology, int rank) const override;

 private:
  static constexpr const char* kName = "ring";
};

double RingAllGather::cost_s(const Call& call, const topology::Topology& topology) const {
  const Costs costs(topology);
  const int p = costs.ranks();
  const std::size_t size = bytes_of(call, p);
  const double block = static_cast<double>(size) / p;
  const MessageCosts link = costs.any(1);
  return (p - 1) * (link.hop_s + block * link.byte_s) + block * costs.combine_s() +
         costs.user_memory_s(size / static_cast<std::size_t>(p), size);
}

plan::Plan RingAllGather::build(const Call& /*call*/, const topology::Topology& topology, int rank) const {
  const int ranks = topology.size();
  const plan::PlanBuilder::Frame frame = all_gather_frame(kName, topology, rank);
  if (ranks == 1) return single_rank_plan(frame);
  plan::PlanBuilder builder(frame);
  builder.set_credit(kCredit);
  const int next = wrap(rank + 1, ranks);
  const int before = wrap(rank - 1, ranks);
  builder.step(builder.lane(), {plan::in(0)}, {plan::to_out(rank), plan::send(builder.stream(rank, next, kOwnBlocks))});
  const int pass_on = builder.lane();
  for (int hops = 1; hops < ranks; ++hops) {
    const int blocks = builder.stream(before, rank, hops == 1 ? kOwnBlocks : kPassedOn);
    std::vector<plan::Destination> destinations = {plan::to_out(wrap(rank - hops, ranks))};
    if (hops < ranks - 1) destinations.push_back(plan::send(builder.stream(rank, next, kPassedOn)));
    builder.step(pass_on, {plan::recv(blocks)}, std::move(destinations));
  }
  return builder.finish();
}

}  // namespace

const Algorithm& ring_all_gather() {
  static const RingAllGather algorithm;
  return algorithm;
}

}  // namespace hawser::algorithms
