// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Runs one job: starts the ranks, carries their output, serves their exchange, forwards signals, and ends the rest when
// one fails. One thread, one poll loop.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/status.h"
#include "hawser_run/input_pump.h"
#include "hawser_run/line_mux.h"
#include "hawser_run/options.h"
#include "hawser_run/spawn.h"
#include "hawser_run/switchboard.h"

namespace hawser::run {

/// Exit codes of hawser-run's own, as timeout(1), env(1) and shells use them.
inline constexpr int kExitTimeout = 124;
inline constexpr int kExitUsage = 125;
inline constexpr int kExitCannotRun = 126;
inline constexpr int kExitNotFound = 127;
inline constexpr int kExitSignalBase = 128;

class Supervisor {
 public:
  /// `options` must outlive the supervisor.
  explicit Supervisor(const Options& options);

  /// Runs the job to its end and returns the exit code for hawser-run. Nothing that it started (in the ranks' process
  /// groups) is left.
  int run();

 private:
  using Clock = std::chrono::steady_clock;
  struct Rank {
    Child child;
    bool has_exited = false;
  };
  struct Watch;

  Status start();
  Status open_signals();
  void serve_once();
  std::vector<Watch> watches(std::vector<pollfd>& fds) const;
  [[nodiscard]] int wait_ms() const;
  void handle(const Watch& watch);
  void read_output(int rank, bool is_error);
  void read_exchange(int rank);
  void write_exchange(int rank);
  void close_exchange(int rank, const Status& reason);
  void read_signals();
  void forward(int signal);
  void note_exits();
  void check_deadlines();
  void fail(int exit_code, std::string_view sentence);
  void end_ranks();
  void signal_ranks(int signal) const;
  void drain();
  void reap();
  void show(int fd, std::string_view text);
  [[nodiscard]] bool all_exited() const;

  const Options& options_;
  std::vector<Rank> ranks_;
  LineMux out_;
  LineMux error_;
  Switchboard switchboard_;
  InputPump input_;
  Fd signals_;
  std::optional<Clock::time_point> time_limit_;
  std::optional<Clock::time_point> kill_at_;
  std::optional<int> failure_;  ///< exit code of the first failure
  int stop_requests_ = 0;
};

}  // namespace hawser::run
