// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perf/common/table.h"

namespace hawser::perf {
namespace {

using testing::HasSubstr;

TEST(PerfTable, NumbersFillTheirColumn) {
  EXPECT_EQ(format_number(0, 7), "   0.00");
  EXPECT_EQ(format_number(0.42, 7), "   0.42");
  EXPECT_EQ(format_number(1234.567, 7), "1234.57");
  EXPECT_EQ(format_number(12345.67, 7), "12345.7");
  EXPECT_EQ(format_number(1234567.8, 7), "1234568");
  EXPECT_EQ(format_number(12345678, 7), "1.2e+07");
  EXPECT_EQ(format_number(27.5, 6), " 27.50");
  EXPECT_EQ(format_number(1234.5, 6), "1234.5");
  EXPECT_EQ(format_number(123456, 6), "123456");
}

Row example() {
  return {.bytes = 1048576,
          .count = 262144,
          .type = "float",
          .op = "sum",
          .root = -1,
          .out_of_place = Figures{53.25, 19.69, 19.69, 0},
          .in_place = {60, 17.5, 17.5, 12},
          .iterations = 20};
}

TEST(PerfTable, RowsHaveTheColumnsOfNcclTests) {
  EXPECT_EQ(
      format_row(example()),
      "     1048576        262144     float     sum      -1    53.25   19.69   19.69       0    60.00   17.50   17.50 "
      "     12\n");
}

TEST(PerfTable, UncheckedIsNotAvailable) {
  Row row = example();
  row.out_of_place->wrong.reset();
  row.in_place.wrong.reset();
  EXPECT_THAT(format_row(row), HasSubstr("   19.69     N/A  "));
  EXPECT_THAT(format_row(row), HasSubstr("   17.50     N/A\n"));
}

TEST(PerfTable, MissingHalfKeepsItsPlace) {
  Row row = example();
  const std::string whole = format_row(row);
  row.out_of_place.reset();
  EXPECT_EQ(format_row(row).size(), whole.size());
}

TEST(PerfTable, HeaderAlignsWithRows) {
  const std::string header = format_header();
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < header.size();) {
    const std::size_t end = header.find('\n', at);
    lines.push_back(header.substr(at, end - at));
    EXPECT_EQ(lines.back()[0], '#');
    at = end + 1;
  }
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(
      lines[2],
      "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw "
      " #wrong ");
  const std::string row = format_row(example());
  EXPECT_EQ(lines[2].find("algbw") + 5, row.find("19.69") + 5);
}

TEST(PerfTable, FooterSaysWhatFailed) {
  EXPECT_EQ(format_footer("all_reduce_perf", 0, 12.5, std::nullopt),
            "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 12.5 \n#\n# Collective test concluded: "
            "all_reduce_perf\n#\n");
  EXPECT_THAT(format_footer("p", 3, 1, std::nullopt), HasSubstr("# Out of bounds values : 3 FAILED\n"));
  EXPECT_THAT(format_footer("p", 0, 9.1, 10), HasSubstr(": 9.1 OK\n"));
  EXPECT_THAT(format_footer("p", 0, 8.9, 10), HasSubstr(": 8.9 FAILED\n"));
}

TEST(PerfTable, PreambleShowsTheSettings) {
  Options options;
  options.threads = 2;
  options.step_factor = 4;
  options.notes = {"x is ignored"};
  const std::string text = format_preamble("all_reduce_perf", options, {23203, 23203});
  EXPECT_THAT(text, HasSubstr("# Collective test starting: all_reduce_perf\n"));
  EXPECT_THAT(text, HasSubstr("# nThread 2 nGpus 1 minBytes 33554432 maxBytes 33554432 step: 4(factor) warmup iters: 1 "
                              "iters: 20 agg iters: 1 validation: 1 graph: 0"));
  EXPECT_THAT(text, HasSubstr("# note: x is ignored\n"));
  EXPECT_TRUE(text.ends_with("# Using devices\n"));
}

}  // namespace
}  // namespace hawser::perf
