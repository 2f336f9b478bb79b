// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace hawser {
namespace {

Result<int> half_of(int value) {
  if (value % 2 != 0) return Status(Code::kInvalidArgument, "odd");
  return value / 2;
}

Status check_quarter(int value) {
  HAWSER_TRY(half_of(value));
  HAWSER_TRY(half_of(value / 2));
  return {};
}

Result<std::string> quarter_as_text(int value) {
  const int half = HAWSER_TRY_VALUE(half_of(value));
  return std::to_string(HAWSER_TRY_VALUE(half_of(half)));
}

TEST(Status, SuccessHasNoSentence) {
  const Status status;
  EXPECT_TRUE(status.is_ok());
  EXPECT_EQ(status.code(), Code::kOk);
  EXPECT_EQ(status.message(), "");
  static_assert(sizeof(Status) == sizeof(void*), "success must cost no more than a pointer");
}

TEST(Status, CopiesAreIndependentOfTheirOriginal) {
  Status original(Code::kRemoteError, "rank 3 died");
  const Status copy = original;
  original = Status();
  EXPECT_TRUE(original.is_ok());
  EXPECT_EQ(copy.code(), Code::kRemoteError);
  EXPECT_EQ(copy.message(), "rank 3 died");
}

TEST(Status, AssigningItselfKeepsTheFailure) {
  Status status(Code::kTimeout, "late");
  const Status& alias = status;
  status = alias;
  EXPECT_EQ(status.message(), "late");
}

TEST(Result, HoldsAValueOrAFailure) {
  const Result<int> good = half_of(8);
  ASSERT_TRUE(good.is_ok());
  EXPECT_EQ(good.value(), 4);
  EXPECT_TRUE(good.status().is_ok());

  const Result<int> bad = half_of(7);
  EXPECT_FALSE(bad.is_ok());
  EXPECT_EQ(bad.status().message(), "odd");
}

TEST(Result, GivesUpAMoveOnlyValue) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 5);
}

TEST(Try, ReturnsTheFirstFailure) {
  EXPECT_TRUE(check_quarter(8).is_ok());
  EXPECT_EQ(check_quarter(6).code(), Code::kInvalidArgument);
  EXPECT_EQ(check_quarter(5).message(), "odd");
}

TEST(TryValue, GivesTheValueOrReturnsTheFailure) {
  const Result<std::string> good = quarter_as_text(12);
  ASSERT_TRUE(good.is_ok());
  EXPECT_EQ(good.value(), "3");
  EXPECT_EQ(quarter_as_text(6).status().message(), "odd");
}

}  // namespace
}  // namespace hawser
