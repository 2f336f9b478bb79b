// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "base/types.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace hawser {
namespace {

TEST(Types, EveryTypeHasASizeAndItsOwnName) {
  constexpr std::size_t sizes[kDataTypeCount] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  std::set<std::string_view> names;
  for (int i = 0; i < kDataTypeCount; ++i) {
    const auto type = static_cast<DataType>(i);
    EXPECT_EQ(size_of(type), sizes[i]) << name_of(type);
    EXPECT_FALSE(name_of(type).empty());
    names.insert(name_of(type));
  }
  EXPECT_EQ(names.size(), kDataTypeCount);
}

TEST(Types, NamesAreThoseOfNcclTests) {
  EXPECT_EQ(name_of(DataType::kFloat32), "float");
  EXPECT_EQ(name_of(DataType::kFloat16), "half");
  EXPECT_EQ(name_of(DataType::kBfloat16), "bfloat16");
  EXPECT_EQ(name_of(DataType::kFloat8e5m2), "f8e5m2");
  EXPECT_EQ(name_of(ReduceOp::kSum), "sum");
  EXPECT_EQ(name_of(ReduceOp::kPreMulSum), "mulsum");
}

TEST(Types, EveryCollectiveHasItsOwnName) {
  std::set<std::string_view> names;
  for (int i = 0; i < kCollectiveCount; ++i) names.insert(name_of(static_cast<Collective>(i)));
  EXPECT_EQ(names.size(), kCollectiveCount);
  EXPECT_EQ(name_of(Collective::kAllToAll), "all_to_all");
}

}  // namespace
}  // namespace hawser
