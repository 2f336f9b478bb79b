// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The path of small messages: a BoundPlan of one tile, whose steps may be run in issue order, as a flat list of kernel calls with everything
// but pointers worked out beforehand. No lanes, no landings but slots, no bookkeeping beyond "which step is next".
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "executor/bound_plan.h"
#include "kernels/reduce_copy.h"

namespace hawser::executor {

class StraightLine {
 public:
  /// Whether the plan can run this way: proved for issue order, one tile, every local operand one range outside scratch windows.
  static bool fits(const BoundPlan& bound);
  /// `scratch`: one copy of the plan's scratch. Both are borrowed and outlive this.
  StraightLine(const BoundPlan& bound, std::byte* scratch);

  /// Prepares a run.
  void start(const std::byte* input, std::byte* output, std::uint64_t scale) {
    base_[0] = const_cast<std::byte*>(input);  // written only if it is the output, too
    base_[1] = output;
    scale_ = scale;
    next_ = 0;
  }

  enum class Outcome : std::uint8_t { kDone, kWaiting, kMismatch };
  /// Runs steps until all are done, or one has to wait, or a message does not fit the call (that of `mismatched()`).
  Outcome advance();

  /// Index of the next step in BoundPlan::issue_order.
  [[nodiscard]] std::size_t position() const { return next_; }
  [[nodiscard]] transport::ReceivePort* mismatched() const { return mismatched_; }
  [[nodiscard]] std::uint32_t expected_bytes() const { return steps_[next_].bytes; }

 private:
  struct Local {
    std::uint32_t space;  ///< index into base_
    std::size_t offset;
  };
  /// Exactly one of port and local is meant: port if not null.
  struct In {
    transport::ReceivePort* port;
    Local local;
  };
  struct Out {
    transport::SendPort* port;
    Local local;
  };
  struct Step {
    Range in;
    Range out;
    std::uint32_t bytes;
    kernels::ReduceCopyArgs args;  ///< all but pointers and scale
  };
  enum class Ready : std::uint8_t { kYes, kNo, kMismatch };

  void add(const BoundPlan& bound, const BoundStep& step);
  [[nodiscard]] Local local(const BoundPlan& bound, const Operand& operand) const;
  [[nodiscard]] std::byte* address(const Local& local) const { return base_[local.space] + local.offset; }
  Ready gather(const Step& step);
  void combine(const Step& step);
  void hand_over(const Step& step);

  std::vector<In> ins_;
  std::vector<Out> outs_;
  std::vector<Step> steps_;
  std::vector<const std::byte*> source_data_;
  std::vector<std::byte*> destination_data_;
  std::byte* base_[3] = {};
  std::uint64_t scale_ = 0;
  std::uint32_t call_hash_ = 0;
  std::size_t next_ = 0;
  transport::ReceivePort* mismatched_ = nullptr;
};

}  // namespace hawser::executor
