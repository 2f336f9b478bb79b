// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Scalar helpers that the kernels of every SIMD target share: short copies, and where to cut a range so that stores are
// aligned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/reduce_copy.h"

namespace hawser::kernels {

inline constexpr std::size_t kLineBytes = 64;

namespace detail {
/// Copies kSize..2*kSize bytes as two pieces that may overlap, both loaded before either is stored.
template <std::size_t kSize>
inline void copy_two(std::byte* to, const std::byte* from, std::size_t bytes) {
  struct Piece {
    std::byte content[kSize];
  } first, last;
  std::memcpy(&first, from, kSize);
  std::memcpy(&last, from + bytes - kSize, kSize);
  std::memcpy(to, &first, kSize);
  std::memcpy(to + bytes - kSize, &last, kSize);
}
}  // namespace detail

/// Copies up to 64 bytes without a call. `to` may equal `from`.
inline void copy_small(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes >= 32) return detail::copy_two<32>(to, from, bytes);
  if (bytes >= 16) return detail::copy_two<16>(to, from, bytes);
  if (bytes >= 8) return detail::copy_two<8>(to, from, bytes);
  if (bytes >= 4) return detail::copy_two<4>(to, from, bytes);
  if (bytes >= 2) return detail::copy_two<2>(to, from, bytes);
  if (bytes == 1) *to = *from;
}

/// How a call is stored: the first `head_bytes` cached and unaligned, the rest with `nt_mask`.
struct StorePlan {
  std::size_t head_bytes;
  std::uint64_t nt_mask;
};

/// Cuts so that the first non-temporal destination, or else the first destination, is on a line border after the head:
/// non-temporal stores must be aligned, others run twice as fast so. Non-temporal destinations that lie otherwise within
/// a line than the first, or off their element's alignment, are stored cached.
inline StorePlan plan_stores(const ReduceCopyArgs& args, std::size_t element_bytes) {
  constexpr std::size_t kWorthAligning = 1024;
  const std::size_t bytes = args.count * element_bytes;
  if (args.nt_mask == 0 && bytes < kWorthAligning) return {0, 0};
  const auto address_of = [&](std::size_t i) { return reinterpret_cast<std::uintptr_t>(args.destinations[i]); };
  const std::size_t masked = args.destinations.size() < 64 ? args.destinations.size() : 64;
  std::size_t anchor = masked;
  for (std::size_t i = masked; i-- > 0;) {
    if ((args.nt_mask >> i & 1) != 0 && address_of(i) % element_bytes == 0) anchor = i;
  }
  if (anchor == masked) {
    if (masked == 0 || bytes < kWorthAligning || address_of(0) % element_bytes != 0) return {0, 0};
    return {-address_of(0) % kLineBytes, 0};
  }
  const std::size_t head = -address_of(anchor) % kLineBytes;
  if (head >= bytes) return {0, 0};
  std::uint64_t nt_mask = 0;
  for (std::size_t i = 0; i < masked; ++i) {
    const bool is_congruent = (address_of(i) - address_of(anchor)) % kLineBytes == 0;
    if ((args.nt_mask >> i & 1) != 0 && is_congruent) nt_mask |= std::uint64_t{1} << i;
  }
  return {head, nt_mask};
}

}  // namespace hawser::kernels
