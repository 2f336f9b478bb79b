// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The proof: runs the plans of all ranks on symbols instead of bytes. A value is a hash-consed expression tree, so that
// it shows what was combined, in which order, with pre and post applied once each. Used by tests over every algorithm
// and by hawser-explain.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "plan/plan.h"

namespace hawser::plan {

/// How messages arrive, per execution.
enum class Landing : std::uint8_t { kSlot, kDirect, kInPlace };

/// What is assumed about the sizes of blocks (all_gather, all_to_all, ...).
enum class Blocks : std::uint8_t {
  kEqual,     ///< one size for all, as in NCCL's calls
  kDistinct,  ///< each block of the user has its own: plans that pass serve calls with a count per block, too
};

struct VerifyOptions {
  int tiles = 3;                    ///< tiles to run, so that scratch reuse and lane overlap are seen
  std::vector<bool> in_place = {};  ///< per rank: the call is in place there; empty: nowhere
  bool exact = true;                ///< expression trees, at most 64 ranks; false: 128-bit fingerprints, any number
  Blocks blocks = Blocks::kEqual;
};

struct Proof {
  int credit = 1;              ///< smallest number of messages per stream at which all ranks finish
  bool straight_line = false;  ///< the order of issue, one thread per rank, finishes at the declared credit
  long steps = 0;              ///< steps executed
};

/// Proves the plans of all ranks (plans[r].rank == r): every output ends as the collective demands, with the same
/// expression on all ranks; sends and receives match in number, order and size; nothing reads what was not written; no
/// region is written while it may still be read, nor read while it may be written, in any schedule and under all three
/// landings; scratch and slots are not reused before their readers are done; no deadlock at the declared credit. On
/// failure: a sentence that names rank, lane, step and what is wrong.
Result<Proof> verify(std::span<const Plan> plans, const VerifyOptions& options);

}  // namespace hawser::plan
