// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The JSON report (-J), with the keys that nccl-tests writes. Process 0 writes it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "perf/common/options.h"
#include "perf/common/table.h"

namespace hawser::perf {

/// One rank as the list "Using devices" shows it.
struct RankInfo {
  int rank = 0;
  int group = 0;
  int pid = 0;
  std::string host;
  int device = 0;
  std::string device_hex;
  std::string device_info;
};

/// "#  Rank  0 Group  0 Pid ..." with its line end.
std::string format_rank(const RankInfo& rank);

/// Collects a run and writes it down at the end.
class Report {
 public:
  /// `program` as the results name it.
  Report(std::string_view program, const std::vector<std::string>& arguments, const Options& options,
         int library_version);

  void add_ranks(const std::vector<RankInfo>& ranks);
  void add_row(const Row& row);
  void add_error(std::string_view sentence);
  void set_summary(int failed_checks, double average_gbps, std::optional<double> min_gbps);
  /// The report as text, with the time of this call as its end.
  [[nodiscard]] std::string text() const;
  /// Writes it to a file that is not there yet: `path`, or the first of path.0, path.1, ... Returns the name.
  [[nodiscard]] Result<std::string> write(const std::string& path) const;

 private:
  std::string program_;
  nlohmann::ordered_json json_;
};

}  // namespace hawser::perf
