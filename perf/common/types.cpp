// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/common/types.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hawser::perf {
namespace {

constexpr TypeInfo kTypes[] = {
    {ncclInt8, "int8", 1, false, true, 0, 0, false},        {ncclUint8, "uint8", 1, false, false, 0, 0, false},
    {ncclInt32, "int32", 4, false, true, 0, 0, false},      {ncclUint32, "uint32", 4, false, false, 0, 0, false},
    {ncclInt64, "int64", 8, false, true, 0, 0, false},      {ncclUint64, "uint64", 8, false, false, 0, 0, false},
    {ncclFloat16, "half", 2, true, true, 5, 10, true},      {ncclFloat32, "float", 4, true, true, 8, 23, true},
    {ncclFloat64, "double", 8, true, true, 11, 52, true},   {ncclBfloat16, "bfloat16", 2, true, true, 8, 7, true},
    {ncclFloat8e4m3, "f8e4m3", 1, true, true, 4, 3, false}, {ncclFloat8e5m2, "f8e5m2", 1, true, true, 5, 2, true},
};

struct OpInfo {
  Op op;
  std::string_view name;
};
constexpr OpInfo kOpNames[] = {{Op::kSum, "sum"}, {Op::kProd, "prod"}, {Op::kMax, "max"},
                               {Op::kMin, "min"}, {Op::kAvg, "avg"},   {Op::kMulSum, "mulsum"}};
constexpr Op kOps[] = {Op::kSum, Op::kProd, Op::kMax, Op::kMin, Op::kAvg, Op::kMulSum};

// The parts of a format as numbers.
struct Format {
  explicit Format(const TypeInfo& type)
      : mantissa_bits(type.mantissa_bits),
        bias((1 << (type.exponent_bits - 1)) - 1),
        top_field((std::uint64_t{1} << type.exponent_bits) - 1),
        sign_shift(type.exponent_bits + type.mantissa_bits),
        mantissa_mask((std::uint64_t{1} << type.mantissa_bits) - 1),
        has_infinity(type.has_infinity) {}

  [[nodiscard]] std::uint64_t largest() const {
    return has_infinity ? (top_field << mantissa_bits) - 1 : (top_field << mantissa_bits) + mantissa_mask - 1;
  }

  int mantissa_bits;
  int bias;
  std::uint64_t top_field;
  int sign_shift;
  std::uint64_t mantissa_mask;
  bool has_infinity;
};

}  // namespace

std::span<const TypeInfo> all_types() { return kTypes; }

const TypeInfo& info_of(ncclDataType_t type) { return kTypes[static_cast<std::size_t>(type)]; }

std::optional<ncclDataType_t> type_named(std::string_view name) {
  const auto found = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& t) { return t.name == name; });
  if (found == std::end(kTypes)) return std::nullopt;
  return found->type;
}

std::span<const Op> all_ops() { return kOps; }

std::string_view name_of(Op op) {
  return std::find_if(std::begin(kOpNames), std::end(kOpNames), [&](const auto& each) { return each.op == op; })->name;
}

std::optional<Op> op_named(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kOpNames), std::end(kOpNames), [&](const auto& each) { return each.name == name; });
  if (found == std::end(kOpNames)) return std::nullopt;
  return found->op;
}

// Counts the value in units of the last place at its exponent; std::nearbyint rounds ties to even, and a carry into the
// next exponent comes out right because exponent and mantissa are adjacent fields.
std::uint64_t encode(const TypeInfo& type, double value) {
  const Format format(type);
  const std::uint64_t sign = std::uint64_t{std::signbit(value)} << format.sign_shift;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return (format.top_field << format.mantissa_bits) + format.mantissa_mask;
  if (magnitude == 0) return sign;
  if (std::isinf(value)) return sign | (format.largest() + (format.has_infinity ? 1 : 0));
  const int lowest = 1 - format.bias;
  const int exponent = std::max(std::ilogb(magnitude), lowest);
  const auto units = static_cast<std::uint64_t>(std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent)));
  // Subnormal numbers have units below 2^mantissa_bits and field 0, normal ones carry their implicit one into field 1.
  const std::uint64_t bits = (static_cast<std::uint64_t>(exponent - lowest) << format.mantissa_bits) + units;
  return sign | std::min(bits, format.largest() + (format.has_infinity ? 1 : 0));
}

double decode(const TypeInfo& type, std::uint64_t bits) {
  const Format format(type);
  const double sign = (bits >> format.sign_shift & 1) != 0 ? -1.0 : 1.0;
  const std::uint64_t field = bits >> format.mantissa_bits & format.top_field;
  const std::uint64_t mantissa = bits & format.mantissa_mask;
  if (format.has_infinity && field == format.top_field)
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  if (!format.has_infinity && field == format.top_field && mantissa == format.mantissa_mask)
    return std::numeric_limits<double>::quiet_NaN();
  const int exponent = (field == 0 ? 1 : static_cast<int>(field)) - format.bias;
  const std::uint64_t units = field == 0 ? mantissa : mantissa + (std::uint64_t{1} << format.mantissa_bits);
  return sign * std::ldexp(static_cast<double>(units), exponent - format.mantissa_bits);
}

}  // namespace hawser::perf
