// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Conversions of fp16, bf16 and fp8, exhaustively: every value of the type, alone and against values that push results
// over every border, on every SIMD target.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "kernels/reduce_copy.h"
#include "kernels/targets.h"
#include "reference.h"

namespace hawser::kernels {
namespace {

constexpr DataType kSmallTypes[] = {DataType::kFloat16, DataType::kBfloat16, DataType::kFloat8e4m3,
                                    DataType::kFloat8e5m2};

std::size_t values_of(DataType type) { return std::size_t{1} << (8 * size_of(type)); }

/// Packed elements of a type.
class Elements {
 public:
  Elements(DataType type, std::size_t count) : bytes_(size_of(type)), memory_(count * bytes_) {}
  void set(std::size_t i, std::uint64_t bits) { std::memcpy(memory_.data() + i * bytes_, &bits, bytes_); }
  [[nodiscard]] std::uint64_t get(std::size_t i) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, memory_.data() + i * bytes_, bytes_);
    return bits;
  }
  [[nodiscard]] std::byte* data() { return memory_.data(); }
  [[nodiscard]] std::size_t count() const { return memory_.size() / bytes_; }

 private:
  std::size_t bytes_;
  std::vector<std::byte> memory_;
};

Elements every_value(DataType type) {
  Elements all(type, values_of(type));
  for (std::size_t i = 0; i < all.count(); ++i) all.set(i, i);
  return all;
}

Elements combine_on(const Target& target, DataType type, Combine combine, Elements& a, Elements& b) {
  Elements result(type, a.count());
  const std::array<const std::byte*, 2> sources{a.data(), b.data()};
  const std::array<std::byte*, 1> destinations{result.data()};
  reduce_copy_on(
      target, {.type = type, .combine = combine, .count = a.count(), .sources = sources, .destinations = destinations});
  return result;
}

/// Every value against one, every operation, every target.
void check_against(DataType type, std::uint64_t other) {
  Elements all = every_value(type);
  Elements others(type, all.count());
  for (std::size_t i = 0; i < all.count(); ++i) others.set(i, other);
  for (int combine = 0; combine < 4; ++combine) {
    const auto how = static_cast<Combine>(combine);
    Elements expected(type, all.count());
    for (std::size_t i = 0; i < all.count(); ++i) {
      const std::array<std::uint64_t, 2> pair{i, other};
      expected.set(i, reference::reduce({.type = type, .combine = how}, pair));
    }
    for (std::size_t t = 0; target_at(t) != nullptr; ++t) {
      const Elements result = combine_on(*target_at(t), type, how, all, others);
      for (std::size_t i = 0; i < all.count(); ++i) {
        ASSERT_EQ(result.get(i), expected.get(i)) << target_at(t)->name << ' ' << name_of(type) << " combine "
                                                  << combine << " of " << std::hex << i << " and " << other;
      }
    }
  }
}

TEST(SmallFloat, EveryPairOfFp8) {
  for (const DataType type : {DataType::kFloat8e4m3, DataType::kFloat8e5m2}) {
    for (std::uint64_t other = 0; other < 256; ++other) {
      check_against(type, other);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(SmallFloat, EveryHalfAgainstBorders) {
  // 1, -1, 1/3, 2^-14, 2^-24 and 3 * 2^-24, 2^-13 + an ulp, 65504, 2048, -0, infinity, NaN
  for (const std::uint64_t other :
       {0x3c00, 0xbc00, 0x3555, 0x0400, 0x0001, 0x0003, 0x0801, 0x7bff, 0x6800, 0x8000, 0x7c00, 0x7e00}) {
    check_against(DataType::kFloat16, other);
    if (HasFatalFailure()) return;
  }
}

TEST(SmallFloat, EveryBfloatAgainstBorders) {
  // 1, -1, 1/3, 2^-126, the smallest subnormal, 2^127 * 1.99, 2^-64, -0, infinity, NaN
  for (const std::uint64_t other : {0x3f80, 0xbf80, 0x3eab, 0x0080, 0x0001, 0x7f7f, 0x1f80, 0x8000, 0xff80, 0xffff}) {
    check_against(DataType::kBfloat16, other);
    if (HasFatalFailure()) return;
  }
}

TEST(SmallFloat, ReferenceKnowsPublishedValues) {
  EXPECT_EQ(reference::decode(DataType::kFloat8e4m3, 0x7e), 448);
  EXPECT_EQ(reference::decode(DataType::kFloat8e4m3, 0x01), 0x1p-9);
  EXPECT_TRUE(std::isnan(reference::decode(DataType::kFloat8e4m3, 0xff)));
  EXPECT_EQ(reference::decode(DataType::kFloat8e5m2, 0x7b), 57344);
  EXPECT_EQ(reference::decode(DataType::kFloat8e5m2, 0x01), 0x1p-16);
  EXPECT_EQ(reference::decode(DataType::kFloat8e5m2, 0xfc), -INFINITY);
  EXPECT_EQ(reference::decode(DataType::kFloat16, 0x7bff), 65504);
  EXPECT_EQ(reference::decode(DataType::kFloat16, 0x0001), 0x1p-24);
  EXPECT_EQ(reference::decode(DataType::kBfloat16, 0x3f80), 1);
  EXPECT_EQ(reference::encode(DataType::kFloat16, 65519.996f), 0x7bffu);
  EXPECT_EQ(reference::encode(DataType::kFloat16, 65520), 0x7c00u);
  EXPECT_EQ(reference::encode(DataType::kFloat8e4m3, 1000), 0x7eu);
  EXPECT_EQ(reference::encode(DataType::kFloat8e5m2, -INFINITY), 0xfbu);
  for (const DataType type : kSmallTypes) {
    for (std::size_t i = 0; i < values_of(type); ++i) {
      const double value = reference::decode(type, i);
      const bool saturates = type == DataType::kFloat8e5m2 && std::isinf(value);
      if (std::isnan(value) || saturates) continue;
      EXPECT_EQ(reference::encode(type, static_cast<float>(value)), i);
    }
  }
}

TEST(SmallFloat, EveryValueSurvivesAProductWithOne) {
  for (const DataType type : kSmallTypes) {
    check_against(type, reference::encode(type, 1));
    if (HasFatalFailure()) return;
  }
}

#if defined(__x86_64__)
/// Sets flush-to-zero and denormals-are-zero, as programs built with -ffast-math do, while it lives.
class FlushDenormals {
 public:
  FlushDenormals() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | 0x8040); }
  ~FlushDenormals() { _mm_setcsr(saved_); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  unsigned saved_;
};

TEST(SmallFloat, ConvertsSubnormalsWhereTheProgramFlushesThem) {
  // Subnormals of these types are normal in fp32. (bf16's are not, and are flushed like fp32's.)
  for (const DataType type : {DataType::kFloat16, DataType::kFloat8e4m3, DataType::kFloat8e5m2}) {
    Elements all = every_value(type);
    Elements ones(type, all.count());
    for (std::size_t i = 0; i < all.count(); ++i) ones.set(i, reference::encode(type, 1));
    for (std::size_t t = 0; target_at(t) != nullptr; ++t) {
      const Elements expected = combine_on(*target_at(t), type, Combine::kProd, all, ones);
      const FlushDenormals flush;
      const Elements result = combine_on(*target_at(t), type, Combine::kProd, all, ones);
      EXPECT_EQ(expected.get(1), 1u);
      for (std::size_t i = 0; i < all.count(); ++i) ASSERT_EQ(result.get(i), expected.get(i)) << target_at(t)->name;
    }
  }
}
#endif

}  // namespace
}  // namespace hawser::kernels
