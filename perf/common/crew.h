// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The threads of all processes of a run as one: they exchange figures between measurements.
#pragma once

#include <condition_variable>
#include <mutex>
#include <span>
#include <vector>

#include "base/status.h"
#include "perf/common/launch.h"

namespace hawser::perf {

class Crew {
 public:
  /// `exchange` must outlive the crew.
  Crew(int threads, Exchange& exchange) : mine_(static_cast<std::size_t>(threads)), exchange_(exchange) {}

  /// Everybody's figures, those of process 0's thread 0 first. Collective over all threads of all processes; all must
  /// give equally many. kSystemError if cancel() is called meanwhile or another process is gone.
  Result<std::vector<double>> gather(int thread, std::span<const double> figures);
  /// Ends every gather() of this process, now and later.
  void cancel();

 private:
  Status exchange_round();

  std::mutex mutex_;  ///< protects all below; leaf
  std::condition_variable changed_;
  std::vector<std::vector<double>> mine_;  ///< by thread
  std::vector<double> all_;
  Status outcome_;
  std::size_t arrived_ = 0;
  std::uint64_t round_ = 0;
  bool is_cancelled_ = false;
  Exchange& exchange_;
};

}  // namespace hawser::perf
