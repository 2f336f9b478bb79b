// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// One run of a perf program in one process: communicators, worker threads, table and report.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"
#include "perf/common/collective.h"
#include "perf/common/crew.h"
#include "perf/common/launch.h"
#include "perf/common/options.h"
#include "perf/common/report.h"
#include "perf/common/worker.h"

namespace hawser::perf {

class Session {
 public:
  /// All arguments must outlive the session.
  Session(const Collective& collective, const Options& options, Launch& launch, Report& report);

  /// Measures everything and returns the exit code. Errors are written to stderr and into the report.
  int run();

 private:
  Status introduce();
  Status make_comms();
  Status init_comms(const ncclUniqueId& id, int first, int count);
  Status work(int thread);
  Status run_table(Worker& worker, int thread);
  Status run_row(Worker& worker, int thread, std::size_t bytes, Op op, int root);
  Status run_threads();
  void wait_for_workers();
  void abort_comms();
  Status destroy_comms();
  int conclude(const Status& outcome);
  void show(const std::string& text) const;
  [[nodiscard]] bool is_timed_out() const;
  [[nodiscard]] bool is_process_0() const { return launch_.place.process == 0; }
  [[nodiscard]] int local_ranks() const { return options_.threads * options_.ranks_per_thread; }
  [[nodiscard]] int ranks() const { return launch_.place.processes * local_ranks(); }
  [[nodiscard]] int first_rank() const { return launch_.place.process * local_ranks(); }

  const Collective& collective_;
  const Options& options_;
  Launch& launch_;
  Report& report_;
  Crew crew_;
  std::size_t max_bytes_;
  ncclUniqueId id_{};
  std::vector<ncclComm_t> comms_;
  std::atomic<std::int64_t> progress_{0};

  std::mutex mutex_;  ///< protects the three below; leaf
  std::condition_variable ended_;
  int workers_ended_ = 0;
  Status first_failure_;

  // Worker 0 of process 0 alone writes these, and the main thread after all workers have ended.
  int failed_checks_ = 0;
  double bandwidth_sum_ = 0;
  int bandwidths_ = 0;
};

}  // namespace hawser::perf
