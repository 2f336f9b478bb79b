// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// How an algorithm writes a Plan: it names streams, opens lanes and adds steps in a natural order; finish() derives
// `after` from the conflicts of regions, including those that arise only when NCCL's in-place aliasing makes input and
// output one buffer.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "base/status.h"
#include "plan/plan.h"

namespace hawser::plan {

/// Shorthand for operands. `chunk` counts from 0.
Source in(int chunk, int count = 1);   ///< local input, raw: apply_pre is set
Source out(int chunk, int count = 1);  ///< local output, already reduced or gathered
Source scratch(int chunk, int count = 1);
Source recv(int stream);      ///< the next message of a stream
Source recv_raw(int stream);  ///< a message that carries raw input: apply_pre is set
Destination to_out(int chunk, int count = 1);
Destination to_scratch(int chunk, int count = 1);
Destination send(int stream);

struct StepOptions {
  bool apply_post = false;
  /// Needed only if no source and no destination is local.
  Region shape = {};
};

class PlanBuilder {
 public:
  struct Frame {
    const char* algorithm;
    Collective collective;
    int rank;
    int ranks;
    int root = 0;
    Layout input;
    Layout output;
  };
  explicit PlanBuilder(const Frame& frame);

  /// Index of the stream (sender, receivers, number), added on first mention. `receivers` may be in any order.
  int stream(int sender, std::span<const int> receivers, int number = 0);
  int stream(int sender, int receiver, int number = 0);
  /// Index of a new lane.
  int lane();
  /// Index of a new scratch chunk with the size of chunk `chunk` of `space` (input or output).
  int scratch_like(Space space, int chunk);
  /// Appends a step to a lane.
  void step(int lane, std::vector<Source> sources, std::vector<Destination> destinations, StepOptions options = {});

  void set_window(int window) { plan_.window = window; }
  void set_credit(int credit) { plan_.credit = credit; }
  void set_straight_line(bool is_straight) { plan_.straight_line = is_straight; }

  /// Derives `after` and returns the plan. The builder is spent.
  Plan finish();

 private:
  Plan plan_;
  int issued_ = 0;
};

/// Chunks of the input and of the output that are one memory when the call is in place in NCCL's sense: input chunk i
/// is output chunk offset + i, for `chunks` chunks; none for collectives without an in-place form. (all_reduce: all of
/// them; all_gather: the only input block is output block rank; reduce_scatter: the only output block is input block
/// rank; broadcast, reduce: as all_reduce.)
struct Aliasing {
  int input_first = 0;
  int output_first = 0;
  int chunks = 0;
};
Aliasing in_place_aliasing(const Plan& plan);

}  // namespace hawser::plan
