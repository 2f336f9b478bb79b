// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The byte interpreter's memory: the buffers of one rank, and lists of byte ranges in them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/status.h"
#include "plan/geometry.h"
#include "plan/interpret.h"

namespace hawser::plan {

/// Byte ranges, seen as one sequence. Borrows the memory.
class ScatterList {
 public:
  void append(std::span<std::byte> range) {
    ranges_.push_back(range);
    size_ += range.size();
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// A copy of bytes [begin, begin + bytes).
  [[nodiscard]] std::vector<std::byte> read(std::size_t begin, std::size_t bytes) const;
  /// Overwrites bytes [begin, begin + data.size()).
  void write(std::size_t begin, std::span<const std::byte> data) const;

 private:
  std::vector<std::span<std::byte>> ranges_;
  std::size_t size_ = 0;
};

/// Input, output and scratch of one rank. Not copyable or movable: lists borrow from it.
class RankMemory {
 public:
  /// `plan` has passed check_plans(). All buffers but the input start as garbage. In place: input and output overlap as
  /// in_place_aliasing() says.
  RankMemory(const Plan& plan, std::span<const std::byte> input, const InterpretOptions& options,
             std::size_t element_bytes, std::size_t tiles);
  RankMemory(const RankMemory&) = delete;
  RankMemory& operator=(const RankMemory&) = delete;

  /// The bytes of a region in a tile.
  [[nodiscard]] ScatterList list(const Region& region, std::size_t tile);
  [[nodiscard]] std::span<const std::byte> output() const { return output_; }

 private:
  void place_buffers(const Plan& plan, std::span<const std::byte> input, const InterpretOptions& options);

  const Plan& plan_;
  std::size_t tile_bytes_;
  std::size_t copies_;  // of scratch
  Geometry input_geometry_;
  Geometry output_geometry_;
  std::vector<std::byte> store_[2];
  std::span<std::byte> input_;
  std::span<std::byte> output_;
  std::vector<std::vector<std::byte>> scratch_;  // [copy * chunks + chunk], a tile each
};

}  // namespace hawser::plan
