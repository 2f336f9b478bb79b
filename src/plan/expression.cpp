// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "plan/expression.h"

#include <algorithm>
#include <utility>

namespace hawser::plan {
namespace {

constexpr std::uint64_t kMostLeavesShown = 16;

/// A bijection of 64 bits that spreads every input bit over the output (the finaliser of SplitMix64).
std::uint64_t spread(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

std::array<std::uint64_t, 2> hash_with(std::array<std::uint64_t, 2> hash, std::uint64_t word) {
  return {spread(hash[0] ^ spread(word)), spread(hash[1] + spread(word ^ 0x5851f42d4c957f2dU))};
}

std::array<std::uint64_t, 2> hash_of_rank(int rank) { return hash_with({1, 2}, static_cast<std::uint64_t>(rank)); }

std::uint64_t bit_of_rank(int rank) { return rank < 64 ? std::uint64_t{1} << static_cast<unsigned>(rank) : 0; }

}  // namespace

std::array<std::uint64_t, 2> ExpressionTable::sum_of_all(int ranks) {
  Hash sum{};
  for (int rank = 0; rank < ranks; ++rank) {
    sum[0] += hash_of_rank(rank)[0];
    sum[1] += hash_of_rank(rank)[1];
  }
  return sum;
}

ExpressionTable::Id ExpressionTable::leaf(int rank, int chunk, int tile) {
  Node node;
  node.summary = {Kind::kLeaf, rank, 1, chunk, tile, bit_of_rank(rank), hash_of_rank(rank)};
  for (const int word : {0, rank, chunk, tile}) node.hash = hash_with(node.hash, static_cast<std::uint64_t>(word));
  return find_or_add(std::move(node), {});
}

ExpressionTable::Id ExpressionTable::intern(Kind kind, std::span<const Id> operands) {
  Node node;
  node.summary = summary(operands.front());
  node.summary.kind = kind;
  node.summary.leaves = 0;
  node.summary.sum = {};
  node.hash = hash_with({3, 4}, static_cast<std::uint64_t>(kind));
  for (const Id operand : operands) {
    const Node& child = nodes_[static_cast<std::size_t>(operand)];
    node.summary.lowest_rank = std::min(node.summary.lowest_rank, child.summary.lowest_rank);
    node.summary.leaves += child.summary.leaves;
    node.summary.ranks |= child.summary.ranks;
    node.summary.sum[0] += child.summary.sum[0];
    node.summary.sum[1] += child.summary.sum[1];
    node.hash = hash_with(hash_with(node.hash, child.hash[0]), child.hash[1]);
  }
  return find_or_add(std::move(node), operands);
}

ExpressionTable::Id ExpressionTable::find_or_add(Node node, std::span<const Id> operands) {
  const auto [begin, end] = by_hash_.equal_range(node.hash[0]);
  for (auto candidate = begin; candidate != end; ++candidate) {
    const Node& known = nodes_[static_cast<std::size_t>(candidate->second)];
    const bool is_same = precision_ == Precision::kFingerprint
                             ? known.hash == node.hash
                             : known.summary.kind == node.summary.kind && known.summary.chunk == node.summary.chunk &&
                                   known.summary.tile == node.summary.tile &&
                                   known.summary.lowest_rank == node.summary.lowest_rank &&
                                   std::ranges::equal(known.operands, operands);
    if (is_same) return candidate->second;
  }
  if (precision_ == Precision::kExact) node.operands.assign(operands.begin(), operands.end());
  const Id id = static_cast<Id>(nodes_.size());
  by_hash_.emplace(node.hash[0], id);
  nodes_.push_back(std::move(node));
  return id;
}

std::string ExpressionTable::describe(Id id) const {
  const Node& node = nodes_[static_cast<std::size_t>(id)];
  if (node.summary.kind == Kind::kLeaf) {
    return "in" + std::to_string(node.summary.lowest_rank) + "[" + std::to_string(node.summary.chunk) + "]";
  }
  std::string text;
  if (node.operands.empty() || node.summary.leaves > kMostLeavesShown) {
    text = std::to_string(node.summary.leaves) + " inputs";
  } else {
    for (const Id operand : node.operands) text += (text.empty() ? "" : " + ") + describe(operand);
  }
  const char* const name = node.summary.kind == Kind::kPre ? "pre" : node.summary.kind == Kind::kPost ? "post" : "";
  return name + ("(" + text + ")");
}

}  // namespace hawser::plan
