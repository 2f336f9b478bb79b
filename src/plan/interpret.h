// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The byte interpreter: runs the plans of all ranks on real bytes, slowly and obviously, in a random order. It is the
// second opinion on verify.h, with which it shares no code: tests run correct plans on it under many schedules, and
// plans that were damaged on purpose, to see that whatever goes wrong here verify has refused.
//
// What it makes as bad as the rules of plan.h permit: lanes of all ranks interleave in pieces of a step; buffers,
// scratch and slots start as garbage, and a region in which a message may land directly may be overwritten with garbage
// as soon as the step's `after` is satisfied; a message may be read from the sender's buffer as late as when its
// receiver is done; a region is only released when the last such reader is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/status.h"
#include "base/types.h"
#include "plan/plan.h"

namespace hawser::plan {

/// What combining does. Called with a few elements at a time, whole ones; both spans of `combine` have equal size.
struct ElementOps {
  std::size_t bytes = 4;  ///< of one element
  std::function<void(std::span<std::byte> accumulator, std::span<const std::byte> operand)> combine;
  std::function<void(std::span<std::byte>)> pre;   ///< empty: identity
  std::function<void(std::span<std::byte>)> post;  ///< empty: identity
};
ElementOps int32_sum();
ElementOps fp32_sum();
/// For finding faults: combining is neither commutative nor associative, pre and post show when they are missing or
/// applied twice. Equal results mean, but for collisions of 32-bit hashes, equal expressions. 4-byte elements.
ElementOps expression_hash();

/// How often messages land in which way.
enum class LandingMix : std::uint8_t { kMixed, kSlots, kDirect, kInPlace };

struct InterpretOptions {
  std::uint64_t seed = 1;           ///< decides the schedule, credits and landings; equal seeds repeat a run exactly
  std::size_t count = 0;            ///< elements, as the API counts them (Call::count)
  std::size_t tile_bytes = 64;      ///< a multiple of 64
  std::vector<bool> in_place = {};  ///< per rank: the call is in place there; empty: nowhere
  /// Each stream gets the declared credit plus up to this much.
  int credit_extra = 2;
  LandingMix landing = LandingMix::kMixed;
};

/// What a run gave.
struct Outcome {
  std::vector<std::vector<std::byte>> outputs;  ///< per rank
  long steps = 0;                               ///< executed, over all ranks and tiles
  long slots = 0;                               ///< messages taken from a slot, per receiver
  long direct = 0;                              ///< landed directly
  long in_place = 0;                            ///< read in place at the sender
};

/// Bytes that a rank's input and output have in a collective of `count` elements (0: the rank has no such buffer).
std::size_t input_bytes(const Plan& plan, std::size_t count, std::size_t element_bytes);
std::size_t output_bytes(const Plan& plan, std::size_t count, std::size_t element_bytes);

/// Runs plans[r] for every rank r on inputs[r]. kInternalError with a sentence if a plan is malformed, if ends of a
/// message disagree, or if nobody can go on ("stalls: ..."); never crashes, whatever the plans say.
Result<Outcome> interpret(std::span<const Plan> plans, std::span<const std::vector<std::byte>> inputs,
                          const InterpretOptions& options, const ElementOps& ops);

/// What the collective demands of these inputs: per rank, its output; combined in rank order.
std::vector<std::vector<std::byte>> expected_outputs(Collective collective, int root,
                                                     std::span<const std::vector<std::byte>> inputs,
                                                     const ElementOps& ops);

}  // namespace hawser::plan
