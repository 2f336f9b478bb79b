// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The SIMD targets that were compiled, and the choice among them at run time. Internal to kernels/: reduce_copy.cpp runs
// the best one, tests run each. Stands in for Highway's own dispatcher, which exists only in a shared library.
#pragma once

#include <array>
#include <cstddef>

#include "kernels/reduce_copy.h"

namespace hawser::kernels {

inline constexpr std::size_t kCombineCount = 4;

using ReduceFunction = void (*)(const ReduceCopyArgs&);
using StreamFunction = void (*)(std::byte* to, const std::byte* from, std::size_t bytes);

/// Kernels of one element type, indexed by Combine. Each handles any sources but none, pre, divisor and store.
using TypeKernels = std::array<ReduceFunction, kCombineCount>;

/// One instruction set's kernels.
struct Target {
  const char* name;
  std::array<TypeKernels, kDataTypeCount> reduce;  ///< indexed by DataType
  StreamFunction stream;                           ///< non-temporal copy
};

/// The targets that this CPU can run, best first: index 0 always exists, null past the last. Any thread.
const Target* target_at(std::size_t index);

/// reduce_copy() on a given target.
void reduce_copy_on(const Target& target, const ReduceCopyArgs& args);
/// copy() on a given target.
void copy_on(const Target& target, std::byte* to, const std::byte* from, std::size_t bytes, Store store);

}  // namespace hawser::kernels
