// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The table of compiled targets, best first, with what each needs of the CPU.
#include "kernels/targets.h"

#include "kernels/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/targets.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h, which includes this file again for each target.
#include "hwy/highway.h"

// Once per target: gathers its kernels, which other files define.
HWY_BEFORE_NAMESPACE();
namespace hawser::kernels::HWY_NAMESPACE {

extern const std::array<TypeKernels, 6> kIntegerKernels;
extern const TypeKernels kFloat16Kernels;
extern const TypeKernels kFloat32Kernels;
extern const TypeKernels kFloat64Kernels;
extern const TypeKernels kBfloat16Kernels;
extern const TypeKernels kFloat8e4m3Kernels;
extern const TypeKernels kFloat8e5m2Kernels;
void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes);

Target make_target() {
  const auto& integers = kIntegerKernels;
  return {hwy::TargetName(HWY_TARGET),
          {integers[0], integers[1], integers[2], integers[3], integers[4], integers[5], kFloat16Kernels,
           kFloat32Kernels, kFloat64Kernels, kBfloat16Kernels, kFloat8e4m3Kernels, kFloat8e5m2Kernels},
          stream_copy};
}

}  // namespace hawser::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hawser::kernels {
namespace {

// The order of the rows in make_target().
static_assert(static_cast<int>(DataType::kUint64) == 5 && static_cast<int>(DataType::kFloat16) == 6 &&
              static_cast<int>(DataType::kBfloat16) == 9 && static_cast<int>(DataType::kFloat8e5m2) == 11);

// Every feature that Highway lets the compiler use for a target (hwy/ops/set_macros-inl.h). The builtins also ask
// whether the operating system saves the wider registers.
#if HWY_ARCH_X86
[[maybe_unused]] bool has_sse4() {
  return __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2");
}
[[maybe_unused]] bool has_avx2() {
  return has_sse4() && __builtin_cpu_supports("avx") && __builtin_cpu_supports("avx2") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("f16c");
}
[[maybe_unused]] bool has_avx3() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}
#endif

struct TargetList {
  static constexpr std::size_t kMost = 4;
  std::array<Target, kMost> targets{};
  std::size_t count = 0;

  void add(const Target& target) { targets[count++] = target; }
};

TargetList find_targets() {
  TargetList list;
#if HWY_ARCH_X86
  __builtin_cpu_init();
#endif
#if (HWY_TARGETS & HWY_AVX3) && (HWY_STATIC_TARGET != HWY_AVX3)
  if (has_avx3()) list.add(N_AVX3::make_target());
#endif
#if (HWY_TARGETS & HWY_AVX2) && (HWY_STATIC_TARGET != HWY_AVX2)
  if (has_avx2()) list.add(N_AVX2::make_target());
#endif
#if (HWY_TARGETS & HWY_SSE4) && (HWY_STATIC_TARGET != HWY_SSE4)
  if (has_sse4()) list.add(N_SSE4::make_target());
#endif
  // The compiler's own flags promise the static target.
  list.add(HWY_STATIC_DISPATCH(make_target)());
  return list;
}

}  // namespace

const Target* target_at(std::size_t index) {
  static const TargetList list = find_targets();
  return index < list.count ? &list.targets[index] : nullptr;
}

}  // namespace hawser::kernels
#endif
