// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// One run of a BoundPlan on given buffers: where each lane stands. Advanced by the engine, one step at a time, never blocking. An
// Execution is kept with its BoundPlan and used again; starting it allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "executor/bound_plan.h"
#include "executor/straight_line.h"

namespace hawser::executor {

/// Buffers and scalars of one call.
struct Buffers {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::uint64_t scale = 0;  ///< PreMulSum's scalar in the representation of the type
};

/// Local choices: they may differ from rank to rank and never alter what travels.
struct StorePolicy {
  kernels::Store output = kernels::Store::kCached;  ///< user buffers, own and peers'
  kernels::Store slots = kernels::Store::kCached;   ///< staging
};

/// Whom an execution waits for.
struct Blocked {
  int peer = -1;           ///< -1: nobody
  bool by_message = true;  ///< its message has not come; else: it has not taken ours
};

class Execution {
 public:
  explicit Execution(BoundPlan bound);

  /// Prepares a run. The buffers stay in use until is_done().
  void start(const Buffers& buffers, const StorePolicy& stores, transport::Transport& transport);

  enum class Advance : std::uint8_t { kIdle, kProgress, kDone };
  /// Lets every lane take what steps it can, at most one each; a failed Status if a message does not fit the call.
  Result<Advance> advance();

  /// The small-message path, if the plan has one: run that instead of advance().
  [[nodiscard]] StraightLine* straight_line() { return straight_ ? &*straight_ : nullptr; }
  /// The failure behind StraightLine::Outcome::kMismatch.
  [[nodiscard]] Status straight_mismatch() const;

  [[nodiscard]] const BoundPlan& bound() const { return bound_; }
  /// For sentences, when nothing can be done.
  [[nodiscard]] Blocked blocked_on();

 private:
  struct LaneState {
    std::uint64_t position = 0;  ///< steps finished: tile * steps of the lane + index
    std::uint64_t total = 0;
    std::uint64_t posted = 0;  ///< steps up to here have been considered for posting
    std::uint32_t step = 0;    ///< index of the next step in its lane
    std::size_t tile = 0;
  };

  [[nodiscard]] bool is_free(const BoundStep& step, std::size_t tile);
  [[nodiscard]] bool is_after_met(const plan::After& after, std::size_t tile);
  [[nodiscard]] bool is_released(const BoundStep& step, std::size_t tile);
  [[nodiscard]] bool can_run(const BoundStep& step, std::size_t tile);
  Status run(const BoundStep& step, std::size_t tile);
  [[nodiscard]] std::size_t step_bytes(const BoundStep& step, std::size_t tile) const;
  [[nodiscard]] Status mismatch(const transport::ReceivePort& port, const transport::Message& message,
                                std::size_t bytes) const;
  void post_ahead(std::size_t lane);
  enum class Posted : std::uint8_t { kYes, kLater, kNever };
  Posted post(const BoundStep& step, std::size_t tile);
  [[nodiscard]] bool are_references_released();
  [[nodiscard]] std::optional<Blocked> missing_of(const BoundStep& step);

  [[nodiscard]] std::byte* address(const Piece& piece, std::size_t tile) const;
  [[nodiscard]] std::size_t bytes(const Piece& piece, std::size_t tile) const;
  [[nodiscard]] std::uint64_t sequence(const Operand& operand, const std::vector<std::uint64_t>& base,
                                       const std::vector<PortUse>& use, std::size_t tile) const;

  /// One operand of the step that is being run: contiguous bytes, or pieces of a user buffer or scratch.
  struct Span {
    std::byte* data = nullptr;  ///< null: `pieces`
    Range pieces;
    std::uint32_t piece = 0;  ///< cursor of combine_pieces
    std::size_t offset = 0;   ///< cursor of combine_pieces
  };
  Status gather_sources(const BoundStep& step, std::size_t tile, std::size_t bytes);
  void gather_destinations(const BoundStep& step, std::size_t tile, std::uint32_t bytes);
  void add_destination(const Span& span, kernels::Store store);
  void add_ports(const BoundStep& step, std::size_t tile, std::uint32_t bytes);
  [[nodiscard]] Span local(const Operand& operand, std::size_t tile) const;
  [[nodiscard]] const std::byte* referable(const BoundStep& step, std::size_t tile) const;
  void combine(const BoundStep& step, std::size_t tile, std::size_t bytes);
  void combine_pieces(const BoundStep& step, std::size_t tile, std::size_t bytes);
  [[nodiscard]] std::size_t left_in(const Span& span, std::size_t tile) const;
  void pass(Span& span, std::size_t tile, std::size_t bytes);
  void call_kernel(const BoundStep& step, std::size_t bytes);
  void announce(const BoundStep& step, std::uint32_t bytes);
  void release(const BoundStep& step);

  BoundPlan bound_;
  Buffers buffers_;
  StorePolicy stores_;
  std::unique_ptr<std::byte[]> scratch_;
  std::vector<LaneState> lanes_;
  std::vector<std::uint64_t> send_base_;     ///< announced() of each send port at the start
  std::vector<std::uint64_t> receive_base_;  ///< consumed() of each receive port at the start
  std::vector<std::uint8_t> has_referred_;   ///< per send port: a message of this run is read in place
  std::optional<StraightLine> straight_;
  std::size_t lanes_done_ = 0;
  bool may_post_ = false;

  // Working space of run(), sized for the largest step.
  std::vector<Span> inputs_;
  std::vector<Span> outputs_;
  std::vector<const std::byte*> source_data_;
  std::vector<std::byte*> destination_data_;
  std::vector<const std::byte*> references_;  ///< per destination of the step: what is announced in place, or null
  std::uint64_t nt_mask_ = 0;
};

}  // namespace hawser::executor
