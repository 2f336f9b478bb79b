// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Element types and reductions by nccl-tests' names, and the arithmetic of small floating-point formats.
#pragma once

#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace hawser::perf {

struct TypeInfo {
  ncclDataType_t type;
  std::string_view name;
  std::size_t bytes;
  bool is_float;
  bool is_signed;
  int exponent_bits;  ///< floats only
  int mantissa_bits;  ///< floats only, without the implicit one
  bool has_infinity;  ///< floats only; without, only the all-ones pattern is NaN (fp8 e4m3)
};

/// The twelve types, in the order of nccl.h.
std::span<const TypeInfo> all_types();
const TypeInfo& info_of(ncclDataType_t type);
std::optional<ncclDataType_t> type_named(std::string_view name);

/// Reductions as options name them. kMulSum is made by ncclRedOpCreatePreMulSum.
enum class Op : std::uint8_t { kSum, kProd, kMin, kMax, kAvg, kMulSum };
std::span<const Op> all_ops();
std::string_view name_of(Op op);
std::optional<Op> op_named(std::string_view name);

/// The bits of `value` in a floating-point type, rounded to nearest, ties to even. Beyond the range: infinity where the
/// type has one, else the largest number.
std::uint64_t encode(const TypeInfo& type, double value);
/// The number that bits of a floating-point type stand for.
double decode(const TypeInfo& type, std::uint64_t bits);

}  // namespace hawser::perf
