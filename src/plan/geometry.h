// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Where chunks lie: turns a Layout and a call's sizes into byte offsets, and cuts chunks into tiles. Executors and the
// byte interpreter bind plans with it, so that all agree on every border.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "plan/plan.h"

namespace hawser::plan {

/// A range of bytes of a buffer, from its start.
struct Slice {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  bool operator==(const Slice&) const = default;
};

/// Borders of parts lie at multiples of this many bytes from the start of the buffer, and tiles are multiples of it.
inline constexpr std::size_t kPartAlignment = 64;

/// The chunks of one buffer of one call. A value type; any thread may read it.
class Geometry {
 public:
  /// No chunks.
  Geometry() = default;

  /// kParts: `count` elements in all. Borders are multiples of 64 bytes, parts differ by at most one unit of 64 bytes
  /// (earlier ones are larger), and what is left over of less than a unit belongs to the last part. kBlocks: `count`
  /// elements per block. element_bytes >= 1; units grow to hold whole elements if it does not divide 64.
  Geometry(const Layout& layout, std::size_t count, std::size_t element_bytes)
      : layout_(layout), element_bytes_(element_bytes), bytes_(count * element_bytes) {}

  /// kBlocks of different sizes, back to back: counts[i] elements in block i. counts.size() == layout.chunks.
  Geometry(const Layout& layout, std::span<const std::size_t> counts, std::size_t element_bytes)
      : layout_(layout), element_bytes_(element_bytes) {
    borders_.reserve(counts.size() + 1);
    borders_.push_back(0);
    for (const std::size_t count : counts) borders_.push_back(borders_.back() + count * element_bytes);
  }

  [[nodiscard]] int chunks() const { return layout_.chunks; }
  [[nodiscard]] std::size_t element_bytes() const { return element_bytes_; }

  /// Bytes of the whole buffer.
  [[nodiscard]] std::size_t bytes() const { return offset(layout_.chunks); }

  /// First byte of a chunk; 0 <= chunk <= chunks(), where chunks() gives the end of the buffer.
  [[nodiscard]] std::size_t offset(int chunk) const {
    const auto index = static_cast<std::size_t>(chunk);
    if (!borders_.empty()) return borders_[index];
    if (layout_.cut == Cut::kBlocks) return index * bytes_;
    const auto chunks = static_cast<std::size_t>(layout_.chunks);
    if (index == chunks) return chunks == 0 ? 0 : bytes_;
    const std::size_t units = bytes_ / unit();
    return (units / chunks * index + std::min(units % chunks, index)) * unit();
  }

  /// Bytes of a chunk; 0 <= chunk < chunks().
  [[nodiscard]] std::size_t bytes(int chunk) const { return offset(chunk + 1) - offset(chunk); }

  /// The part of a chunk that belongs to tile `tile` when each tile takes `tile_bytes` (a multiple of 64 and of
  /// element_bytes()) of every chunk; empty, at the chunk's end, behind its last tile.
  [[nodiscard]] Slice slice(int chunk, std::size_t tile, std::size_t tile_bytes) const {
    const std::size_t size = bytes(chunk);
    const std::size_t begin = std::min(size, tile * tile_bytes);
    return {offset(chunk) + begin, std::min(tile_bytes, size - begin)};
  }

  /// Tiles that the largest chunk needs, at least 1.
  [[nodiscard]] std::size_t tiles(std::size_t tile_bytes) const {
    std::size_t largest = 0;
    for (int chunk = 0; chunk < layout_.chunks; ++chunk) largest = std::max(largest, bytes(chunk));
    return std::max<std::size_t>(1, (largest + tile_bytes - 1) / tile_bytes);
  }

 private:
  [[nodiscard]] std::size_t unit() const { return std::lcm(kPartAlignment, element_bytes_); }

  Layout layout_;
  std::size_t element_bytes_ = 1;
  std::size_t bytes_ = 0;             // of all parts, or of one block
  std::vector<std::size_t> borders_;  // only if blocks differ
};

/// Tiles of a call: what the larger of its two buffers needs. A rank without buffers still runs one tile.
inline std::size_t tile_count(const Geometry& input, const Geometry& output, std::size_t tile_bytes) {
  return std::max(input.tiles(tile_bytes), output.tiles(tile_bytes));
}

}  // namespace hawser::plan
