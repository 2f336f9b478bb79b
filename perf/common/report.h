// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The JSON report (-J), with the keys that nccl-tests writes. Process 0 writes it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
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

/// A file for a report.
struct ReportFile {
  Fd fd;
  std::string name;
};

/// Makes a file that was not there: `path`, or the first of path.0, path.1, ...
Result<ReportFile> create_report_file(const std::string& path);
Status write_report(const ReportFile& file, std::string_view text);

/// Collects what a run has to say.
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

 private:
  std::string program_;
  nlohmann::ordered_json json_;
};

}  // namespace hawser::perf
