// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Double binary tree all_reduce: two trees carry half of the vector each; whoever has children in one is a leaf in the
// other, so that every rank sends and takes about the same.
//
//   tree 0, 7 ranks             tree 1 (shifted by one; mirrored if the number of ranks is even)
//          3                           4
//        /   \                       /   \             up    {children.., in} -> {message to parent}
//       1     5                     2     6            root  {children.., in} -> {out, message to children}
//      / \   / \                   / \   / \           down  {message} -> {out, message to children}
//     0   2 4   6                 1   3 5   0
//
// About 2 log2 p hops, pipelined; a rank sends and takes 2n at most. Up and down are lanes of their own in each tree.
#include <algorithm>
#include <limits>
#include <utility>

#include "algorithms/builtin.h"
#include "algorithms/costs.h"
#include "algorithms/support.h"

namespace hawser::algorithms {
namespace {

/// One of the two trees. Positions count from 1: position j has height = number of trailing zeros of j, so that odd
/// positions are leaves, and the subtree of a position is an interval of positions with it in its middle.
class BinaryTree {
 public:
  BinaryTree(int index, int ranks) : index_(index), ranks_(ranks) {}

  /// -1 at the root.
  [[nodiscard]] int parent(int rank) const {
    const int position = position_of(rank);
    if (position == 1 << floor_log2(ranks_)) return -1;
    int above = position;
    do above = parent_in_full_tree(above);
    while (above > ranks_);
    return rank_of(above);
  }

  [[nodiscard]] std::vector<int> children(int rank) const {
    const int position = position_of(rank);
    const int half = (position & -position) / 2;
    std::vector<int> children;
    if (half == 0) return children;
    children.push_back(rank_of(position - half));
    int right = position + half;
    int reach = half;
    // Positions that do not exist leave their place to their left child.
    while (right > ranks_ && reach > 1) right -= (reach /= 2);
    if (right <= ranks_) children.push_back(rank_of(right));
    return children;
  }

  /// The lowest rank in the subtree of `rank`.
  [[nodiscard]] int lowest(int rank) const {
    const int position = position_of(rank);
    const int reach = (position & -position) - 1;
    const int end = std::min(position + reach, ranks_);
    int lowest = std::numeric_limits<int>::max();
    for (int at = position - reach; at <= end; ++at) lowest = std::min(lowest, rank_of(at));
    return lowest;
  }

 private:
  static int parent_in_full_tree(int position) {
    const int bit = position & -position;
    return (position ^ bit) | (bit << 1);
  }
  [[nodiscard]] int position_of(int rank) const {
    if (index_ == 0) return rank + 1;
    return ranks_ % 2 == 0 ? ranks_ - rank : wrap(rank - 1, ranks_) + 1;
  }
  [[nodiscard]] int rank_of(int position) const {
    if (index_ == 0) return position - 1;
    return ranks_ % 2 == 0 ? ranks_ - position : wrap(position, ranks_);
  }

  int index_;
  int ranks_;
};

class Tree final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] std::string_view summary() const override {
    return "two complementary binary trees, pipelined: logarithmic latency, for medium messages between many hosts";
  }
  [[nodiscard]] bool supports(const Call& call, const topology::Topology& /*topology*/) const override {
    return call.collective == Collective::kAllReduce;
  }
  /// 2h hops of n bytes, pipelined, h = floor(log2 p): a rank takes n from its children and n from its parents (two
  /// halves each), plus n g (Sanders, Speck, Träff 2009). The hops that leave a host are about log2 of the number of
  /// hosts; about two flows leave a host.
  [[nodiscard]] double cost_s(const Call& call, const topology::Topology& topology) const override;
  [[nodiscard]] plan::Plan build(const Call& call, const topology::Topology& topology, int rank) const override;

 private:
  static constexpr const char* kName = "tree";
};

double Tree::cost_s(const Call& call, const topology::Topology& topology) const {
  const Costs costs(topology);
  const int p = costs.ranks();
  const std::size_t size = bytes_of(call, p);
  const auto bytes = static_cast<double>(size);
  const double user = costs.user_memory_s(size, size);
  if (p == 1) return bytes * costs.combine_s() + user;
  const int height = floor_log2(p);
  const int inter_height = std::min(height, ceil_log2(costs.nodes()));
  // One kind of hop for the pipeline formula: the mean latency, the bytes of the slowest.
  MessageCosts hop = costs.any(2);
  const double latency = inter_height * costs.inter(2).hop_s + (height - inter_height) * costs.intra().hop_s;
  hop.hop_s = latency / height + costs.intra().gap_s;
  return pipelined_s(2 * height, 2 * bytes, hop) + bytes * costs.combine_s() + user;
}

/// Adds one tree's lanes. Stream numbers: 2 * tree up, 2 * tree + 1 down.
void add_tree(plan::PlanBuilder& builder, int index, int rank, int ranks) {
  const BinaryTree tree(index, ranks);
  const std::vector<int> children = tree.children(rank);
  const int parent = tree.parent(rank);
  const int up_number = 2 * index;
  const int down_number = 2 * index + 1;

  std::vector<std::pair<int, plan::Source>> operands = {{rank, plan::in(index)}};
  for (const int child : children) {
    const int stream = builder.stream(child, rank, up_number);
    const bool is_raw = tree.children(child).empty();
    operands.emplace_back(tree.lowest(child), is_raw ? plan::recv_raw(stream) : plan::recv(stream));
  }
  std::ranges::sort(operands, {}, &std::pair<int, plan::Source>::first);
  std::vector<plan::Source> sources;
  for (auto& [lowest, source] : operands) sources.push_back(std::move(source));

  std::vector<plan::Destination> down = {plan::to_out(index)};
  if (!children.empty()) down.push_back(plan::send(builder.stream(rank, children, down_number)));
  const int up_lane = builder.lane();
  if (parent < 0) {
    builder.step(up_lane, std::move(sources), std::move(down), {.apply_post = true});
    return;
  }
  builder.step(up_lane, std::move(sources), {plan::send(builder.stream(rank, parent, up_number))});
  const int down_in = builder.stream(parent, tree.children(parent), down_number);
  builder.step(builder.lane(), {plan::recv(down_in)}, std::move(down));
}

plan::Plan Tree::build(const Call& /*call*/, const topology::Topology& topology, int rank) const {
  const int ranks = topology.size();
  if (ranks == 1) return single_rank_plan(all_reduce_frame(kName, topology, rank, 1));
  plan::PlanBuilder builder(all_reduce_frame(kName, topology, rank, 2));
  builder.set_credit(kCredit);
  add_tree(builder, 0, rank, ranks);
  add_tree(builder, 1, rank, ranks);
  return builder.finish();
}

}  // namespace

const Algorithm& tree() {
  static const Tree algorithm;
  return algorithm;
}

}  // namespace hawser::algorithms
