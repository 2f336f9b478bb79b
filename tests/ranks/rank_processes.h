// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Runs ranks as forked processes over the public NCCL interface, with a watchdog: a test that hangs fails with what every rank last said.
#pragma once

#include <nccl.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace hawser::tests {

inline constexpr int kMaxRanks = 64;

/// Memory that all processes of a job share.
struct Board {
  std::atomic<int> has_id;
  ncclUniqueId id;
  std::array<std::atomic<int>, kMaxRanks> stage;       ///< for tests: how far a rank has come
  std::array<std::atomic<long>, kMaxRanks> number;     ///< for tests
  std::array<std::array<char, 1024>, kMaxRanks> text;  ///< for tests: what a rank has to say
};

/// One job of `ranks` processes. The destructor ends what still runs.
class RankProcesses {
 public:
  using Body = std::function<int(int rank, Board& board)>;
  /// Forks the ranks; each runs `body` and exits with its result. Call from a process without threads.
  RankProcesses(int ranks, const Body& body);
  ~RankProcesses();
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  [[nodiscard]] Board& board() { return *board_; }
  [[nodiscard]] pid_t pid(int rank) const { return pids_[static_cast<std::size_t>(rank)]; }
  void signal(int rank, int number) const;
  /// Waits until a rank's stage is at least `stage`; false at the deadline.
  bool await_stage(int rank, int stage, std::chrono::milliseconds limit = std::chrono::seconds(20)) const;
  /// Waits for all; those that do not end in time are killed. Exit code per rank; 1000 + signal if one killed it, -1 if the watchdog did.
  std::vector<int> wait(std::chrono::milliseconds limit = std::chrono::seconds(30));

 private:
  Board* board_;
  std::vector<pid_t> pids_;
  std::vector<int> outcomes_;  ///< INT_MIN while running
};

/// Joins the job's communicator: rank 0 makes the id and shows it on the board. Null, with the reason on the board, on failure.
ncclComm_t join(int rank, int ranks, Board& board);
/// Puts a sentence on the board for the test to look at.
void say(Board& board, int rank, const std::string& text);
std::string text_of(const Board& board, int rank);

}  // namespace hawser::tests
