// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Values as symbols: what verify stores in buffers and messages instead of bytes. An expression says which ranks' input
// was combined, in which order and association, and where pre and post were applied. Expressions are hash-consed: two
// are the same exactly if their numbers are equal.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace hawser::plan {

/// How expressions are told apart.
enum class Precision : std::uint8_t {
  kExact,        ///< by their trees; at most 64 ranks
  kFingerprint,  ///< by 128-bit hashes of their trees: any number of ranks, wrong with a probability of about 2^-100
};

/// Owns all expressions of one proof. Numbers count from 0. Not thread-safe.
class ExpressionTable {
 public:
  using Id = int;
  enum class Kind : std::uint8_t { kLeaf, kPre, kPost, kCombine };

  /// What verify asks about an expression.
  struct Summary {
    Kind kind = Kind::kLeaf;
    int lowest_rank = 0;
    std::uint64_t leaves = 0;  ///< with multiplicity
    int chunk = 0;             ///< input chunk of every leaf (combining leaves of different chunks is refused before)
    int tile = 0;              ///< likewise
    std::uint64_t ranks = 0;   ///< exact: the set of contributing ranks, as bits
    std::array<std::uint64_t, 2> sum{};  ///< order-independent hash of the contributing ranks, with multiplicity
  };

  explicit ExpressionTable(Precision precision) : precision_(precision) {}

  /// Raw input: the slice that `tile` takes of chunk `chunk` of the input of `rank`.
  Id leaf(int rank, int chunk, int tile);
  Id pre(Id operand) { return intern(Kind::kPre, std::span(&operand, 1)); }
  Id post(Id operand) { return intern(Kind::kPost, std::span(&operand, 1)); }
  /// At least two operands, in the order in which they are combined. Chunk and tile are those of the first.
  Id combine(std::span<const Id> operands) { return intern(Kind::kCombine, operands); }

  [[nodiscard]] const Summary& summary(Id id) const { return nodes_[static_cast<std::size_t>(id)].summary; }
  [[nodiscard]] Precision precision() const { return precision_; }
  /// What `sum` is when each of ranks 0..ranks-1 contributes once.
  static std::array<std::uint64_t, 2> sum_of_all(int ranks);
  /// "post(pre(in0[2]) + pre(in1[2]))". Expressions of many leaves, and fingerprints, show their number only.
  [[nodiscard]] std::string describe(Id id) const;

 private:
  using Hash = std::array<std::uint64_t, 2>;
  struct Node {
    Summary summary;
    Hash hash{};
    std::vector<Id> operands;  // exact only
  };

  Id intern(Kind kind, std::span<const Id> operands);
  Id find_or_add(Node node, std::span<const Id> operands);

  Precision precision_;
  std::vector<Node> nodes_;
  std::unordered_multimap<std::uint64_t, Id> by_hash_;
};

}  // namespace hawser::plan
