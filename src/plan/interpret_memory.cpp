// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "plan/interpret_memory.h"

#include <algorithm>

#include "plan/builder.h"

namespace hawser::plan {
namespace {

/// A byte that initial garbage consists of.
std::byte garbage(std::uint64_t seed, std::uint64_t buffer) {
  return static_cast<std::byte>(((seed * 8191 + buffer + 1) * 0x9e3779b97f4a7c15U) >> 56);
}

}  // namespace

std::vector<std::byte> ScatterList::read(std::size_t begin, std::size_t bytes) const {
  std::vector<std::byte> data;
  data.reserve(bytes);
  for (const std::span<std::byte> range : ranges_) {
    const std::size_t skipped = std::min(begin, range.size());
    begin -= skipped;
    const std::size_t taken = std::min(range.size() - skipped, bytes - data.size());
    const auto part = range.subspan(skipped, taken);
    data.insert(data.end(), part.begin(), part.end());
  }
  return data;
}

void ScatterList::write(std::size_t begin, std::span<const std::byte> data) const {
  for (const std::span<std::byte> range : ranges_) {
    const std::size_t skipped = std::min(begin, range.size());
    begin -= skipped;
    const std::size_t taken = std::min(range.size() - skipped, data.size());
    std::ranges::copy(data.first(taken), range.begin() + static_cast<std::ptrdiff_t>(skipped));
    data = data.subspan(taken);
  }
}

RankMemory::RankMemory(const Plan& plan, std::span<const std::byte> input, const InterpretOptions& options,
                       std::size_t element_bytes, std::size_t tiles)
    : plan_(plan),
      tile_bytes_(options.tile_bytes),
      copies_(std::min(static_cast<std::size_t>(plan.window), tiles)),
      input_geometry_(plan.input, options.count, element_bytes),
      output_geometry_(plan.output, options.count, element_bytes) {
  place_buffers(plan, input, options);
  for (std::size_t copy = 0; copy < copies_; ++copy) {
    for (const Region& model : plan.scratch) {
      const Geometry& geometry = model.space == Space::kInput ? input_geometry_ : output_geometry_;
      const std::size_t bytes = geometry.slice(model.runs[0].first, 0, tile_bytes_).bytes;
      scratch_.emplace_back(bytes, garbage(options.seed, scratch_.size()));
    }
  }
}

void RankMemory::place_buffers(const Plan& plan, std::span<const std::byte> input, const InterpretOptions& options) {
  const auto rank = static_cast<std::size_t>(plan.rank);
  const Aliasing aliasing = in_place_aliasing(plan);
  const bool is_in_place = rank < options.in_place.size() && options.in_place[rank] && aliasing.chunks > 0;
  store_[1].assign(output_geometry_.bytes(), garbage(options.seed, rank));
  if (!is_in_place) {
    store_[0].assign(input.begin(), input.end());
    input_ = store_[0];
    output_ = store_[1];
    return;
  }
  // The two buffers are one: the larger is the memory, the smaller lies in it.
  const std::size_t input_offset = input_geometry_.offset(aliasing.input_first);
  const std::size_t output_offset = output_geometry_.offset(aliasing.output_first);
  if (input.size() > store_[1].size()) {
    store_[0].assign(input.begin(), input.end());
    input_ = store_[0];
    output_ = input_.subspan(input_offset - output_offset, store_[1].size());
  } else {
    output_ = store_[1];
    input_ = output_.subspan(output_offset - input_offset, input.size());
    std::ranges::copy(input, input_.begin());
  }
}

ScatterList RankMemory::list(const Region& region, std::size_t tile) {
  ScatterList list;
  for (const Run& run : region.runs) {
    for (int chunk = run.first; chunk < run.first + run.count; ++chunk) {
      if (region.space == Space::kScratch) {
        const Region& model = plan_.scratch[static_cast<std::size_t>(chunk)];
        const Geometry& geometry = model.space == Space::kInput ? input_geometry_ : output_geometry_;
        const std::size_t bytes = geometry.slice(model.runs[0].first, tile, tile_bytes_).bytes;
        std::vector<std::byte>& memory =
            scratch_[(tile % copies_) * plan_.scratch.size() + static_cast<std::size_t>(chunk)];
        list.append(std::span(memory).first(bytes));
        continue;
      }
      const bool is_input = region.space == Space::kInput;
      const Slice slice = (is_input ? input_geometry_ : output_geometry_).slice(chunk, tile, tile_bytes_);
      list.append((is_input ? input_ : output_).subspan(slice.offset, slice.bytes));
    }
  }
  return list;
}

}  // namespace hawser::plan
