// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Flat one-shot all_reduce: every rank shows its whole input to all others and combines all inputs itself.
//
//   rank 0   in ──► message to {1,2}        lane 0: {in} -> {message to all}
//   rank 1   in ──► message to {0,2}        lane 1: {input of 0, of 1, of 2, ...} -> {scratch};  {scratch} -> {out}
//   rank 2   in ──► message to {0,1}
//
// One hop; a rank writes n bytes and reads (p-1) n. The result goes through scratch because out may be the memory of
// in (in-place call), which others may still be reading in place: they release it when they have combined, and if
// combining waited for that release in turn, all would wait for each other.
#include "algorithms/builtin.h"
#include "algorithms/costs.h"
#include "algorithms/support.h"

namespace hawser::algorithms {
namespace {

class FlatOneShot final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] std::string_view summary() const override {
    return "every rank reads all inputs and combines them itself: one hop, for small messages on one host";
  }
  [[nodiscard]] bool supports(const Call& call, const topology::Topology& /*topology*/) const override {
    return call.collective == Collective::kAllReduce;
  }
  /// One hop, p-2 further messages, n bytes written once and read p-1 times (half of byte_s each), (p-1) n combined, n
  /// copied out of scratch. To other hosts each copy is a message of its own.
  [[nodiscard]] double cost_s(const Call& call, const topology::Topology& topology) const override;
  [[nodiscard]] plan::Plan build(const Call& call, const topology::Topology& topology, int rank) const override;

 private:
  static constexpr const char* kName = "flat_one_shot";
};

double FlatOneShot::cost_s(const Call& call, const topology::Topology& topology) const {
  const Costs costs(topology);
  const int p = costs.ranks();
  const std::size_t size = bytes_of(call, p);
  const auto bytes = static_cast<double>(size);
  const double user = costs.user_memory_s(size, size);
  if (p == 1) return bytes * costs.combine_s() + user;
  const double arithmetic = p * bytes * costs.combine_s();
  if (costs.nodes() == 1) {
    const MessageCosts& intra = costs.intra();
    return intra.hop_s + (p - 2) * intra.gap_s + bytes * intra.byte_s * p / 2 + arithmetic + user;
  }
  const int remote = p - costs.ranks_per_node();
  const MessageCosts inter = costs.inter(costs.ranks_per_node());
  return inter.hop_s + (remote - 1) * inter.gap_s + remote * bytes * inter.byte_s + arithmetic + user;
}

plan::Plan FlatOneShot::build(const Call& /*call*/, const topology::Topology& topology, int rank) const {
  const int ranks = topology.size();
  const auto frame = all_reduce_frame(kName, topology, rank, 1);
  if (ranks == 1) return single_rank_plan(frame);
  plan::PlanBuilder builder(frame);
  builder.set_credit(kCredit);
  builder.set_window(kWindow);
  builder.set_straight_line(true);

  const int copy_in = builder.lane();
  const int combine = builder.lane();
  builder.step(copy_in, {plan::in(0)}, {plan::send(builder.stream(rank, others_from(rank, ranks)))});
  std::vector<plan::Source> inputs;
  for (int peer = 0; peer < ranks; ++peer) {
    inputs.push_back(peer == rank ? plan::in(0) : plan::recv_raw(builder.stream(peer, others_from(peer, ranks))));
  }
  const int result = builder.scratch_like(plan::Space::kOutput, 0);
  builder.step(combine, std::move(inputs), {plan::to_scratch(result)}, {.apply_post = true});
  builder.step(combine, {plan::scratch(result)}, {plan::to_out(0)});
  return builder.finish();
}

}  // namespace

const Algorithm& flat_one_shot() {
  static const FlatOneShot algorithm;
  return algorithm;
}

}  // namespace hawser::algorithms
