// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>

#include "plan/geometry.h"

namespace hawser::plan {
namespace {

constexpr Layout parts(int chunks) { return {Cut::kParts, chunks}; }
constexpr Layout blocks(int chunks) { return {Cut::kBlocks, chunks}; }

TEST(Geometry, PartsAreEvenInUnitsAndTheLastTakesTheRest) {
  const Geometry geometry(parts(3), 100, 4);  // 400 bytes: 6 units and 16 bytes
  EXPECT_EQ(geometry.bytes(0), 128U);
  EXPECT_EQ(geometry.bytes(1), 128U);
  EXPECT_EQ(geometry.bytes(2), 144U);
  EXPECT_EQ(geometry.offset(2), 256U);
  EXPECT_EQ(geometry.bytes(), 400U);
  const Geometry uneven(parts(3), 112, 4);  // 7 units
  EXPECT_EQ(uneven.bytes(0), 192U);
  EXPECT_EQ(uneven.bytes(1), 128U);
  EXPECT_EQ(uneven.bytes(2), 128U);
}

TEST(Geometry, FewElementsGoToTheLastPart) {
  const Geometry geometry(parts(4), 1, 8);
  for (int part = 0; part < 3; ++part) EXPECT_EQ(geometry.bytes(part), 0U);
  EXPECT_EQ(geometry.bytes(3), 8U);
  EXPECT_EQ(Geometry(parts(4), 0, 8).bytes(), 0U);
  EXPECT_EQ(Geometry(Layout{}, 10, 8).bytes(), 0U);
}

TEST(Geometry, PartsCoverTheBufferAndAlign) {
  for (const std::size_t element : {1, 2, 4, 8}) {
    for (int chunks = 1; chunks <= 17; ++chunks) {
      for (std::size_t count = 0; count < 700; count += 13) {
        const Geometry geometry(parts(chunks), count, element);
        std::size_t smallest = geometry.bytes();
        std::size_t largest = 0;
        for (int chunk = 0; chunk < chunks; ++chunk) {
          ASSERT_EQ(geometry.offset(chunk) % kPartAlignment, 0U);
          ASSERT_EQ(geometry.offset(chunk) + geometry.bytes(chunk), geometry.offset(chunk + 1));
          smallest = std::min(smallest, geometry.bytes(chunk));
          largest = std::max(largest, geometry.bytes(chunk));
        }
        ASSERT_EQ(geometry.offset(0), 0U);
        ASSERT_EQ(geometry.offset(chunks), count * element);
        ASSERT_LT(largest - smallest, 2 * kPartAlignment);
      }
    }
  }
}

TEST(Geometry, WholeElementsWhereTheirSizeDoesNotDivideTheUnit) {
  const Geometry geometry(parts(3), 100, 12);
  for (int part = 0; part < 3; ++part) EXPECT_EQ(geometry.offset(part) % 192, 0U);
  EXPECT_EQ(geometry.bytes(), 1200U);
}

TEST(Geometry, BlocksAreEqual) {
  const Geometry geometry(blocks(3), 5, 2);
  EXPECT_EQ(geometry.offset(2), 20U);
  EXPECT_EQ(geometry.bytes(2), 10U);
  EXPECT_EQ(geometry.bytes(), 30U);
}

TEST(Geometry, BlocksOfDifferentSizes) {
  const std::array<std::size_t, 3> counts = {5, 0, 70};
  const Geometry geometry(blocks(3), counts, 2);
  EXPECT_EQ(geometry.offset(1), 10U);
  EXPECT_EQ(geometry.bytes(1), 0U);
  EXPECT_EQ(geometry.offset(2), 10U);
  EXPECT_EQ(geometry.bytes(2), 140U);
  EXPECT_EQ(geometry.bytes(), 150U);
  EXPECT_EQ(geometry.tiles(64), 3U);
}

TEST(Geometry, TilesCutEveryChunk) {
  const Geometry geometry(parts(2), 75, 4);  // parts of 128 and 172 bytes
  EXPECT_EQ(geometry.tiles(64), 3U);
  EXPECT_EQ(geometry.slice(0, 1, 64), (Slice{64, 64}));
  EXPECT_EQ(geometry.slice(0, 2, 64), (Slice{128, 0}));
  EXPECT_EQ(geometry.slice(1, 2, 64), (Slice{256, 44}));
  EXPECT_EQ(geometry.slice(1, 7, 64), (Slice{300, 0}));
  EXPECT_EQ(Geometry(parts(2), 0, 4).tiles(64), 1U);
  EXPECT_EQ(tile_count(Geometry(blocks(1), 100, 4), Geometry(blocks(4), 100, 4), 128), 4U);
  EXPECT_EQ(tile_count(Geometry(), Geometry(), 128), 1U);
}

}  // namespace
}  // namespace hawser::plan
