// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What one *_perf program adds to perf/common: how its collective is called and what must come out of it.
#pragma once

#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hawser::perf {

/// Element counts of one call.
struct Counts {
  std::size_t send = 0;   ///< in a rank's send buffer
  std::size_t recv = 0;   ///< in its receive buffer
  std::size_t call = 0;   ///< the count argument
  std::size_t table = 0;  ///< the count that the table shows
};

/// A stretch of a rank's receive buffer and what it must hold.
struct Expectation {
  enum class Content : std::uint8_t { kInput, kReduced };
  std::size_t begin = 0;  ///< first element in the receive buffer
  std::size_t count = 0;
  Content content = Content::kReduced;
  int rank = 0;           ///< whose input, for kInput
  std::size_t first = 0;  ///< element of the content that stands at `begin`
};

/// One call, on the null stream.
struct Call {
  const void* send = nullptr;
  void* recv = nullptr;
  std::size_t count = 0;
  ncclDataType_t type = ncclFloat32;
  ncclRedOp_t op = ncclSum;
  int root = 0;
  ncclComm_t comm = nullptr;
};

class Collective {
 public:
  virtual ~Collective() = default;
  /// "all_reduce_perf"
  [[nodiscard]] virtual std::string_view program() const = 0;
  /// Counts for a table size of `elements`, the larger of a rank's two buffers.
  [[nodiscard]] virtual Counts counts(std::size_t elements, int ranks) const = 0;
  /// Bus bandwidth over algorithm bandwidth.
  [[nodiscard]] virtual double bus_factor(int ranks) const = 0;
  [[nodiscard]] virtual std::vector<Expectation> expected(int rank, int ranks, const Counts& counts,
                                                          int root) const = 0;
  [[nodiscard]] virtual ncclResult_t start(const Call& call) const = 0;
};

}  // namespace hawser::perf
