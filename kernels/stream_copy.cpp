// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Non-temporal copy. Whole lines of the destination are streamed; what lies before the first and after the last one is
// stored through the caches.
#include "kernels/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/stream_copy.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h, which includes this file again for each target.
#include <cstring>

#include "hwy/highway.h"
#include "kernels/reduce_copy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hawser::kernels::HWY_NAMESPACE {

void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t vector = hn::Lanes(d);
  const std::size_t to_border = -reinterpret_cast<std::uintptr_t>(to) % kLineBytes;
  const std::size_t head = to_border < bytes ? to_border : bytes;
  copy_small(to, from, head);
  std::size_t at = head;
  for (; bytes - at >= 4 * vector; at += 4 * vector) {
    const auto v0 = load_vector(d, from + at);
    const auto v1 = load_vector(d, from + at + vector);
    const auto v2 = load_vector(d, from + at + 2 * vector);
    const auto v3 = load_vector(d, from + at + 3 * vector);
    stream_vector(d, v0, to + at);
    stream_vector(d, v1, to + at + vector);
    stream_vector(d, v2, to + at + 2 * vector);
    stream_vector(d, v3, to + at + 3 * vector);
  }
  if (at != bytes) std::memcpy(to + at, from + at, bytes - at);
}

}  // namespace hawser::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
