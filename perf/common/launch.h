// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// How the processes of one run find each other: under hawser-run, under mpirun (Open MPI, MPICH, and what speaks their
// variables) or srun on one host, or alone. Links neither MPI nor the library.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace hawser::perf {

/// Where this process stands among those of the run.
struct Place {
  int process = 0;
  int processes = 1;
  int local_process = 0;  ///< among those of this host
  int local_processes = 1;

  bool operator==(const Place&) const = default;
};

/// A small key-value exchange among the processes of the run; values up to 64 KiB. Blocks, one thread at a time.
/// Failures are kSystemError, with a sentence that says what to do.
class Exchange {
 public:
  virtual ~Exchange() = default;

  /// Stores a value under a key that all processes can then get.
  virtual Status put(std::string_view key, std::string_view value) = 0;
  /// Waits until some process has put the key.
  virtual Result<std::string> get(std::string_view key) = 0;
  /// Everybody's value, by process; collective.
  virtual Result<std::vector<std::string>> gather(std::string_view value) = 0;
  /// Returns when every process has called it.
  Status barrier() { return gather({}).status(); }
};

struct Launch {
  Place place;
  std::unique_ptr<Exchange> exchange;
};

/// Reads a variable; null if it is not set. std::getenv, or a test's own.
using Environment = std::function<const char*(const char*)>;

/// The place as the launcher's variables say, and an exchange:
///  * HAWSER_RANK, HAWSER_RANKS: the socket HAWSER_RUN_FD to hawser-run;
///  * OMPI_COMM_WORLD_*, PMI_*, SLURM_*: files in a folder of mode 0700 below TMPDIR (or /tmp), named after the job's id
///    (HAWSER_JOB_ID if set, which every process must then agree on), so all processes must be on one host;
///  * otherwise this process is alone.
/// kInvalidUsage if the variables contradict each other.
Result<Launch> join_launch(const Environment& environment);

/// The asking end of perf/common/run_protocol.h on an inherited socket; borrows `fd`.
std::unique_ptr<Exchange> make_socket_exchange(int fd, const Place& place);

/// An exchange through files in `folder`, which is made with mode 0700 and refused if it belongs to another user.
/// Values of processes that have died are not believed. Process 0 removes the folder when all are done.
Result<std::unique_ptr<Exchange>> make_file_exchange(const std::string& folder, const Place& place);

}  // namespace hawser::perf
