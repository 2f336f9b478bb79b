// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What reduce_copy must store, element by element: obvious, slow, and written apart from the kernels (arithmetic on
// values where they shift bits). Elements are raw bits in the low bytes of a word.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/reduce_copy.h"

namespace hawser::kernels::reference {

/// What a call does to each element.
struct Operation {
  DataType type = DataType::kFloat32;
  Combine combine = Combine::kSum;
  std::uint64_t pre_mask = 0;
  std::uint64_t scale = 0;
  std::uint32_t divisor = 0;
};

/// The result for one element, from that element of every source.
std::uint64_t reduce(const Operation& operation, std::span<const std::uint64_t> elements);

/// The value of an fp16, bf16 or fp8.
double decode(DataType type, std::uint64_t bits);
/// fp32 to fp16, bf16 or fp8, to nearest even; NaN to the positive quiet NaN.
std::uint64_t encode(DataType type, float value);

}  // namespace hawser::kernels::reference
