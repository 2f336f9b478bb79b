// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Flat two-shot all_reduce: rank r reduces part r of everybody's input and shows the result to all.
//
//   lane 0 (copy-in)      {in[q]} -> {message r->q}                      for each peer q, from r+1 round
//   lane 1 (reduce)       {part r of rank 0, of 1, ...} -> {out[r], message r->all}
//   lanes 2.. (copy-out)  {message q->all} -> {out[q]}                   one lane per peer q, from r+1 round
//
// Two hops; a rank writes and reads (p-1)/p n in the first, writes n/p and reads (p-1)/p n in the second, combines
// (p-1)/p n. Copy-in is one lane: reducers then get complete tiles, in tile order, and since nobody needs one tile's
// messages before the tile before it, one lane cannot deadlock. Copy-out is a lane per peer: whichever result is there
// is taken. So copy-in runs ahead by the credit and copy-out lags behind, which is the best pipeline measured on two
// ranks (copy in 2 to 4 tiles ahead).
#include "algorithms/builtin.h"
#include "algorithms/costs.h"
#include "algorithms/support.h"

namespace hawser::algorithms {
namespace {

/// Stream numbers: parts for a single rank, and results for all; with two ranks both have the same ends.
constexpr int kParts = 0;
constexpr int kResults = 1;

class FlatTwoShot final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] std::string_view summary() const override {
    return "each rank reduces one part and shows it to all: two hops, for all larger messages on one host";
  }
  [[nodiscard]] bool supports(const Call& call, const topology::Topology& /*topology*/) const override {
    return call.collective == Collective::kAllReduce;
  }
  /// Two hops with p-2 further messages each; bytes as above, where writing and reading cost half of byte_s each. To
  /// other hosts each copy is a message of its own.
  [[nodiscard]] double cost_s(const Call& call, const topology::Topology& topology) const override;
  [[nodiscard]] plan::Plan build(const Call& call, const topology::Topology& topology, int rank) const override;

 private:
  static constexpr const char* kName = "flat_two_shot";
};

double FlatTwoShot::cost_s(const Call& call, const topology::Topology& topology) const {
  const Costs costs(topology);
  const int p = costs.ranks();
  const std::size_t size = bytes_of(call, p);
  const double user = costs.user_memory_s(size, size);
  if (p == 1) return static_cast<double>(size) * costs.combine_s() + user;
  const double part = static_cast<double>(size) / p;
  const double arithmetic = (p - 1) * part * costs.combine_s();
  if (costs.nodes() == 1) {
    const MessageCosts& intra = costs.intra();
    const double moved = (p - 1) * part + part / 2 + (p - 1) * part / 2;
    return 2 * (intra.hop_s + (p - 2) * intra.gap_s) + moved * intra.byte_s + arithmetic + user;
  }
  const int remote = p - costs.ranks_per_node();
  const MessageCosts inter = costs.inter(costs.ranks_per_node());
  return 2 * (inter.hop_s + (remote - 1) * inter.gap_s + remote * part * inter.byte_s) + arithmetic + user;
}

plan::Plan FlatTwoShot::build(const Call& /*call*/, const topology::Topology& topology, int rank) const {
  const int ranks = topology.size();
  const auto frame = all_reduce_frame(kName, topology, rank, ranks);
  if (ranks == 1) return single_rank_plan(all_reduce_frame(kName, topology, rank, 1));
  plan::PlanBuilder builder(frame);
  builder.set_credit(kCredit);
  const std::vector<int> peers = others_from(rank, ranks);

  const int copy_in = builder.lane();
  for (const int peer : peers) {
    builder.step(copy_in, {plan::in(peer)}, {plan::send(builder.stream(rank, peer, kParts))});
  }
  std::vector<plan::Source> inputs;
  for (int peer = 0; peer < ranks; ++peer) {
    inputs.push_back(peer == rank ? plan::in(rank) : plan::recv_raw(builder.stream(peer, rank, kParts)));
  }
  builder.step(builder.lane(), std::move(inputs),
               {plan::to_out(rank), plan::send(builder.stream(rank, peers, kResults))}, {.apply_post = true});
  for (const int peer : peers) {
    const int results = builder.stream(peer, others_from(peer, ranks), kResults);
    builder.step(builder.lane(), {plan::recv(results)}, {plan::to_out(peer)});
  }
  return builder.finish();
}

}  // namespace

const Algorithm& flat_two_shot() {
  static const FlatTwoShot algorithm;
  return algorithm;
}

}  // namespace hawser::algorithms
