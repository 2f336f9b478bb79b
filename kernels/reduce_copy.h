// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The step kernel on the CPU: combines any number of sources element by element, in order, and stores the result in any
// number of destinations. SIMD code for every target that the machine may have, chosen at run time. Called by the host
// executor, once per message piece; allocates nothing, takes no lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/types.h"

namespace hawser::kernels {

/// How two operands combine; Avg and PreMulSum are kSum with post and pre.
enum class Combine : std::uint8_t { kSum, kProd, kMax, kMin };

/// How destination i is stored.
enum class Store : std::uint8_t {
  kCached,
  kNonTemporal,  ///< past the caches; the caller calls store_fence() before it publishes the data
};

struct ReduceCopyArgs {
  DataType type = DataType::kFloat32;
  Combine combine = Combine::kSum;
  std::size_t count = 0;  ///< elements
  /// Combined in this order. fp16, bf16 and fp8 accumulate in fp32 (fp8 too) and are rounded once, to nearest even. A
  /// destination may be the same memory as a source, never overlap it partly. Any alignment.
  std::span<const std::byte* const> sources;
  std::span<std::byte* const> destinations;
  /// Bit i: source i is multiplied by `scale` first, the product rounded to `type` (NCCL's PreMulSum). Sources from 64
  /// on: never.
  std::uint64_t pre_mask = 0;
  /// The scalar, in the representation of `type`, in the first bytes.
  std::uint64_t scale = 0;
  /// > 0: the combined value is divided by it (Avg): floating point before the one rounding, integers truncated toward
  /// zero.
  std::uint32_t divisor = 0;
  /// Bit i: destination i is stored non-temporally. Destinations from 64 on: cached.
  std::uint64_t nt_mask = 0;
};

/// One source, no pre, no divisor is a copy of bytes, whatever the type.
void reduce_copy(const ReduceCopyArgs& args);

/// Copies `bytes` bytes that do not overlap.
void copy(std::byte* to, const std::byte* from, std::size_t bytes, Store store);

/// Makes non-temporal stores of this thread visible before later stores.
void store_fence();

/// Name of the SIMD target in use, e.g. "AVX3".
const char* target_name();

}  // namespace hawser::kernels
