// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Kernels of fp16, bf16 and fp8: accumulated in fp32, rounded to nearest even when the value is packed. Beyond the
// largest finite value fp16 and bf16 become infinite; both fp8 formats saturate, e5m2's infinities included, as CUDA
// converts by default. A NaN result is the positive quiet NaN (see reduce_float.cpp).
#include "kernels/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce_small.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h, which includes this file again for each target.
#include "hwy/highway.h"
#include "kernels/convert-inl.h"
#include "kernels/reduce_copy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hawser::kernels::HWY_NAMESPACE {

// Formats: how a vector of packed values becomes kGroup vectors of fp32, and back. Which value comes into which lane does
// not matter, so long as the way back reverses it.

#if HWY_TARGET == HWY_SCALAR
/// One value at a time.
template <class Codec, class Storage>
struct WordFormat {
  using DPacked = hn::ScalableTag<Storage>;
  using Packed = hn::Vec<DPacked>;
  static constexpr std::size_t kGroup = 1;
  static HWY_INLINE void decode(Packed packed, VFloat* values) {
    values[0] = Codec::template decode<0>(hn::PromoteTo(DWord(), packed));
  }
  static HWY_INLINE Packed encode(const VFloat* values) {
    return hn::Set(DPacked(), static_cast<Storage>(hn::GetLane(Codec::template encode<0>(values[0]))));
  }
};
#else
/// Values picked out of 32-bit words, vector k being the k-th of each word: needs no shuffle.
template <class Codec, class Storage>
struct WordFormat {
  using DPacked = DWord;
  using Packed = VWord;
  static constexpr std::size_t kGroup = sizeof(float) / sizeof(Storage);
  static HWY_INLINE void decode(Packed words, VFloat* values) {
    constexpr int kBits = Codec::kBits;
    values[0] = Codec::template decode<0>(words);
    values[1] = Codec::template decode<kBits>(words);
    if constexpr (kGroup == 4) {
      values[2] = Codec::template decode<2 * kBits>(words);
      values[3] = Codec::template decode<3 * kBits>(words);
    }
  }
  static HWY_INLINE Packed encode(const VFloat* values) {
    constexpr int kBits = Codec::kBits;
    const VWord low = hn::Or(Codec::template encode<0>(values[0]), Codec::template encode<kBits>(values[1]));
    if constexpr (kGroup == 2) return low;
    if constexpr (kGroup == 4) {
      const VWord third = Codec::template encode<2 * kBits>(values[2]);
      const VWord fourth = Codec::template encode<3 * kBits>(values[3]);
      return hn::Or(low, hn::Or(third, fourth));
    }
  }
};
#endif

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
/// fp16 where the machine converts it: exact and, on the way down, to nearest even.
struct HalfFormat {
  using DPacked = hn::ScalableTag<std::uint16_t>;
  using Packed = hn::Vec<DPacked>;
  using DPart = hn::Half<DPacked>;
  using DHalf = hn::Rebind<hwy::float16_t, DFloat>;
  static constexpr std::size_t kGroup = 2;
  static HWY_INLINE void decode(Packed packed, VFloat* values) {
    values[0] = hn::PromoteTo(DFloat(), hn::BitCast(DHalf(), hn::LowerHalf(DPart(), packed)));
    values[1] = hn::PromoteTo(DFloat(), hn::BitCast(DHalf(), hn::UpperHalf(DPart(), packed)));
  }
  static HWY_INLINE Packed encode(const VFloat* values) {
    return hn::Combine(DPacked(), encode_part(values[1]), encode_part(values[0]));
  }
  static HWY_INLINE hn::Vec<DPart> encode_part(VFloat value) {
    const VFloat quiet = hn::BitCast(DFloat(), hn::Set(DWord(), kQuietNan));
    return hn::BitCast(DPart(), hn::DemoteTo(DHalf(), hn::IfThenElse(hn::IsNaN(value), quiet, value)));
  }
};
#else
using HalfFormat = WordFormat<SmallFloat<5, 10, true, Overflow::kInfinity>, std::uint16_t>;
#endif
using BrainFormat = WordFormat<Bfloat, std::uint16_t>;
using E4m3Format = WordFormat<SmallFloat<4, 3, false, Overflow::kSaturate>, std::uint8_t>;
using E5m2Format = WordFormat<SmallFloat<5, 2, true, Overflow::kSaturate>, std::uint8_t>;

/// An element type that accumulates in fp32.
template <class Format, class Storage>
struct Small {
  using Vector = VFloat;
  using DPacked = typename Format::DPacked;
  using Packed = typename Format::Packed;
  using Divisor = FloatDivisor<VFloat>;
  static constexpr std::size_t kBytes = sizeof(Storage);
  static constexpr std::size_t kGroup = Format::kGroup;

  static HWY_INLINE void unpack(const std::byte* from, Vector* acc) {
    Format::decode(load_vector(DPacked(), from), acc);
  }
  static HWY_INLINE Packed pack(const Vector* acc) { return Format::encode(acc); }
  static HWY_INLINE Vector multiply(Vector a, Vector b) { return hn::Mul(a, b); }
  static HWY_INLINE Vector larger(Vector a, Vector b) { return larger_float(a, b); }
  static HWY_INLINE Vector smaller(Vector a, Vector b) { return smaller_float(a, b); }
  static HWY_INLINE void round(Vector* acc) { Format::decode(Format::encode(acc), acc); }
  static HWY_INLINE Vector divide(Vector a, const Divisor& by) { return divide_floats(a, by); }
  static HWY_INLINE Divisor divisor(const ReduceCopyArgs& args) { return make_float_divisor(DFloat(), args.divisor); }
  static HWY_INLINE Vector splat(std::uint64_t scale) {
    HWY_ALIGN std::byte packed[HWY_MAX_BYTES];
    for (std::size_t at = 0; at < sizeof packed; at += kBytes) std::memcpy(packed + at, &scale, kBytes);
    Vector values[kGroup];
    unpack(packed, values);
    return values[0];
  }
};

template <class Format, class Storage>
constexpr TypeKernels small_kernels() {
  using E = Small<Format, Storage>;
  return {reduce<E, Sum>, reduce<E, Prod>, reduce<E, Max>, reduce<E, Min>};
}

extern const TypeKernels kFloat16Kernels;
extern const TypeKernels kBfloat16Kernels;
extern const TypeKernels kFloat8e4m3Kernels;
extern const TypeKernels kFloat8e5m2Kernels;
constexpr TypeKernels kFloat16Kernels = small_kernels<HalfFormat, std::uint16_t>();
constexpr TypeKernels kBfloat16Kernels = small_kernels<BrainFormat, std::uint16_t>();
constexpr TypeKernels kFloat8e4m3Kernels = small_kernels<E4m3Format, std::uint8_t>();
constexpr TypeKernels kFloat8e5m2Kernels = small_kernels<E5m2Format, std::uint8_t>();

}  // namespace hawser::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
