// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What one step does to bytes: gather where operands lie, combine them, announce what was sent, release what was received.
#include <fmt/format.h>

#include <algorithm>

#include "executor/execution.h"

namespace hawser::executor {

std::size_t Execution::bytes(const Piece& piece, std::size_t tile) const {
  const std::size_t begin = tile * bound_.tile_bytes;
  return begin >= piece.bytes ? 0 : std::min(bound_.tile_bytes, piece.bytes - begin);
}

std::byte* Execution::address(const Piece& piece, std::size_t tile) const {
  const std::size_t begin = std::min(piece.bytes, tile * bound_.tile_bytes);
  switch (piece.space) {
    case plan::Space::kInput:
      return const_cast<std::byte*>(buffers_.input) + piece.offset + begin;  // written only if it is the output, too
    case plan::Space::kOutput:
      return buffers_.output + piece.offset + begin;
    case plan::Space::kScratch:
      return scratch_.get() + tile % bound_.window * bound_.scratch_bytes + piece.offset;
  }
  return nullptr;
}

std::uint64_t Execution::sequence(const Operand& operand, const std::vector<std::uint64_t>& base,
                                  const std::vector<PortUse>& use, std::size_t tile) const {
  const auto port = static_cast<std::size_t>(operand.port);
  return base[port] + std::uint64_t{tile} * use[port].messages_per_tile + operand.message;
}

std::size_t Execution::step_bytes(const BoundStep& step, std::size_t tile) const {
  std::size_t total = 0;
  for (std::uint32_t i = step.shape.begin; i < step.shape.end; ++i) total += bytes(bound_.pieces[i], tile);
  return total;
}

Status Execution::mismatch(const transport::ReceivePort& port, const transport::Message& message,
                           std::size_t bytes) const {
  if (message.data == nullptr && bytes > 0) {
    return {Code::kSystemError,
            fmt::format("memory of rank {} could not be mapped here; raise the limit on address space or on "
                        "mappings (vm.max_map_count)",
                        port.sender())};
  }
  return {
      Code::kInvalidUsage,
      fmt::format(
          "rank {} sent {} bytes where {} were expected: its call differs from this rank's in count, type, operation "
          "or root; all ranks must call the same collective with the same arguments",
          port.sender(), message.bytes, bytes)};
}

Execution::Span Execution::local(const Operand& operand, std::size_t tile) const {
  Span span;
  span.pieces = operand.pieces;
  span.piece = operand.pieces.begin;
  if (operand.pieces.size() == 1) span.data = address(bound_.pieces[operand.pieces.begin], tile);
  return span;
}

Status Execution::gather_sources(const BoundStep& step, std::size_t tile, std::size_t bytes) {
  inputs_.clear();
  for (std::uint32_t i = step.sources.begin; i < step.sources.end; ++i) {
    const Operand& operand = bound_.operands[i];
    if (operand.port < 0) {
      inputs_.push_back(local(operand, tile));
      continue;
    }
    transport::ReceivePort& port = *bound_.receive_ports[static_cast<std::size_t>(operand.port)];
    const transport::Message& message = *port.front();
    const bool is_lost = message.data == nullptr && bytes > 0;
    if (message.bytes != bytes || message.call_hash != bound_.call_hash || is_lost)
      return mismatch(port, message, bytes);
    Span span;
    span.data = const_cast<std::byte*>(message.data);
    inputs_.push_back(span);
  }
  return {};
}

void Execution::add_destination(const Span& span, kernels::Store store) {
  // A message that landed where it should be, or an operand that is its own result.
  const bool is_there = span.data != nullptr && inputs_.size() == 1 && inputs_.front().data == span.data;
  if (is_there) return;
  constexpr std::size_t kMaskBits = 64;
  if (store == kernels::Store::kNonTemporal && outputs_.size() < kMaskBits)
    nt_mask_ |= std::uint64_t{1} << outputs_.size();
  outputs_.push_back(span);
}

/// Memory whose bytes are the message: the source of a plain move, or where the result is stored anyway. Null if there is none.
const std::byte* Execution::referable(const BoundStep& step, std::size_t tile) const {
  const Operand& source = bound_.operands[step.sources.begin];
  if (step.is_move && source.port < 0) return inputs_.front().data;
  for (std::uint32_t i = step.destinations.begin; i < step.destinations.end; ++i) {
    const Operand& operand = bound_.operands[i];
    if (operand.port >= 0 || operand.pieces.size() != 1) continue;
    if (bound_.pieces[operand.pieces.begin].space != plan::Space::kScratch) return local(operand, tile).data;
  }
  return nullptr;
}

void Execution::add_ports(const BoundStep& step, std::size_t tile, std::uint32_t bytes) {
  const std::byte* const memory = referable(step, tile);
  const bool is_local_move = step.is_move && bound_.operands[step.sources.begin].port < 0;
  for (std::uint32_t i = step.destinations.begin; i < step.destinations.end; ++i) {
    const Operand& operand = bound_.operands[i];
    if (operand.port < 0) continue;
    transport::SendPort& port = *bound_.send_ports[static_cast<std::size_t>(operand.port)];
    const bool can_refer = memory != nullptr && port.can_refer(memory, bytes);
    // A move leaves the copying to its receivers, who work side by side; a result is stored where it is wanted while it is in registers.
    if (can_refer && is_local_move) {
      references_[i - step.destinations.begin] = memory;
      continue;
    }
    const transport::Places places = port.places(bytes);
    if (can_refer && places.landing == transport::Landing::kSlot) {
      references_[i - step.destinations.begin] = memory;
      continue;
    }
    const bool is_slot = places.landing == transport::Landing::kSlot;
    for (std::byte* place : places.data) {
      Span span;
      span.data = place;
      add_destination(span, is_slot ? stores_.slots : stores_.output);
    }
  }
}

void Execution::gather_destinations(const BoundStep& step, std::size_t tile, std::uint32_t bytes) {
  outputs_.clear();
  references_.assign(step.destinations.size(), nullptr);
  nt_mask_ = 0;
  for (std::uint32_t i = step.destinations.begin; i < step.destinations.end; ++i) {
    const Operand& operand = bound_.operands[i];
    if (operand.port < 0) add_destination(local(operand, tile), stores_.output);
  }
  add_ports(step, tile, bytes);
}

void Execution::call_kernel(const BoundStep& step, std::size_t bytes) {
  kernels::ReduceCopyArgs args;
  args.sources = source_data_;
  args.destinations = destination_data_;
  args.nt_mask = nt_mask_;
  if (step.is_move) {
    args.type = DataType::kUint8;
    args.count = bytes;
  } else {
    args.type = bound_.type;
    args.combine = bound_.combine;
    args.count = bytes / size_of(bound_.type);
    args.pre_mask = step.pre_mask;
    args.scale = buffers_.scale;
    args.divisor = step.apply_post ? bound_.divisor : 0;
  }
  kernels::reduce_copy(args);
}

std::size_t Execution::left_in(const Span& span, std::size_t tile) const {
  if (span.data != nullptr) return SIZE_MAX;
  return bytes(bound_.pieces[span.piece], tile) - span.offset;
}

/// Moves a cursor on; pieces that are empty in this tile are passed over.
void Execution::pass(Span& span, std::size_t tile, std::size_t bytes) {
  span.offset += bytes;
  while (span.data == nullptr && span.piece + 1 < span.pieces.end && left_in(span, tile) == 0) {
    ++span.piece;
    span.offset = 0;
  }
}

/// Operands are cut differently: works on the common refinement.
void Execution::combine_pieces(const BoundStep& step, std::size_t tile, std::size_t bytes) {
  for (Span& span : inputs_) pass(span, tile, 0);
  for (Span& span : outputs_) pass(span, tile, 0);
  const auto at = [&](const Span& span) {
    return span.data != nullptr ? span.data + span.offset : address(bound_.pieces[span.piece], tile) + span.offset;
  };
  for (std::size_t done = 0; done < bytes;) {
    std::size_t length = bytes - done;
    for (const Span& span : inputs_) length = std::min(length, left_in(span, tile));
    for (const Span& span : outputs_) length = std::min(length, left_in(span, tile));
    if (length == 0) return;  // only a malformed plan; verify excludes it
    source_data_.clear();
    destination_data_.clear();
    for (const Span& span : inputs_) source_data_.push_back(at(span));
    for (const Span& span : outputs_) destination_data_.push_back(at(span));
    call_kernel(step, length);
    for (Span& span : inputs_) pass(span, tile, length);
    for (Span& span : outputs_) pass(span, tile, length);
    done += length;
  }
}

void Execution::combine(const BoundStep& step, std::size_t tile, std::size_t bytes) {
  if (outputs_.empty() || bytes == 0) return;
  if (!step.is_single) return combine_pieces(step, tile, bytes);
  source_data_.clear();
  destination_data_.clear();
  for (const Span& span : inputs_) source_data_.push_back(span.data);
  for (const Span& span : outputs_) destination_data_.push_back(span.data);
  call_kernel(step, bytes);
}

void Execution::announce(const BoundStep& step, std::uint32_t bytes) {
  if (nt_mask_ != 0) kernels::store_fence();
  for (std::uint32_t i = step.destinations.begin; i < step.destinations.end; ++i) {
    const Operand& operand = bound_.operands[i];
    if (operand.port < 0) continue;
    const auto index = static_cast<std::size_t>(operand.port);
    const std::byte* const reference = references_[i - step.destinations.begin];
    if (reference == nullptr) {
      bound_.send_ports[index]->announce(bytes, bound_.call_hash);
    } else {
      has_referred_[index] = 1;
      bound_.send_ports[index]->announce_reference(reference, bytes, bound_.call_hash);
    }
  }
}

void Execution::release(const BoundStep& step) {
  for (std::uint32_t i = step.sources.begin; i < step.sources.end; ++i) {
    const Operand& operand = bound_.operands[i];
    if (operand.port >= 0) bound_.receive_ports[static_cast<std::size_t>(operand.port)]->release();
  }
}

Status Execution::run(const BoundStep& step, std::size_t tile) {
  const std::size_t bytes = step_bytes(step, tile);
  HAWSER_TRY(gather_sources(step, tile, bytes));
  gather_destinations(step, tile, static_cast<std::uint32_t>(bytes));
  combine(step, tile, bytes);
  announce(step, static_cast<std::uint32_t>(bytes));
  release(step);
  return {};
}

}  // namespace hawser::executor
