// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/common/statistics.h"

#include <algorithm>
#include <numeric>

namespace hawser::perf {
namespace {

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

double figure_of(Stat stat, std::vector<double> values) {
  switch (stat) {
    case Stat::kMean:
      return mean(values);
    case Stat::kMedian:
      return median(std::move(values));
    case Stat::kMin:
      return *std::min_element(values.begin(), values.end());
  }
  return 0;
}

double figure_of(Average average, std::span<const double> by_rank) {
  switch (average) {
    case Average::kRank0:
      return by_rank.front();
    case Average::kMean:
      return mean(by_rank);
    case Average::kMin:
      return *std::min_element(by_rank.begin(), by_rank.end());
    case Average::kMax:
      return *std::max_element(by_rank.begin(), by_rank.end());
  }
  return 0;
}

}  // namespace hawser::perf
