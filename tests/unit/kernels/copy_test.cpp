// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// copy() on every SIMD target: sizes, alignments, both kinds of store, and nothing outside the destination.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "arena.h"
#include "kernels/reduce_copy.h"
#include "kernels/targets.h"

namespace hawser::kernels {
namespace {

void fill(std::byte* to, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>(i * 7 + i / 256);
}

void check_copy(const Target& target, std::size_t bytes, std::size_t to_misalignment, std::size_t from_misalignment,
                Store store) {
  Guarded from(bytes, from_misalignment);
  Guarded to(bytes, to_misalignment);
  fill(from.data(), bytes);
  copy_on(target, to.data(), from.data(), bytes, store);
  store_fence();
  ASSERT_EQ(std::memcmp(to.data(), from.data(), bytes), 0) << target.name << " bytes " << bytes;
  ASSERT_TRUE(to.is_intact()) << target.name << " bytes " << bytes;
  ASSERT_TRUE(from.is_intact()) << target.name << " bytes " << bytes;
}

TEST(Copy, SizesAndAlignments) {
  for (std::size_t i = 0; target_at(i) != nullptr; ++i) {
    for (const Store store : {Store::kCached, Store::kNonTemporal}) {
      for (std::size_t bytes = 0; bytes <= 700; ++bytes) {
        check_copy(*target_at(i), bytes, bytes * 5 % 64, bytes * 11 % 64, store);
        if (HasFatalFailure()) return;
      }
      for (std::size_t misalignment = 0; misalignment < 64; ++misalignment) {
        check_copy(*target_at(i), 5000, misalignment, 63 - misalignment, store);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Copy, BestTarget) {
  Guarded from(1000, 3);
  Guarded to(1000, 9);
  fill(from.data(), 1000);
  copy(to.data(), from.data(), 1000, Store::kNonTemporal);
  store_fence();
  EXPECT_EQ(std::memcmp(to.data(), from.data(), 1000), 0);
  EXPECT_TRUE(to.is_intact());
}

TEST(Copy, FanOutKeepsBytesOfEveryType) {
  // NaN payloads and all: one source without pre and divisor is bytes. Longer than one piece of the fan-out.
  constexpr std::size_t kBytes = 40008;
  Guarded from(kBytes, 5);
  Guarded a(kBytes, 5);
  Guarded b(kBytes, 40);
  fill(from.data(), kBytes);
  const std::vector<const std::byte*> sources{from.data()};
  const std::vector<std::byte*> destinations{a.data(), from.data(), b.data()};
  for (std::size_t i = 0; target_at(i) != nullptr; ++i) {
    for (int type = 0; type < kDataTypeCount; ++type) {
      std::memset(a.data(), 0, kBytes);
      std::memset(b.data(), 0, kBytes);
      const auto data_type = static_cast<DataType>(type);
      reduce_copy_on(*target_at(i), {.type = data_type,
                                     .count = kBytes / size_of(data_type),
                                     .sources = sources,
                                     .destinations = destinations,
                                     .nt_mask = 6});
      store_fence();
      ASSERT_EQ(std::memcmp(a.data(), from.data(), kBytes), 0);
      ASSERT_EQ(std::memcmp(b.data(), from.data(), kBytes), 0);
      ASSERT_TRUE(a.is_intact() && b.is_intact() && from.is_intact());
    }
  }
}

}  // namespace
}  // namespace hawser::kernels
