// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The expected values against a reference of their own: inputs combined two by two, in random orders, every step rounded
// to the element type.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <set>

#include "perf/common/data.h"

namespace hawser::perf {
namespace {

const TypeInfo kHalf = info_of(ncclFloat16);
const TypeInfo kE4m3 = info_of(ncclFloat8e4m3);
const TypeInfo kE5m2 = info_of(ncclFloat8e5m2);
const TypeInfo kBfloat = info_of(ncclBfloat16);
const TypeInfo kFloat = info_of(ncclFloat32);
const TypeInfo kDouble = info_of(ncclFloat64);

TEST(PerfTypes, SmallFormatsComeBackFromEveryBitPattern) {
  for (const TypeInfo* type : {&kHalf, &kE4m3, &kE5m2, &kBfloat}) {
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 8 * type->bytes; ++bits) {
      const double value = decode(*type, bits);
      if (std::isnan(value)) continue;
      ASSERT_EQ(encode(*type, value), bits) << type->name << " " << bits;
    }
  }
}

TEST(PerfTypes, KnownValues) {
  EXPECT_EQ(decode(kE4m3, 0x7e), 448);
  EXPECT_EQ(decode(kE4m3, 0x01), std::ldexp(1, -9));
  EXPECT_TRUE(std::isnan(decode(kE4m3, 0x7f)));
  EXPECT_EQ(encode(kE4m3, 1e9), 0x7eU);
  EXPECT_EQ(decode(kE5m2, 0x7b), 57344);
  EXPECT_EQ(encode(kE5m2, 1e9), 0x7cU);
  EXPECT_EQ(decode(kHalf, 0x3c00), 1);
  EXPECT_EQ(encode(kHalf, 65504), 0x7bffU);
  EXPECT_EQ(encode(kBfloat, 1), 0x3f80U);
  EXPECT_EQ(encode(kHalf, 2049), encode(kHalf, 2048)) << "ties go to even";
  EXPECT_EQ(encode(kHalf, 2051), encode(kHalf, 2052)) << "ties go to even";
}

TEST(PerfTypes, LargeFormatsAreTheMachines) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t bits = random();
    const auto value = std::bit_cast<double>(bits);
    if (!std::isfinite(value)) continue;
    ASSERT_EQ(encode(kDouble, value), bits);
    const auto low = static_cast<std::uint32_t>(bits);
    const auto small = std::bit_cast<float>(low);
    if (!std::isfinite(small)) continue;
    ASSERT_EQ(encode(kFloat, double{small}), low);
    const double number = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 200) - 170);
    ASSERT_EQ(encode(kFloat, number), std::bit_cast<std::uint32_t>(static_cast<float>(number))) << number;
  }
}

std::uint64_t load(const std::vector<std::byte>& from, std::size_t bytes, std::size_t index) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &from[index * bytes], bytes);
  return bits;
}

std::uint64_t cut(const TypeInfo& type, std::uint64_t bits) {
  return type.bytes == 8 ? bits : bits % (std::uint64_t{1} << 8 * type.bytes);
}

std::int64_t extend(const TypeInfo& type, std::uint64_t bits) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * type.bytes - 1);
  return static_cast<std::int64_t>((bits ^ sign) - sign);
}

std::uint64_t combine_integers(const TypeInfo& type, Op op, std::uint64_t a, std::uint64_t b) {
  const bool is_less = type.is_signed ? extend(type, a) < extend(type, b) : a < b;
  if (op == Op::kMax) return is_less ? b : a;
  if (op == Op::kMin) return is_less ? a : b;
  return cut(type, op == Op::kProd ? a * b : a + b);
}

std::uint64_t combine_floats(const TypeInfo& type, Op op, std::uint64_t a, std::uint64_t b) {
  const double x = decode(type, a), y = decode(type, b);
  if (op == Op::kMax) return x < y ? b : a;
  if (op == Op::kMin) return y < x ? b : a;
  return encode(type, op == Op::kProd ? x * y : x + y);
}

std::uint64_t combine(const TypeInfo& type, Op op, std::uint64_t a, std::uint64_t b) {
  return type.is_float ? combine_floats(type, op, a, b) : combine_integers(type, op, a, b);
}

std::uint64_t scaled(const TypeInfo& type, std::uint64_t bits, int by) {
  if (!type.is_float) return cut(type, bits * static_cast<std::uint64_t>(by));
  return encode(type, decode(type, bits) * by);
}

std::uint64_t divided(const TypeInfo& type, std::uint64_t bits, int by) {
  if (type.is_float) return encode(type, decode(type, bits) / by);
  if (!type.is_signed) return bits / static_cast<std::uint64_t>(by);
  return cut(type, static_cast<std::uint64_t>(extend(type, bits) / by));
}

// Combines random neighbours of a random permutation until one value is left.
std::uint64_t reduce_somehow(const TypeInfo& type, Op op, std::vector<std::uint64_t> values, std::mt19937& random) {
  std::shuffle(values.begin(), values.end(), random);
  while (values.size() > 1) {
    const std::size_t at = random() % (values.size() - 1);
    values[at] = combine(type, op, values[at], values[at + 1]);
    values.erase(values.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  return values[0];
}

bool is_same(const TypeInfo& type, std::uint64_t a, std::uint64_t b) {
  return a == b || (type.is_float && decode(type, a) == decode(type, b));
}

class PerfData : public testing::TestWithParam<int> {};

TEST_P(PerfData, EveryOrderOfCombiningGivesTheExpectedBits) {
  const int ranks = GetParam();
  std::mt19937 random(static_cast<unsigned>(ranks));
  for (const TypeInfo& type : all_types()) {
    for (const Op op : all_ops()) {
      const Data data(type.type, op, ranks);
      // An average over any number of ranks is checked apart.
      if (op == Op::kAvg && type.is_float && !std::has_single_bit(static_cast<unsigned>(ranks))) continue;
      for (std::size_t i = 0; i < kPeriod; i += 659) {
        std::vector<std::uint64_t> values;
        for (int rank = 0; rank < ranks; ++rank) {
          const std::uint64_t bits = data.input_bits(rank, i);
          values.push_back(op == Op::kMulSum ? scaled(type, bits, Data::scalar(rank)) : bits);
        }
        std::uint64_t got = reduce_somehow(type, op, values, random);
        if (op == Op::kAvg) got = divided(type, got, ranks);
        ASSERT_TRUE(is_same(type, got, data.reduced_bits(i)))
            << type.name << " " << name_of(op) << " ranks " << ranks << " index " << i;
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Ranks, PerfData, testing::Values(1, 2, 3, 5, 8, 13, 64));

TEST(PerfData, EveryRankMatters) {
  for (const ncclDataType_t each : {ncclInt8, ncclFloat8e5m2, ncclFloat32}) {
    const TypeInfo& type = info_of(each);
    const Data data(type.type, Op::kSum, 8);
    const std::vector<std::byte> nothing(kPeriod * type.bytes);
    for (int rank = 0; rank < 8; ++rank)
      EXPECT_GT(data.count_wrong(data.input(rank), nothing, 0), kPeriod / 10) << type.name << " " << rank;
    EXPECT_GT(data.count_wrong(data.input(0), data.input(1), 0), kPeriod / 10) << type.name;
  }
}

TEST(PerfData, PeriodsHoldTheBits) {
  const Data data(ncclFloat16, Op::kMax, 3);
  const std::vector<std::byte> input = data.input(2), reduced = data.reduced();
  ASSERT_EQ(input.size(), 2 * kPeriod);
  for (std::size_t i = 0; i < kPeriod; i += 101) {
    EXPECT_EQ(load(input, 2, i), data.input_bits(2, i));
    EXPECT_EQ(load(reduced, 2, i), data.reduced_bits(i));
  }
}

TEST(PerfData, CountsEveryWrongElement) {
  const Data data(ncclInt32, Op::kSum, 2);
  const std::vector<std::byte> expected = data.reduced();
  std::vector<std::byte> got(4 * (3 * kPeriod + 17));
  fill(got, expected, 4, 5);
  EXPECT_EQ(data.count_wrong(got, expected, 5), 0U);
  EXPECT_GT(data.count_wrong(got, expected, 6), kPeriod);
  std::set<std::size_t> places{0, 1, kPeriod - 5, kPeriod, 2 * kPeriod + 9, 3 * kPeriod + 16};
  for (const std::size_t each : places) got[4 * each + 2] ^= std::byte{1};
  EXPECT_EQ(data.count_wrong(got, expected, 5), places.size());
}

TEST(PerfData, ZerosAreEqualAndNanIsWrong) {
  const Data data(ncclFloat32, Op::kSum, 2);
  std::vector<float> expected(kPeriod, 0.0F);
  std::vector<float> got(kPeriod, -0.0F);
  EXPECT_EQ(data.count_wrong(std::as_bytes(std::span(got)), std::as_bytes(std::span(expected)), 0), 0U);
  got[3] = std::numeric_limits<float>::quiet_NaN();
  got[9] = std::numeric_limits<float>::min();
  EXPECT_EQ(data.count_wrong(std::as_bytes(std::span(got)), std::as_bytes(std::span(expected)), 0), 2U);
}

// Both ways to average, dividing the sum and multiplying each input, are accepted; something else is not.
TEST(PerfData, AverageOverThreeRanksIsBounded) {
  for (const TypeInfo& type : all_types()) {
    if (!type.is_float) continue;
    const Data data(type.type, Op::kAvg, 3);
    const std::vector<std::byte> expected = data.reduced();
    const std::vector<std::byte> inputs[] = {data.input(0), data.input(1), data.input(2)};
    std::vector<std::byte> multiplied(expected.size()), summed(expected.size());
    for (std::size_t i = 0; i < kPeriod; ++i) {
      double total = 0, sum = 0;
      for (const auto& each : inputs) {
        total += decode(type, load(each, type.bytes, i)) * decode(type, encode(type, 1.0 / 3));
        sum += decode(type, load(each, type.bytes, i));
      }
      const std::uint64_t bits = encode(type, total), raw = encode(type, sum);
      std::memcpy(&multiplied[i * type.bytes], &bits, type.bytes);
      std::memcpy(&summed[i * type.bytes], &raw, type.bytes);
    }
    EXPECT_EQ(data.count_wrong(multiplied, expected, 0), 0U) << type.name;
    EXPECT_GT(data.count_wrong(summed, expected, 0), kPeriod / 4) << type.name << ": not divided";
  }
}

}  // namespace
}  // namespace hawser::perf
