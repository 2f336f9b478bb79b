// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// ncclConfig_t of programs of every age, and its ranges.
#include "api/comm_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "old_configs.h"

namespace hawser::api {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// A copy of a record that ends where the record ends, so that a sanitizer sees who reads further.
template <class Config>
class Exact {
 public:
  explicit Exact(const Config& config) : bytes_(std::make_unique<std::byte[]>(sizeof(Config))) {
    std::memcpy(bytes_.get(), &config, sizeof(Config));
  }
  [[nodiscard]] const ncclConfig_t* get() const { return reinterpret_cast<const ncclConfig_t*>(bytes_.get()); }

 private:
  std::unique_ptr<std::byte[]> bytes_;
};

template <class Release>
class OldConfig : public testing::Test {};
using Releases = testing::Types<OLD_CONFIG_RELEASES>;
TYPED_TEST_SUITE(OldConfig, Releases);

template <class Release>
bool knows(std::string_view member) {
  return std::ranges::find(Release::kMembers, member) != Release::kMembers.end();
}

TYPED_TEST(OldConfig, InitialValuesAreTaken) {
  const Exact config(TypeParam::kInitial);
  const Result<ncclConfig_t> completed = complete_config(config.get(), "Test");
  ASSERT_TRUE(completed.is_ok()) << completed.status().message();
  EXPECT_TRUE(check_config(completed.value(), "Test").is_ok()) << check_config(completed.value(), "Test").message();
  EXPECT_EQ(completed.value().version, TypeParam::kVersion);
  // Up to 2.16 the initialiser said 1; undefined means the same.
  EXPECT_NE(completed.value().blocking, 0);
}

TYPED_TEST(OldConfig, WhatItKnowsIsTakenAndTheRestIsUndefined) {
  typename TypeParam::Config config;
  std::memset(static_cast<void*>(&config), 0x5a, sizeof(config));  // padding, where later releases have members
  config.size = sizeof(config);
  config.magic = NCCL_API_MAGIC;
  config.version = TypeParam::kVersion;
  TypeParam::set_all(config);
  const Exact exact(config);
  const Result<ncclConfig_t> completed = complete_config(exact.get(), "Test");
  ASSERT_TRUE(completed.is_ok()) << completed.status().message();
  for (const auto& [name, pointer] : old_configs::kNumbers)
    EXPECT_EQ(completed.value().*pointer, knows<TypeParam>(name) ? 1 : NCCL_CONFIG_UNDEF_INT) << name;
  for (const auto& [name, pointer] : old_configs::kTexts)
    EXPECT_EQ(completed.value().*pointer, knows<TypeParam>(name) ? old_configs::kText : nullptr) << name;
  EXPECT_TRUE(check_config(completed.value(), "Test").is_ok()) << check_config(completed.value(), "Test").message();
}

TEST(CommConfig, NullIsAllUndefined) {
  const Result<ncclConfig_t> completed = complete_config(nullptr, "Test");
  ASSERT_TRUE(completed.is_ok());
  for (const auto& [name, pointer] : old_configs::kNumbers)
    EXPECT_EQ(completed.value().*pointer, NCCL_CONFIG_UNDEF_INT) << name;
}

TEST(CommConfig, RecordsOfTheFutureAreCutOff) {
  struct Future {
    ncclConfig_t known = NCCL_CONFIG_INITIALIZER;
    int unknown = 7;
  } future;
  future.known.size = sizeof(future);
  future.known.version = 99999;
  future.known.splitShare = 1;
  const Result<ncclConfig_t> completed = complete_config(&future.known, "Test");
  ASSERT_TRUE(completed.is_ok());
  EXPECT_EQ(completed.value().size, sizeof(ncclConfig_t));
  EXPECT_EQ(completed.value().splitShare, 1);
}

TEST(CommConfig, WithoutItsInitialiserARecordIsRefused) {
  ncclConfig_t wrong_magic = NCCL_CONFIG_INITIALIZER;
  wrong_magic.magic = 0;
  ncclConfig_t too_small = NCCL_CONFIG_INITIALIZER;
  too_small.size = 16;
  const ncclConfig_t zeros{};
  for (const ncclConfig_t* config : std::initializer_list<const ncclConfig_t*>{&wrong_magic, &too_small, &zeros}) {
    const Status status = complete_config(config, "CommInitRankConfig").status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_EQ(status.message(),
              "CommInitRankConfig : ncclConfig_t argument not initialized via NCCL_CONFIG_INITIALIZER");
  }
}

struct Range {
  std::string_view name;
  int lowest;
  int highest;
};

// The ranges that NCCL documents or checks. INT_MIN and INT_MAX stand for none.
constexpr std::array kRanges = {
    Range{"blocking", 0, 1},
    Range{"cgaClusterSize", 0, INT_MAX},
    Range{"minCTAs", 1, INT_MAX},
    Range{"maxCTAs", 1, INT_MAX},
    Range{"splitShare", 0, 1},
    Range{"trafficClass", INT_MIN, INT_MAX},
    Range{"collnetEnable", 0, 1},
    Range{"CTAPolicy", 0, 3},
    Range{"shrinkShare", 0, 1},
    Range{"nvlsCTAs", 1, INT_MAX},
    Range{"nChannelsPerNetPeer", 1, 64},
    Range{"nvlinkCentricSched", 0, 1},
    Range{"graphUsageMode", 0, 2},
    Range{"numRmaCtx", 1, INT_MAX},
    Range{"maxP2pPeers", 1, INT_MAX},
    Range{"graphStreamOrdering", 0, 1},
    Range{"launchOrderImplicit", 0, 1},
    Range{"numRmaSig", 0, INT_MAX},
    Range{"rmaEagerInit", 0, 1},
    Range{"hostCftMode", 1, 3},
    Range{"nvlsHostMode", 0, INT_MAX},
};

TEST(CommConfig, EveryMemberHasItsRange) {
  ASSERT_EQ(kRanges.size(), old_configs::kNumbers.size());
  for (std::size_t i = 0; i < kRanges.size(); ++i) {
    const auto& [name, pointer] = old_configs::kNumbers[i];
    const Range& range = kRanges[i];
    ASSERT_EQ(name, range.name);
    const auto outcome = [pointer = pointer](int value) {
      ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
      config.*pointer = value;
      return check_config(config, "Test");
    };
    EXPECT_TRUE(outcome(range.lowest).is_ok()) << name;
    EXPECT_TRUE(outcome(range.highest).is_ok()) << name;
    if (range.lowest > INT_MIN) {
      const Status status = outcome(range.lowest - 1);
      EXPECT_EQ(status.code(), Code::kInvalidArgument) << name;
      EXPECT_THAT(status.message(), StartsWith("Test : invalid config member " + std::string(name)));
    }
    if (range.highest < INT_MAX) {
      EXPECT_EQ(outcome(range.highest + 1).code(), Code::kInvalidArgument) << name;
      EXPECT_THAT(outcome(range.highest + 1).message(), HasSubstr("to " + std::to_string(range.highest)));
    }
  }
}

TEST(CommConfig, FewestMayNotExceedMost) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.minCTAs = 9;
  EXPECT_TRUE(check_config(config, "Test").is_ok());
  config.maxCTAs = 8;
  EXPECT_EQ(check_config(config, "Test").code(), Code::kInvalidArgument);
  config.maxCTAs = 9;
  EXPECT_TRUE(check_config(config, "Test").is_ok());
}

}  // namespace
}  // namespace hawser::api
