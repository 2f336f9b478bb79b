// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "reference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace hawser::kernels::reference {
namespace {

struct Format {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;
  bool saturates;

  [[nodiscard]] int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] std::uint64_t top() const { return (1u << exponent_bits) - 1; }
  [[nodiscard]] std::uint64_t infinity() const { return top() << mantissa_bits; }
  [[nodiscard]] std::uint64_t nan() const {
    return has_infinity ? infinity() + (1u << (mantissa_bits - 1)) : infinity() + (1u << mantissa_bits) - 1;
  }
  [[nodiscard]] std::uint64_t largest() const { return (has_infinity ? infinity() : nan()) - 1; }
};

Format format_of(DataType type) {
  if (type == DataType::kFloat16) return {5, 10, true, false};
  if (type == DataType::kBfloat16) return {8, 7, true, false};
  if (type == DataType::kFloat8e5m2) return {5, 2, true, true};
  return {4, 3, false, true};
}

bool is_small(DataType type) {
  return type == DataType::kFloat16 || type == DataType::kBfloat16 || type == DataType::kFloat8e4m3 ||
         type == DataType::kFloat8e5m2;
}

double magnitude_of(const Format& format, std::uint64_t magnitude) {
  const std::uint64_t exponent = magnitude >> format.mantissa_bits;
  const auto mantissa = static_cast<double>(magnitude & ((1u << format.mantissa_bits) - 1));
  if (format.has_infinity && exponent == format.top()) {
    return mantissa == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  }
  if (!format.has_infinity && magnitude == format.nan()) return std::numeric_limits<double>::quiet_NaN();
  const int lowest = 1 - format.bias() - format.mantissa_bits;
  if (exponent == 0) return std::ldexp(mantissa, lowest);
  return std::ldexp(mantissa + (1 << format.mantissa_bits), lowest + static_cast<int>(exponent) - 1);
}

template <class T>
T larger(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    if (a == 0 && b == 0) return std::signbit(a) && std::signbit(b) ? -T{0} : T{0};
  }
  return a > b ? a : b;
}

template <class T>
T smaller(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    if (a == 0 && b == 0) return std::signbit(a) || std::signbit(b) ? -T{0} : T{0};
  }
  return a < b ? a : b;
}

/// Arithmetic of T. Integers go through an unsigned type at least as wide as unsigned int, so that they wrap.
template <class T>
T multiply(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a * b;
  else
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
template <class T>
T add(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
template <class T>
T divide(T a, std::uint32_t by) {
  if constexpr (std::is_floating_point_v<T>)
    return a / static_cast<T>(by);
  else if constexpr (std::is_signed_v<T>)
    return static_cast<T>(std::int64_t{a} / std::int64_t{by});
  else
    return static_cast<T>(std::uint64_t{a} / by);
}

template <class T>
T combine(Combine how, T a, T b) {
  switch (how) {
    case Combine::kSum:
      return add(a, b);
    case Combine::kProd:
      return multiply(a, b);
    case Combine::kMax:
      return larger(a, b);
    case Combine::kMin:
      return smaller(a, b);
  }
  return a;
}

/// How T is read from and written to raw bits of the operation's type.
template <class T>
T value_of(DataType type, std::uint64_t bits) {
  if constexpr (std::is_same_v<T, float>) {
    return is_small(type) ? static_cast<float>(decode(type, bits))
                          : std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(bits);
  } else {
    return static_cast<T>(bits);
  }
}
template <class T>
std::uint64_t bits_of(DataType type, T value) {
  if constexpr (std::is_same_v<T, float>) {
    if (is_small(type)) return encode(type, value);
    return std::isnan(value) ? 0x7fc00000 : std::bit_cast<std::uint32_t>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::isnan(value) ? 0x7ff8000000000000 : std::bit_cast<std::uint64_t>(value);
  } else {
    return static_cast<std::make_unsigned_t<T>>(value);
  }
}

template <class T>
std::uint64_t reduce_as(const Operation& operation, std::span<const std::uint64_t> elements) {
  const T scale = value_of<T>(operation.type, operation.scale);
  T result{};
  for (std::size_t i = 0; i < elements.size(); ++i) {
    T value = value_of<T>(operation.type, elements[i]);
    if (i < 64 && (operation.pre_mask >> i & 1) != 0) {
      value = value_of<T>(operation.type, bits_of<T>(operation.type, multiply(value, scale)));
    }
    result = i == 0 ? value : combine(operation.combine, result, value);
  }
  if (operation.divisor != 0) result = divide(result, operation.divisor);
  return bits_of<T>(operation.type, result);
}

}  // namespace

double decode(DataType type, std::uint64_t bits) {
  const Format format = format_of(type);
  const std::uint64_t sign = std::uint64_t{1} << (format.exponent_bits + format.mantissa_bits);
  const double magnitude = magnitude_of(format, bits & (sign - 1));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

std::uint64_t encode(DataType type, float value) {
  const Format format = format_of(type);
  if (std::isnan(value)) return format.nan();
  const std::uint64_t sign =
      std::signbit(value) ? std::uint64_t{1} << (format.exponent_bits + format.mantissa_bits) : 0;
  const std::uint64_t beyond = format.saturates ? format.largest() : format.infinity();
  const double magnitude = std::fabs(static_cast<double>(value));
  if (std::isinf(magnitude)) return sign | beyond;
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), 1 - format.bias());
  const double units = std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));  // ties to even
  if (std::ldexp(units, exponent - format.mantissa_bits) > magnitude_of(format, format.largest())) return sign | beyond;
  // Units of a normal number begin at 1 << mantissa_bits, which adds one to the exponent field below them.
  const auto field = static_cast<std::uint64_t>(exponent - (1 - format.bias()));
  return sign | ((field << format.mantissa_bits) + static_cast<std::uint64_t>(units));
}

std::uint64_t reduce(const Operation& operation, std::span<const std::uint64_t> elements) {
  if (elements.size() == 1 && (operation.pre_mask & 1) == 0 && operation.divisor == 0) return elements[0];
  switch (operation.type) {
    case DataType::kInt8:
      return reduce_as<std::int8_t>(operation, elements);
    case DataType::kUint8:
      return reduce_as<std::uint8_t>(operation, elements);
    case DataType::kInt32:
      return reduce_as<std::int32_t>(operation, elements);
    case DataType::kUint32:
      return reduce_as<std::uint32_t>(operation, elements);
    case DataType::kInt64:
      return reduce_as<std::int64_t>(operation, elements);
    case DataType::kUint64:
      return reduce_as<std::uint64_t>(operation, elements);
    case DataType::kFloat64:
      return reduce_as<double>(operation, elements);
    case DataType::kFloat32:
    case DataType::kFloat16:
    case DataType::kBfloat16:
    case DataType::kFloat8e4m3:
    case DataType::kFloat8e5m2:
      return reduce_as<float>(operation, elements);
  }
  return 0;
}

}  // namespace hawser::kernels::reference
