// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Rabenseifner's all_reduce: reduce-scatter by recursive halving (far partners first), then all-gather by recursive
// doubling (near partners first), over a core of 2^k ranks and as many parts.
//
//   core 4, core number 1     halving   level 0: sends parts 2,3 to 3, keeps 0,1     level 1: sends 0 to 0, keeps 1
//                             doubling  level 0: sends 1 to 0, takes 0               level 1: sends 0,1 to 3, takes 2,3
//
// 2 log2 p hops; a rank sends and takes 2(p-1)/p n and combines (p-1)/p n. A rank outside the core (see Fold) hands its
// whole input in before, and is sent each run of parts as soon as its pair has it. What a level needs of the level
// before is sent by that level's lane, so that every lane waits for one partner only.
#include "algorithms/builtin.h"
#include "algorithms/costs.h"
#include "algorithms/support.h"

namespace hawser::algorithms {
namespace {

/// Stream numbers. Partners meet in halving and in doubling; results reach an outside rank from one lane per level.
constexpr int kHalving = 0;
constexpr int kDoubling = 1;
constexpr int kFirstResult = 1;

class Rabenseifner final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] std::string_view summary() const override {
    return "recursive halving, then doubling: few hops and fewest bytes, for medium messages between many hosts";
  }
  [[nodiscard]] bool supports(const Call& call, const topology::Topology& /*topology*/) const override {
    return call.collective == Collective::kAllReduce;
  }
  /// Per level of distance d, with core parts of n/2^k: a + d n/2^k (b + g) halving, a + d n/2^k b doubling (Thakur,
  /// Rabenseifner, Gropp 2005), and in both one copy of what is sent, out of scratch or out; folded: a + n (b + g)
  /// before, a + n b after.
  [[nodiscard]] double cost_s(const Call& call, const topology::Topology& topology) const override;
  [[nodiscard]] plan::Plan build(const Call& call, const topology::Topology& topology, int rank) const override;

 private:
  static constexpr const char* kName = "rabenseifner";
};

double Rabenseifner::cost_s(const Call& call, const topology::Topology& topology) const {
  const Costs costs(topology);
  const int p = costs.ranks();
  const std::size_t size = bytes_of(call, p);
  const auto bytes = static_cast<double>(size);
  double seconds = costs.user_memory_s(size, size);
  if (p == 1) return seconds + bytes * costs.combine_s();
  const Fold fold(p);
  for (int distance = 1; distance < fold.core(); distance *= 2) {
    const MessageCosts link = crosses_hosts(topology, distance) ? costs.inter(costs.ranks_per_node()) : costs.intra();
    const double sent = bytes * distance / fold.core();
    seconds += 2 * (link.hop_s + sent * link.byte_s) + 3 * sent * costs.combine_s();
  }
  if (fold.extra() == 0) return seconds;
  const MessageCosts link = costs.any(1);
  return seconds + 2 * link.hop_s + bytes * (2 * link.byte_s + costs.combine_s());
}

/// Builds the plan of one rank of the core.
class CoreRank {
 public:
  CoreRank(plan::PlanBuilder& builder, int rank, const Fold& fold)
      : builder_(builder), rank_(rank), fold_(fold), number_(fold.number_of(rank)) {}

  void add() {
    const bool needs_scratch = fold_.is_paired(rank_) || fold_.core() > 2;
    for (int part = 0; needs_scratch && part < fold_.core(); ++part) {
      builder_.scratch_like(plan::Space::kOutput, part);
    }
    add_entry();
    for (int distance = fold_.core() / 2; distance >= 1; distance /= 2) add_halving(distance);
    for (int distance = 1; distance < fold_.core(); distance *= 2) add_doubling(distance);
  }

 private:
  [[nodiscard]] int partner(int distance) const { return fold_.rank_of(number_ ^ distance); }
  /// First of the `distance` parts that core number `number` keeps when halving at `distance`, and has when doubling.
  [[nodiscard]] static int kept(int number, int distance) { return number & ~(distance - 1); }

  void add_entry() {
    const int lane = builder_.lane();
    if (fold_.is_paired(rank_)) {
      builder_.step(lane, {plan::in(0, fold_.core()), plan::recv_raw(builder_.stream(rank_ + 1, rank_))},
                    {plan::to_scratch(0, fold_.core())});
    }
    add_halving_send(lane, fold_.core() / 2);
  }

  /// Sends what the partner keeps at `distance`.
  void add_halving_send(int lane, int distance) {
    const int first = kept(number_ ^ distance, distance);
    const bool is_input = distance == fold_.core() / 2 && !fold_.is_paired(rank_);
    builder_.step(lane, {is_input ? plan::in(first, distance) : plan::scratch(first, distance)},
                  {plan::send(builder_.stream(rank_, partner(distance), kHalving))});
  }

  void add_halving(int distance) {
    const int lane = builder_.lane();
    const bool is_first = distance == fold_.core() / 2;
    const int peer = partner(distance);
    const int first = kept(number_, distance);
    const int stream = builder_.stream(peer, rank_, kHalving);
    std::vector<plan::Source> sources = {is_first && !fold_.is_paired(rank_) ? plan::in(first, distance)
                                                                             : plan::scratch(first, distance)};
    sources.insert(rank_ < peer ? sources.end() : sources.begin(),
                   is_first && !fold_.is_paired(peer) ? plan::recv_raw(stream) : plan::recv(stream));
    if (distance > 1) {
      builder_.step(lane, std::move(sources), {plan::to_scratch(first, distance)});
      add_halving_send(lane, distance / 2);
      return;
    }
    std::vector<plan::Destination> result = {plan::to_out(number_),
                                             plan::send(builder_.stream(rank_, peer, kDoubling))};
    if (fold_.is_paired(rank_)) result.push_back(plan::send(builder_.stream(rank_, rank_ + 1, kFirstResult)));
    builder_.step(lane, std::move(sources), std::move(result), {.apply_post = true});
  }

  void add_doubling(int distance) {
    const int lane = builder_.lane();
    std::vector<plan::Destination> taken = {plan::to_out(kept(number_ ^ distance, distance), distance)};
    if (fold_.is_paired(rank_)) {
      const int number = kFirstResult + 1 + floor_log2(distance);
      taken.push_back(plan::send(builder_.stream(rank_, rank_ + 1, number)));
    }
    builder_.step(lane, {plan::recv(builder_.stream(partner(distance), rank_, kDoubling))}, std::move(taken));
    const int next = distance * 2;
    if (next == fold_.core()) return;
    builder_.step(lane, {plan::out(kept(number_, next), next)},
                  {plan::send(builder_.stream(rank_, partner(next), kDoubling))});
  }

  plan::PlanBuilder& builder_;
  int rank_;
  Fold fold_;
  int number_;
};

/// A rank outside the core: its input goes to the rank below; the result comes back run by run as that rank gets it.
void add_outside(plan::PlanBuilder& builder, int rank, const Fold& fold) {
  builder.step(builder.lane(), {plan::in(0, fold.core())}, {plan::send(builder.stream(rank, rank - 1))});
  const int number = fold.number_of(rank - 1);
  const int lane = builder.lane();
  builder.step(lane, {plan::recv(builder.stream(rank - 1, rank, kFirstResult))}, {plan::to_out(number)});
  for (int distance = 1, stream = kFirstResult + 1; distance < fold.core(); distance *= 2, ++stream) {
    const int first = (number ^ distance) & ~(distance - 1);
    builder.step(lane, {plan::recv(builder.stream(rank - 1, rank, stream))}, {plan::to_out(first, distance)});
  }
}

plan::Plan Rabenseifner::build(const Call& /*call*/, const topology::Topology& topology, int rank) const {
  const int ranks = topology.size();
  if (ranks == 1) return single_rank_plan(all_reduce_frame(kName, topology, rank, 1));
  const Fold fold(ranks);
  plan::PlanBuilder builder(all_reduce_frame(kName, topology, rank, fold.core()));
  builder.set_credit(kCredit);
  builder.set_window(kWindow);
  if (fold.is_outside(rank)) {
    add_outside(builder, rank, fold);
  } else {
    CoreRank(builder, rank, fold).add();
  }
  return builder.finish();
}

}  // namespace

const Algorithm& rabenseifner() {
  static const Rabenseifner algorithm;
  return algorithm;
}

}  // namespace hawser::algorithms
