// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Front of the kernels: tells copies from reductions and runs the best SIMD target.
#include "kernels/reduce_copy.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <atomic>
#endif

#include "kernels/store_plan.h"
#include "kernels/targets.h"

namespace hawser::kernels {
namespace {

/// Found once; the CPU does not change.
const Target& best_target() {
  static const Target& best = *target_at(0);
  return best;
}

Store store_of(const ReduceCopyArgs& args, std::size_t destination) {
  return destination < 64 && (args.nt_mask >> destination & 1) != 0 ? Store::kNonTemporal : Store::kCached;
}

/// One source, many destinations: in pieces that stay in the first-level cache, so that the source is read from memory
/// once.
void copy_to_all(const Target& target, const ReduceCopyArgs& args, std::size_t bytes) {
  constexpr std::size_t kPieceBytes = 8192;
  const std::size_t piece_bytes = args.destinations.size() == 1 ? bytes : kPieceBytes;
  for (std::size_t at = 0; at < bytes; at += piece_bytes) {
    const std::size_t piece = std::min(piece_bytes, bytes - at);
    for (std::size_t i = 0; i < args.destinations.size(); ++i) {
      if (args.destinations[i] == args.sources[0]) continue;
      copy_on(target, args.destinations[i] + at, args.sources[0] + at, piece, store_of(args, i));
    }
  }
}

}  // namespace

void reduce_copy_on(const Target& target, const ReduceCopyArgs& args) {
  if (args.count == 0 || args.sources.empty() || args.destinations.empty()) return;
  if (args.sources.size() == 1 && (args.pre_mask & 1) == 0 && args.divisor == 0) {
    return copy_to_all(target, args, args.count * size_of(args.type));
  }
  const TypeKernels& kernels = target.reduce[static_cast<std::size_t>(args.type)];
  kernels[static_cast<std::size_t>(args.combine)](args);
}

void copy_on(const Target& target, std::byte* to, const std::byte* from, std::size_t bytes, Store store) {
  if (bytes <= kLineBytes) return copy_small(to, from, bytes);
  if (store == Store::kNonTemporal) return target.stream(to, from, bytes);
  std::memcpy(to, from, bytes);
}

void reduce_copy(const ReduceCopyArgs& args) { reduce_copy_on(best_target(), args); }

void copy(std::byte* to, const std::byte* from, std::size_t bytes, Store store) {
  copy_on(best_target(), to, from, bytes, store);
}

void store_fence() {
#if defined(__x86_64__)
  _mm_sfence();
#else
  std::atomic_thread_fence(std::memory_order_release);
#endif
}

const char* target_name() { return best_target().name; }

}  // namespace hawser::kernels
