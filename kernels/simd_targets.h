// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Which SIMD targets Highway compiles the kernels for. Included before any Highway header by every file that uses one,
// so that all files agree.
#pragma once

// AVX3_DL adds nothing that these kernels use and SSSE3 is older than any machine worth a target of its own; SVE vectors
// have no size, so arrays of them cannot be written: Arm runs NEON. What lies below SSE4 runs the scalar target.
#if defined(HAWSER_SIMD_ONE)
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX2 | HWY_AVX3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#else
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#endif

// One fallback below SSE4, whatever the compiler (some miscompile the emulated vectors).
#define HWY_BROKEN_EMU128 1
// No kernel encrypts, and virtual machines often hide these instructions.
#define HWY_DISABLE_PCLMUL_AES
// Debug checks of Highway call functions of its shared library, which Hawser does not link.
#define HWY_IS_DEBUG_BUILD 0
