// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What several algorithms share: frames of plans, arithmetic on ranks, and the fold that brings any number of ranks to
// a power of two.
#pragma once

#include <string_view>
#include <vector>

#include "algorithms/algorithm.h"
#include "plan/builder.h"

namespace hawser::algorithms {

/// Credit that every algorithm here declares: a message may be written while the one before it is being read.
inline constexpr int kCredit = 2;
/// Tiles that may use scratch at once.
inline constexpr int kWindow = 2;

/// Frame of an all_reduce whose vector is cut into `parts` parts.
plan::PlanBuilder::Frame all_reduce_frame(const char* name, const topology::Topology& topology, int rank, int parts);

/// Frame of an all_gather: one block in, one per rank out.
plan::PlanBuilder::Frame all_gather_frame(const char* name, const topology::Topology& topology, int rank);

/// The plan of a communicator of one rank: one step, input to output.
plan::Plan single_rank_plan(const plan::PlanBuilder::Frame& frame);

/// (value modulo ranks), also for negative values.
int wrap(int value, int ranks);
/// Largest k with 2^k <= value; value >= 1.
int floor_log2(int value);
/// Smallest k with 2^k >= value; value >= 1.
int ceil_log2(int value);
/// All ranks but one, starting behind it: rank+1, ..., rank-1 modulo ranks.
std::vector<int> others_from(int rank, int ranks);

/// Any number of ranks n = 2^k + extra as a core of 2^k: of the first 2*extra ranks each odd one hands its input to
/// the even one below it and gets the result back. Core numbers ascend with ranks, so the ranks that an aligned block
/// of core numbers stands for are consecutive.
class Fold {
 public:
  explicit Fold(int ranks) : core_(1 << floor_log2(ranks)), extra_(ranks - core_) {}

  /// Size of the core, a power of two.
  [[nodiscard]] int core() const { return core_; }
  [[nodiscard]] int extra() const { return extra_; }
  /// The rank hands its input away and is not in the core.
  [[nodiscard]] bool is_outside(int rank) const { return rank < 2 * extra_ && rank % 2 == 1; }
  /// The rank stands in the core also for the rank above it.
  [[nodiscard]] bool is_paired(int rank) const { return rank < 2 * extra_ && rank % 2 == 0; }
  /// Core number of a rank that is not outside.
  [[nodiscard]] int number_of(int rank) const { return rank < 2 * extra_ ? rank / 2 : rank - extra_; }
  /// Rank of a core number.
  [[nodiscard]] int rank_of(int number) const { return number < extra_ ? 2 * number : number + extra_; }

 private:
  int core_;
  int extra_;
};

}  // namespace hawser::algorithms
