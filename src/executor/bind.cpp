// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// From a Plan to a BoundPlan: geometry turns chunks into bytes, the port table turns streams into ports.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "executor/bound_plan.h"

namespace hawser::executor {
namespace {

kernels::Combine combine_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kAvg:
    case ReduceOp::kPreMulSum:
      return kernels::Combine::kSum;
    case ReduceOp::kProd:
      return kernels::Combine::kProd;
    case ReduceOp::kMax:
      return kernels::Combine::kMax;
    case ReduceOp::kMin:
      return kernels::Combine::kMin;
  }
  return kernels::Combine::kSum;
}

bool is_reducing(Collective collective) {
  return collective == Collective::kAllReduce || collective == Collective::kReduceScatter ||
         collective == Collective::kReduce;
}

/// Slots come in powers of two, so that calls of similar sizes share streams.
std::uint32_t slot_bytes_for(std::size_t largest_message) {
  constexpr std::size_t kSmallest = 32;
  return static_cast<std::uint32_t>(std::bit_ceil(std::max(largest_message, kSmallest)));
}

class Binder {
 public:
  Binder(const plan::Plan& plan, const Binding& binding, PortTable& ports)
      : plan_(plan),
        binding_(binding),
        ports_(ports),
        input_(plan.input, binding.count, size_of(binding.type)),
        output_(plan.output, binding.count, size_of(binding.type)) {}

  Result<BoundPlan> run();

 private:
  void describe_call();
  void place_scratch();
  [[nodiscard]] const plan::Geometry& geometry(plan::Space space) const {
    return space == plan::Space::kInput ? input_ : output_;
  }
  [[nodiscard]] Piece chunk(plan::Space space, int index) const;
  Range add_pieces(const plan::Region& region);
  [[nodiscard]] std::size_t message_bytes(const plan::Region& shape) const;
  Status open_ports();
  Status open_port(std::size_t stream, std::size_t largest_message);
  Status add_step(const plan::Step& step);
  Range add_sources(const plan::Step& step);
  Range add_destinations(const plan::Step& step);
  void classify(const plan::Step& step, BoundStep& bound) const;
  void order_by_issue();

  const plan::Plan& plan_;
  const Binding& binding_;
  PortTable& ports_;
  plan::Geometry input_;
  plan::Geometry output_;
  std::vector<std::size_t> scratch_offset_;
  std::vector<std::int32_t> port_of_stream_;  ///< index into send_ports or receive_ports
  BoundPlan bound_;
};

void Binder::describe_call() {
  bound_.tile_bytes = binding_.tile_bytes;
  bound_.tiles = plan::tile_count(input_, output_, binding_.tile_bytes);
  bound_.input_bytes = input_.bytes();
  bound_.output_bytes = output_.bytes();
  bound_.window = static_cast<std::uint32_t>(plan_.window);
  bound_.credit = binding_.credit;
  bound_.is_straight_line = plan_.straight_line && bound_.tiles == 1;
  bound_.type = binding_.type;
  bound_.combine = combine_of(binding_.op);
  bound_.divisor = binding_.op == ReduceOp::kAvg ? static_cast<std::uint32_t>(plan_.ranks) : 0;
  bound_.has_pre = binding_.op == ReduceOp::kPreMulSum;
  bound_.call_hash = binding_.call_hash;
}

void Binder::place_scratch() {
  for (const plan::Region& like : plan_.scratch) {
    scratch_offset_.push_back(bound_.scratch_bytes);
    const std::size_t bytes = geometry(like.space).bytes(like.runs.front().first);
    constexpr std::size_t kLine = 64;
    bound_.scratch_bytes += (std::min(bytes, binding_.tile_bytes) + kLine - 1) / kLine * kLine;
  }
}

Piece Binder::chunk(plan::Space space, int index) const {
  if (space != plan::Space::kScratch) return {space, geometry(space).offset(index), geometry(space).bytes(index)};
  const plan::Region& like = plan_.scratch[static_cast<std::size_t>(index)];
  return {space, scratch_offset_[static_cast<std::size_t>(index)], geometry(like.space).bytes(like.runs.front().first)};
}

Range Binder::add_pieces(const plan::Region& region) {
  Range range{static_cast<std::uint32_t>(bound_.pieces.size()), 0};
  for (const plan::Run& run : region.runs) {
    for (int index = run.first; index < run.first + run.count; ++index) {
      const Piece piece = chunk(region.space, index);
      // With one tile, adjacent chunks are one piece. Empty ones need none, but for the only one.
      const bool can_merge =
          bound_.tiles == 1 && region.space != plan::Space::kScratch && bound_.pieces.size() > range.begin;
      Piece* last = can_merge ? &bound_.pieces.back() : nullptr;
      if (last != nullptr && last->offset + last->bytes == piece.offset) {
        last->bytes += piece.bytes;
      } else {
        bound_.pieces.push_back(piece);
      }
    }
  }
  range.end = static_cast<std::uint32_t>(bound_.pieces.size());
  return range;
}

std::size_t Binder::message_bytes(const plan::Region& shape) const {
  std::size_t bytes = 0;
  for (const plan::Run& run : shape.runs) {
    for (int index = run.first; index < run.first + run.count; ++index) {
      bytes += std::min(chunk(shape.space, index).bytes, binding_.tile_bytes);
    }
  }
  return bytes;
}

Status Binder::open_port(std::size_t stream, std::size_t largest_message) {
  const plan::Stream& description = plan_.streams[stream];
  const transport::StreamSpec spec{description.sender, description.receivers, description.number,
                                   slot_bytes_for(largest_message), binding_.credit};
  if (description.sender == plan_.rank) {
    port_of_stream_[stream] = static_cast<std::int32_t>(bound_.send_ports.size());
    bound_.send_ports.push_back(HAWSER_TRY_VALUE(ports_.send(spec)));
    bound_.send_use.push_back({static_cast<std::int32_t>(stream), 0});
  } else {
    port_of_stream_[stream] = static_cast<std::int32_t>(bound_.receive_ports.size());
    bound_.receive_ports.push_back(HAWSER_TRY_VALUE(ports_.receive(spec)));
    bound_.receive_use.push_back({static_cast<std::int32_t>(stream), 0});
  }
  return {};
}

Status Binder::open_ports() {
  std::vector<std::optional<std::size_t>> largest(plan_.streams.size());
  const auto note = [&](int stream, const plan::Step& step) {
    if (stream < 0) return;
    auto& bytes = largest[static_cast<std::size_t>(stream)];
    bytes = std::max(bytes.value_or(0), message_bytes(step.shape));
  };
  for (const plan::Lane& lane : plan_.lanes) {
    for (const plan::Step& step : lane.steps) {
      for (const plan::Source& source : step.sources) note(source.stream, step);
      for (const plan::Destination& destination : step.destinations) note(destination.stream, step);
    }
  }
  port_of_stream_.assign(plan_.streams.size(), -1);
  for (std::size_t stream = 0; stream < largest.size(); ++stream) {
    if (largest[stream]) HAWSER_TRY(open_port(stream, *largest[stream]));
  }
  return {};
}

Range Binder::add_sources(const plan::Step& step) {
  const auto begin = static_cast<std::uint32_t>(bound_.operands.size());
  for (const plan::Source& source : step.sources) {
    Operand operand;
    if (source.stream >= 0) {
      operand.port = port_of_stream_[static_cast<std::size_t>(source.stream)];
      operand.message = bound_.receive_use[static_cast<std::size_t>(operand.port)].messages_per_tile++;
    } else {
      operand.pieces = add_pieces(source.region);
    }
    bound_.operands.push_back(operand);
  }
  return {begin, static_cast<std::uint32_t>(bound_.operands.size())};
}

Range Binder::add_destinations(const plan::Step& step) {
  const auto begin = static_cast<std::uint32_t>(bound_.operands.size());
  for (const plan::Destination& destination : step.destinations) {
    Operand operand;
    if (destination.stream >= 0) {
      operand.port = port_of_stream_[static_cast<std::size_t>(destination.stream)];
      operand.message = bound_.send_use[static_cast<std::size_t>(operand.port)].messages_per_tile++;
    } else {
      operand.pieces = add_pieces(destination.region);
    }
    bound_.operands.push_back(operand);
  }
  return {begin, static_cast<std::uint32_t>(bound_.operands.size())};
}

void Binder::classify(const plan::Step& step, BoundStep& bound) const {
  bound.apply_post = step.apply_post && is_reducing(plan_.collective);
  bound.is_move = step.sources.size() == 1 && !bound.apply_post;
  for (std::size_t i = 0; i < step.sources.size(); ++i) {
    if (step.sources[i].apply_pre && bound_.has_pre && !bound.is_move) bound.pre_mask |= std::uint64_t{1} << i;
  }
  const auto is_single = [&](std::uint32_t index) {
    const Operand& operand = bound_.operands[index];
    return operand.port >= 0 || operand.pieces.size() <= 1;
  };
  bound.is_single = true;
  for (std::uint32_t i = bound.sources.begin; i < bound.destinations.end; ++i) bound.is_single &= is_single(i);
  std::uint32_t local = 0;
  for (const plan::Destination& destination : step.destinations) local += destination.stream < 0 ? 1 : 0;
  bound.can_post = bound.is_move && step.sources.front().stream >= 0 && local == 1 && bound.is_single;
}

Status Binder::add_step(const plan::Step& step) {
  constexpr std::size_t kMaxScaledSources = 64;  // bits of ReduceCopyArgs::pre_mask
  if (step.sources.empty() || (bound_.has_pre && step.sources.size() > kMaxScaledSources)) {
    return {Code::kInternalError, fmt::format("plan {}: a step with {} sources", plan_.algorithm, step.sources.size())};
  }
  BoundStep bound;
  bound.sources = add_sources(step);
  bound.destinations = add_destinations(step);
  bound.shape = add_pieces(step.shape);
  bound.after.begin = static_cast<std::uint32_t>(bound_.after.size());
  bound_.after.insert(bound_.after.end(), step.after.begin(), step.after.end());
  bound.after.end = static_cast<std::uint32_t>(bound_.after.size());
  classify(step, bound);
  bound_.steps.push_back(bound);
  return {};
}

void Binder::order_by_issue() {
  std::vector<std::pair<int, std::uint32_t>> order;
  std::uint32_t index = 0;
  for (const plan::Lane& lane : plan_.lanes) {
    for (const plan::Step& step : lane.steps) order.emplace_back(step.issue, index++);
  }
  std::ranges::sort(order);
  for (const auto& [issue, step] : order) bound_.issue_order.push_back(step);
}

Result<BoundPlan> Binder::run() {
  if (binding_.credit < static_cast<std::uint32_t>(plan_.credit)) {
    return Status(Code::kInternalError, fmt::format("plan {} needs a credit of {}, the link has {}", plan_.algorithm,
                                                    plan_.credit, binding_.credit));
  }
  describe_call();
  place_scratch();
  HAWSER_TRY(open_ports());
  for (const plan::Lane& lane : plan_.lanes) {
    Range range{static_cast<std::uint32_t>(bound_.steps.size()), 0};
    for (const plan::Step& step : lane.steps) HAWSER_TRY(add_step(step));
    range.end = static_cast<std::uint32_t>(bound_.steps.size());
    bound_.lanes.push_back(range);
  }
  order_by_issue();
  // Adjacent chunks of a single tile were merged: such a piece may be longer than a tile, and is not to be cut.
  if (bound_.tiles == 1) bound_.tile_bytes = SIZE_MAX;
  return std::move(bound_);
}

}  // namespace

PortTable::Key PortTable::key_of(const transport::StreamSpec& spec) {
  return {spec.sender, {spec.receivers.begin(), spec.receivers.end()}, spec.number, spec.slot_bytes, spec.credit};
}

Result<transport::SendPort*> PortTable::send(const transport::StreamSpec& spec) {
  const Key key = key_of(spec);
  const auto found = std::ranges::find(sends_, key, [](const auto& entry) { return entry.first; });
  if (found != sends_.end()) return found->second.get();
  std::unique_ptr<transport::SendPort> port = HAWSER_TRY_VALUE(transport_->open_send(spec));
  return sends_.emplace_back(key, std::move(port)).second.get();
}

Result<transport::ReceivePort*> PortTable::receive(const transport::StreamSpec& spec) {
  const Key key = key_of(spec);
  const auto found = std::ranges::find(receives_, key, [](const auto& entry) { return entry.first; });
  if (found != receives_.end()) return found->second.get();
  std::unique_ptr<transport::ReceivePort> port = HAWSER_TRY_VALUE(transport_->open_receive(spec));
  return receives_.emplace_back(key, std::move(port)).second.get();
}

Result<BoundPlan> bind(const plan::Plan& plan, const Binding& binding, PortTable& ports) {
  return Binder(plan, binding, ports).run();
}

}  // namespace hawser::executor
