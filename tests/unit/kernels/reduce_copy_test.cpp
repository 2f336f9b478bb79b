// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// reduce_copy against the reference, on every SIMD target that the CPU runs, bit for bit.
#include "kernels/reduce_copy.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "arena.h"
#include "kernels/targets.h"
#include "reference.h"

namespace hawser::kernels {
namespace {

using Random = std::mt19937_64;

std::size_t pick(Random& random, std::size_t count) { return static_cast<std::size_t>(random() % count); }
template <class T, std::size_t kCount>
T pick(Random& random, const std::array<T, kCount>& choices) {
  return choices[pick(random, kCount)];
}

DataType type_at(int index) { return static_cast<DataType>(index); }

std::uint64_t load_element(const std::byte* from, std::size_t bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, bytes);
  return bits;
}

/// Bits that are interesting for the type: any, small integers and halves, or the ends of every range.
std::uint64_t random_element(Random& random, DataType type) {
  const std::uint64_t any = random();
  switch (type) {
    case DataType::kFloat32: {
      constexpr std::array<std::uint32_t, 12> special = {0,          0x80000000, 0x7f800000, 0xff800000,
                                                         0x7fc00000, 0xffc12345, 0x7f812345, 1,
                                                         0x807fffff, 0x00800000, 0x7f7fffff, 0x3f800000};
      return any % 4 == 0 ? pick(random, special) : any % 4 == 1 ? any & 0xffffffff : 0x3f000000 ^ (any >> 40);
    }
    case DataType::kFloat64: {
      constexpr std::array<std::uint64_t, 8> special = {
          0, 0x8000000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff0000000000001,
          1, 0x7fefffffffffffff};
      return any % 4 == 0 ? pick(random, special) : any % 4 == 1 ? any : 0x3fe0000000000000 ^ (any >> 11);
    }
    case DataType::kFloat16:
      return any % 4 == 0 ? pick(random, std::array<std::uint64_t, 6>{0, 0x8000, 0x7c00, 0xfc00, 0x7e01, 1})
                          : (any % 4 == 1 ? any & 0xffff : 0x3800 ^ (any >> 52));
    case DataType::kBfloat16:
      return any % 4 == 0 ? pick(random, std::array<std::uint64_t, 6>{0, 0x8000, 0x7f80, 0xff80, 0xffc1, 1})
                          : (any % 4 == 1 ? any & 0xffff : 0x3f00 ^ (any >> 56));
    default:
      return any & (~std::uint64_t{0} >> (64 - 8 * size_of(type)));
  }
}

/// Which destinations are sources.
enum class Alias { kNone, kFirstIsFirst, kLastIsLast, kAll };

struct Case {
  reference::Operation operation;
  std::size_t count;
  std::size_t source_count;
  std::size_t destination_count;
  std::uint64_t nt_mask;
  Alias alias;
  std::uint64_t seed;

  [[nodiscard]] std::string describe() const {
    return std::string(name_of(operation.type)) + " combine " + std::to_string(static_cast<int>(operation.combine)) +
           " count " + std::to_string(count) + " sources " + std::to_string(source_count) + " destinations " +
           std::to_string(destination_count) + " pre " + std::to_string(operation.pre_mask) + " divisor " +
           std::to_string(operation.divisor) + " nt " + std::to_string(nt_mask) + " alias " +
           std::to_string(static_cast<int>(alias)) + " seed " + std::to_string(seed);
  }
};

/// Buffers of one case, filled by its seed.
class Setting {
 public:
  explicit Setting(const Case& c) : bytes_(c.count * size_of(c.operation.type)) {
    Random random(c.seed);
    // Half of the cases have all buffers alike, as from an allocator, so that non-temporal stores of several agree.
    const bool alike = random() % 2 == 0;
    const std::size_t common = pick(random, 64);
    const auto misalignment = [&] { return alike ? common : pick(random, 64); };
    buffers_.reserve(c.source_count + c.destination_count);
    for (std::size_t i = 0; i < c.source_count; ++i) {
      Guarded& buffer = buffers_.emplace_back(bytes_, misalignment());
      const std::size_t element_bytes = size_of(c.operation.type);
      for (std::size_t k = 0; k < c.count; ++k) {
        const std::uint64_t bits = random_element(random, c.operation.type);
        std::memcpy(buffer.data() + k * element_bytes, &bits, element_bytes);
      }
      sources_.push_back(buffer.data());
      originals_.emplace_back(buffer.data(), buffer.data() + bytes_);
    }
    for (std::size_t i = 0; i < c.destination_count; ++i) {
      const int source = aliased_source(c, i);
      destinations_.push_back(source >= 0 ? buffers_[static_cast<std::size_t>(source)].data()
                                          : buffers_.emplace_back(bytes_, misalignment()).data());
    }
  }

  [[nodiscard]] ReduceCopyArgs args(const Case& c) const {
    return {.type = c.operation.type,
            .combine = c.operation.combine,
            .count = c.count,
            .sources = sources_,
            .destinations = destinations_,
            .pre_mask = c.operation.pre_mask,
            .scale = c.operation.scale,
            .divisor = c.operation.divisor,
            .nt_mask = c.nt_mask};
  }

  [[nodiscard]] std::vector<std::byte> expected(const Case& c) const {
    const std::size_t element_bytes = size_of(c.operation.type);
    std::vector<std::byte> result(bytes_);
    std::vector<std::uint64_t> elements(c.source_count);
    for (std::size_t k = 0; k < c.count; ++k) {
      for (std::size_t i = 0; i < c.source_count; ++i) {
        elements[i] = load_element(originals_[i].data() + k * element_bytes, element_bytes);
      }
      const std::uint64_t bits = reference::reduce(c.operation, elements);
      std::memcpy(result.data() + k * element_bytes, &bits, element_bytes);
    }
    return result;
  }

  /// Compares destinations, canaries, and sources that are no destination.
  void check(const std::vector<std::byte>& expected, std::size_t element_bytes) const {
    for (std::size_t i = 0; i < destinations_.size(); ++i) {
      if (bytes_ == 0 || std::memcmp(destinations_[i], expected.data(), bytes_) == 0) continue;
      std::size_t k = 0;
      while (std::memcmp(destinations_[i] + k, expected.data() + k, element_bytes) == 0) k += element_bytes;
      ADD_FAILURE() << "destination " << i << " element " << k / element_bytes << ": got " << std::hex
                    << load_element(destinations_[i] + k, element_bytes) << ", expected "
                    << load_element(expected.data() + k, element_bytes);
    }
    for (const Guarded& buffer : buffers_) EXPECT_TRUE(buffer.is_intact());
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const bool is_destination =
          std::find(destinations_.begin(), destinations_.end(), sources_[i]) != destinations_.end();
      if (is_destination || bytes_ == 0) continue;
      EXPECT_EQ(std::memcmp(sources_[i], originals_[i].data(), bytes_), 0);
    }
  }

 private:
  static int aliased_source(const Case& c, std::size_t destination) {
    const int last = static_cast<int>(c.source_count) - 1;
    switch (c.alias) {
      case Alias::kNone:
        return -1;
      case Alias::kFirstIsFirst:
        return destination == 0 ? 0 : -1;
      case Alias::kLastIsLast:
        return destination + 1 == c.destination_count ? last : -1;
      case Alias::kAll:
        return static_cast<int>(destination) <= last ? last - static_cast<int>(destination) : -1;
    }
    return -1;
  }

  std::size_t bytes_;
  std::vector<Guarded> buffers_;
  std::vector<const std::byte*> sources_;
  std::vector<std::byte*> destinations_;
  std::vector<std::vector<std::byte>> originals_;
};

/// Runs the case on every target.
void run(const Case& c) {
  SCOPED_TRACE(c.describe());
  const std::vector<std::byte> expected = Setting(c).expected(c);
  for (std::size_t i = 0; target_at(i) != nullptr; ++i) {
    SCOPED_TRACE(target_at(i)->name);
    const Setting setting(c);
    reduce_copy_on(*target_at(i), setting.args(c));
    store_fence();
    setting.check(expected, size_of(c.operation.type));
  }
}

Case random_case(Random& random, DataType type, Combine combine, std::size_t sources, std::size_t destinations) {
  constexpr std::array<std::size_t, 22> counts = {1,  2,  3,  5,   7,   8,   15,  16,  17,  31,   33,
                                                  63, 64, 65, 127, 129, 255, 257, 511, 513, 1023, 1025};
  constexpr std::array<std::uint64_t, 4> pres = {0, 0, ~std::uint64_t{0}, 0x5};
  constexpr std::array<std::uint32_t, 8> divisors = {0, 0, 0, 1, 2, 3, 7, 1000};
  constexpr std::array<std::uint64_t, 4> nts = {0, 1, 2, 7};
  constexpr std::array<Alias, 4> aliases = {Alias::kNone, Alias::kFirstIsFirst, Alias::kLastIsLast, Alias::kAll};
  const reference::Operation operation{.type = type,
                                       .combine = combine,
                                       .pre_mask = pick(random, pres),
                                       .scale = random_element(random, type),
                                       .divisor = pick(random, divisors)};
  return {operation, pick(random, counts), sources, destinations, pick(random, nts), pick(random, aliases), random()};
}

TEST(ReduceCopy, MatchesTheReferenceOverSampledCases) {
  constexpr int kDrawsEach = 4;
  Random random(20240611);
  for (int type = 0; type < kDataTypeCount; ++type) {
    for (int combine = 0; combine < 4; ++combine) {
      for (const std::size_t sources : {1, 2, 3, 5, 9, 33}) {
        for (const std::size_t destinations : {1, 2, 3}) {
          for (int draw = 0; draw < kDrawsEach; ++draw) {
            run(random_case(random, type_at(type), static_cast<Combine>(combine), sources, destinations));
            if (HasFailure()) return;
          }
        }
      }
    }
  }
}

TEST(ReduceCopy, EveryCountUpToSomeVectors) {
  for (int type = 0; type < kDataTypeCount; ++type) {
    for (std::size_t count = 0; count <= 300; ++count) {
      const reference::Operation operation{.type = type_at(type)};
      run({operation, count, 2, 1, count % 3 == 0 ? std::uint64_t{1} : 0, Alias::kNone, count});
      if (HasFailure()) return;
    }
  }
}

TEST(ReduceCopy, PairLoopWithEachMixOfStores) {
  for (int type = 0; type < kDataTypeCount; ++type) {
    for (const std::size_t destinations : {1, 2}) {
      for (std::uint64_t nt_mask = 0; nt_mask < 4; ++nt_mask) {
        const reference::Operation operation{.type = type_at(type)};
        for (const std::uint64_t seed : {1, 2, 3, 4})
          run({operation, 4099, 2, destinations, nt_mask, Alias::kNone, seed});
        if (HasFailure()) return;
      }
    }
  }
}

TEST(ReduceCopy, MoreThanSixtyFourSourcesAndDestinations) {
  for (const DataType type : {DataType::kFloat32, DataType::kFloat16, DataType::kInt8}) {
    const reference::Operation operation{.type = type, .pre_mask = ~std::uint64_t{0}, .scale = 0x3c003c02};
    run({operation, 777, 70, 1, 1, Alias::kNone, 5});
    run({operation, 777, 2, 70, ~std::uint64_t{0}, Alias::kNone, 6});
    run({reference::Operation{.type = type}, 777, 1, 70, ~std::uint64_t{0}, Alias::kNone, 7});
  }
}

TEST(ReduceCopy, NothingToDoStoresNothing) {
  Guarded from(64, 0);
  Guarded to(64, 0);
  std::memset(from.data(), 1, 64);
  std::memset(to.data(), 2, 64);
  const std::array<const std::byte*, 2> sources{from.data(), from.data()};
  const std::array<std::byte*, 1> destinations{to.data()};
  for (std::size_t i = 0; target_at(i) != nullptr; ++i) {
    for (int type = 0; type < kDataTypeCount; ++type) {
      reduce_copy_on(*target_at(i),
                     {.type = type_at(type), .count = 0, .sources = sources, .destinations = destinations});
      reduce_copy_on(*target_at(i), {.type = type_at(type), .count = 8, .sources = {}, .destinations = destinations});
      reduce_copy_on(*target_at(i), {.type = type_at(type), .count = 8, .sources = sources, .destinations = {}});
    }
  }
  EXPECT_TRUE(std::all_of(to.data(), to.data() + 64, [](std::byte b) { return b == std::byte{2}; }));
}

TEST(ReduceCopy, TouchesNothingBeyondTheEnds) {
  const Fenced a;
  const Fenced b;
  const Fenced to;
  ASSERT_TRUE(a.is_ready() && b.is_ready() && to.is_ready());
  for (const Fenced* page : {&a, &b, &to}) std::memset(page->first(), 0, page->page_bytes());
  for (std::size_t i = 0; target_at(i) != nullptr; ++i) {
    for (int type = 0; type < kDataTypeCount; ++type) {
      for (std::size_t count = 1; count <= 140; ++count) {
        const std::size_t bytes = count * size_of(type_at(type));
        for (const bool at_end : {false, true}) {
          const std::array<const std::byte*, 2> sources{at_end ? a.last(bytes) : a.first(),
                                                        at_end ? b.last(bytes) : b.first()};
          const std::array<std::byte*, 1> destinations{at_end ? to.last(bytes) : to.first()};
          for (const std::size_t source_count : {1, 2}) {
            for (const std::uint64_t nt_mask : {0, 1}) {
              reduce_copy_on(*target_at(i), {.type = type_at(type),
                                             .count = count,
                                             .sources = std::span(sources).first(source_count),
                                             .destinations = destinations,
                                             .nt_mask = nt_mask});
            }
          }
        }
      }
    }
  }
}

/// One element of T, combined on every target; equal on all of them.
template <class T>
T reduce_values(DataType type, Combine combine, const std::vector<T>& values, std::uint32_t divisor = 0) {
  std::vector<const std::byte*> sources;
  for (const T& value : values) sources.push_back(reinterpret_cast<const std::byte*>(&value));
  T first{};
  for (std::size_t i = 0; target_at(i) != nullptr; ++i) {
    T result{};
    const std::array<std::byte*, 1> destinations{reinterpret_cast<std::byte*>(&result)};
    reduce_copy_on(*target_at(i), {.type = type,
                                   .combine = combine,
                                   .count = 1,
                                   .sources = sources,
                                   .destinations = destinations,
                                   .divisor = divisor});
    if (i == 0) first = result;
    EXPECT_EQ(std::memcmp(&first, &result, sizeof first), 0) << target_at(i)->name;
  }
  return first;
}

TEST(ReduceCopy, IntegersWrapAndTruncate) {
  using I32 = std::numeric_limits<std::int32_t>;
  using I64 = std::numeric_limits<std::int64_t>;
  EXPECT_EQ(reduce_values<std::int32_t>(DataType::kInt32, Combine::kSum, {I32::max(), 1}), I32::min());
  EXPECT_EQ(reduce_values<std::int64_t>(DataType::kInt64, Combine::kProd, {I64::max(), 2}), -2);
  EXPECT_EQ(reduce_values<std::int8_t>(DataType::kInt8, Combine::kProd, {-128, -1}), -128);
  EXPECT_EQ(reduce_values<std::int32_t>(DataType::kInt32, Combine::kSum, {I32::min(), 0}, 1), I32::min());
  EXPECT_EQ(reduce_values<std::int32_t>(DataType::kInt32, Combine::kSum, {I32::min(), 0}, 3), I32::min() / 3);
  EXPECT_EQ(reduce_values<std::int64_t>(DataType::kInt64, Combine::kSum, {I64::min(), 0}, 0xffffffffu),
            I64::min() / std::int64_t{0xffffffff});
  EXPECT_EQ(reduce_values<std::int8_t>(DataType::kInt8, Combine::kSum, {-128, 0}, 1), -128);
  EXPECT_EQ(reduce_values<std::int8_t>(DataType::kInt8, Combine::kSum, {-7, 0}, 2), -3);
  EXPECT_EQ(reduce_values<std::uint8_t>(DataType::kUint8, Combine::kSum, {200, 49}, 2), 124);
  EXPECT_EQ(reduce_values<std::uint64_t>(DataType::kUint64, Combine::kSum, {~std::uint64_t{0}, 0}, 10),
            ~std::uint64_t{0} / 10);
}

TEST(ReduceCopy, MaximumAndMinimumPreferNumbersAndOrderZeros) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const bool swapped : {false, true}) {
    const auto pair = [&](float a, float b) { return swapped ? std::vector{b, a} : std::vector{a, b}; };
    EXPECT_EQ(reduce_values(DataType::kFloat32, Combine::kMax, pair(nan, 1)), 1);
    EXPECT_EQ(reduce_values(DataType::kFloat32, Combine::kMin, pair(nan, -1)), -1);
    EXPECT_FALSE(std::signbit(reduce_values(DataType::kFloat32, Combine::kMax, pair(-0.0f, 0.0f))));
    EXPECT_TRUE(std::signbit(reduce_values(DataType::kFloat32, Combine::kMin, pair(-0.0f, 0.0f))));
  }
  EXPECT_TRUE(std::isnan(reduce_values(DataType::kFloat32, Combine::kMax, std::vector{nan, nan})));
}

TEST(ReduceCopy, SmallTypesAreRoundedOnce) {
  // 2048 + 1 + 1 in fp16: rounding after each addition would stay at 2048.
  EXPECT_EQ(reduce_values<std::uint16_t>(DataType::kFloat16, Combine::kSum, {0x6800, 0x3c00, 0x3c00}), 0x6801);
  // 256 + 1 + 1 in bf16.
  EXPECT_EQ(reduce_values<std::uint16_t>(DataType::kBfloat16, Combine::kSum, {0x4380, 0x3f80, 0x3f80}), 0x4381);
  // 16 + 1 + 1 in e4m3, 8 + 1 + 1 in e5m2.
  EXPECT_EQ(reduce_values<std::uint8_t>(DataType::kFloat8e4m3, Combine::kSum, {0x58, 0x38, 0x38}), 0x59);
  EXPECT_EQ(reduce_values<std::uint8_t>(DataType::kFloat8e5m2, Combine::kSum, {0x48, 0x3c, 0x3c}), 0x49);
  // The sum may leave the type's range on the way to an average within it.
  EXPECT_EQ(reduce_values<std::uint16_t>(DataType::kFloat16, Combine::kSum, {0x7bff, 0x7bff}, 2), 0x7bff);
}

TEST(Targets, BestComesFirstAndNamesAreDistinct) {
  std::set<std::string> names;
  std::size_t count = 0;
  for (; target_at(count) != nullptr; ++count) {
    names.insert(target_at(count)->name);
    for (const TypeKernels& kernels : target_at(count)->reduce) {
      for (const ReduceFunction kernel : kernels) EXPECT_NE(kernel, nullptr);
    }
  }
  ASSERT_GE(count, 1u);
  EXPECT_EQ(names.size(), count);
  EXPECT_STREQ(target_name(), target_at(0)->name);
  EXPECT_EQ(target_at(count + 1), nullptr);
}

}  // namespace
}  // namespace hawser::kernels
