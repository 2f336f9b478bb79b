// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Conversion between fp32 and the small floating-point formats, by integer arithmetic, for one SIMD target. Highway's own
// conversions serve where they are one exact instruction; elsewhere they lose infinities, NaN or the rounding.
//
//   fp32  s eeeeeeee mmmmmmmmmmmmmmmmmmmmmmm      the small exponent is rebased by an addition, the mantissa moved by
//   fp16  s eeeee mmmmmmmmmm                      a shift; subnormals go through one floating-point addition that lines
//   e5m2  s eeeee mm                              them up with a power of two (and rounds them, on the way down), which
//   e4m3  s eeee mmm                              works even where the program has set denormals-are-zero
//
// No include guard in the usual sense: Highway includes the file once per target.
#if defined(HAWSER_KERNELS_CONVERT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HAWSER_KERNELS_CONVERT_INL_H_
#undef HAWSER_KERNELS_CONVERT_INL_H_
#else
#define HAWSER_KERNELS_CONVERT_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace hawser::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DFloat = hn::ScalableTag<float>;
using DWord = hn::ScalableTag<std::int32_t>;
using VFloat = hn::Vec<DFloat>;
using VWord = hn::Vec<DWord>;

inline constexpr std::int32_t kQuietNan = 0x7fc00000;    ///< as fp32 bits
inline constexpr std::int32_t kInfinity32 = 0x7f800000;  ///< as fp32 bits
inline constexpr std::int32_t kSignBit = INT32_MIN;
inline constexpr std::int32_t kUpperHalf = static_cast<std::int32_t>(0xffff0000);

/// Left by kBits, right by -kBits; bits that come in from the left are to be masked.
template <int kBits>
HWY_INLINE VWord shift_left(VWord words) {
  if constexpr (kBits == 0) return words;
  if constexpr (kBits > 0) return hn::ShiftLeft<kBits>(words);
  if constexpr (kBits < 0) return hn::ShiftRight<-kBits>(words);
}

/// What a value beyond the largest finite one becomes.
enum class Overflow { kInfinity, kSaturate };

/// A format with sign, exponent and mantissa whose top exponent is infinity and NaN (kHasInfinity) or ordinary but for
/// the one NaN (OCP "fn").
template <int kExponentBits, int kMantissaBits, bool kHasInfinity, Overflow kOverflow>
struct SmallFloat {
  static constexpr int kBits = 1 + kExponentBits + kMantissaBits;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr int kShift = 23 - kMantissaBits;
  static constexpr std::int32_t kRebase = (127 - kBias) << 23;
  static constexpr std::int32_t kSmallestNormal = (128 - kBias) << 23;  ///< as fp32 bits
  static constexpr std::int32_t kMagnitude = (1 << (kBits - 1)) - 1;
  static constexpr std::int32_t kInfinity = ((1 << kExponentBits) - 1) << kMantissaBits;
  static constexpr std::int32_t kNan = kHasInfinity ? kInfinity | 1 << (kMantissaBits - 1) : kMagnitude;
  static constexpr std::int32_t kLargest = (kHasInfinity ? kInfinity : kNan) - 1;
  static constexpr std::int32_t kLimit = kOverflow == Overflow::kInfinity ? kInfinity : kLargest;
  /// 2^x whose last mantissa bit weighs as much as the smallest subnormal, as fp32 bits.
  static constexpr std::int32_t kAligner = (127 + 24 - kBias - kMantissaBits) << 23;

  /// The value whose bits begin at bit kAt of each word.
  template <int kAt>
  static HWY_INLINE VFloat decode(VWord words) {
    const DFloat df;
    const DWord dw;
    const VWord moved = hn::And(shift_left<kShift - kAt>(words), hn::Set(dw, kMagnitude << kShift));
    const VWord sign = hn::And(shift_left<32 - kBits - kAt>(words), hn::Set(dw, kSignBit));
    const VWord normal = hn::Add(moved, hn::Set(dw, kRebase));
    const VWord border = hn::Set(dw, kSmallestNormal);
    const VFloat subnormal = hn::Sub(hn::BitCast(df, hn::Add(moved, border)), hn::BitCast(df, border));
    VWord bits = hn::IfThenElse(hn::Lt(moved, hn::Set(dw, 1 << 23)), hn::BitCast(dw, subnormal), normal);
    if constexpr (kHasInfinity) {
      const auto is_top = hn::Gt(moved, hn::Set(dw, (kInfinity - 1) << kShift));
      bits = hn::IfThenElse(is_top, hn::Add(normal, hn::Set(dw, kRebase)), bits);
    } else {
      bits = hn::IfThenElse(hn::Eq(moved, hn::Set(dw, kNan << kShift)), hn::Set(dw, kQuietNan), bits);
    }
    return hn::BitCast(df, hn::Or(bits, sign));
  }

  /// To nearest, ties to even, the bits at bit kAt and zeros elsewhere. Every NaN becomes the positive quiet one.
  template <int kAt>
  static HWY_INLINE VWord encode(VFloat value) {
    const DFloat df;
    const DWord dw;
    const VWord bits = hn::BitCast(dw, value);
    const VWord magnitude = hn::And(bits, hn::Set(dw, 0x7fffffff));
    const VWord sign = hn::And(hn::ShiftRight<32 - kBits - kAt>(bits), hn::Set(dw, top_bit(kAt)));
    const VWord odd = hn::And(hn::ShiftRight<kShift>(magnitude), hn::Set(dw, 1));
    const VWord almost_half = hn::Set(dw, (1 << (kShift - 1)) - 1 - kRebase);
    const VWord normal = hn::ShiftRight<kShift>(hn::Add(hn::Add(magnitude, almost_half), odd));
    const VWord aligner = hn::Set(dw, kAligner);
    const VFloat lined_up = hn::Add(hn::BitCast(df, magnitude), hn::BitCast(df, aligner));
    const VWord subnormal = hn::Sub(hn::BitCast(dw, lined_up), aligner);
    const auto is_subnormal = hn::Lt(magnitude, hn::Set(dw, kSmallestNormal));
    const VWord finite = hn::IfThenElse(is_subnormal, subnormal, hn::Min(normal, hn::Set(dw, kLimit)));
    const auto is_nan = hn::Gt(magnitude, hn::Set(dw, kInfinity32));
    return hn::IfThenElse(is_nan, hn::Set(dw, kNan << kAt), hn::Or(hn::ShiftLeft<kAt>(finite), sign));
  }

 private:
  static constexpr std::int32_t top_bit(int at) {
    return static_cast<std::int32_t>(std::uint32_t{1} << (at + kBits - 1));
  }
};

/// bf16 is the upper half of an fp32.
struct Bfloat {
  static constexpr int kBits = 16;

  template <int kAt>
  static HWY_INLINE VFloat decode(VWord words) {
    const DFloat df;
    if constexpr (kAt == 16) return hn::BitCast(df, hn::And(words, hn::Set(DWord(), kUpperHalf)));
    return hn::BitCast(df, hn::ShiftLeft<16>(words));
  }

  /// As SmallFloat::encode.
  template <int kAt>
  static HWY_INLINE VWord encode(VFloat value) {
    const DWord dw;
    const VFloat quiet = hn::BitCast(DFloat(), hn::Set(dw, kQuietNan));
    const VWord bits = hn::BitCast(dw, hn::IfThenElse(hn::IsNaN(value), quiet, value));
    const VWord odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(dw, 1));
    const VWord rounded = hn::Add(hn::Add(bits, hn::Set(dw, 0x7fff)), odd);
    if constexpr (kAt == 16) return hn::And(rounded, hn::Set(dw, kUpperHalf));
    const hn::RebindToUnsigned<DWord> unsigned_words;
    return hn::BitCast(dw, hn::ShiftRight<16>(hn::BitCast(unsigned_words, rounded)));
  }
};

}  // namespace hawser::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
