// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Kernels of fp32 and fp64. A NaN result is the positive quiet NaN: which operand's payload and sign an addition keeps
// depends on how a compiler orders the operands, and ranks must agree to the bit.
#include "kernels/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce_float.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h, which includes this file again for each target.
#include "hwy/highway.h"
#include "kernels/reduce_copy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hawser::kernels::HWY_NAMESPACE {

template <class T>
struct Float {
  using D = hn::ScalableTag<T>;
  using Vector = hn::Vec<D>;
  using DPacked = D;
  using Packed = Vector;
  using Divisor = FloatDivisor<Vector>;
  static constexpr std::size_t kBytes = sizeof(T);
  static constexpr std::size_t kGroup = 1;

  static HWY_INLINE void unpack(const std::byte* from, Vector* acc) { acc[0] = load_vector(D(), from); }
  static HWY_INLINE Packed pack(const Vector* acc) {
    const hn::RebindToUnsigned<D> bits;
    const auto quiet = hn::Set(bits, sizeof(T) == 4 ? 0x7fc00000 : 0x7ff8000000000000);
    return hn::IfThenElse(hn::IsNaN(acc[0]), hn::BitCast(D(), quiet), acc[0]);
  }
  static HWY_INLINE Vector multiply(Vector a, Vector b) { return hn::Mul(a, b); }
  static HWY_INLINE Vector larger(Vector a, Vector b) { return larger_float(a, b); }
  static HWY_INLINE Vector smaller(Vector a, Vector b) { return smaller_float(a, b); }
  static HWY_INLINE void round(Vector* /*acc*/) {}
  static HWY_INLINE Vector divide(Vector a, const Divisor& by) { return divide_floats(a, by); }
  static HWY_INLINE Divisor divisor(const ReduceCopyArgs& args) { return make_float_divisor(D(), args.divisor); }
  static HWY_INLINE Vector splat(std::uint64_t scale) {
    T value;
    std::memcpy(&value, &scale, sizeof value);
    return hn::Set(D(), value);
  }
};

template <class T>
constexpr TypeKernels float_kernels() {
  return {reduce<Float<T>, Sum>, reduce<Float<T>, Prod>, reduce<Float<T>, Max>, reduce<Float<T>, Min>};
}

extern const TypeKernels kFloat32Kernels;
extern const TypeKernels kFloat64Kernels;
constexpr TypeKernels kFloat32Kernels = float_kernels<float>();
constexpr TypeKernels kFloat64Kernels = float_kernels<double>();

}  // namespace hawser::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
