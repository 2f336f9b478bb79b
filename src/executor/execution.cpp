// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The schedule of one run: which step of which lane may go next. What a step does to bytes is in run_step.cpp.
#include "executor/execution.h"

#include <algorithm>

namespace hawser::executor {

Execution::Execution(BoundPlan bound)
    : bound_(std::move(bound)),
      lanes_(bound_.lanes.size()),
      send_base_(bound_.send_ports.size()),
      receive_base_(bound_.receive_ports.size()),
      has_referred_(bound_.send_ports.size()) {
  if (bound_.scratch_bytes > 0) scratch_ = std::make_unique<std::byte[]>(bound_.scratch_bytes * bound_.window);
  if (StraightLine::fits(bound_)) straight_.emplace(bound_, scratch_.get());
  std::size_t most_sources = 0;
  std::size_t most_destinations = 0;
  std::size_t most_places = 0;
  for (const BoundStep& step : bound_.steps) {
    most_sources = std::max<std::size_t>(most_sources, step.sources.size());
    most_destinations = std::max<std::size_t>(most_destinations, step.destinations.size());
  }
  // A port stands for as many places as it has receivers at most; all of a step's together stay below this.
  constexpr std::size_t kMostReceivers = 1024;
  most_places = most_destinations + kMostReceivers;
  inputs_.reserve(most_sources);
  source_data_.reserve(most_sources);
  outputs_.reserve(most_places);
  destination_data_.reserve(most_places);
  references_.reserve(most_destinations);
}

void Execution::start(const Buffers& buffers, const StorePolicy& stores, transport::Transport& transport) {
  if (straight_) return straight_->start(buffers.input, buffers.output, buffers.scale);
  buffers_ = buffers;
  stores_ = stores;
  for (std::size_t i = 0; i < send_base_.size(); ++i) send_base_[i] = bound_.send_ports[i]->announced();
  for (std::size_t i = 0; i < receive_base_.size(); ++i) receive_base_[i] = bound_.receive_ports[i]->consumed();
  std::ranges::fill(has_referred_, std::uint8_t{0});
  lanes_done_ = 0;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i] = {};
    lanes_[i].total = std::uint64_t{bound_.lanes[i].size()} * bound_.tiles;
    if (lanes_[i].total == 0) ++lanes_done_;
  }
  may_post_ = true;
  if (bound_.send_ports.empty() && bound_.receive_ports.empty()) return;
  transport.offer(buffers.input, bound_.input_bytes);
  transport.offer(buffers.output, bound_.output_bytes);
}

bool Execution::is_released(const BoundStep& step, std::size_t tile) {
  for (std::uint32_t i = step.destinations.begin; i < step.destinations.end; ++i) {
    const Operand& operand = bound_.operands[i];
    if (operand.port < 0) continue;
    const auto port = static_cast<std::size_t>(operand.port);
    if (has_referred_[port] == 0) continue;
    if (bound_.send_ports[port]->released() <= sequence(operand, send_base_, bound_.send_use, tile)) return false;
  }
  return true;
}

bool Execution::is_after_met(const plan::After& after, std::size_t tile) {
  const auto back = static_cast<std::size_t>(after.tiles_back);
  if (tile < back) return true;
  const auto lane = static_cast<std::size_t>(after.lane);
  const Range range = bound_.lanes[lane];
  const std::uint64_t needed = std::uint64_t{tile - back} * range.size() + static_cast<std::uint64_t>(after.step);
  if (lanes_[lane].position <= needed) return false;
  return !after.released ||
         is_released(bound_.steps[range.begin + static_cast<std::uint32_t>(after.step)], tile - back);
}

bool Execution::is_free(const BoundStep& step, std::size_t tile) {
  for (std::uint32_t i = step.after.begin; i < step.after.end; ++i) {
    if (!is_after_met(bound_.after[i], tile)) return false;
  }
  return true;
}

std::optional<Blocked> Execution::missing_of(const BoundStep& step) {
  for (std::uint32_t i = step.sources.begin; i < step.sources.end; ++i) {
    const Operand& operand = bound_.operands[i];
    if (operand.port < 0) continue;
    transport::ReceivePort& port = *bound_.receive_ports[static_cast<std::size_t>(operand.port)];
    if (port.front() == nullptr) return Blocked{port.sender(), true};
  }
  for (std::uint32_t i = step.destinations.begin; i < step.destinations.end; ++i) {
    const Operand& operand = bound_.operands[i];
    if (operand.port < 0) continue;
    transport::SendPort& port = *bound_.send_ports[static_cast<std::size_t>(operand.port)];
    if (!port.has_credit()) return Blocked{port.slowest_receiver(), false};
  }
  return std::nullopt;
}

bool Execution::can_run(const BoundStep& step, std::size_t tile) {
  for (std::uint32_t i = step.sources.begin; i < step.sources.end; ++i) {
    const Operand& operand = bound_.operands[i];
    if (operand.port >= 0 && bound_.receive_ports[static_cast<std::size_t>(operand.port)]->front() == nullptr)
      return false;
  }
  for (std::uint32_t i = step.destinations.begin; i < step.destinations.end; ++i) {
    const Operand& operand = bound_.operands[i];
    if (operand.port >= 0 && !bound_.send_ports[static_cast<std::size_t>(operand.port)]->has_credit()) return false;
  }
  return is_free(step, tile);
}

Execution::Posted Execution::post(const BoundStep& step, std::size_t tile) {
  const Operand& source = bound_.operands[step.sources.begin];
  transport::ReceivePort& port = *bound_.receive_ports[static_cast<std::size_t>(source.port)];
  const std::uint64_t number = sequence(source, receive_base_, bound_.receive_use, tile);
  if (number >= port.consumed() + bound_.credit || !is_free(step, tile)) return Posted::kLater;
  for (std::uint32_t i = step.destinations.begin; i < step.destinations.end; ++i) {
    const Operand& destination = bound_.operands[i];
    if (destination.port >= 0 || destination.pieces.size() == 0) continue;
    const Piece& piece = bound_.pieces[destination.pieces.begin];
    const auto size = static_cast<std::uint32_t>(bytes(piece, tile));
    if (piece.space == plan::Space::kScratch) return Posted::kNever;
    return port.post(number, address(piece, tile), size) ? Posted::kYes : Posted::kNever;
  }
  return Posted::kNever;
}

void Execution::post_ahead(std::size_t lane) {
  LaneState& state = lanes_[lane];
  const Range range = bound_.lanes[lane];
  state.posted = std::max(state.posted, state.position);
  while (may_post_ && state.posted < state.total) {
    const BoundStep& step = bound_.steps[range.begin + state.posted % range.size()];
    if (step.can_post) {
      const Posted outcome = post(step, state.posted / range.size());
      if (outcome == Posted::kLater) return;
      // Memory that cannot be reached now cannot be later in the call either; tiles at the end may merely be small.
      if (outcome == Posted::kNever && state.posted < range.size()) may_post_ = false;
    }
    ++state.posted;
  }
}

Result<Execution::Advance> Execution::advance() {
  Advance outcome = Advance::kIdle;
  // Later lanes first: what they finish gives room to earlier ones, and their data is the warmest.
  for (std::size_t i = lanes_.size(); i-- > 0;) {
    LaneState& lane = lanes_[i];
    if (lane.position == lane.total) continue;
    const Range range = bound_.lanes[i];
    const BoundStep& step = bound_.steps[range.begin + lane.step];
    if (!can_run(step, lane.tile)) {
      if (may_post_) post_ahead(i);
      continue;
    }
    HAWSER_TRY(run(step, lane.tile));
    outcome = Advance::kProgress;
    if (++lane.step == range.size()) {
      lane.step = 0;
      ++lane.tile;
    }
    if (++lane.position == lane.total) ++lanes_done_;
    if (may_post_) post_ahead(i);
  }
  if (lanes_done_ == lanes_.size() && are_references_released()) return Advance::kDone;
  return outcome;
}

Status Execution::straight_mismatch() const {
  transport::ReceivePort& port = *straight_->mismatched();
  return mismatch(port, *port.front(), straight_->expected_bytes());
}

bool Execution::are_references_released() {
  for (std::size_t i = 0; i < has_referred_.size(); ++i) {
    if (has_referred_[i] == 0) continue;
    transport::SendPort& port = *bound_.send_ports[i];
    if (port.released() < port.announced()) return false;
  }
  return true;
}

Blocked Execution::blocked_on() {
  if (straight_) {
    if (straight_->position() >= bound_.issue_order.size()) return {};
    return missing_of(bound_.steps[bound_.issue_order[straight_->position()]]).value_or(Blocked{});
  }
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const LaneState& lane = lanes_[i];
    if (lane.position == lane.total) continue;
    if (const auto missing = missing_of(bound_.steps[bound_.lanes[i].begin + lane.step])) return *missing;
  }
  for (std::size_t i = 0; i < has_referred_.size(); ++i) {
    transport::SendPort& port = *bound_.send_ports[i];
    if (has_referred_[i] != 0 && port.released() < port.announced()) return {port.slowest_receiver(), false};
  }
  return {};
}

}  // namespace hawser::executor
