// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Kernels of the integers. Sums and products wrap, so signed and unsigned types share them; division (Avg) truncates
// toward zero.
#include "kernels/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce_integer.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h, which includes this file again for each target.
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/reduce_copy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hawser::kernels::HWY_NAMESPACE {

struct IntegerDivisor {
  std::uint32_t value = 0;
  bool is_signed = false;  ///< of the values, by the call's type: the kernel may serve both
  HWY_INLINE bool is_set() const { return value != 0; }
};

/// value / divisor, `value` taken as signed or unsigned, by magnitudes so that the most negative value is no exception.
template <class T>
HWY_INLINE T divide_integer(T value, IntegerDivisor by) {
  using Unsigned = std::make_unsigned_t<T>;
  using Wide = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  const auto bits = static_cast<Unsigned>(value);
  const bool is_negative = by.is_signed && bits >> (sizeof(T) * 8 - 1) != 0;
  const Wide magnitude = is_negative ? static_cast<Unsigned>(Unsigned{0} - bits) : bits;
  const Wide quotient = magnitude / by.value;
  return static_cast<T>(is_negative ? Wide{0} - quotient : quotient);
}

template <class T>
struct Integer {
  using D = hn::ScalableTag<T>;
  using Vector = hn::Vec<D>;
  using DPacked = D;
  using Packed = Vector;
  using Divisor = IntegerDivisor;
  static constexpr std::size_t kBytes = sizeof(T);
  static constexpr std::size_t kGroup = 1;

  static HWY_INLINE void unpack(const std::byte* from, Vector* acc) { acc[0] = load_vector(D(), from); }
  static HWY_INLINE Packed pack(const Vector* acc) { return acc[0]; }

  /// The low half of the product. No target multiplies bytes: odd and even ones are multiplied as 16-bit words.
  static HWY_INLINE Vector multiply(Vector a, Vector b) {
#if HWY_TARGET == HWY_SCALAR
    using Wide = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    return hn::Set(D(), static_cast<T>(static_cast<Wide>(hn::GetLane(a)) * static_cast<Wide>(hn::GetLane(b))));
#else
    if constexpr (sizeof(T) == 1) {
      const hn::Repartition<std::uint16_t, D> words;
      const auto even = hn::Mul(hn::BitCast(words, a), hn::BitCast(words, b));
      const auto odd = hn::Mul(hn::ShiftRight<8>(hn::BitCast(words, a)), hn::ShiftRight<8>(hn::BitCast(words, b)));
      return hn::BitCast(D(), hn::Or(hn::And(even, hn::Set(words, 0xff)), hn::ShiftLeft<8>(odd)));
    } else {
      return hn::Mul(a, b);
    }
#endif
  }
  static HWY_INLINE Vector larger(Vector a, Vector b) { return hn::Max(a, b); }
  static HWY_INLINE Vector smaller(Vector a, Vector b) { return hn::Min(a, b); }
  static HWY_INLINE void round(Vector* /*acc*/) {}

  /// Rare, so lane by lane.
  static HWY_NOINLINE Vector divide(Vector a, Divisor by) {
    HWY_ALIGN T lanes[HWY_LANES(T)];
    hn::Store(a, D(), lanes);
    for (T& lane : lanes) lane = divide_integer(lane, by);
    return hn::Load(D(), lanes);
  }
  static HWY_INLINE Divisor divisor(const ReduceCopyArgs& args) {
    const bool is_signed =
        args.type == DataType::kInt8 || args.type == DataType::kInt32 || args.type == DataType::kInt64;
    return {args.divisor, is_signed};
  }
  static HWY_INLINE Vector splat(std::uint64_t scale) { return hn::Set(D(), static_cast<T>(scale)); }
};

/// Of T, which is one of a pair of signed and unsigned.
template <class T>
constexpr TypeKernels integer_kernels() {
  using Bits = Integer<std::make_unsigned_t<T>>;
  return {reduce<Bits, Sum>, reduce<Bits, Prod>, reduce<Integer<T>, Max>, reduce<Integer<T>, Min>};
}

extern const std::array<TypeKernels, 6> kIntegerKernels;
constexpr std::array<TypeKernels, 6> kIntegerKernels = {
    integer_kernels<std::int8_t>(),   integer_kernels<std::uint8_t>(), integer_kernels<std::int32_t>(),
    integer_kernels<std::uint32_t>(), integer_kernels<std::int64_t>(), integer_kernels<std::uint64_t>(),
};

}  // namespace hawser::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
