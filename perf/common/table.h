// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The table on stdout, in the columns of nccl-tests, so that what reads its output reads ours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "perf/common/options.h"

namespace hawser::perf {

/// One measured half of a row.
struct Figures {
  double time_us = 0;
  double algorithm_gbps = 0;  ///< 10^9 bytes per second
  double bus_gbps = 0;
  std::optional<std::uint64_t> wrong;  ///< none: not checked
};

struct Row {
  std::size_t bytes = 0;
  std::size_t count = 0;
  std::string_view type;
  std::string_view op;
  int root = -1;
  std::optional<Figures> out_of_place;
  Figures in_place;
  int iterations = 0;
};

struct Versions {
  int header = 0;   ///< NCCL_VERSION_CODE
  int library = 0;  ///< ncclGetVersion
};

/// The lines above the list of ranks.
std::string format_preamble(std::string_view program, const Options& options, const Versions& versions);
/// The two lines of column names and the one above.
std::string format_header();
std::string format_row(const Row& row);
/// `min_gbps`: what NCCL_TESTS_MIN_BW asks for.
std::string format_footer(std::string_view program, int failed_checks, double average_gbps,
                          std::optional<double> min_gbps);

/// A number in exactly `width` characters where it fits, with as many decimals, up to two, as there is room for.
std::string format_number(double value, int width);

/// Whether an average satisfies NCCL_TESTS_MIN_BW: nine tenths are enough.
bool is_fast_enough(double average_gbps, std::optional<double> min_gbps);

}  // namespace hawser::perf
