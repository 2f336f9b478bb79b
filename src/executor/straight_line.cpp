// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "executor/straight_line.h"

#include <algorithm>

namespace hawser::executor {

bool StraightLine::fits(const BoundPlan& bound) {
  // Messages that stay in the first-level cache: beyond, lanes and landings gain more than bookkeeping costs.
  constexpr std::size_t kLargestMessage = std::size_t{16} << 10;
  if (!bound.is_straight_line) return false;
  return std::ranges::all_of(bound.steps, [&](const BoundStep& step) {
    std::size_t bytes = 0;
    for (std::uint32_t i = step.shape.begin; i < step.shape.end; ++i) bytes += bound.pieces[i].bytes;
    return step.is_single && bytes <= kLargestMessage;
  });
}

StraightLine::StraightLine(const BoundPlan& bound, std::byte* scratch) : call_hash_(bound.call_hash) {
  base_[2] = scratch;
  for (const std::uint32_t index : bound.issue_order) add(bound, bound.steps[index]);
  std::size_t most_sources = 0;
  std::size_t most_destinations = 0;
  for (const Step& step : steps_) {
    most_sources = std::max<std::size_t>(most_sources, step.in.size());
    most_destinations = std::max<std::size_t>(most_destinations, step.out.size());
  }
  source_data_.resize(most_sources);
  destination_data_.resize(most_destinations);
}

StraightLine::Local StraightLine::local(const BoundPlan& bound, const Operand& operand) const {
  if (operand.pieces.size() == 0) return {};
  const Piece& piece = bound.pieces[operand.pieces.begin];
  return {static_cast<std::uint32_t>(piece.space), piece.offset};
}

void StraightLine::add(const BoundPlan& bound, const BoundStep& step) {
  Step added{};
  added.in.begin = static_cast<std::uint32_t>(ins_.size());
  for (std::uint32_t i = step.sources.begin; i < step.sources.end; ++i) {
    const Operand& operand = bound.operands[i];
    transport::ReceivePort* port =
        operand.port < 0 ? nullptr : bound.receive_ports[static_cast<std::size_t>(operand.port)];
    ins_.push_back({port, local(bound, operand)});
  }
  added.in.end = static_cast<std::uint32_t>(ins_.size());
  added.out.begin = static_cast<std::uint32_t>(outs_.size());
  for (std::uint32_t i = step.destinations.begin; i < step.destinations.end; ++i) {
    const Operand& operand = bound.operands[i];
    transport::SendPort* port = operand.port < 0 ? nullptr : bound.send_ports[static_cast<std::size_t>(operand.port)];
    outs_.push_back({port, local(bound, operand)});
  }
  added.out.end = static_cast<std::uint32_t>(outs_.size());
  for (std::uint32_t i = step.shape.begin; i < step.shape.end; ++i) {
    added.bytes += static_cast<std::uint32_t>(bound.pieces[i].bytes);
  }
  added.args.type = step.is_move ? DataType::kUint8 : bound.type;
  added.args.combine = bound.combine;
  added.args.count = added.bytes / size_of(added.args.type);
  added.args.pre_mask = step.pre_mask;
  added.args.divisor = step.apply_post ? bound.divisor : 0;
  steps_.push_back(added);
}

StraightLine::Ready StraightLine::gather(const Step& step) {
  for (std::uint32_t i = step.in.begin; i < step.in.end; ++i) {
    const In& in = ins_[i];
    const std::byte*& data = source_data_[i - step.in.begin];
    if (in.port == nullptr) {
      data = address(in.local);
      continue;
    }
    const transport::Message* const message = in.port->front();
    if (message == nullptr) return Ready::kNo;
    if (message->bytes != step.bytes || message->call_hash != call_hash_ || message->data == nullptr) {
      mismatched_ = in.port;
      return Ready::kMismatch;
    }
    data = message->data;
  }
  for (std::uint32_t i = step.out.begin; i < step.out.end; ++i) {
    const Out& out = outs_[i];
    if (out.port != nullptr && !out.port->has_credit()) return Ready::kNo;
  }
  return Ready::kYes;
}

void StraightLine::combine(const Step& step) {
  for (std::uint32_t i = step.out.begin; i < step.out.end; ++i) {
    const Out& out = outs_[i];
    // Receivers of such plans post no memory: a place is always a slot.
    destination_data_[i - step.out.begin] =
        out.port == nullptr ? address(out.local) : out.port->places(step.bytes).data.front();
  }
  const bool is_in_place = step.in.size() == 1 && step.out.size() == 1 && source_data_[0] == destination_data_[0];
  if (step.bytes == 0 || (is_in_place && step.args.divisor == 0 && step.args.pre_mask == 0)) return;
  kernels::ReduceCopyArgs args = step.args;
  args.scale = scale_;
  args.sources = {source_data_.data(), step.in.size()};
  args.destinations = {destination_data_.data(), step.out.size()};
  kernels::reduce_copy(args);
}

void StraightLine::hand_over(const Step& step) {
  for (std::uint32_t i = step.out.begin; i < step.out.end; ++i) {
    if (outs_[i].port != nullptr) outs_[i].port->announce(step.bytes, call_hash_);
  }
  for (std::uint32_t i = step.in.begin; i < step.in.end; ++i) {
    if (ins_[i].port != nullptr) ins_[i].port->release();
  }
}

StraightLine::Outcome StraightLine::advance() {
  for (; next_ < steps_.size(); ++next_) {
    const Step& step = steps_[next_];
    const Ready ready = gather(step);
    if (ready == Ready::kNo) return Outcome::kWaiting;
    if (ready == Ready::kMismatch) return Outcome::kMismatch;
    combine(step);
    hand_over(step);
  }
  return Outcome::kDone;
}

}  // namespace hawser::executor
