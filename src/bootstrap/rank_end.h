// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// One rank's end of the exchange once it has joined: all_gather by Bruck's algorithm and barrier by dissemination, both
// over a Mesh.
//
//   round k, distance d = 2^k:   rank r  -->  rank r + d     the blobs of r, r-1, ..., r-c+1, c = min(d, n - d)
//                                rank r  <--  rank r - d     the blobs of r-d, r-d-1, ..., r-d-c+1
//
// After ceil(log2 n) rounds everybody has everything; a barrier is the same with one empty blob per round.
#pragma once

#include <vector>

#include "bootstrap/bootstrap.h"
#include "bootstrap/deadline.h"
#include "bootstrap/mesh.h"

namespace hawser::bootstrap {

/// What a rank brings to the exchange.
struct Seat {
  Member self;
  int ranks = 1;
  Secret secret{};  ///< of the communicator
  Table table;
  Milliseconds limit{0};                               ///< of every call
  const std::atomic<std::uint32_t>* cancel = nullptr;  ///< borrowed for the life of the rank's end
};

class RankEnd final : public Bootstrap {
 public:
  RankEnd(const Seat& seat, Listener listener);

  [[nodiscard]] int rank() const override { return seat_.self.rank; }
  [[nodiscard]] int ranks() const override { return seat_.ranks; }
  [[nodiscard]] const Secret& secret() const override { return seat_.secret; }
  Result<std::vector<std::vector<std::byte>>> all_gather(std::span<const std::byte> mine) override;
  Status barrier() override;

 private:
  using Blobs = std::vector<std::vector<std::byte>>;
  struct Round {
    Operation operation;
    std::uint8_t number;
    int to;
    int from;
    int count;  // blobs each way
  };

  Status run(Operation operation, Blobs& blobs);
  Status run_round(const Round& round, Blobs& blobs, const Deadline& deadline);
  void send_blobs(const Round& round, const Blobs& blobs);
  Result<int> receive_blobs(const Round& round, Blobs& blobs, int received);
  Status store(const Round& round, const Frame& frame, int origin, Blobs& blobs);
  [[nodiscard]] Status timed_out(const Round& round, int received) const;

  Seat seat_;
  Mesh mesh_;
  std::uint32_t calls_ = 0;
  Status failed_;  // the first failure: every later call gives it again
};

}  // namespace hawser::bootstrap
