// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Ring all_reduce: each of p parts travels once round the ring being summed, and once more being stored.
//
//   part c:  rank c+1 ──► c+2 ──► ... ──► c (complete) ──► c+1 ──► ... ──► c-1
//            {in} -> {msg}  {msg,in} -> {msg}  {msg,in} -> {out,msg}  {msg} -> {out,msg}  {msg} -> {out}
//            └────────── lane 0, stream 0 ──────────────┘ stream 1    └──── lane 1, stream 2 ────┘
//
// 2(p-1) hops; a rank sends and takes 2(p-1)/p n and combines (p-1)/p n. Credit 2: with one message per stream each
// rank would wait for the next one to take its message first, all round the ring.
#include "algorithms/builtin.h"
#include "algorithms/costs.h"
#include "algorithms/support.h"

namespace hawser::algorithms {
namespace {

/// Stream numbers. The result changes lanes at its rank, and a stream has one writing lane.
constexpr int kSums = 0;
constexpr int kFirstResult = 1;
constexpr int kResults = 2;

class RingAllReduce final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] std::string_view summary() const override {
    return "reduce-scatter and all-gather round a ring: fewest bytes per link, for large messages between few hosts";
  }
  [[nodiscard]] bool supports(const Call& call, const topology::Topology& /*topology*/) const override {
    return call.collective == Collective::kAllReduce;
  }
  /// 2(p-1)(a + n/p b) + (p-1)/p n g (Thakur, Rabenseifner, Gropp 2005); one rank of a host sends to the next host.
  [[nodiscard]] double cost_s(const Call& call, const topology::Topology& topology) const override;
  [[nodiscard]] plan::Plan build(const Call& call, const topology::Topology& topology, int rank) const override;

 private:
  static constexpr const char* kName = "ring";
};

double RingAllReduce::cost_s(const Call& call, const topology::Topology& topology) const {
  const Costs costs(topology);
  const int p = costs.ranks();
  const std::size_t size = bytes_of(call, p);
  const double user = costs.user_memory_s(size, size);
  if (p == 1) return static_cast<double>(size) * costs.combine_s() + user;
  const double part = static_cast<double>(size) / p;
  const MessageCosts link = costs.any(1);
  return 2 * (p - 1) * (link.hop_s + part * link.byte_s) + (p - 1) * part * costs.combine_s() + user;
}

/// Operands of a sum that comes from the rank before: it holds inputs of ranks up to rank-1, cyclically, so it contains
/// rank 0's unless this is rank 0.
std::vector<plan::Source> in_rank_order(int rank, plan::Source sum, plan::Source own) {
  if (rank == 0) return {std::move(own), std::move(sum)};
  return {std::move(sum), std::move(own)};
}

plan::Plan RingAllReduce::build(const Call& /*call*/, const topology::Topology& topology, int rank) const {
  const int ranks = topology.size();
  if (ranks == 1) return single_rank_plan(all_reduce_frame(kName, topology, rank, 1));
  plan::PlanBuilder builder(all_reduce_frame(kName, topology, rank, ranks));
  builder.set_credit(kCredit);
  const int next = wrap(rank + 1, ranks);
  const int before = wrap(rank - 1, ranks);
  const auto part = [&](int hops) { return wrap(rank - 1 - hops, ranks); };

  const int reduce = builder.lane();
  const int sums_out = builder.stream(rank, next, kSums);
  const int sums_in = builder.stream(before, rank, kSums);
  builder.step(reduce, {plan::in(part(0))}, {plan::send(sums_out)});
  for (int hops = 1; hops < ranks; ++hops) {
    plan::Source sum = hops == 1 ? plan::recv_raw(sums_in) : plan::recv(sums_in);
    std::vector<plan::Source> sources = in_rank_order(rank, std::move(sum), plan::in(part(hops)));
    if (hops < ranks - 1) {
      builder.step(reduce, std::move(sources), {plan::send(sums_out)});
    } else {
      builder.step(reduce, std::move(sources),
                   {plan::to_out(rank), plan::send(builder.stream(rank, next, kFirstResult))}, {.apply_post = true});
    }
  }

  const int gather = builder.lane();
  for (int hops = 0; hops < ranks - 1; ++hops) {
    const int results_in = builder.stream(before, rank, hops == 0 ? kFirstResult : kResults);
    std::vector<plan::Destination> destinations = {plan::to_out(part(hops))};
    if (hops < ranks - 2) destinations.push_back(plan::send(builder.stream(rank, next, kResults)));
    builder.step(gather, {plan::recv(results_in)}, std::move(destinations));
  }
  return builder.finish();
}

}  // namespace

const Algorithm& ring_all_reduce() {
  static const RingAllReduce algorithm;
  return algorithm;
}

}  // namespace hawser::algorithms
