// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// One thread of a perf program: the ranks that it drives, and the measurements that it takes together with all others.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/status.h"
#include "perf/common/buffer.h"
#include "perf/common/collective.h"
#include "perf/common/crew.h"
#include "perf/common/data.h"
#include "perf/common/options.h"

namespace hawser::perf {

enum class Placement : std::uint8_t { kOutOfPlace, kInPlace };

/// What all workers of a process share. Borrowed by them.
struct Shared {
  const Options& options;
  const Collective& collective;
  Crew& crew;
  int ranks = 1;                        ///< of all processes
  std::size_t max_bytes = 0;            ///< of a buffer
  std::atomic<std::int64_t>* progress;  ///< steady clock, ns: when a worker last finished something
};

/// One measurement.
struct Cell {
  std::size_t bytes = 0;
  int root = 0;
  Placement placement = Placement::kOutOfPlace;
};

/// Its outcome, the same in all workers.
struct Measured {
  double time_us = 0;  ///< of one call
  std::optional<std::uint64_t> wrong;
  int iterations = 0;
};

/// All calls are collective over all workers of the run. Any failure ends the run: the communicators may then be used by
/// ncclCommAbort only.
class Worker {
 public:
  /// `comms` are those of ranks first_rank, first_rank + 1, ...; they stay the caller's.
  Worker(const Shared& shared, int thread, int first_rank, std::vector<ncclComm_t> comms);

  /// Makes the buffers.
  Status allocate();
  /// Sets the element type and the reduction of the measurements that follow.
  Status prepare(ncclDataType_t type, Op op);
  Result<Measured> measure(const Cell& cell);
  /// Undoes prepare().
  Status finish();
  [[nodiscard]] ncclDataType_t type() const { return type_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Member {
    int rank = 0;
    ncclComm_t comm = nullptr;
    std::optional<Buffer> send;
    std::optional<Buffer> recv;
    std::vector<std::byte> input;  ///< one period
    ncclRedOp_t op = ncclSum;
    std::array<float, 2> scratch{};
  };

  Status make_op(Member& member);
  void fill_inputs(const Cell& cell);
  void spoil_outputs(const Cell& cell);
  Status start_all(const Cell& cell);
  Status iterate(const Cell& cell, int calls);
  Status align();
  Result<int> choose_iterations(const Cell& cell);
  Result<double> time_together(const Cell& cell, int iterations);
  Result<double> time_each(const Cell& cell, int iterations);
  Result<std::uint64_t> check(const Cell& cell);
  [[nodiscard]] std::uint64_t count_wrong(const Member& member, const Cell& cell) const;
  [[nodiscard]] std::span<std::byte> input_of(const Member& member, const Cell& cell) const;
  [[nodiscard]] std::size_t size() const { return info_of(type_).bytes; }
  [[nodiscard]] Counts counts(const Cell& cell) const;
  void note_progress() const;

  const Shared& shared_;
  int thread_;
  std::vector<Member> members_;
  ncclDataType_t type_ = ncclFloat32;
  Op op_ = Op::kSum;
  std::optional<Data> data_;
  std::vector<std::byte> reduced_;
};

}  // namespace hawser::perf
